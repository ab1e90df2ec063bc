"""The simulated reviewer: what it says, in which order, and what the records show."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments.records import Records
from experiments.targets.looks import Doubt, Looks, _Reviewed

RECORDS = Path(__file__).parents[2] / "experiments/records/looks.jsonl"


class Small(_Reviewed):
    """Two sentences with a wrong bound, a missed span and an invented one."""

    scheme = "iob2"

    def __init__(self):
        super().__init__()
        self.gold = [["B-X", "I-X", "O", "B-Y"], ["O", "O", "O", "O"]]
        self.labels = [["B-X", "O", "O", "O"], ["O", "B-X", "O", "O"]]
        self.known = []

    def fit(self):
        pass

    def doubts(self):
        places = [(0, 0, 1), (0, 1, 2), (0, 2, 3), (0, 3, 4), (1, 1, 2), (1, 3, 4)]
        scores, spreads = [0.9, 0.3, 0.5, 0.2, 0.6, 0.1], [0.0, 0.6, 0.2, 0.1, 0.5, 0.3]
        for place, score, spread in zip(places, scores, spreads, strict=True):
            yield Doubt(*place, score, spread, place in ((0, 0, 1), (1, 1, 2)))

    def reveal(self, s, t):
        self.known.append((s, t))


def test_a_look_tells_of_the_place_and_of_true_spans_that_reach_into_it():
    small = Small()
    one, two, three, four, five, six = small.doubts()
    wrong = [small.is_wrong(x) for x in (one, two, three, four, five, six)]
    assert wrong == [True, True, False, True, True, False]
    small.look(one)
    assert small.known == [(0, 0), (0, 1)]
    # What is known is not asked about again, whether it was a place of its own or not.
    left = {x[:3] for x in small.order("entropy", np.random.default_rng(0))}
    assert left == {(0, 2, 3), (0, 3, 4), (1, 1, 2), (1, 3, 4)}


def test_orders():
    rng, small = np.random.default_rng(0), Small()
    by_queue = [x[:2] for x in small.order("tagsift", rng)]
    # Sentence 0 brings what is at least half as doubtful as its first; then the rest.
    assert by_queue == [(0, 0), (0, 2), (1, 1), (0, 1), (0, 3), (1, 3)]
    assert [x.spread for x in small.order("entropy", rng)][:3] == [0.6, 0.5, 0.3]
    assert sorted(x[:2] for x in small.order("spans", rng)) == [(0, 0), (1, 1)]
    assert len(list(small.order("entropy", rng))) == 6


@pytest.mark.skipif(not RECORDS.exists(), reason="no records in a source distribution")
def test_300_decisions_raise_span_f1_at_least_twice_as_much_as_on_random_spans():
    found = Records(RECORDS).load()
    assert {cell.key for cell in Looks(None).cells()} == found.keys()
    rise = {}
    for order in ("tagsift", "entropy", "spans"):
        first, *_, last = found[f"crowd/{order}"]["steps"]
        assert (first["looks"], last["looks"]) == (0, 300)
        rise[order] = last["span_f1"] - first["span_f1"]
    assert rise["tagsift"] >= 2 * max(rise["entropy"], rise["spans"])
