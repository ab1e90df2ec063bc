"""`read` and `write`: documents of any format, and the corpora they are views of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, overload

from tagsift.data import corpus as columnar
from tagsift.data import exchange
from tagsift.data.documents import Document, Kind, Layer, Tag
from tagsift.data.label_set import LabelSet, as_label_set, check_label
from tagsift.data.lossy import Losses
from tagsift.data.span_alignment import (
    OnTokens,
    layer_marks,
    layer_tags,
    layers_scheme,
    once,
    sentences_of,
    with_labels,
    without_unsure,
)
from tagsift.errors import DataError, InputError
from tagsift.io.candidates import PartialCorpus
from tagsift.io.column_file import PathName
from tagsift.io.format_choice import format_of
from tagsift.io.formats import Options
from tagsift.io.formats._tables import on_tokens
from tagsift.io.merge import merged, together
from tagsift.io.renaming import note_labels_apart
from tagsift.io.sentence import Corpus
from tagsift.io.votes import Vote, VoteCorpus
from tagsift.io.writing import write_documents

__all__ = [
    "AnyCorpus",
    "Documents",
    "as_candidates",
    "as_options",
    "as_votes",
    "documents_of",
    "old_read",
    "old_write",
]


#: What has sentences to write.
AnyCorpus: TypeAlias = columnar.Corpus | Corpus | PartialCorpus | VoteCorpus


@dataclass(frozen=True, repr=False)
class Documents(Sequence[Document]):
    """Documents that were read, with the views of them that models learn from.

    Parameters
    ----------
    documents : tuple of Document
        What was read. Documents with the same id and text are one, with all layers.
    format : str, optional
        Where they come from; `write` gives them back in it.
    options : Options
        How they were read, and how spans become tags.
    added : bool
        Whether the last layer of each was added to what was read, by `labelled`.
        What is written for Label Studio is that layer alone, to be imported.
    """

    documents: tuple[Document, ...]
    format: str | None = None
    options: Options = field(default_factory=Options)
    added: bool = False

    @property
    def losses(self) -> Losses:
        """What could not be kept so far."""
        return self.options.losses

    @property
    def annotators(self) -> tuple[str, ...]:
        """Who annotated, in the order of their first layers; truths are no votes."""
        names = (
            layer.annotator
            for document in self.documents
            for layer in document.layers
            if layer.kind not in ("gold", "exact")
        )
        return tuple(dict.fromkeys(names))

    @property
    def sentence_ids(self) -> list[str] | None:
        """The id of every sentence's document; None for columns, which have none."""
        if self.format in (None, "conll"):
            return None
        return [one.id for one in self.cut() for _ in one.bounds()]

    def cut(self) -> Documents:
        """The same documents, all with tokens and sentences."""
        cut_text = self.options.cut_text
        done = tuple(document.cut(cut_text) for document in self.documents)
        return replace(self, documents=done)

    def votes(self) -> VoteCorpus:
        """The votes of all annotators, one a layer."""
        return as_votes(self.cut().documents, on_tokens(self.options))

    def candidates(
        self, labels: LabelSet | Iterable[str] | None = None
    ) -> PartialCorpus:
        """Candidate sets; those of several annotators are the labels they gave."""
        if len(self.annotators) > 1:
            return self.votes().candidates()
        return as_candidates(self.cut().documents, on_tokens(self.options), labels)

    def corpus(self) -> Corpus:
        """The labels of documents whose tokens all have one.

        They are the truth where all documents have it, else those of the one
        annotator.
        """
        again, losses = self.options.again, self.losses
        documents = [once(one, again, losses) for one in self.cut()]
        people = self.annotators
        if all(any(o.kind == "gold" for o in one.layers) for one in documents):
            people = ()
        if len(people) > 1:
            raise DataError(
                f"expected the labels of one annotator, found {len(people)}; see "
                "candidates() and votes()."
            )
        known = [
            [
                one
                for one in document.layers
                if (one.kind not in ("gold", "exact") if people else one.kind == "gold")
            ]
            for document in documents
        ]
        layers = [found[-1] for found in known if found]
        scheme = self.options.scheme
        scheme = layers_scheme(layers) if scheme == "auto" else scheme
        how = replace(on_tokens(self.options), scheme=scheme)
        labels: list[list[str]] = []
        for document, found in zip(documents, known, strict=True):
            tags = layer_tags(document, found[-1], how) if found else [None]
            exact = [tag for tag in tags if isinstance(tag, str)]
            if len(exact) != len(document.rows or ()):
                raise DataError(
                    f"{document.id}: expected one label per token, found tokens with "
                    "several or none; see candidates()."
                )
            labels += [exact[a:b] for a, b in document.bounds()]
        return Corpus.from_lists(sentences_of(documents), labels, scheme)

    def labelled(
        self,
        labels: Iterable[Sequence[Tag]],
        scheme: str,
        confidences: Iterable[Sequence[float]] | None = None,
        annotator: str = "tagsift",
        min_confidence: float = 0.0,
    ) -> Documents:
        """The same documents with one more layer: the labels of their sentences.

        Documents that had no tokens keep none, and get spans. A span is as sure as its
        least sure token; one that is less sure than `min_confidence` is left out as a
        whole, and tokens have no label there.
        """
        if min_confidence and confidences is None:
            raise InputError("min_confidence: expected confidences, found none.")
        made = with_labels(
            self.cut().documents,
            labels,
            scheme,
            confidences=confidences,
            annotator=annotator,
        )
        done = []
        for document, cut in zip(self.documents, made, strict=True):
            layer = cut.layers[-1]
            if document.rows is None:
                marks = layer_marks(cut, layer, self.losses)
                sure = (m for m in marks if (m.score or 0.0) >= min_confidence)
                layer = Layer(layer.annotator, layer.kind, marks=tuple(sure))
            elif min_confidence:
                layer = without_unsure(cut, layer, min_confidence)
            done.append(document.with_layers([layer]))
        return replace(self, documents=tuple(done), added=True)

    def take(self, indices: Iterable[int]) -> Documents:
        """The documents of these numbers, in this order."""
        return replace(self, documents=tuple(self.documents[i] for i in indices))

    def with_data(self, data: Iterable[Mapping[str, Any]]) -> Documents:
        """The same documents, each with more data of its own."""
        done = (
            replace(one, meta={**one.meta, **more})
            for one, more in zip(self.documents, data, strict=True)
        )
        return replace(self, documents=tuple(done))

    @overload
    def __getitem__(self, key: int) -> Document: ...
    @overload
    def __getitem__(self, key: slice) -> Documents: ...
    def __getitem__(self, key: int | slice) -> Document | Documents:
        if isinstance(key, slice):
            return replace(self, documents=self.documents[key])
        return self.documents[key]

    def __len__(self) -> int:
        return len(self.documents)

    def __repr__(self) -> str:
        return (
            f"Documents({len(self)} documents, {len(self.annotators)} annotators, "
            f"format={self.format!r})"
        )


