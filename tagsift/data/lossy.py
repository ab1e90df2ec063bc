"""What did not fit: counted by kind, the first cases listed, an error where asked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tagsift.errors import DataError
from tagsift.visible import count

__all__ = ["Losses"]

#: Cases of one kind that are listed.
_LISTED = 20


@dataclass
class Losses:
    """Gathers what a reader, a view or a writer could not keep.

    `kind` is a sentence part that a count can stand before: "span off the tokens,
    widened to those it touches".
    """

    strict: bool = False  # the first case is an error
    counts: Counter[str] = field(default_factory=Counter)
    cases: dict[str, list[str]] = field(default_factory=dict)

    def note(self, kind: str, where: str, *, lost: bool = True, times: int = 1) -> None:
        """Count a case, or several; `where` names the document and the place.

        What is kept aside and only counts for nothing is not `lost`, and no error.
        """
        if self.strict and lost:
            raise DataError(f"{where}: {kind}; --strict forbids it.")
        self.counts[kind] += times
        listed = self.cases.setdefault(kind, [])
        if len(listed) < _LISTED:
            listed.append(where)

    def lines(self) -> list[str]:
        """One line a kind, with its count and the first case."""
        return [
            f"{count(number, 'time')}: {kind} (first: {self.cases[kind][0]})"
            for kind, number in self.counts.items()
        ]
