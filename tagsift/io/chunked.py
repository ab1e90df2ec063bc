"""A column file of candidates in pieces, each read when and where it is needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tagsift.data.label_set import LabelSet, as_label_set
from tagsift.data.rows import Row
from tagsift.errors import DataError
from tagsift.io.candidates import CandidateReader
from tagsift.io.column_file import STANDARD, Part, PathName, parts_of
from tagsift.io.column_reader import CellTable
from tagsift.io.column_roles import Columns

__all__ = ["CandidatePiece", "cut_partial"]


@dataclass(frozen=True)
class CandidatePiece:
    """Some sentences of a column file with candidate sets."""

    path: PathName
    part: Part
    labels: LabelSet | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def read(self) -> tuple[list[list[Row]], list[list[frozenset[str] | None]]]:
        """Rows and candidates of the sentences; None for any label."""
        scheme = self.options.get("scheme", "auto")
        reader = CandidateReader(self.path, self.labels, scheme)
        table = CellTable(
            self.path, "label", reader.read, part=self.part, **self.options
        )
        entries = list(table)
        return [list(entry.rows) for entry in entries], [e.labels for e in entries]


def cut_partial(
    path: PathName,
    *,
    n_tokens: int = 200_000,
    labels: LabelSet | Iterable[str] | Mapping[str, str] | None = None,
    scheme: str = "auto",
    comments: bool = False,
    columns: Columns | None = None,
    header: bool = False,
    features_hold_labels: bool = False,
) -> list[CandidatePiece]:
    """Cut a column file with candidate sets into pieces that are read one by one.

    Parameters
    ----------
    path : path-like
        The file, not packed; candidates stand in its last column.
    n_tokens : int
        Tokens of a piece, about.
    labels, scheme, comments, columns, header, features_hold_labels
        As in `read_partial`.

    Returns
    -------
    list of CandidatePiece
        To be given as `X` to the `fit` of an estimator that has an engine, with None as
        `y`. Whoever works on them needs the file under this path.
    """
    if str(path) == STANDARD or Path(path).suffix == ".gz":
        raise DataError(
            "expected a plain file, to be read in pieces, found a packed one or a "
            "pipe; unpack it first.",
            path,
        )
    rename = labels if isinstance(labels, Mapping) else None
    told = {"scheme": scheme, "comments": comments, "columns": columns}
    told |= {"features_hold_labels": features_hold_labels, "rename": rename}
    known = None if rename else as_label_set(labels)
    where = Path(path).absolute()  # workers may be elsewhere
    found = [
        CandidatePiece(where, part, known, told | {"header": header and not number})
        for number, part in enumerate(parts_of(path, n_tokens))
    ]
    if not found:
        raise DataError("expected at least one token, found an empty file.", path)
    return found
