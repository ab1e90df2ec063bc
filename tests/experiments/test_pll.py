"""The fixed split of a public partial-label set, and the committed records."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments.records import Records
from experiments.targets.pll import all_cells

RECORDS = Path(__file__).parents[2] / "experiments" / "records" / "pll.jsonl"


def test_the_fixed_split_gives_the_expected_figures(corpora):
    folder = corpora / "pll"
    if not folder.is_dir():
        pytest.skip("no folder pll in TAGSIFT_DATA")
    missed = []
    for cell in all_cells():
        if cell.protocol == "fixed":
            accuracy = float(np.mean(cell.accuracies(folder, [0])))
            if not cell.within(accuracy):
                missed.append((cell.title, cell.data, accuracy, cell.low, cell.high))
    assert not missed


def test_committed_records_are_within_tolerance():
    if not RECORDS.exists():
        pytest.skip("the records are not part of a source distribution")
    found = Records(RECORDS).load()
    cells = {cell.key: cell for cell in all_cells()}
    assert set(found) == set(cells)
    for key, record in found.items():
        assert record["config"]["low"] == cells[key].low
        assert cells[key].within(record["accuracy"]), key
