"""Spans of many label sequences at once, as arrays.

By the lenient rules of `tagsift.data.schemes`, of which `spans` is the slow twin.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tagsift.data.schemes import opening_transitions, spans, tags
from tagsift.typing import BoolArray, IntArray

__all__ = ["SpanTable", "span_table", "tag_codes", "types_of"]


class SpanTable(NamedTuple):
    """Spans in the order of the stacked labels."""

    start: IntArray  # [P]  their first label
    end: IntArray  # [P]  the one after their last
    type: IntArray  # [P]  place in the types of `types_of`


def types_of(names: Sequence[str], scheme: str) -> tuple[list[str], IntArray]:
    """The types of labels, sorted, and that of every label, −1 where it is outside."""
    single = [spans([name], scheme) for name in names]
    types = sorted({one[0].type for one in single if one})
    place = {name: k for k, name in enumerate(types)}
    of_label = [place[one[0].type] if one else -1 for one in single]
    return types, np.array(of_label, dtype=np.int64)  # [L]


def span_table(
    codes: IntArray, first: BoolArray, names: Sequence[str], scheme: str
) -> SpanTable:
    """Spans of stacked sequences of labels.

    Parameters
    ----------
    codes : ndarray of shape (K,)
        Places of labels in `names`; −1 is outside.
    first : boolean ndarray of shape (K,)
        Where a sequence begins.
    """
    _, of_label = types_of(names, scheme)
    after, at_once = opening_transitions(list(names), scheme)  # [L, L], [L]
    type_ = np.where(codes < 0, -1, of_label[codes])  # [K]
    before = np.concatenate([[-1], codes[:-1]])[: len(codes)]  # [K]
    inside = type_ >= 0  # [K]
    alone = first | (before < 0)  # [K]
    opens = inside & np.where(alone, at_once[codes], after[before, codes])  # [K]
    goes_on = inside & ~opens  # [K]
    start = np.flatnonzero(opens)  # [P]
    ends = np.append(np.flatnonzero(~goes_on), len(codes))  # where nothing goes on
    end = ends[np.searchsorted(ends, start, side="right")]  # [P]
    return SpanTable(start, end, type_[start])


def tag_codes(
    table: SpanTable, first: BoolArray, types: Sequence[str], scheme: str
) -> tuple[IntArray, list[str]]:
    """Labels of stacked tokens that have the given spans, and what they are called.

    `first` says where sentences begin, [N]; the inverse of `span_table`.
    """
    names: dict[str, int] = {"O": 0}
    forms = np.zeros((len(types), 2, 4), dtype=np.int64)  # [Y, after same, place]
    for k, name in enumerate(types):
        lead = [(name, 0, 1)]
        for same in (0, 1):
            shift = same
            one = tags([*lead[:same], (name, shift, shift + 1)], shift + 1, scheme)
            many = tags([*lead[:same], (name, shift, shift + 3)], shift + 3, scheme)
            for form, tag in enumerate([one[shift], *many[shift:]]):
                forms[k, same, form] = names.setdefault(tag, len(names))
    codes = np.zeros(len(first), dtype=np.int64)  # [N]
    size = table.end - table.start  # [P]
    touches = np.zeros(len(size), dtype=np.int64)  # [P]: a span of its type is before
    touches[1:] = (
        (table.end[:-1] == table.start[1:])
        & (table.type[:-1] == table.type[1:])
        & ~first[table.start[1:]]
    )
    token = np.repeat(table.start - np.concatenate([[0], np.cumsum(size)[:-1]]), size)
    token = token + np.arange(size.sum())  # [Σ]
    which = np.repeat(np.arange(len(size)), size)  # [Σ]
    at_first, at_last = token == table.start[which], token == table.end[which] - 1
    place = np.select(
        [at_first & at_last, at_first, at_last], [0, 1, 3], 2
    )  # [Σ]: alone, first, last, inner
    codes[token] = forms[table.type[which], touches[which], place]
    return codes, list(names)
