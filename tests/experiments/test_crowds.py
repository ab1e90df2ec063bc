"""Votes of simulated crowds: the same for all methods, and what the tables say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.targets.crowds import CROWDS, METHODS, CrowdCell, Crowds

CELL = CrowdCell("names", "two and two dictionaries", 12, 0, "vote-tagger")


def test_all_methods_get_the_same_votes():
    crowds = Crowds(None)
    votes = crowds._votes(CELL)
    assert crowds._votes(replace(CELL, method="mace")) == votes
    assert crowds._votes(replace(CELL, draw=1)) != votes
    assert [one.name for one in votes.annotators if one.abstains] == ["d0", "d1"]
    assert len(votes) == 12 and len(votes.columns) == 1


@pytest.mark.parametrize("method", METHODS)
def test_a_cell(method: str):
    found = Crowds(None).run(replace(CELL, method=method))
    assert 0.0 < found["scores"]["span_f1"] <= 1.0
    assert {"nll", "ece"} <= found["scores"].keys()


def test_leads_are_over_the_better_of_two():
    crowds, f1 = Crowds(None), dict(zip(METHODS, (0.5, 0.7, 0.9, 0.8), strict=True))
    found = {
        cell.key: {"scores": {"span_f1": f1[cell.method], "nll": 0.2, "ece": 0.01}}
        for cell in crowds.cells()
        if cell.draw == 0 and cell.sentences == 50 and cell.corpus == "names"
    }
    by_crowd, by_size = crowds.tables(found)
    assert len(by_crowd.rows) == len(CROWDS) + 1
    last = dict(zip((c.name for c in by_size.columns), by_size.rows[-1], strict=True))
    assert last["lead"] == pytest.approx(0.1) and last["ahead"] == "7 of 7"
