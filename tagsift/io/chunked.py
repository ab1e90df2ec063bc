"""A column file of candidates in chunks: corpora that share labels and scheme."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tagsift.data.corpus import Corpus
from tagsift.data.label_set import LabelSet, as_label_set
from tagsift.data.rows import Row
from tagsift.data.schemes import scheme_of_pairs
from tagsift.errors import DataError
from tagsift.io.column_file import STANDARD, Part, PathName, parts_of
from tagsift.io.column_reader import CellTable
from tagsift.io.column_roles import Columns
from tagsift.io.columns import LabelCodes

__all__ = ["Chunks", "read_chunks"]


@dataclass(frozen=True)
class Chunks:
    """Corpora of some sentences of a file each, read whenever one iterates."""

    path: PathName
    parts: tuple[Part, ...]
    label_set: LabelSet | None = None  # all labels, once they are known
    scheme: str = "auto"
    options: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[Corpus]:
        for number in range(len(self)):
            rows, candidates = self._read(number)
            yield Corpus.from_lists(
                rows, candidates, label_set=self.label_set, scheme=self.scheme
            )

    def _read(
        self, number: int
    ) -> tuple[list[list[Row]], list[list[frozenset[str] | None]]]:
        """Rows and candidates of the sentences of a chunk; None for any label."""
        options = {**self.options, "scheme": self.scheme}
        options["header"] = options["header"] and not number
        codes = LabelCodes(self.label_set, self.scheme)
        part = self.parts[number]
        table = CellTable(self.path, "label", codes.candidates, part=part, **options)
        entries = list(table)
        met = [frozenset([k]) if isinstance(k, str) else k for k in codes.met]
        sets = (*met, None)  # the last stands at −1
        candidates = [[sets[code] for code in entry.labels] for entry in entries]
        return [list(entry.rows) for entry in entries], candidates

    def with_facts(self) -> Chunks:
        """The same, with the labels of the whole file, and its scheme."""
        names: set[str] = set()
        pairs: Counter[tuple[str | None, str]] = Counter()
        for number in range(len(self)):
            for sentence in self._read(number)[1]:
                names.update(*(k for k in sentence if k is not None))
                if all(k is not None and len(k) == 1 for k in sentence):
                    exact = [name for k in sentence if k is not None for name in k]
                    pairs.update(zip([None, *exact], exact, strict=False))
        if self.label_set is None and not names:
            raise DataError(
                "expected labels among the candidates, found '?' alone; give labels= "
                "with the whole label set.",
                self.path,
            )
        label_set = self.label_set or LabelSet(tuple(sorted(names)))
        scheme = self.scheme
        if scheme == "auto":
            scheme = scheme_of_pairs(pairs, label_set.names)
        return replace(self, label_set=label_set, scheme=scheme)


def read_chunks(
    path: PathName,
    *,
    n_tokens: int = 200_000,
    labels: LabelSet | Iterable[str] | Mapping[str, str] | None = None,
    scheme: str = "auto",
    comments: bool = False,
    columns: Columns | None = None,
    header: bool = False,
    features_hold_labels: bool = False,
) -> Chunks:
    """Read a column file with candidate sets chunk by chunk.

    Parameters
    ----------
    path : path-like
        The file, not packed; candidates stand in its last column.
    n_tokens : int
        Tokens of a chunk, about.
    labels, scheme, comments, columns, header, features_hold_labels
        As in `read`.

    Returns
    -------
    Chunks
        Corpora that share label set and scheme, which one reading of the whole file
        has found. They are given as `X` to the `fit` of an estimator that has an
        engine.
    """
    if str(path) == STANDARD or Path(path).suffix == ".gz":
        raise DataError(
            "expected a plain file, to be read in chunks, found a packed one or a "
            "pipe; unpack it first.",
            path,
        )
    rename = labels if isinstance(labels, Mapping) else None
    options: dict[str, Any] = {"comments": comments, "columns": columns}
    options |= {"header": header, "rename": rename}
    options |= {"features_hold_labels": features_hold_labels}
    parts = tuple(parts_of(path, n_tokens))
    if not parts:
        raise DataError("expected at least one token, found an empty file.", path)
    label_set = None if rename else as_label_set(labels)
    where = Path(path).absolute()
    return Chunks(where, parts, label_set, scheme, options).with_facts()
