"""The benchmarks: their records, their page, and small runs of each."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from benchmarks.__main__ import PAGE, RECORDS, fill_page
from experiments.command import main
from experiments.records import Records

needs_records = pytest.mark.skipif(
    not RECORDS.exists(), reason="the records are not part of a source distribution"
)


@needs_records
def test_the_page_shows_the_committed_records(tmp_path: Path):
    copy = tmp_path / "benchmarks.md"
    copy.write_text(PAGE.read_text("utf-8"), encoding="utf-8")
    fill_page(copy)
    assert copy.read_text("utf-8") == PAGE.read_text("utf-8")


@needs_records
@pytest.mark.parametrize("name", ["methods", "budgets", "growth", "review"])
def test_committed_records_need_no_run(name: str, tmp_path: Path, capsys):
    asked = [name, "--count", "--data", str(tmp_path)]
    asked += ["--records", str(RECORDS / f"{name}.jsonl")]
    asked += ["--max-tokens", "250000"] if name == "growth" else []
    assert main(asked, "benchmarks") == 0
    assert capsys.readouterr().out.endswith(" asked for, 0 to run\n")


@pytest.mark.parametrize(
    ("name", "only", "n_cells"),
    [
        ("methods", "task=base-np,method=word-counts", 1),
        ("growth", "method=partial-crf,tokens=1000,labels=3", 1),
        ("budgets", "what=start-up", 1),
        ("shards", "engine=disk+costs-3", 2),
        ("tagging", "engine=local", 1),
    ],
)
def test_a_benchmark_runs_and_draws(name, only, n_cells, tmp_path, capsys):
    asked = [name, "--only", only, "--out", str(tmp_path), "--quiet"]
    asked += ["--max-tokens", "1000"] if name in ("growth", "shards", "tagging") else []
    asked += (
        ["--folder", str(tmp_path / "large")] if name in ("shards", "tagging") else []
    )
    assert main(asked, "benchmarks") == 0
    found = Records(tmp_path / "records").load()
    assert len(found) == n_cells
    for record in found.values():
        assert record["config"]["source"] == "bundled corpus"
        assert {"cores", "threads", "load"} <= set(record["time"])
    assert f"`python -m benchmarks {name}" in capsys.readouterr().out


@pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)
@pytest.mark.parametrize(
    ("name", "only"),
    [
        ("gpu", "task=base-np,what=fits+learnt+given"),
        ("gpu_chain", "size=9400,kernel=none+given"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_gpu_benchmarks_agree_on_the_cpu(name, only, tmp_path):
    asked = [name, "--only", only, "--out", str(tmp_path), "--quiet", "--no-page"]
    asked += ["--folds", str(tmp_path / "folds")]
    assert main([*asked, "--device", "torch-cpu", "--tokens", "100"], "benchmarks") == 0
    found = Records(tmp_path / "records").load().values()
    assert len(found) == 3  # fits, learnt, given; one evaluation and both sides
    assert all(one["agree"] for one in found if "agree" in one)
    shares = [one["agreement"] for one in found if "agreement" in one]
    assert all(share["equal_labels"] > 0.99 for share in shares)
