"""Our own JSON lines, which hold everything that a document and its corpus have.

One document a line: ``{"id": "7", "text": "Ann left.", "tokens": ["Ann", "left", "."],
"offsets": [[0, 3], [4, 8], [8, 9]], "sentences": [0, 3], "layers": [{"annotator":
"eve", "kind": "person", "spans": [{"start": 0, "end": 3, "label": "PER"}]}]}``.
Text or tokens must be there, the rest may be left out (`tagsift.io.formats._schema`). A
token may be a list of columns instead of a word. A layer has ``spans`` or ``tags`` (one
per token: a label, a list of candidates, or null) with their ``scheme``. Candidate sets
may also stand beside the tokens, ``{"tokens": ["the", "lead"], "candidates": [["B-NP"],
["I-NP", "O"]]}``, with ``"gold"`` for the truth. Other keys are kept. A first line says
what is true of all documents: ``{"corpus": {"annotators": [{"name": "eve", "kind":
"person"}], "labels": ["B-PER", "O"], "scheme": "iob2"}}``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from tagsift.data.documents import Document
from tagsift.io.column_file import PathName
from tagsift.io.formats._corpus import EVERYTHING
from tagsift.io.formats._format import Format, Options
from tagsift.io.formats._json import first_record, iter_records, write_lines
from tagsift.io.formats._schema import DOCUMENT, document_of, record_of
from tagsift.io.formats._spans import note_words

__all__ = ["FORMAT"]


def _read_jsonl(path: PathName, options: Options) -> Iterator[Document]:
    number = 0
    for place, record in iter_records(path):
        if set(record) == {"corpus"}:
            options.info.add(place.need(record, "corpus", dict), place.at("corpus"))
            continue
        number += 1
        who = options.annotator or "candidates"
        document = document_of(record, place, str(number), who)
        yield note_words(document, options.losses)


def _write_jsonl(
    path: PathName, documents: Iterable[Document], options: Options
) -> None:
    lead = [{"corpus": options.info.record()}] if options.info else []
    write_lines(path, chain(lead, map(record_of, documents)))


def _tells(head: str) -> bool:
    keys = set(first_record(head))
    if keys == {"corpus"} or "layers" in keys or {"tokens", "candidates"} <= keys:
        return True
    return bool({"text", "tokens"} & keys) and keys <= DOCUMENT.keys()


FORMAT = Format(
    "jsonl",
    "JSON lines of documents or of candidate sets",
    _read_jsonl,
    _write_jsonl,
    endings=(".jsonl", ".ndjson"),
    tells=_tells,
    keeps=lambda path, options: EVERYTHING,
)
