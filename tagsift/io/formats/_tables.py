"""What formats of tokens and tags have in common: cells, headings, and what is lost."""

from __future__ import annotations

import math
import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from tagsift.data.annotators import Annotator
from tagsift.data.documents import Document, Kind, Layer, Tag
from tagsift.data.label_set import ANY, check_label
from tagsift.data.span_alignment import OnTokens, layer_tags, once
from tagsift.errors import DataError, InputError
from tagsift.io.column_file import PathName
from tagsift.io.column_roles import parse_columns
from tagsift.io.columns import parse_candidates
from tagsift.io.formats._corpus import CorpusInfo, annotator_of, as_written
from tagsift.io.formats._file_names import KNOWN
from tagsift.io.formats._format import Options
from tagsift.io.formats._spans import own
from tagsift.io.leaks import feature_names

__all__ = [
    "CONFIDENCE",
    "LABELS",
    "Survey",
    "annotators_in",
    "cell_of",
    "check_names",
    "check_words",
    "cut",
    "heading",
    "kept_twice",
    "layer_of",
    "metadata",
    "named_by_default",
    "named_columns",
    "note_losses",
    "on_tokens",
    "score_of",
    "tag_of",
    "tags_of",
    "unused",
    "vote_columns",
]

T = TypeVar("T")
#: Who made the labels of files that do not say it.
LABELS = "labels"
#: Formats that keep how a table was written.
_OF_TABLES = ("conll", "csv", "spans-csv")
_UNNAMED = (LABELS, "candidates")
_PREFIXES: dict[str, Kind] = {
    "vote": "person",
    "model": "model",
    "rule": "rule",
    "source": "rule",  # which means its O
    "gold": "gold",
    "exact": "exact",
}
#: What begins the name of a column that says how sure an annotator is.
CONFIDENCE = "confidence:"
#: What is kept in memory of documents that are looked at twice.
_KEPT = 1 << 16


def tag_of(cell: str, scheme: str = "auto") -> Tag:
    """Read a cell: a label, candidates joined by ``|``, or ``?``."""
    names = parse_candidates(cell)
    if names is None:
        return None
    for name in names:
        check_label(name, scheme)
    return cell if len(names) == 1 else names


def cell_of(tag: Tag) -> str:
    if isinstance(tag, str):
        return tag
    return ANY if tag is None else "|".join(sorted(tag))


def score_of(cell: str, path: PathName, line: int) -> float | None:
    """Read a cell of a confidence; an empty one is none."""
    try:
        value = float(cell) if cell else None
    except ValueError:
        value = math.nan
    if value is not None and not math.isfinite(value):
        raise DataError(f"expected a score, found {cell[:40]!r}.", path, line)
    return value


def heading(name: str, kind: Kind, info: CorpusInfo) -> str:
    """Name of the column of an annotator, from which name and kind can be read."""
    if kind == "person" and name == LABELS:
        return "label"
    if kind in KNOWN and name == kind:  # a truth called by its kind
        return kind
    prefix = next(one for one, meant in _PREFIXES.items() if meant == kind)
    if Annotator(name, "source") in info.annotators:
        prefix = "source"
    return f"{prefix}:{name}"


def annotators_in(columns: Iterable[tuple[str, tuple[str, Kind]]]) -> list[Annotator]:
    """Annotators of columns: names of the columns, and of their layers, with kinds."""
    people = [
        (heading, annotator_of(Layer(*layer, marks=())))
        for heading, layer in columns
        if layer[1] not in KNOWN
    ]
    return [
        replace(one, abstains=one.abstains and not heading.startswith("source:"))
        for heading, one in people
    ]


def layer_of(heading: str) -> tuple[str, Kind] | None:
    """Annotator and kind of the layer in a column, None where it is no layer.

    Examples
    --------
    >>> layer_of("vote:ann"), layer_of("gold"), layer_of("pos")
    (('ann', 'person'), ('gold', 'gold'), None)
    """
    if heading == "label":
        return LABELS, "person"
    prefix, colon, name = heading.partition(":")
    if prefix in KNOWN and not colon:
        return heading, _PREFIXES[heading]
    return (name, _PREFIXES[prefix]) if name and prefix in _PREFIXES else None


def named_by_default(layer: Layer) -> bool:
    """Whether a reader would give a layer its name and kind without being told."""
    return layer.kind == "person" and layer.annotator in _UNNAMED


def on_tokens(options: Options) -> OnTokens:
    return OnTokens(
        options.scheme,
        options.misaligned,
        options.overlap,
        options.again,
        options.losses,
    )


def cut(document: Document, options: Options) -> Document:
    """The document with tokens, and with one layer of each annotator."""
    document = once(document, options.again, options.losses, lost=True)
    if document.rows is not None:
        return document
    return document.cut(options.cut_text)


