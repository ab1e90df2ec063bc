"""Exchange formats, one file each; a line of `FORMATS` makes one known everywhere.

A reader yields documents, a writer takes them. What a source has that a document does
not (ids of annotations, times, colours) is kept under the name of the format, as
``meta["label-studio"]`` of the document, the layer or the span, and written back by the
same format under the same keys; the user's own data stand beside it, in the document's
`meta`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tagsift.io.formats import (
    argilla,
    brat,
    conll,
    conllu,
    csv,
    doccano,
    hf,
    jsonl,
    label_studio,
    llm,
    prodigy,
    spacy,
    spans_csv,
    text,
    votes_csv,
    wrench,
)
from tagsift.io.formats._format import (
    CorpusInfo,
    Format,
    Options,
    guarded,
    open_source,
    open_target,
)
from tagsift.io.formats._json import first_record
from tagsift.io.formats._span_cells import holds_spans

__all__ = [
    "FORMATS",
    "CorpusInfo",
    "Format",
    "Options",
    "first_record",
    "holds_spans",
    "open_source",
    "open_target",
]

#: Name of a format → how it is read and written.
FORMATS: dict[str, Format] = {
    module.FORMAT.name: guarded(module.FORMAT)
    for module in (
        conll,
        jsonl,
        csv,
        conllu,
        label_studio,
        doccano,
        prodigy,
        argilla,
        brat,
        spacy,
        hf,
        wrench,
        votes_csv,
        spans_csv,
        llm,
        text,
    )
}


def __getattr__(name: str) -> Any:
    """What decides between formats stands above them."""
    homes = {
        "detect": ("tagsift.io.format_choice", "format_of"),
        "format_to_write": ("tagsift.io.format_choice", "format_to_write"),
        "read_documents": ("tagsift.io.reading", "iter_documents"),
        "write_documents": ("tagsift.io.writing", "write_documents"),
    }
    if name not in homes:
        raise AttributeError(name)
    home, own = homes[name]
    return getattr(import_module(home), own)
