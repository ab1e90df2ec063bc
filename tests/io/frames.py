"""Documents of data frames, and frames of documents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tagsift.data import Document
from tagsift.io import to_table
from tagsift.io.formats import CorpusInfo, Options
from tagsift.io.tables import table_documents

__all__ = ["from_pandas", "to_pandas"]


def from_pandas(frame: Any, **named: Any) -> list[Document]:
    return list(table_documents(frame, Options(), **named))


def to_pandas(documents: Iterable[Document], rows: str = "documents") -> Any:
    return to_table("pandas", documents, CorpusInfo(), rows=rows)