def tags_of(document: Document, layer: Layer, how: OnTokens) -> list[Tag]:
    """Tags of a layer; scores and what else it had are counted as lost."""
    scores: Iterable[object] = layer.scores or ()
    if layer.marks:
        scores = (mark.score for mark in layer.marks)
        if any(mark.meta for mark in layer.marks):
            how.losses.note("metadata of spans, left out", document.id)
    if any(score is not None for score in scores):
        how.losses.note("scores, left out", f"{document.id}, {layer.annotator}")
    return layer_tags(document, layer, how)


def check_words(document: Document) -> Document:
    """Refuse an empty word, which a format could write and not read again."""
    if "" in document.tokens:
        raise InputError(
            f"document {document.id!r}: expected words, found an empty one (token "
            f"{document.tokens.index('') + 1}); leave it out."
        )
    return document


def metadata(document: Document, own: str) -> dict[str, Any]:
    """Metadata besides what formats of columns keep for themselves."""
    return {k: v for k, v in document.meta.items() if k not in (own, *_OF_TABLES)}


def note_losses(document: Document, own: str, options: Options) -> None:
    """Count what a table of tokens and tags, the format `own`, cannot hold."""
    note = options.losses.note
    if document.text is not None:
        note(f"text around the tokens, which {own} cannot hold", document.id)
    if metadata(document, own):
        note(f"metadata, which {own} cannot hold", document.id)
    if any(key != own for layer in document.layers for key in layer.meta):
        note(f"metadata of layers, which {own} cannot hold", document.id)


def unused(name: str, used: set[str], options: Options) -> str:
    number, free = 1, name
    while free in used:
        number += 1
        free = f"{name}~{number}"
    if free != name:
        options.losses.note("id of two documents, changed", name)
    used.add(free)
    return free


def named_columns(header: list[str], options: Options) -> list[str]:
    """The columns of a table as they are called in it, or as somebody calls them."""
    if options.columns is None:
        return header
    names = [name.strip() for name in options.columns.split(",")]
    if len(names) != len(header):
        raise DataError(
            f"expected {len(names)} columns, as many as were named, found "
            f"{len(header)}; name every one, '-' leaves one out."
        )
    return names


def vote_columns(header: list[str], options: Options) -> list[int]:
    """Columns of votes that somebody names, counted from 0."""
    columns = [] if options.votes is None else list(parse_columns(options.votes))
    if columns and max(columns) > len(header):
        raise DataError(
            f"expected columns of votes among the {len(header)}, found {max(columns)}."
        )
    return [column - 1 for column in columns]


def check_names(names: Sequence[str]) -> None:
    if len(set(names)) != len(names):
        raise DataError(
            f"expected columns with different names, found {', '.join(names)}."
        )


@dataclass
class Survey:
    """What a first look at documents finds, for files that say it before them."""

    form: str
    info: CorpusInfo
    layers: dict[tuple[str, Kind], None] = field(init=False)
    documents: int = 0
    golden: int = 0  # documents with the truth
    names: list[str] = field(default_factory=list)  # of features
    width: int = 1  # columns of tokens
    long: bool = False  # whether a document has several sentences
    scored: bool = False
    source: dict[str, Any] = field(default_factory=dict)  # how a table was written

    def __post_init__(self) -> None:
        people = self.info.annotators
        self.layers = dict.fromkeys((one.name, as_written(one)) for one in people)

    def see(self, document: Document) -> None:
        keys = [(layer.annotator, layer.kind) for layer in document.layers]
        self.layers |= dict.fromkeys(keys)
        self.documents += 1
        self.golden += "gold" in (kind for _, kind in keys)
        self.names = self.names or feature_names(document)
        if document.rows:
            self.width = max(self.width, len(document.rows[0]))
        self.long |= len(document.bounds()) > 1
        self.scored |= any(layer.scores is not None for layer in document.layers)
        self.source = self.source or own(document.meta, self.form)

    @property
    def people(self) -> list[str]:
        votes = (name for name, kind in self.layers if kind not in KNOWN)
        return list(dict.fromkeys(votes))

    @property
    def feature_names(self) -> list[str]:
        more = (f"column{i + 1}" for i in range(len(self.names) + 1, self.width))
        return [*self.names, *more][: self.width - 1]

    def headings(self) -> dict[tuple[str, Kind], str]:
        return {key: heading(*key, self.info) for key in self.layers}


@contextmanager
def kept_twice(
    documents: Iterable[T], look: Callable[[T], Any]
) -> Iterator[Iterator[T]]:
    """Look at every document, and give all of them again; they wait on the disk."""
    with tempfile.SpooledTemporaryFile(max_size=_KEPT) as spool:
        number = 0
        for document in documents:
            number += 1
            look(document)
            pickle.dump(document, spool, pickle.HIGHEST_PROTOCOL)
        spool.seek(0)
        yield (pickle.load(spool) for _ in range(number))
