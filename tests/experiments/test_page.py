"""The page of the section, from hand-made records and from a whole smoke run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from experiments.command import main as command
from experiments.paper.grid import cells, needed
from experiments.paper.page import Coverage, Page
from experiments.paper.suite import read_suite
from experiments.records import Records
from tagsift.report import render_markdown
from tests.experiments.samples import record


def main(arguments: list[str]) -> int:
    return command(["paper", *arguments], "experiments")


@pytest.fixture
def losing():
    """Return a report in which SGPPSL loses, some cells are missing and one failed."""
    found = [
        record("sgppsl", 0.6, recovery=0.5, decoders={"viterbi": 0.5, "weighted": 0.6}),
        record("sure", 0.7, recovery=0.5),
        record("sure", 0.5, fold=1, recovery=0.5),
    ]
    suite = read_suite("paper")
    wanted = [cell for cell in cells(suite) if cell.method in ("sgppsl", "sure")]
    mine = {one["key"]: one for one in found}
    broken = {**record("sure", 0.5), "key": wanted[0].key, "error": "ValueError: no"}
    del broken["scores"]
    mine[broken["key"]] = broken
    return Page(Coverage(suite, tuple(wanted), mine)).report("all")


def test_a_loss_is_told_on_the_first_screen(losing):
    assert losing.notices[0].startswith("SGPPSL loses by span F1 to SURE in 1 of 1")
    assert losing.sections[0].title == "Where our models lose"


def test_gaps_failures_and_thinned_methods_are_told(losing):
    words = " ".join(losing.notices)
    assert "cells have not been run" in words
    assert "1 cells failed" in words
    assert "Run on fewer than 5 folds: sgppsl, sure" in words
    text = render_markdown(losing)
    assert "ValueError: no" in text


@pytest.mark.parametrize(
    ("target", "share"),
    [("table-1", 3), ("table-2", 225), ("table-3", 75), ("figure-5", 3), ("all", None)],
)
def test_a_target_needs_its_cells_only(target: str, share: int | None):
    found = cells(read_suite("paper"))
    wanted = list(filter(needed(target), found))
    assert len(wanted) == (len(found) if share is None else share)


def test_nothing_to_draw_is_told(tmp_path, capsys):
    status = main(["all", "--no-run", "--out", str(tmp_path)])
    assert status == 2
    assert "expected records, found none" in capsys.readouterr().err


def test_drawing_what_there_is_is_no_failure(tmp_path, capsys):
    """Missing cells are told on the page; only a run that leaves some has failed."""
    one = record("wknn", 0.5)
    one["config"]["corpus"] = "bundled"
    Records(tmp_path / "records").add(one)
    arguments = ["all", "--suite", "smoke", "--out", str(tmp_path)]
    assert main([*arguments, "--no-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["missing"] > 0
    assert main([*arguments, "--minutes", "0", "--json"]) == 1


@pytest.mark.parametrize("target", ["table-2", "table-3"])
def test_no_heading_stands_above_nothing(target):
    """Where every cell failed, the page says so in the place of its table."""
    suite = read_suite("smoke")
    wanted = tuple(filter(needed(target), cells(suite)))
    broken = {**record("sgppsl", 0.5), "key": wanted[0].key, "error": "no memory"}
    del broken["scores"]
    page = Page(Coverage(suite, wanted, {wanted[0].key: broken})).report(target)
    text = re.split("^## .*$", render_markdown(page), flags=re.MULTILINE)[1]
    assert text.strip() == "Nothing to show: 1 of 1 cell failed."
    page = Page(Coverage(suite, wanted, {})).report(target)
    assert "Nothing has been run yet." in render_markdown(page)


def test_records_of_two_corpora_are_refused(tmp_path, capsys):
    one, other = record("wknn", 0.5), record("sure", 0.5)
    other["config"]["corpus"] = "bundled"
    for each in (one, other):
        Records(tmp_path / "records").add(each)
    assert main(["all", "--no-run", "--out", str(tmp_path)]) == 2
    assert "cannot be compared" in capsys.readouterr().err


def test_smoke_from_end_to_end(tmp_path: Path, capsys):
    """The whole machinery: run, draw, draw again without running."""
    out = str(tmp_path)
    status = main(["all", "--suite", "smoke", "--out", out, "--json"])
    facts = json.loads(capsys.readouterr().out)
    assert (status, facts["failed"], facts["missing"]) == (0, [], 0)
    assert facts["run_now"] == facts["cells"] > 100
    page = (tmp_path / "report.html").read_text("utf-8")
    for title in ("Table II", "Table III", "Figure 6", "Figure 9", "Random subsets"):
        assert title in page
    markdown = (tmp_path / "report.md").read_text("utf-8")
    assert "synthetic corpus" in markdown and "Claims of section IV" in markdown
    for target in ("table-1", "table-3", "figure-6", "figure-9"):
        again = main([target, "--suite", "smoke", "--out", out, "--json"])
        told = json.loads(capsys.readouterr().out)
        assert (again, told["run_now"]) == (0, 0)
        assert (tmp_path / f"{target}.html").exists()
    main(["table-2", "--suite", "smoke", "--no-run", "--out", out])
    assert "true labels recovered" in capsys.readouterr().out
