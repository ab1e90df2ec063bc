"""The experiments besides the paper's: cells, committed records and small runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.command import main
from experiments.paper.results import read_toml
from experiments.records import Records, is_done
from experiments.tables import environments, mixed
from experiments.targets.crowds import Crowds
from experiments.targets.duel import Duel
from experiments.targets.elsewhere import Elsewhere
from experiments.targets.looks import Looks
from experiments.targets.penalties import Penalties
from experiments.targets.readings import Readings
from experiments.targets.votes import Votes
from experiments.targets.weak import Weak
from experiments.targets.whole import METHODS, Whole
from tagsift.data import generate
from tagsift.io import write_columns
from tagsift.report import Report, Section, render_markdown

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "experiments/records"
needs_records = pytest.mark.skipif(
    not RECORDS.exists(), reason="the records are not part of a source distribution"
)


@needs_records
@pytest.mark.parametrize(
    ("experiment", "n_cells"),
    [(Whole(None, 0), 9), (Readings(None, 2), 40), (Penalties(None), 162)],
)
def test_committed_records_need_no_run(experiment: Any, n_cells: int):
    found = Records(RECORDS / f"{experiment.name}.jsonl").load()
    cells = experiment.cells()
    assert len(cells) == n_cells
    assert all(is_done(found.get(c.key), experiment.config(c)) for c in cells)


@needs_records
@pytest.mark.parametrize("kind", [Crowds, Duel, Elsewhere, Looks, Votes, Weak])
def test_there_are_no_records_but_of_cells(kind: Any):
    keys = {cell.key for cell in kind(None).cells()}
    found = Records(RECORDS / f"{kind.name}.jsonl").load().keys()
    assert found and found <= keys


@needs_records
def test_the_grid_has_the_penalties_that_were_chosen():
    (table,) = Penalties(None).tables(Records(RECORDS / "penalties.jsonl").load())
    chosen: dict[str, dict[str, list[float]]] = {}
    for method, task, _, *_, best in table.rows:
        chosen.setdefault(method, {}).setdefault(task, []).append(best)
    assert chosen == read_toml("penalties")


def test_the_page_says_what_is_of_older_settings_or_other_environments():
    duel = Duel(None)
    crf, gp, *_ = duel.cells()
    scores = dict.fromkeys(("span_f1", "recovery", "nll", "ece"), 0.5)
    found = {
        cell.key: {
            "config": duel.config(cell) | more,
            "versions": {"python": python},
            "scores": scores,
            "seconds": 1.0,
        }
        for cell, more, python in ((crf, {}, "3.11"), (gp, {"tuning": "old"}, "3.12"))
    }
    old, note = duel.report(found).notices
    assert old.startswith("1 records are of older settings") and "chain-gp" in old
    assert note == "They differ in python: 3.11 (1 record) or 3.12 (1 record)."
    assert not list(duel.old({crf.key: found[crf.key]}))


@needs_records
def test_the_table_of_the_readings_is_that_of_the_records():
    (table,) = Readings(None, 2).tables(Records(RECORDS / "readings.jsonl").load())
    shown = render_markdown(Report("", (Section("", "", (table,)),)))
    rows = [line for line in shown.splitlines() if line.startswith("|")]
    page = (ROOT / "docs/paper/readings.md").read_text(encoding="utf-8")
    assert "\n".join(rows) in page


@needs_records
@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("duel", "| span F1 | 18 | 18 | +1.14 | +0.05 |"),
        ("whole", "| CoNLL-2003 | 0 | ChainGP | 83.54 |"),
        ("pll", "| SURE | Lost | 0."),
        ("development", "1.38 ± 0.1 | +3.67 | 66 of 72 | +0.11 | +0.0173 | +0.71 |"),
    ],
)
def test_pages_are_drawn_from_committed_records(name, row, tmp_path, capsys):
    records = str(RECORDS / f"{name}.jsonl")
    arguments = [name, "--no-run", "--records", records, "--out", str(tmp_path)]
    assert main(arguments, "experiments") == 0
    assert row in capsys.readouterr().out
    assert (tmp_path / f"{name}.html").exists()
    assert row in (tmp_path / f"{name}.md").read_text("utf-8")


@needs_records
def test_committed_records_hold_no_paths():
    for path in RECORDS.rglob("*.jsonl"):
        text = path.read_text("utf-8")
        assert "/home" not in text and "/tmp" not in text and "/root" not in text


# Runs ---------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with a training and a test file."""
    folder = tmp_path / "conll2000"
    folder.mkdir()
    write_columns(folder / "train.conll", generate(40, 0))
    write_columns(folder / "test.conll", generate(20, 1))
    return tmp_path


def test_whole_corpora_run_in_processes_of_their_own(data: Path, capsys):
    out = data / "whole.jsonl"
    asked = ["whole", "--data", str(data), "--records", str(out), "--out", str(data)]
    asked += ["--quiet", "--only", "task=chunking"]
    assert main([*asked, "--only", "method=partial-crf"], "experiments") == 0
    first = out.read_text("utf-8")
    assert main([*asked, "--only", "method=crf+chain-gp"], "experiments") == 0
    assert first in out.read_text("utf-8")
    found = {one["config"]["method"]: one for one in Records(out).load().values()}
    assert set(found) == set(METHODS)
    for method, record in found.items():
        assert 0.5 < record["scores"]["span_f1"] <= 1.0
        assert ("recovery" in record["scores"]) == (method != "crf")
        assert record["data"]["sentences"] == 40
        assert record["time"]["fit_peak_mib"] >= record["time"]["before_fit_mib"] > 0
        assert str(data) not in json.dumps(record)
    assert found["chain-gp"]["settings"]["kernel"]["linear"]
    assert len(found["partial-crf"]["tuning"]["trials"]) == 5
    capsys.readouterr()
    assert main(["whole", "--no-run", *asked[3:7]], "experiments") == 0
    shown = capsys.readouterr().out
    assert shown.count("| CoNLL-2000 | 0 |") == 4  # three cells, and the gaps


def test_a_value_outside_its_tolerance_ends_with_status_1(tmp_path, capsys):
    records = Records(tmp_path / "pll.jsonl")
    found = Records(RECORDS / "pll.jsonl").load()
    one = next(iter(found.values()))
    records.add({**one, "within": False})
    asked = ["pll", "--records", str(records.path), "--no-run", "--no-page"]
    assert main(asked, "experiments") == 1
    assert f"falls short: {one['key']}" in capsys.readouterr().err


@needs_records
def test_the_readme_says_of_which_environments_its_records_are():
    found = [Records(RECORDS / name).load() for name in ("paper", "duel.jsonl")]
    counts = environments(found[0] | found[1])
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    for title, name in (("NumPy", "numpy"), ("SciPy", "scipy"), ("", "scikit-learn")):
        (version,) = counts[name]
        assert f"{name}=={version}" in lines
        assert f"{title or name} {version}" in readme
    assert f"of Python {' or '.join(sorted(counts['python']))} on" in readme
    assert len(set(counts["blas"]) - {"not said"}) == 2  # kinds of processors
    (note,) = mixed(found[0])
    assert note in (ROOT / "docs/paper/reproduction.md").read_text("utf-8")