def old_read(
    path: PathName | Sequence[PathName],
    format: str | Sequence[str | None] | None = None,
    **options: Any,
) -> Documents:
    """Read documents of any format.

    Parameters
    ----------
    path : path-like
        A file, gzipped where its name ends so, a folder, or ``-``. Of several, the
        annotators of the same texts are put together.
    format : str, optional
        Its name, or one for each file; by default it is told by the file's name and
        content.
    **options
        Of `Options`: ``scheme``, ``misaligned``, ``overlap``, ``offsets``,
        ``tokenizer``, ``sentences``, ``text_key``, ``votes``, ``labels`` (a mapping
        such as ``{"person": "PER"}`` renames labels), …

    Returns
    -------
    Documents
        Their views are ``.votes()``, ``.candidates()`` and ``.corpus()``.
    """
    how = as_options(options)
    paths = [path] if isinstance(path, str | PathLike) else list(path)
    named = [format] * len(paths) if isinstance(format, str | None) else format
    kinds = [format_of(one, name) for one, name in zip(paths, named, strict=True)]
    sources = [
        (Path(one).stem, merged(kind.read(one, how)))
        for one, kind in zip(paths, kinds, strict=True)
    ]
    if len(sources) == 1:
        documents: Iterable[Document] = sources[0][1]
    else:
        sources = [  # what was cut here is cut when all have said what they marked
            (name, read if kind.tokens else map(Document.uncut, read))
            for (name, read), kind in zip(sources, kinds, strict=True)
        ]
        documents = together(sources, how.losses, how.info)
    found = tuple(documents)
    note_labels_apart(found, how.losses)
    if how.renaming is not None:
        how.renaming.warn()
    return Documents(found, kinds[0].name, how)


