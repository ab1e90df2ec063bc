"""Exchange formats, one file each; a line of `FORMATS` lets the command line read one.

A reader takes a path, and gives candidate sets (`PartialCorpus`), the votes of
annotators (`VoteCorpus`) or labels (`Corpus`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tagsift.data.columns import PathName
from tagsift.data.formats.doccano import read_doccano, write_doccano
from tagsift.data.formats.jsonl import read_jsonl, write_jsonl
from tagsift.data.formats.label_studio import read_label_studio, write_label_studio
from tagsift.errors import InputError

__all__ = [
    "FORMATS",
    "read_doccano",
    "read_format",
    "read_jsonl",
    "read_label_studio",
    "write_doccano",
    "write_jsonl",
    "write_label_studio",
]

#: Name of a format → what reads a file of it.
FORMATS: dict[str, Callable[..., Any]] = {
    "jsonl": read_jsonl,
    "label-studio": read_label_studio,
    "doccano": read_doccano,
}


def read_format(path: PathName, name: str, **options: Any) -> Any:
    """Read a file of the format called `name`."""
    if name not in FORMATS:
        known = ", ".join(("columns", *FORMATS))
        raise InputError(f"there is no format {name!r}; choose one of {known}.")
    return FORMATS[name](path, **options)
