"""Sentences of tokens with their columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from tagsift.errors import InputError

__all__ = ["Row", "as_rows", "check_lengths"]

#: The feature columns of one token: the word first, then part of speech and the like.
Row: TypeAlias = tuple[str, ...]


def as_rows(sentence: Sequence[str | Row]) -> tuple[Row, ...]:
    """Turn a sentence of words or of column tuples into rows."""
    return tuple(
        (entry,) if isinstance(entry, str) else tuple(entry) for entry in sentence
    )


def check_lengths(
    rows: Sequence[Sequence[object]], part: Sequence[Sequence[object]] | None, name: str
) -> None:
    """Refuse entries, if there are any, that are not one per token."""
    if part is None:
        return
    if len(rows) != len(part):
        raise InputError(
            f"expected {name} for every sentence, found {len(rows)} sentences and "
            f"{len(part)} sequences of {name}."
        )
    for number, (sentence, entries) in enumerate(zip(rows, part, strict=True)):
        if len(sentence) != len(entries):
            raise InputError(
                f"sentence {number}: expected {name} for every token, found "
                f"{len(sentence)} tokens and {len(entries)} {name}."
            )
