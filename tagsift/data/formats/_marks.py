"""Chunks as character spans of a running text, as annotation tools keep them.

The text is cut into tokens here, and a token belongs to a span that covers any of its
characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from tagsift.data.rows import Row
from tagsift.data.schemes import Span, tags
from tagsift.errors import InputError

__all__ = [
    "Mark",
    "MarkError",
    "Tokenizer",
    "cut",
    "keys_of",
    "labels_under",
    "mark",
    "marks_of",
    "rows_of",
]

#: How text is cut: by name, or a function from a text to (start, end) pairs.
Tokenizer: TypeAlias = str | Callable[[str], Sequence[tuple[int, int]]]
_PATTERNS = {"words": re.compile(r"\w+|[^\w\s]"), "spaces": re.compile(r"\S+")}


class Mark(NamedTuple):
    """A labelled stretch of characters, end exclusive."""

    start: int
    end: int
    type: str


class MarkError(ValueError):
    """What is wrong with a span; the caller knows where."""


def cut(text: str, tokenize: Tokenizer) -> list[tuple[int, int]]:
    if not isinstance(tokenize, str):
        return list(tokenize(text))
    if tokenize not in _PATTERNS:
        raise InputError(
            f"expected tokenize to be one of {', '.join(_PATTERNS)} or a function, "
            f"found {tokenize!r}."
        )
    return [match.span() for match in _PATTERNS[tokenize].finditer(text)]


def rows_of(text: str, offsets: list[tuple[int, int]]) -> tuple[Row, ...]:
    return tuple((text[start:end],) for start, end in offsets)


def labels_under(
    text: str, marks: list[Mark], offsets: list[tuple[int, int]], scheme: str
) -> list[str]:
    """Tags of tokens under character spans."""
    owner: list[Mark | None] = [None] * len(offsets)
    chunks = []
    for mark in sorted(marks):
        covered = [
            i for i, (a, b) in enumerate(offsets) if a < mark.end and mark.start < b
        ]
        if not (0 <= mark.start < mark.end <= len(text) and covered):
            raise MarkError(
                f"expected a span over at least one token of the {len(text)} "
                f"characters, found {mark.type!r} at {mark.start}:{mark.end}."
            )
        for i in covered:
            other = owner[i]
            if other is not None:
                raise MarkError(
                    f"expected spans that do not overlap, found {other.type!r} at "
                    f"{other.start}:{other.end} and {mark.type!r} at "
                    f"{mark.start}:{mark.end}."
                )
            owner[i] = mark
        if scheme == "plain":
            chunks += [Span(mark.type, i, i + 1) for i in covered]
        else:
            chunks.append(Span(mark.type, covered[0], covered[-1] + 1))
    return tags(chunks, len(offsets), scheme)


def marks_of(tokens: Sequence[str], chunks: Sequence[Span]) -> Iterator[Mark]:
    """Character spans of chunks in the tokens joined by spaces."""
    starts = [0]
    for token in tokens:
        starts.append(starts[-1] + len(token) + 1)
    for chunk in chunks:
        yield Mark(starts[chunk.start], starts[chunk.end] - 1, chunk.type)


def mark(start: object, end: object, type_: object) -> Mark:
    if (
        isinstance(start, int)
        and isinstance(end, int)
        and isinstance(type_, str)
        and type_
        and "|" not in type_
    ):
        return Mark(start, end, type_)
    raise MarkError(
        "expected a span of two numbers and a type without '|', found "
        f"{[start, end, type_]!r}."
    )


def keys_of(record: dict[str, Any]) -> str:
    return f"the keys {sorted(record)}"
