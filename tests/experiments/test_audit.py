"""What is claimed of audits, by the committed records; a small simulation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments.records import Records
from experiments.targets.audit import (
    LOOKS,
    SOURCES,
    TAUGHT,
    Audit,
    AuditCell,
    _rows,
    saved,
    simulated,
    too_low,
)
from tagsift.cleaned.auditing.drawing import drawn_order
from tagsift.cleaned.auditing.shares import Tally

RECORDS = Path(__file__).parents[2] / "experiments/records/audit.jsonl"
needs_records = pytest.mark.skipif(
    not RECORDS.exists(), reason="the records are not part of a source distribution"
)


@pytest.fixture(scope="module")
def done():
    return dict(Audit(None).finished(Records(RECORDS).load()))


@needs_records
def test_no_statement_covers_significantly_too_little(done):
    drawn = {cell: one for cell, one in done.items() if cell.model != TAUGHT}
    rows = list(_rows(drawn))
    assert len(drawn) == len(SOURCES) * 5 * len(LOOKS)
    assert not any(too_low(rows))
    assert any(too_low([*rows, (rows[0][0], "errors", "high_always", 0.90)]))


@needs_records
@pytest.mark.parametrize("share", ["errors", "span_f1"])
def test_a_model_saves_looks_and_a_wrong_one_costs_few(done, share):
    for corpus in SOURCES:
        assert saved(done, corpus, "fitted", share) > 0.05
        for model in ("shuffled", "sure"):
            assert saved(done, corpus, model, share) > -0.1


@needs_records
def test_looks_mend_confidences(done):
    for cell, record in done.items():
        if cell.model == TAUGHT:
            scores = record["scores"]
            assert scores["nll"] < min(scores["nll_before"], scores["nll_counting"])
            assert scores["ece"] <= scores["ece_before"] + 0.003
            assert scores["ece"] <= 0.02 or cell.corpus.startswith("mit")


def test_a_simulation_counts_what_was_missed():
    rng = np.random.default_rng(0)
    size = rng.integers(2, 9, size=80).astype(float)
    errors = rng.binomial(size.astype(int), 0.3).astype(float)
    weights = np.ones(80)
    picks = np.array([drawn_order(weights, rng)[:40] for _ in range(50)])
    scores = simulated(Tally(errors, size), None, weights, picks)
    assert scores["truth"] == errors.sum() / size.sum()
    for side in ("high", "low", "both"):
        assert 0.8 <= scores[f"{side}_always"] <= scores[f"{side}_at_end"] <= 1
    assert 0 < scores["half_width"] < 0.5


def test_looks_saved_are_read_off_the_widths():
    def record(width):
        return {"scores": {"errors": {"half_width": width}}}

    done = {}
    for n in LOOKS:  # widths go with the root of the looks; the model halves the looks
        done[AuditCell("crowd", "none", n)] = record(n**-0.5)
        done[AuditCell("crowd", "fitted", n)] = record((2 * n) ** -0.5)
    assert saved(done, "crowd", "fitted", "errors") == pytest.approx(0.5)
