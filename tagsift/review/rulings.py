"""What decisions say of a sentence, laid over the labels that were found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tagsift.data import Span, tags

__all__ = ["Ruling", "exact_tags", "laid_over", "touching"]


@dataclass(frozen=True)
class Ruling:
    """What one decision says: these spans, and no others, lie in these tokens."""

    start: int
    end: int  # exclusive
    spans: tuple[Span, ...]


def laid_over(found: Sequence[Span], rulings: Iterable[Ruling]) -> list[Span]:
    """Spans of a sentence under rulings, in order; a later one counts more.

    Spans are cut where a ruling begins or ends. What is left of one goes as well where
    it would only prolong what was ruled: a span that ends here does not go on.
    """
    current = list(found)
    for ruling in rulings:
        kept = list(ruling.spans)
        for one in current:
            left = Span(one.type, one.start, min(one.end, ruling.start))
            right = Span(one.type, max(one.start, ruling.end), one.end)
            for part in (left, right):
                if part == one or (
                    part.start < part.end
                    and not any(
                        same.type == part.type
                        and (same.start == part.end or same.end == part.start)
                        for same in ruling.spans
                    )
                ):
                    kept.append(part)
        current = sorted(kept, key=lambda one: one.start)
    return current


def exact_tags(
    current: Sequence[Span], rulings: Iterable[Ruling], length: int, scheme: str
) -> list[str | None]:
    """Labels of the tokens that were ruled on, None elsewhere."""
    names = tags(current, length, scheme)
    known: list[str | None] = [None] * length
    for ruling in rulings:
        known[ruling.start : ruling.end] = names[ruling.start : ruling.end]
    return known


def touching(current: Iterable[Span], start: int, end: int) -> list[Span]:
    """The spans that have a token between two places."""
    return [one for one in current if one.start < end and start < one.end]
