"""What corpora of sentences in columns have in common, whatever their labels are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from tagsift.errors import InputError

__all__ = ["Row", "RowCorpus", "as_rows", "check_lengths"]

#: The feature columns of one token: the word first, then part of speech and the like.
Row: TypeAlias = tuple[str, ...]


class RowCorpus:
    """Base of all corpora: sentences of tokens with their columns.

    A subclass is a dataclass with ``rows``, sentences of rows, and names in
    ``per_sentence`` its fields that hold one entry a sentence.
    """

    per_sentence: ClassVar[tuple[str, ...]] = ("rows",)
    if TYPE_CHECKING:

        @property
        def rows(self) -> list[list[Row]]:
            """Per sentence and token, the columns."""

    @cached_property
    def tokens(self) -> list[list[str]]:
        """Per sentence, the words."""
        return [[row[0] for row in sentence] for sentence in self.rows]

    @cached_property
    def n_tokens(self) -> int:
        """Number of tokens of all sentences."""
        return sum(map(len, self.rows))

    def take(self, indices: Iterable[int]) -> Self:
        """Make a corpus of the sentences with these numbers, in this order."""
        chosen = [int(i) for i in indices]
        parts = {name: getattr(self, name) for name in self.per_sentence}
        return self._replace(
            **{
                name: type(part)(part[i] for i in chosen)
                for name, part in parts.items()
                if part is not None
            }
        )

    def columns(self, k: int) -> Self:
        """Make the same corpus with only the first `k` feature columns."""
        most = min((len(row) for sentence in self.rows for row in sentence), default=k)
        if not 1 <= k <= most:
            raise InputError(
                f"expected a number of columns between 1 and {most}, found {k}."
            )
        return self._with_rows([[r[:k] for r in sentence] for sentence in self.rows])

    def _with_rows(self, rows: list[list[Row]]) -> Self:
        return self._replace(rows=rows)

    def _replace(self, **parts: Any) -> Self:
        changed: Any = replace(self, **parts)  # type: ignore[type-var]
        return changed  # type: ignore[no-any-return]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: slice) -> Self:
        return self.take(range(*key.indices(len(self))))


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
