"""What corpora of sentences in columns have in common, whatever their labels are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from tagsift.data.sentence import Row, check_columns

__all__ = ["RowCorpus"]


@dataclass(frozen=True, repr=False)
class RowCorpus:
    """Sentences of tokens with their columns.

    Parameters
    ----------
    rows : list of lists of tuples of str
        Sentences of tokens with their columns.
    """

    rows: list[list[Row]]

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
        return replace(self, rows=[self.rows[int(i)] for i in indices])

    def columns(self, k: int) -> Self:
        """Make the same corpus with only the first `k` feature columns."""
        check_columns(k, self.rows)
        return replace(self, rows=[[r[:k] for r in sentence] for sentence in self.rows])

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: slice) -> Self:
        return self.take(range(*key.indices(len(self))))
