"""What a review gives: the checked corpus in any format, decisions, predictions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, TypeAlias
from zipfile import ZipFile

import numpy as np

from tagsift.data import Document, Layer
from tagsift.data.exchange import documents_of
from tagsift.data.span_alignment import with_labels
from tagsift.errors import TagsiftError
from tagsift.io import FORMATS, Format, write
from tagsift.review.corpus_view import CorpusView
from tagsift.review.http_errors import Refusal
from tagsift.review.ledger import Ledger
from tagsift.review.store import Decision

__all__ = [
    "Export",
    "Layers",
    "checked_corpus",
    "checked_documents",
    "decision_lines",
    "formats",
]

Layers: TypeAlias = Literal["labels", "predictions", "votes"]
#: Names of layers: all labels, as a model's, and those that somebody has decided on.
_LABELS, _MODEL, _EXACT = "labels", "tagsift", "exact"


@dataclass(frozen=True)
class Export:
    """A file to save."""

    name: str
    content: bytes
    losses: tuple[str, ...] = ()  # what its format cannot hold


def formats() -> list[dict[str, str]]:
    """The formats that can be written, and how a file of each is called."""
    return [
        {"name": one.name, "title": one.title, "file": _file(one)}
        for one in FORMATS.values()
        if one.write is not None
    ]


def _file(form: Format) -> str:
    return f"checked{(*form.endings, '.zip')[0]}"  # a folder is packed


def checked_documents(ledger: Ledger, layers: Layers = "labels") -> list[Document]:
    """Documents with the labels as they stand now.

    They are the last layer (``labels``), also as those of a model with its confidences
    (``predictions``); ``votes`` are what annotators said and, as exact labels, what was
    decided, for a fit to learn from.
    """
    corpus = ledger.view.corpus
    documents = documents_of(corpus)
    if layers == "votes":
        return list(_with_exact(documents, ledger))
    sure = None if layers == "labels" else _confidences(ledger)
    done = with_labels(
        documents,
        ledger.labels(),
        corpus.scheme,
        confidences=sure,
        annotator=_MODEL,
    )
    return list(done) if layers != "labels" else list(map(_of_people, done))


def checked_corpus(ledger: Ledger, name: str, layers: Layers = "labels") -> Export:
    """The corpus in a format, as one file; a folder becomes an archive."""
    form = FORMATS.get(name)
    if form is None or form.write is None:
        raise Refusal("bad", "expected a format that can be written.")
    if layers != "votes" and not ledger.latest.revision:
        raise Refusal(
            "early",
            "no fit is done yet, so there are no labels to save but the majority of "
            "the votes; the page says when there are. Decisions can be saved now.",
        )
    documents = checked_documents(ledger, layers)
    if layers != "votes" and name != "label-studio":  # which takes the last by itself
        documents = [replace(one, layers=one.layers[-1:]) for one in documents]
    with TemporaryDirectory() as folder:
        path = Path(folder) / _file(form).removesuffix(".zip")
        try:
            losses = write(documents, path, name, added=layers != "votes")
        except TagsiftError as error:
            raise Refusal("bad", f"{name} cannot hold this: {error}") from error
        content = _packed(path) if path.is_dir() else path.read_bytes()
    return Export(_file(form), content, tuple(losses.lines()))


def decision_lines(decisions: Iterable[Decision], view: CorpusView) -> Export:
    """Everything that was ever decided, one JSON object a line."""
    lines = []
    for one in decisions:
        told = one.as_dict()
        del told["key"]
        words = view.words[one.sentence][one.start : one.end]
        told |= {
            "time": datetime.fromtimestamp(one.time, UTC).isoformat(),
            "document": view.places[one.sentence].document,
            "words": words,
        }
        lines.append(json.dumps(told) + "\n")
    return Export("decisions.jsonl", "".join(lines).encode())


def _with_exact(documents: Iterable[Document], ledger: Ledger) -> Iterator[Document]:
    """Documents with what was decided as one more layer, where anything was."""
    exact, s = ledger.exact(), 0
    for document in documents:
        known: list[str | None] = []
        for a, b in document.bounds():
            known += exact.get(s, [None] * (b - a))
            s += 1
        if any(known):
            scheme = ledger.view.scheme
            layer = Layer(_EXACT, "exact", tags=tuple(known), scheme=scheme)
            document = document.with_layers([layer])
        yield document


def _confidences(ledger: Ledger) -> list[list[float]]:
    """How sure every label is: those that were decided fully."""
    cleaned = ledger.latest.cleaned
    column = {name: k for k, name in enumerate(cleaned.classes)}
    names = [name for row in ledger.labels() for name in row]
    chosen = np.array([column[name] for name in names])  # [N]
    sure = cleaned.confidences[np.arange(len(chosen)), chosen]  # [N]
    sure[ledger.marks.checked] = 1.0
    return [part.tolist() for part in np.split(sure, ledger.view.offsets[1:-1])]


def _of_people(document: Document) -> Document:
    """A document whose last layer is the labels, whoever found them."""
    *others, found = document.layers
    layer = replace(found, annotator=_LABELS, kind="person")
    return replace(document, layers=(*others, layer))


def _packed(folder: Path) -> bytes:
    made = BytesIO()
    with ZipFile(made, "w") as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder))
    return made.getvalue()
