"""How often features occur: counts of parts of a corpus, and their sum.

The features that a corpus has are known when the counts of its parts have been added
up. A part counts in terms of the values that it has seen itself; the sum puts the
values of all parts in order and renumbers the keys of the features.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from tagsift.errors import InputError
from tagsift.features.indicators import Columns, Indicators, join_codes
from tagsift.features.templates import POSITIONAL, Template
from tagsift.typing import FloatArray, IntArray

__all__ = ["FeatureCounts", "IndicatorCounts"]

#: Parts that are merged at a time.
_PARTS = 16


@dataclass(frozen=True)
class IndicatorCounts:
    """The features of templates in parts of a corpus, and how often each occurs."""

    parts: tuple[tuple[Indicators, tuple[IntArray, ...]], ...]

    @classmethod
    def of(
        cls, columns: Columns, offsets: IntArray, templates: Sequence[Template]
    ) -> Self:
        draft = Indicators.draft(columns, templates)
        rows = draft.token_keys(columns, offsets)
        counted = [np.unique(row[row >= 0], return_counts=True) for row in rows]
        keys, counts = zip(*counted, strict=True)
        whole = Indicators(draft.templates, draft.vocabularies, keys)
        return cls(((whole, counts),))

    def __add__(self, other: IndicatorCounts) -> IndicatorCounts:
        parts = self.parts + other.parts
        return type(self)(parts if len(parts) < _PARTS else (_merged(parts),))

    def keep(self, least: int) -> Indicators:
        """The features that occur at least so often, and the values they consist of."""
        merged, counts = _merged(self.parts)
        if least <= 1:
            return merged
        pairs = zip(merged.keys, counts, strict=True)
        frequent = Indicators(
            merged.templates, merged.vocabularies, [k[n >= least] for k, n in pairs]
        )
        used = {
            name: np.zeros(len(v), bool) for name, v in frequent.vocabularies.items()
        }
        for template, keys in zip(frequent.templates, frequent.keys, strict=True):
            codes = np.unravel_index(keys, frequent.sizes(template))
            for (name, _), code in zip(template.parts, codes, strict=True):
                if name not in POSITIONAL:
                    used[name][code] = True
        vocabularies = {
            name: tuple(np.array(values, dtype=object)[used[name]])
            for name, values in frequent.vocabularies.items()
        }
        draft = Indicators(frequent.templates, vocabularies, frequent.keys)
        return Indicators(draft.templates, vocabularies, _renumbered(frequent, draft))


def _merged(
    parts: Sequence[tuple[Indicators, tuple[IntArray, ...]]],
) -> tuple[Indicators, tuple[IntArray, ...]]:
    """The features of all parts together, and their total counts."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0][0]
    if any(one.templates != first.templates for one, _ in parts):
        raise InputError(
            "the sentences have different numbers of columns; every token needs the "
            "same number."
        )
    vocabularies = {
        name: tuple(sorted(set().union(*(p.vocabularies[name] for p, _ in parts))))
        for name in first.vocabularies
    }
    draft = Indicators(first.templates, vocabularies, first.keys)
    rows = [_renumbered(one, draft) for one, _ in parts]
    keys, counts = [], []
    for number in range(len(first.templates)):
        every = np.concatenate([row[number] for row in rows])
        distinct, which = np.unique(every, return_inverse=True)
        times = np.concatenate([own[number] for _, own in parts])
        total = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(total, which.reshape(-1), times)
        keys.append(distinct)
        counts.append(total)
    return Indicators(first.templates, vocabularies, keys), tuple(counts)


def _renumbered(old: Indicators, new: Indicators) -> list[IntArray]:
    """Keys of the features of `old` in terms of the values of `new`; −1 for lost ones.

    The values of both are in order, so the keys rise as before.
    """
    place = {name: np.zeros(1, dtype=np.int64) for name in POSITIONAL}
    for name, values in old.vocabularies.items():
        at = {value: code for code, value in enumerate(new.vocabularies[name])}
        place[name] = np.array([at.get(value, -1) for value in values], dtype=np.int64)
    renumbered = []
    for template, keys in zip(old.templates, old.keys, strict=True):
        codes = np.unravel_index(keys, old.sizes(template))
        parts = zip(template.parts, codes, strict=True)
        row = [place[name][code] for (name, _), code in parts]
        renumbered.append(join_codes(template, row, new.sizes(template)))
    return renumbered


@dataclass(frozen=True)
class FeatureCounts:
    """What is to be known of a corpus before its features can be computed."""

    kind: str  # what tokens are: "columns", "dict", "array", or "empty"
    n_columns: int = 0  # that features look at
    n_columns_in: int = 0  # of the tokens
    indicators: IndicatorCounts | None = None
    dicts: Counter[str] = field(default_factory=Counter)
    array_width: int = 0
    n_vectors: int = 0
    vectors: FloatArray | None = None  # [D], the sum of the encoder's vectors

    def __add__(self, other: FeatureCounts) -> FeatureCounts:
        if "empty" in (self.kind, other.kind):
            return other if self.kind == "empty" else self
        mine, theirs = (
            (one.kind, one.n_columns_in, one.array_width) for one in (self, other)
        )
        if mine != theirs:
            raise InputError(
                "the tokens of the sentences are of different kinds, or have different "
                "numbers of columns or features; they must be alike throughout."
            )
        return FeatureCounts(
            *(self.kind, self.n_columns, self.n_columns_in),
            _sum(self.indicators, other.indicators),
            self.dicts + other.dicts,
            self.array_width,
            self.n_vectors + other.n_vectors,
            _sum(self.vectors, other.vectors),
        )


def _sum(one: Any, other: Any) -> Any:
    return None if one is None else one + other
