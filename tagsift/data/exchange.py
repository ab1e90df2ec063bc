"""Documents become a corpus, and a corpus documents.

A corpus keeps the documents that it was made of: what a tool knows besides labels goes
back to it with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from tagsift.data._from_lists import ANY_LABEL, Codes, stacked_columns
from tagsift.data.annotators import Annotator, Votes
from tagsift.data.corpus import Corpus
from tagsift.data.documents import Document, Kind, Layer, Tag
from tagsift.data.label_set import LabelSet, as_label_set, check_label
from tagsift.data.span_alignment import OnTokens, layer_tags, layers_scheme, once
from tagsift.data.stacking import offsets_of
from tagsift.errors import DataError
from tagsift.typing import IntArray

__all__ = ["UNNAMED", "annotator_of", "corpus_of", "documents_of"]

#: Layers that are no votes.
_KNOWN = ("gold", "exact")
#: What a layer is called that is to be learnt from and names nobody.
UNNAMED = ("labels", "candidates")


def corpus_of(
    documents: Sequence[Document],
    how: OnTokens,
    *,
    labels: LabelSet | Iterable[str] | None = None,
    annotators: Sequence[Annotator] = (),
    more_labels: Iterable[str] = (),
) -> Corpus:
    """Make a corpus of documents that have tokens.

    The layers of several annotators are votes; what a single one says is to be learnt
    from as it stands, as candidates, unless `annotators` names them. The order is that
    of `annotators`, those who said nothing among them, and then that of the first
    layers of the others. `more_labels` come first in the label set, where it is not
    given by `labels`.
    """
    read = tuple(documents)
    annotators = [one for one in annotators if one.name not in UNNAMED]
    documents = [once(document, how.again, how.losses) for document in read]
    if how.scheme == "auto":
        every = (layer for document in documents for layer in document.layers)
        how = replace(how, scheme=layers_scheme(every))
    people = _people(documents, annotators)
    place = {one.name: a for a, one in enumerate(people)}
    codes = Codes(lambda name: check_label(name, how.scheme))
    rows = [row for document in documents for row in document.rows or ()]
    n = len(rows)
    cast: list[tuple[IntArray, int, IntArray]] = []
    open_ = np.full(n, ANY_LABEL, dtype=np.int64)  # [N]
    exact = np.full(n, ANY_LABEL, dtype=np.int64)  # [N]
    single = len(people) == 1 and not annotators
    learnt = single
    truth: list[str] = []
    lengths: list[int] = []
    first = 0
    for document in documents:
        size = len(document.rows or ())
        lengths += [b - a for a, b in document.bounds()]
        names: set[str] = set()
        for layer in document.layers:
            tags = layer_tags(document, layer, how)
            if layer.kind == "gold":
                exactly = [tag for tag in tags if isinstance(tag, str)]
                truth += exactly if len(exactly) == size else ()
                continue
            column = codes.column(tags)  # [T]
            if layer.kind == "exact":
                exact[first : first + size] = column
                continue
            if layer.annotator in names:
                kind = "annotation under the name of another annotator, no vote"
                where = f"{document.id}, {layer.annotator}"
                how.losses.note(kind, where, lost=False)
                continue
            names.add(layer.annotator)
            if single or layer.annotator not in place:
                learnt = True
                open_[first : first + size] = column
            else:
                voted = np.flatnonzero(column >= 0)
                cast.append((first + voted, place[layer.annotator], column[voted]))
        first += size
    whole = len(truth) == n
    if truth and not whole:
        where = f"{len(truth)} of {n} tokens"
        how.losses.note("truth that not all sentences have, left out", where)
    label_set = as_label_set(labels) or _label_set(codes, truth, more_labels)
    for name in label_set:
        check_label(name, how.scheme)
    new, sets = codes.translated(label_set)
    token, who, code = _stacked(cast)
    known = (exact >= 0) & (new[exact] < len(label_set))  # [N]
    return Corpus(
        columns=stacked_columns(rows),
        bounds=offsets_of(lengths),
        label_set=label_set,
        scheme=how.scheme,
        annotators=() if single and people[0].name in UNNAMED else people,
        votes=Votes.of(token, who, new[code]),
        sets=sets,
        candidate_codes=new[open_] if learnt else None,
        exact_codes=np.where(known, new[exact], -1) if known.any() else None,
        truth=tuple(truth) if truth and whole else None,
        sources=read,
    )


def _people(
    documents: Iterable[Document], annotators: Sequence[Annotator]
) -> tuple[Annotator, ...]:
    """Who annotated: those that are named, and then others by their first layers."""
    people = {one.name: one for one in annotators}
    for layer in chain.from_iterable(document.layers for document in documents):
        unnamed = bool(annotators) and layer.annotator in UNNAMED
        if layer.kind not in _KNOWN and not unnamed:
            people.setdefault(layer.annotator, annotator_of(layer))
    return tuple(people.values())


def annotator_of(layer: Layer) -> Annotator:
    """The annotator of a layer, as far as it tells; a rule abstains by ``O``."""
    if layer.kind == "rule":
        return Annotator(layer.annotator, "source", abstains=True)
    return Annotator(layer.annotator, "model" if layer.kind == "model" else "person")


def _label_set(
    codes: Codes, truth: Sequence[str], more_labels: Iterable[str]
) -> LabelSet:
    """All labels: those that a file names, and those met; or those of the truth."""
    names = tuple(more_labels)
    names += tuple(sorted((codes.labels or set(truth)) - {*names}))
    if not names:
        raise DataError(
            "expected labels, found none in the documents; say where they stand "
            "(see --label-key, --spans-key, --votes), or name the whole label set "
            "with --labels (in Python labels=)."
        )
    return LabelSet(names)


def _stacked(
    cast: Sequence[tuple[IntArray, int, IntArray]],
) -> tuple[IntArray, IntArray, IntArray]:
    nothing = np.zeros(0, dtype=np.int64)
    if not cast:
        return nothing, nothing, nothing
    who = [np.full(len(token), a) for token, a, _ in cast]
    return (
        np.concatenate([token for token, _, _ in cast]),
        np.concatenate(who),
        np.concatenate([code for _, _, code in cast]),
    )


def documents_of(corpus: Corpus) -> Iterator[Document]:
    """Yield the documents of a corpus, as they were read, or one a sentence."""
    if corpus.sources is not None:
        yield from corpus.sources
        return
    known: list[tuple[Kind, Any]] = [("exact", corpus.exact), ("gold", corpus.gold)]
    for number, sentence in enumerate(corpus):
        votes = sentence.votes
        layers = [
            _layer(one, votes[one.name], corpus.scheme)
            for one in corpus.annotators
            if one.name in votes
        ]
        if sentence.candidates is not None:
            layers.append(_candidates(corpus, sentence.candidates))
        for kind, labels in known:
            if labels is not None and any(labels[number]):
                tags = tuple(labels[number])
                layers.append(Layer(kind, kind, tags=tags, scheme=corpus.scheme))
        yield Document(
            str(number + 1),
            rows=tuple(sentence.rows),
            sentences=(0, len(sentence)),
            layers=tuple(layers),
        )


def _layer(one: Annotator, tags: Sequence[Tag], scheme: str) -> Layer:
    kinds: dict[str, Kind] = {"source": "rule", "model": "model"}
    kind: Kind = "rule" if one.abstains else kinds.get(one.kind, "person")
    return Layer(one.name, kind, tags=tuple(tags), scheme=scheme)


def _candidates(corpus: Corpus, sets: Sequence[frozenset[str]]) -> Layer:
    full = corpus.label_set.full
    tags: list[Tag] = [
        next(iter(names)) if len(names) == 1 else None if names == full else names
        for names in sets
    ]
    alone = len(corpus.annotators) == 1 and not len(corpus.votes.code)
    name = corpus.annotators[0].name if alone else UNNAMED[bool(corpus.n_ambiguous)]
    return Layer(name, tags=tuple(tags), scheme=corpus.scheme)