def as_options(told: dict[str, Any]) -> Options:
    """Options from arguments."""
    return Options.of(told)


def old_write(
    documents: Iterable[Document] | AnyCorpus,
    path: PathName,
    format: str | None = None,
    **options: Any,
) -> Losses:
    """Write documents, or the sentences of a corpus, in any format.

    Parameters
    ----------
    documents : iterable of Document, or a corpus
        What to write; each sentence of a corpus is a document.
    path : path-like
        The file or folder, written whole or not at all, or ``-``.
    format : str, optional
        Its name; by default that of the path's ending, or where the documents come
        from.
    **options
        As in `read`.

    Returns
    -------
    Losses
        What the format cannot hold.
    """
    source, added = None, False
    if isinstance(documents, Documents):
        source, before, added = documents.format, documents.options, documents.added
        cut = {"tokenizer": before.tokenizer, "sentences": before.sentences}
        options = {**cut, **options}
    how = as_options(options)
    how = replace(how, added=how.added or added)
    if isinstance(documents, AnyCorpus):
        documents = documents_of(documents)
    write_documents(documents, path, format, how, source)
    return how.losses


def documents_of(corpus: AnyCorpus) -> Iterator[Document]:
    """Yield each sentence of a corpus as a document of tokens."""
    if isinstance(corpus, columnar.Corpus):
        yield from exchange.documents_of(corpus)
        return
    scheme = corpus.scheme
    for number, rows in enumerate(corpus.rows):
        layers: list[Layer] = []
        if isinstance(corpus, Corpus):
            tags = tuple(corpus.labels[number])
            layers.append(Layer("labels", tags=tags, scheme=scheme))
        elif isinstance(corpus, PartialCorpus):
            full = corpus.label_set.full
            sets = corpus.candidates[number]
            layers.append(
                Layer(
                    "candidates",
                    tags=tuple(
                        next(iter(c)) if len(c) == 1 else None if c == full else c
                        for c in sets
                    ),
                    scheme=scheme,
                )
            )
        else:
            columns = zip(*corpus.votes[number], strict=True)
            for name, column in zip(corpus.annotators, columns, strict=True):
                if any(vote is not None for vote in column):
                    kind: Kind = "rule" if name in corpus.abstaining else "person"
                    layers.append(Layer(name, kind, tags=tuple(column), scheme=scheme))
        gold = None if isinstance(corpus, Corpus) else corpus.gold
        exact = corpus.exact if isinstance(corpus, VoteCorpus) else None
        if exact is not None and any(exact[number]):
            known = tuple(exact[number])
            layers.append(Layer("exact", "exact", tags=known, scheme=scheme))
        if gold is not None:
            tags = tuple(gold[number])
            layers.append(Layer("gold", "gold", tags=tags, scheme=scheme))
        yield Document(
            str(number + 1),
            rows=tuple(tuple(row) for row in rows),
            sentences=(0, len(rows)),
            layers=tuple(layers),
        )


