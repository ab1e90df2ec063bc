"""The fixed split of a public partial-label set, and the committed records."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "experiments" / "pll_tables.py"
RECORDS = ROOT / "experiments" / "records" / "pll.json"


@pytest.fixture(scope="module")
def tables():
    """Load the script as a module."""
    if not SCRIPT.exists():
        pytest.skip("the experiments folder is not part of this copy")
    spec = importlib.util.spec_from_file_location("pll_tables", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["pll_tables"] = module
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules["pll_tables"]


def test_the_fixed_split_gives_the_expected_figures(tables, corpora):
    folder = corpora / "pll"
    if not folder.is_dir():
        pytest.skip("no folder pll in TAGSIFT_DATA")
    missed = []
    for case in tables.cases():
        if case.protocol == "fixed":
            result = tables.run(case, folder, seeds=[0])
            if not case.verdict(result.mean):
                missed.append((case.title, case.data, result.mean, case.low, case.high))
    assert not missed


def test_committed_records_are_within_tolerance(tables):
    records = json.loads(RECORDS.read_text(encoding="utf-8"))["records"]
    expected = {(case.title, case.data): case for case in tables.cases()}
    assert {(row["method"], row["data"]) for row in records} == set(expected)
    for row in records:
        case = expected[row["method"], row["data"]]
        assert row["expected"] == [case.low, case.high]
        assert case.verdict(row["accuracy"]), row["method"]
