"""The script that runs whole corpora, on synthetic ones."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from tagsift.data import generate, write_conll

ROOT = Path(__file__).parents[2]


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script as a module."""
    monkeypatch.syspath_prepend(str(ROOT / "experiments"))
    return importlib.import_module("whole")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with a training and a test file."""
    folder = tmp_path / "conll2000"
    folder.mkdir()
    write_conll(folder / "train.conll", generate(40, 0))
    write_conll(folder / "test.conll", generate(20, 1))
    return tmp_path


def lines(path: Path) -> dict[str, dict[str, Any]]:
    found = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return {record["config"]["method"]: record for record in found}


def test_run_resume_and_show(
    whole: Any, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = data / "records" / "whole.jsonl"
    asked = ["--data", str(data), "--out", str(out), "--only", "task=chunking"]
    assert whole.main([*asked, "--only", "method=partial-crf"]) == 0
    first = out.read_text("utf-8")
    assert list(lines(out)) == ["partial-crf"]
    assert whole.main([*asked, "--only", "method=partial-crf"]) == 0
    assert out.read_text("utf-8") == first  # nothing was run again
    assert whole.main([*asked, "--only", "method=crf,chain-gp"]) == 0
    assert first in out.read_text("utf-8")
    found = lines(out)
    assert set(found) == set(whole.METHODS)
    for method, record in found.items():
        assert 0.5 < record["scores"]["span_f1"] <= 1.0
        assert ("recovery" in record["scores"]) == (method != "crf")
        assert record["data"]["sentences"] == 40
        assert record["time"]["peak_mib"] >= record["time"]["before_fit_mib"] > 0
        assert str(data) not in json.dumps(record)
    assert found["chain-gp"]["settings"]["kernel"]["linear"]
    assert len(found["partial-crf"]["tuning"]["trials"]) == 5
    capsys.readouterr()
    assert whole.main(["--out", str(out), "--show"]) == 0
    shown = capsys.readouterr().out
    assert shown.strip() == out.with_suffix(".md").read_text("utf-8").strip()
    assert shown.count("| CoNLL-2000 | 0 |") == 4  # three cells, and the gaps


def test_redo_keeps_the_others(
    whole: Any, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = data / "whole.jsonl"
    ran: list[str] = []

    def pretend(cell: Any, folder: Path) -> dict[str, Any]:
        ran.append(cell.method)
        return {
            "key": cell.key,
            "config": {"task": cell.task, "method": cell.method, "seed": cell.seed},
            "scores": {"span_f1": 0.9, "recovery": 0.9, "nll": 0.1, "ece": 0.01},
            "settings": {"l2": float(len(ran))},
            "temperature": 1.0,
            "n_iter": 1,
            "time": {"fit_cpu_s": 1.0, "tag_tokens_per_cpu_s": 1, "peak_mib": 1.0},
        }

    monkeypatch.setattr(whole, "separately", pretend)
    asked = ["--data", str(data), "--out", str(out), "--only", "task=chunking"]
    whole.main(asked)
    whole.main([*asked, "--only", "method=crf", "--redo"])
    assert ran == [*whole.METHODS, "crf"]
    assert lines(out)["crf"]["settings"] == {"l2": 4.0}
    assert lines(out)["partial-crf"]["settings"] == {"l2": 1.0}


def test_needs_data_and_out(whole: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        whole.main(["--only", "task=ner"])
    assert "give --data" in capsys.readouterr().err
    assert whole.tables({}) == "No cell has been run yet.\n"