def as_votes(documents: Sequence[Document], how: OnTokens) -> VoteCorpus:
    """Votes: one annotator a layer, None where one did not annotate a document."""
    documents = [once(one, how.again, how.losses) for one in documents]
    how = _with_scheme(documents, how)
    names = list(
        dict.fromkeys(
            layer.annotator
            for document in documents
            for layer in document.layers
            if layer.kind not in ("gold", "exact")
        )
    )
    if not names:
        raise DataError("expected the votes of annotators, found none.")
    votes: list[list[Vote]] = []
    gold: list[list[str]] = []
    exact: list[list[str | None]] = []
    for document in documents:
        size = len(document.rows or ())
        said: dict[str, list[Tag]] = {}
        known: dict[str, list[Tag]] = {}
        for layer in document.layers:
            into = known if layer.kind in ("gold", "exact") else said
            key = layer.kind if into is known else layer.annotator
            if key in said and into is said:
                kind = "annotation under the name of another annotator, no vote"
                how.losses.note(kind, f"{document.id}, {key}", lost=False)
            into[key] = layer_tags(document, layer, how)
        columns = [said.get(name, [None] * size) for name in names]
        entries: list[Vote] = list(zip(*columns, strict=True))
        for a, b in document.bounds():
            votes.append(entries[a:b])
            if "gold" in known:
                gold.append([str(tag) for tag in known["gold"][a:b]])
            checked = known.get("exact", [None] * size)[a:b]
            exact.append([tag if isinstance(tag, str) else None for tag in checked])
    corpus = VoteCorpus(
        sentences_of(documents),
        votes,
        tuple(names),
        _complete(gold, len(votes), how),
        how.scheme,
        tuple(sorted(_rules(documents))),
        exact if any(tag for row in exact for tag in row) else None,
    )
    _check_labels(corpus.label_set, how.scheme)
    return corpus


def _complete(
    gold: list[list[str]], size: int, how: OnTokens
) -> list[list[str]] | None:
    """The truth where all sentences have it."""
    if gold and len(gold) != size:
        where = f"{len(gold)} of {size} sentences"
        how.losses.note("truth that not all sentences have, left out", where)
    return gold if len(gold) == size else None


def _said(tag: str | frozenset[str]) -> Iterable[str]:
    return (tag,) if isinstance(tag, str) else tag


def _check_labels(names: Iterable[str], scheme: str) -> None:
    for name in names:
        check_label(name, scheme)


def _rules(documents: Sequence[Document]) -> set[str]:
    """Annotators whose ``O`` says nothing."""
    return {
        layer.annotator
        for document in documents
        for layer in document.layers
        if layer.kind == "rule"
    }


def as_candidates(
    documents: Sequence[Document],
    how: OnTokens,
    labels: LabelSet | Iterable[str] | None = None,
) -> PartialCorpus:
    """Candidate sets of documents with one annotator each."""
    documents = [once(one, how.again, how.losses) for one in documents]
    how = _with_scheme(documents, how)
    rows, sets = sentences_of(documents), []
    gold: list[list[str]] = []
    for document in documents:
        layers = {
            "gold" if layer.kind == "gold" else "": layer_tags(document, layer, how)
            for layer in document.layers
        }
        said = layers.get("", [None] * len(document.rows or ()))
        for a, b in document.bounds():
            sets.append(said[a:b])
            if "gold" in layers:
                gold.append([str(tag) for tag in layers["gold"][a:b]])
    label_set = as_label_set(labels)
    if label_set is None:
        kinds = {tag for row in sets for tag in row if tag is not None}
        names = {name for tag in kinds for name in _said(tag)}
        if not names:
            raise DataError(
                "expected labels, found none in the documents; say where they stand "
                "(see --label-key, --spans-key, --votes), or name the whole label set "
                "with --labels (in Python labels=)."
            )
        label_set = LabelSet(tuple(sorted(names)))
    _check_labels(label_set, how.scheme)
    full = label_set.full
    return PartialCorpus.from_lists(
        rows,
        [[full if tag is None else tag for tag in row] for row in sets],
        gold=_complete(gold, len(rows), how),
        labels=label_set,
        scheme=how.scheme,
    )


def _with_scheme(documents: Sequence[Document], how: OnTokens) -> OnTokens:
    if how.scheme != "auto":
        return how
    layers = (layer for document in documents for layer in document.layers)
    return replace(how, scheme=layers_scheme(layers))
