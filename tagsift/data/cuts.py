"""Texts cut into tokens and sentences, and never inside what somebody marked."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeAlias

from tagsift.errors import DataError

__all__ = [
    "SILENT",
    "Bounds",
    "Cut",
    "Tokenizer",
    "around",
    "trimmed",
    "with_starts",
]

#: First character and the one after the last.
Bounds: TypeAlias = tuple[int, int]


class Cut(NamedTuple):
    """A text cut into tokens and sentences."""

    offsets: tuple[Bounds, ...]  # of the tokens
    sentences: tuple[int, ...]  # first token of each sentence, and the number of tokens


#: From a text to its tokens and sentences.
Tokenizer: TypeAlias = Callable[[str], Cut]
#: Neither white space nor part of a token: controls, marks of direction, fillers.
SILENT = "\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff"
_BLANKS = re.compile(rf"[\s{SILENT}]*")
_FILLED = re.compile(rf"[^\s{SILENT}]+")
#: Tokens of the longest marked stretch for which sentences are joined: a model sees a
#: sentence as a whole, and one of a book would take it hours.
_LONGEST = 2_000


def with_starts(offsets: tuple[Bounds, ...], starts: Iterable[int]) -> Cut:
    """Sentences that begin with the first token at or after some characters."""
    firsts = [start for start, _ in offsets]
    begins = {bisect_left(firsts, start) for start in starts}
    return Cut(offsets, tuple(sorted(begins | {0, len(offsets)})))


def trimmed(text: str, start: int, end: int) -> Bounds:
    """A stretch of text without blanks and silent characters at its ends."""
    first = _BLANKS.match(text, start, end).end()  # type: ignore[union-attr]
    while end > first and _BLANKS.fullmatch(text, end - 1, end):
        end -= 1
    return first, end


def around(cut: Cut, text: str, marked: Mapping[Bounds, str]) -> Cut:
    """Make the tokens and sentences of a text fit what is marked in it.

    A token that a marked stretch cuts is cut there, sentences that it reaches over are
    joined, and what it covers beside the tokens becomes some.

    Parameters
    ----------
    cut : Cut
        The tokens and sentences that a tokenizer found.
    text : str
        The text.
    marked : mapping from (start, end) to str
        Stretches of the text, and who marked them, for messages.
    """
    inside = {trimmed(text, a, b): (a, b) for a, b in marked if 0 <= a < b <= len(text)}
    wanted = sorted(bounds for bounds in inside if bounds[0] < bounds[1])
    if not wanted:
        return cut
    offsets = _cut_at(_covering(cut.offsets, text, wanted), text, wanted)
    firsts = [start for start, _ in offsets]
    starts = [cut.offsets[k][0] for k in cut.sentences[1:-1]]
    joined: set[int] = set()
    for a, b in wanted:
        over = starts[bisect_right(starts, a) : bisect_left(starts, b)]
        size = bisect_left(firsts, b) - bisect_left(firsts, a)
        if over and size > _LONGEST:
            first, last = inside[a, b]
            raise DataError(
                f"{marked[first, last]}, {first}:{last}: expected a span of at most "
                f"{_LONGEST:,} tokens where it reaches over the end of a sentence, "
                f"found one of {size:,}; say --sentences none (in Python sentences=), "
                "or leave it out."
            )
        joined.update(over)
    return with_starts(offsets, (start for start in starts if start not in joined))


def _covering(
    offsets: tuple[Bounds, ...], text: str, wanted: Iterable[Bounds]
) -> tuple[Bounds, ...]:
    """The tokens, and more where a marked stretch begins or ends outside of them."""
    ends = [end for _, end in offsets]
    more: set[Bounds] = set()
    for at in {at for a, b in wanted for at in (a, b - 1)}:
        k = bisect_right(ends, at)
        if k < len(offsets) and offsets[k][0] <= at:
            continue
        gap = ends[k - 1] if k else 0, offsets[k][0] if k < len(offsets) else len(text)
        found = (match.span() for match in _FILLED.finditer(text, *gap))
        more.update(one for one in found if one[0] <= at < one[1])
    return tuple(sorted({*offsets, *more})) if more else offsets


def _cut_at(
    offsets: tuple[Bounds, ...], text: str, wanted: Iterable[Bounds]
) -> tuple[Bounds, ...]:
    """The tokens, cut where a marked stretch begins or ends inside of one."""
    firsts = [start for start, _ in offsets]
    parts: dict[int, list[int]] = {}  # token → where it is cut
    for edge in sorted({edge for bounds in wanted for edge in bounds}):
        k = bisect_left(firsts, edge) - 1
        if k >= 0 and edge < offsets[k][1]:
            parts.setdefault(k, [firsts[k]]).append(edge)
    if not parts:
        return offsets
    found: list[Bounds] = []
    for k, (start, end) in enumerate(offsets):
        edges = [*parts.get(k, [start]), end]
        pieces = zip(edges, edges[1:], strict=False)
        found += pieces if len(edges) == 2 else (trimmed(text, *one) for one in pieces)
    return tuple((a, b) for a, b in found if a < b)
