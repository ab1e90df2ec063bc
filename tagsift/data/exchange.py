"""Documents become a corpus, and a corpus documents.

A corpus keeps the documents that it was made of: what a tool knows besides labels goes
back to it with them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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

__all__ = ["corpus_of", "documents_of"]

#: Layers that are no votes.
_KNOWN = ("gold", "exact")


def corpus_of(
    documents: Sequence[Document],
    how: OnTokens,
    *,
    labels: LabelSet | Iterable[str] | None = None,
    kinds: Mapping[str, Any] | None = None,
    abstain: Collection[str] = (),
) -> Corpus:
    """Make a corpus of documents that have tokens.

    The layers of several annotators are votes; what a single one says is to be learnt
    from as it stands, as candidates. `kinds` and `abstain` say more of annotators, by
    name.
    """
    documents = [once(document, how.again, how.losses) for document in documents]
    if how.scheme == "auto":
        every = (layer for document in documents for layer in document.layers)
        how = replace(how, scheme=layers_scheme(every))
    people = _annotators(documents, kinds or {}, abstain)
    place = {one.name: a for a, one in enumerate(people)}
    codes = Codes(lambda name: check_label(name, how.scheme))
    rows = [row for document in documents for row in document.rows or ()]
    n = len(rows)
    cast: list[tuple[IntArray, int, IntArray]] = []
    exact = np.full(n, ANY_LABEL, dtype=np.int64)  # [N]
    truth: list[str] = []
    lengths: list[int] = []
    first = 0
    for document in documents:
        size = len(document.rows or ())
        lengths += [b - a for a, b in document.bounds()]
        said = {
            f"\0{layer.kind}" if layer.kind in _KNOWN else layer.annotator: layer
            for layer in document.layers
        }
        for key, layer in said.items():
            tags = layer_tags(document, layer, how)
            if key == "\0gold":
                truth += map(str, tags)
                continue
            column = np.array([codes[tag] for tag in tags], dtype=np.int64)  # [T]
            if key == "\0exact":
                exact[first : first + size] = column
            else:
                heard = np.flatnonzero(column >= 0)
                cast.append((first + heard, place[key], column[heard]))
        first += size
    if truth and len(truth) != n:
        where = f"{len(truth)} of {n} tokens"
        how.losses.note("truth that not all sentences have, left out", where)
    label_set = _label_set(labels, codes, truth, how.scheme)
    new, sets = codes.translated(label_set)
    token, who, code = _stacked(cast)
    single = len(people) == 1
    candidates = None
    if single:
        candidates = np.full(n, ANY_LABEL, dtype=np.int64)  # [N]
        candidates[token] = code
        candidates = new[candidates]
        token, who, code = _stacked([])
    return Corpus(
        columns=stacked_columns(rows),
        bounds=offsets_of(lengths),
        label_set=label_set,
        scheme=how.scheme,
        annotators=people,
        votes=Votes.of(token, who, new[code]),
        sets=sets,
        candidate_codes=candidates,
        exact_codes=np.where(exact < 0, -1, new[exact]) if (exact >= 0).any() else None,
        truth=tuple(truth) if truth and len(truth) == n else None,
        sources=tuple(documents),
    )


def _annotators(
    documents: Iterable[Document], kinds: Mapping[str, Any], abstain: Collection[str]
) -> tuple[Annotator, ...]:
    """Who annotated, in the order of their first layers."""
    layers = chain.from_iterable(document.layers for document in documents)
    first: dict[str, Annotator] = {}
    for layer in layers:
        if layer.kind in _KNOWN or layer.annotator in first:
            continue
        rule = layer.kind == "rule"
        kind = kinds.get(layer.annotator, "source" if rule else layer.kind)
        quiet = rule or layer.annotator in abstain
        first[layer.annotator] = Annotator(layer.annotator, kind, quiet)
    return tuple(first.values())


def _label_set(
    labels: LabelSet | Iterable[str] | None,
    codes: Codes,
    truth: Sequence[str],
    scheme: str,
) -> LabelSet:
    """All labels: as given, those met, or those of the truth where it stands alone."""
    label_set = as_label_set(labels)
    if label_set is None:
        names = codes.labels or set(truth)
        if not names:
            raise DataError(
                "expected labels, found none in the documents; say where they stand "
                "(see --label-key, --spans-key, --votes), or name the whole label set "
                "with --labels (in Python labels=)."
            )
        label_set = LabelSet(tuple(sorted(names)))
    for name in label_set:
        check_label(name, scheme)
    return label_set


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
    for number, sentence in enumerate(corpus):
        said = sentence.votes
        layers = [
            _layer(one, said[one.name], corpus.scheme)
            for one in corpus.annotators
            if one.name in said
        ]
        if sentence.candidates is not None:
            layers.append(_candidates(corpus, sentence.candidates))
        known: list[tuple[Kind, Any]] = [("exact", corpus.exact), ("gold", corpus.gold)]
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
    name = corpus.annotators[0].name if corpus.annotators else ""
    exact = not corpus.n_ambiguous
    name = name or ("labels" if exact else "candidates")
    return Layer(name, tags=tuple(tags), scheme=corpus.scheme)
