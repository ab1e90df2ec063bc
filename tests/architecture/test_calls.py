"""From the command line to the mathematics it is not far."""

from __future__ import annotations

from pathlib import Path

import tagsift
from benchmarks.calls import calls_of_clean
from tagsift.data import simulate_votes
from tagsift.io import write_columns


def test_a_reader_of_clean_is_soon_at_the_model(tmp_path: Path):
    text = tagsift.bundled("ner").with_columns(1)[:20]
    votes = tmp_path / "votes.tsv"
    write_columns(votes, simulate_votes(text, random_state=0), gold=False)
    options = ["--votes", "2:6", "--set", "rounds=1", "--set", "folds=2"]
    calls = calls_of_clean(votes, *options)
    assert len(calls.steps) <= 45, list(calls.steps.values())
    assert len(calls.deepest) <= 14, calls.deepest
