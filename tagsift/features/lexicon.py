"""Integer codes for the attributes of the entries of one column.

Attributes are computed once for every distinct entry (word type) and then carried by
index arithmetic; the millions of strings that a loop over tokens would build never
exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from tagsift.features.templates import attribute
from tagsift.typing import IntArray

__all__ = ["Lexicon"]


class Lexicon:
    """Codes of attribute values, fixed in training."""

    def __init__(self, vocabularies: Mapping[str, Sequence[str]]) -> None:
        self.vocabularies = {name: tuple(v) for name, v in vocabularies.items()}
        self._codes = {
            name: {value: code for code, value in enumerate(values)}
            for name, values in self.vocabularies.items()
        }
        self._attributes = [attribute(name) for name in self.vocabularies]
        known: tuple[str, ...] = ()
        for name in ("word", "pos"):
            known = self.vocabularies.get(name, known)
        self._rows = {entry: row for row, entry in enumerate(known)}
        self._table = self._compute(known)  # [known entries, attributes]

    @classmethod
    def learn(cls, entries: Iterable[str], names: Iterable[str]) -> Self:
        """Collect the values of the attributes `names` over all entries."""
        types = sorted(set(entries))
        vocabularies: dict[str, list[str]] = {}
        for name in names:
            values = set(map(attribute(name).value, types))
            vocabularies[name] = sorted(value for value in values if value is not None)
        return cls(vocabularies)

    def encode(self, entries: Sequence[str]) -> dict[str, IntArray]:
        """Codes of every attribute of every entry; −1 for no or an unknown value."""
        fresh: dict[str, int] = {}
        rows = self._rows
        places = np.empty(len(entries), dtype=np.int64)  # [N]
        for n, entry in enumerate(entries):
            row = rows.get(entry)
            if row is None:
                row = len(rows) + fresh.setdefault(entry, len(fresh))
            places[n] = row
        table = self._table
        if fresh:
            table = np.concatenate([table, self._compute(fresh)])  # [entries, attrs]
        codes = table.T[:, places]  # [attributes, N]
        return dict(zip(self.vocabularies, codes, strict=True))

    def _compute(self, entries: Iterable[str]) -> npt.NDArray[np.int64]:
        """Codes of distinct entries, [entries, attributes]."""
        entries = list(entries)
        table = np.full((len(entries), len(self._attributes)), -1, dtype=np.int64)
        for a, known in enumerate(self._attributes):
            find = self._codes[known.name]
            value = known.value
            table[:, a] = [_code(find, value(entry)) for entry in entries]
        return table  # [entries, attributes]


def _code(find: dict[str, int], value: str | None) -> int:
    return -1 if value is None else find.get(value, -1)
