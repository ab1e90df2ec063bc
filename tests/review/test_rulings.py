"""Decisions over labels, against a slow twin that paints tokens."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.data import Span, spans, tags
from tagsift.review.rulings import Ruling, exact_tags, laid_over, touching
from tests.review.conftest import spans_in

LENGTH = 8


@pytest.mark.parametrize(
    ("found", "region", "ruled", "expected"),
    [
        ("A:2-4", (2, 4), "", ""),
        ("A:2-4", (2, 4), "B:2-4", "B:2-4"),
        # What sticks out stays, on the left and on the right.
        ("A:0-4", (2, 4), "B:2-4", "A:0-2 B:2-4"),
        ("A:2-6", (1, 4), "B:1-4", "B:1-4 A:4-6"),
        ("A:0-6", (2, 4), "", "A:0-2 A:4-6"),
        # A span that was ruled to end here does not go on.
        ("A:2-6", (2, 4), "A:2-4", "A:2-4"),
        ("A:0-4", (2, 4), "A:2-4", "A:2-4"),
        # A neighbour of the same type is another span.
        ("A:4-6", (2, 4), "A:2-4", "A:2-4 A:4-6"),
        ("A:0-1", (2, 5), "B:2-3 A:4-5", "A:0-1 B:2-3 A:4-5"),
    ],
)
def test_one_ruling(found, region, ruled, expected):
    ruling = Ruling(*region, tuple(spans_in(ruled)))
    assert laid_over(spans_in(found), [ruling]) == spans_in(expected)


def test_many_rulings_at_random():
    """Inside, the last ruling holds; outside, no token changes but to ``O``."""
    rng = np.random.default_rng(3)
    for _ in range(300):
        names = rng.choice(["B-A", "I-A", "B-B", "I-B", "O"], size=LENGTH).tolist()
        found = spans(names, "iob2")
        rulings = []
        for _ in range(rng.integers(1, 4)):
            lo, hi = sorted(rng.choice(LENGTH + 1, size=2, replace=False).tolist())
            inner = rng.choice(["B-A", "I-A", "B-B", "I-B", "O"], size=hi - lo)
            ruled = [Span(k, a + lo, b + lo) for k, a, b in spans(list(inner), "iob2")]
            rulings.append(Ruling(lo, hi, tuple(ruled)))
        made = laid_over(found, rulings)
        assert all(a.end <= b.start for a, b in zip(made, made[1:], strict=False))
        last = rulings[-1]
        inside = [x for x in made if x.start >= last.start and x.end <= last.end]
        assert inside == list(last.spans)
        assert touching(made, last.start, last.end) == inside
        types = np.full(LENGTH, "O")
        for one in found:
            types[one.start : one.end] = one.type
        for ruling in rulings:
            types[ruling.start : ruling.end] = "O"
            for one in ruling.spans:
                types[one.start : one.end] = one.type
        painted = np.full(LENGTH, "O")
        for one in made:
            painted[one.start : one.end] = one.type
        assert ((painted == types) | (painted == "O")).all()
        known = exact_tags(made, rulings, LENGTH, "iob2")
        ruled_on = {t for r in rulings for t in range(r.start, r.end)}
        whole = tags(made, LENGTH, "iob2")
        assert known == [whole[t] if t in ruled_on else None for t in range(LENGTH)]
