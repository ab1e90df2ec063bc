"""What formats of tokens and tags have in common: cells, headings, and what is lost."""

from __future__ import annotations

import math
import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from tagsift.data.documents import Document, Kind, Layer, Tag
from tagsift.data.label_set import ANY, check_label
from tagsift.data.span_alignment import OnTokens, layer_tags, once
from tagsift.errors import DataError, InputError
from tagsift.io.candidates import parse_candidates
from tagsift.io.column_file import PathName
from tagsift.io.formats._format import Options

__all__ = [
    "CONFIDENCE",
    "LABELS",
    "cell_of",
    "check_words",
    "cut",
    "heading",
    "kept_twice",
    "layer_of",
    "metadata",
    "named_by_default",
    "note_losses",
    "on_tokens",
    "score_of",
    "tag_of",
    "tags_of",
    "unused",
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
    """Write a tag as a cell."""
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


def heading(layer: Layer) -> str:
    """Name of the column of a layer, from which its annotator and kind can be read."""
    if layer.kind == "person" and layer.annotator == LABELS:
        return "label"
    prefix = next(name for name, kind in _PREFIXES.items() if kind == layer.kind)
    same = layer.annotator == layer.kind  # a truth called by its kind
    return prefix if same and prefix == layer.kind else f"{prefix}:{layer.annotator}"


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
    if prefix in ("gold", "exact") and not colon:
        return heading, _PREFIXES[heading]
    return (name, _PREFIXES[prefix]) if name and prefix in _PREFIXES else None


def named_by_default(layer: Layer) -> bool:
    """Whether a reader would give a layer its name and kind without being told."""
    return layer.kind == "person" and layer.annotator in _UNNAMED


def on_tokens(options: Options) -> OnTokens:
    """How spans become tags."""
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
    """A name that no other document has."""
    number, found = 1, name
    while found in used:
        number += 1
        found = f"{name}~{number}"
    if found != name:
        options.losses.note("id of two documents, changed", name)
    used.add(found)
    return found


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
