"""The runner, on a toy experiment and on a tiny suite of the paper."""

from __future__ import annotations

import importlib.util
import json
import os
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from experiments import runner
from experiments.command import main
from experiments.experiment import Experiment, choose
from experiments.paper.suite import read_suite
from experiments.records import Records
from experiments.runner import pending, run
from experiments.targets.paper import Paper
from tagsift.errors import InputError, MissingExtraError, ResourceError
from tests.experiments.samples import TINY, timeless

#: Folds × (word-counts, wknn: three settings each; crf: one), and the data set.
N_CELLS = 2 * (3 + 3 + 1) + 1


@dataclass(frozen=True)
class Toy:
    """A number to be squared."""

    number: int

    @property
    def key(self) -> str:
        return f"toy/{self.number}"


@dataclass(frozen=True)
class Squares(Experiment):
    """Counts upwards; the work is written down beside the records."""

    name = "squares"
    log: Path
    size: int = 4
    bad: tuple[int, ...] = ()

    def cells(self) -> list[Toy]:
        return [Toy(number) for number in range(self.size)]

    def run(self, cell: Toy) -> dict[str, Any]:
        with open(self.log, "a", encoding="utf-8") as stream:
            stream.write(f"{cell.number} {os.getpid()}\n")
        if cell.number in self.bad:
            raise ValueError("a bad number")
        return {"scores": {"square": cell.number**2}}

    def report(self, found: Any) -> Any:
        raise NotImplementedError


@pytest.fixture
def squares(tmp_path) -> tuple[Squares, Records]:
    return Squares(None, tmp_path / "log"), Records(tmp_path / "squares.jsonl")


def log_of(experiment: Squares) -> list[int]:
    if not experiment.log.exists():
        return []
    return [int(line.split()[0]) for line in experiment.log.read_text().splitlines()]


def test_cells_are_run_once(squares):
    experiment, records = squares
    assert len(run(experiment, records, [Toy(3)], quiet=True)) == 1
    assert len(run(experiment, records, experiment.cells(), quiet=True)) == 3
    assert log_of(experiment) == [3, 0, 1, 2]
    assert run(experiment, records, experiment.cells(), quiet=True) == []
    assert records.load()["toy/3"]["scores"] == {"square": 9}


def test_redo_runs_what_is_asked_for_and_nothing_else(squares):
    experiment, records = squares
    run(experiment, records, experiment.cells(), quiet=True)
    run(experiment, records, [Toy(2)], redo=True, quiet=True)
    assert log_of(experiment) == [0, 1, 2, 3, 2]


def test_cells_of_another_environment_are_renewed_when_asked(squares):
    experiment, records = squares
    (one, *_) = run(experiment, records, experiment.cells(), quiet=True)
    records.add({**one, "versions": {**one["versions"], "numpy": "1.0"}})
    assert run(experiment, records, experiment.cells(), quiet=True) == []
    renewed = run(experiment, records, experiment.cells(), renew=True, quiet=True)
    assert [record["key"] for record in renewed] == ["toy/0"]


def test_a_failed_cell_is_retried_when_asked(squares):
    experiment, records = squares
    broken = replace(experiment, bad=(0,))
    made = run(broken, records, broken.cells(), quiet=True)
    assert [one.get("error") for one in made] == ["ValueError: a bad number"] + [
        None
    ] * 3
    assert run(experiment, records, experiment.cells(), quiet=True) == []
    again = run(experiment, records, experiment.cells(), retry_failed=True, quiet=True)
    assert [one["scores"] for one in again] == [{"square": 0}]


def test_no_cell_is_begun_after_the_time(squares):
    experiment, records = squares
    assert run(experiment, records, experiment.cells(), minutes=0, quiet=True) == []
    assert len(pending(experiment, experiment.cells(), records.load())) == 4


# A tiny suite -------------------------------------------------------------------


def paper(suite: Path | str) -> Paper:
    return Paper(None, "all", read_suite(str(suite)), "bundled")


def run_suite(suite: Path | str, folder: Path, **more: Any) -> list[Any]:
    experiment = paper(suite)
    only = more.pop("only", {})
    cells = choose(experiment.cells(), only)
    return run(experiment, Records(folder), cells, quiet=True, **more)


def found_in(folder: Path) -> dict[str, Any]:
    return {key: timeless(one) for key, one in Records(folder).load().items()}


@pytest.fixture
def unbroken(tiny, tmp_path):
    """Return the records of a run in one process."""
    folder = tmp_path / "unbroken"
    run_suite(tiny, folder)
    return found_in(folder)


def test_a_record_holds_what_tables_need(unbroken):
    one = unbroken["ner/wknn/cl2-p0.1-f0-s0"]
    assert set(one) >= {"config", "scores", "recovery", "versions", "warnings"}
    assert set(one["scores"]) >= {"span_f1", "span_f1_strict", "token_weighted_f1"}
    assert one["command"] == "python -m experiments paper all --suite tiny"
    assert 0.0 <= one["recovery"]["ambiguous"] <= 1.0
    gold = unbroken["ner/crf/gold-f1-s0"]
    assert "recovery" not in gold and "ece" in gold["scores"]
    facts = unbroken["ner/corpus/head"]["facts"]
    assert facts["n_sentences"] == 12


def test_workers_give_the_same_records(tiny, tmp_path, unbroken):
    folder = tmp_path / "workers"
    assert len(run_suite(tiny, folder, jobs=2)) == N_CELLS
    assert found_in(folder) == unbroken


@pytest.mark.skipif(
    importlib.util.find_spec("ray") is None,
    reason="the extra 'ray' is not installed: pip install '.[ray]'",
)
@pytest.mark.filterwarnings("ignore")
def test_a_ray_cluster_gives_the_same_records(tiny, tmp_path, unbroken):
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        made = run_suite(tiny, tmp_path / "ray", jobs=2, engine="ray")
    finally:
        ray.shutdown()
    assert len(made) == N_CELLS
    assert found_in(tmp_path / "ray") == unbroken


def test_ray_that_is_not_installed_is_told(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"install '\.\[ray\]'"):
        run_suite(tiny, tmp_path, engine="ray")


def test_a_killed_worker_is_told(tiny, tmp_path, monkeypatch):
    def die(*arguments):
        raise BrokenExecutor("gone")

    monkeypatch.setattr(runner, "run_cell", die)
    with pytest.raises(ResourceError, match="a worker was killed after 0 cells"):
        run_suite(tiny, tmp_path)


def test_an_unknown_engine_is_refused(tiny, tmp_path):
    with pytest.raises(InputError, match="expected an engine of processes, ray"):
        run_suite(tiny, tmp_path, engine="sun")


def test_a_changed_setting_runs_its_cells_again(tiny, tmp_path, unbroken):
    tiny.write_text(TINY.replace("max_iter = 3", "max_iter = 4"), "utf-8")
    assert len(run_suite(tiny, tmp_path / "unbroken")) == 2  # the two folds of crf


# The command line ---------------------------------------------------------------


def test_the_command_runs_in_pieces(tiny, tmp_path, capsys, unbroken):
    folder = tmp_path / "pieces"

    def command(*more: str) -> tuple[int, str]:
        status = main(
            ["paper", "all", "--suite", str(tiny), "--records", str(folder)]
            + ["--quiet", "--no-page", *more],
            "experiments",
        )
        return status, capsys.readouterr().out

    none = f"0 cells run, 0 failed, {N_CELLS} left\n"
    assert command("--minutes", "0") == (1, none)
    one = "1 cell run, 0 failed, 0 left\n"
    assert command("--only", "method=crf,fold=0") == (0, one)
    status, text = command("--count")
    assert text == f"{N_CELLS} cells asked for, {N_CELLS - 1} to run\n"
    assert command()[0] == 0
    assert found_in(folder) == unbroken
    lines = (folder / "ner-wknn.jsonl").read_text("utf-8").splitlines()
    assert all(json.loads(line) for line in lines)


def test_a_folder_without_the_corpora_is_refused_at_once(tmp_path, capsys):
    data, out = tmp_path / "data", tmp_path / "out"
    (data / "conll2003").mkdir(parents=True)
    (data / "conll2003" / "train.conll").write_text("a\tO\n", encoding="utf-8")
    for target, missing in (
        ("votes", "crowd_ner/train.tsv"),
        ("looks", "crowd_ner/train.tsv"),
        ("pll", "pll/lost.mat"),
        ("whole", "conll2000/train.conll"),
        ("elsewhere", "basenp/train.conll"),
        ("crowds", "conll2003/dev.conll"),
        ("duel", "basenp/train.conll"),
    ):
        arguments = [target, "--data", str(data), "--out", str(out), "--quiet"]
        assert main(arguments, "experiments") == 2
        error = capsys.readouterr().err
        assert f"{data}: expected the corpora, found no {missing}" in error
        assert "docs/experiments.md" in error and error.count("\n") == 1
        assert not out.exists()
    for target in ("votes", "looks", "pll"):
        assert main([target, "--out", str(out), "--quiet"], "experiments") == 2
        assert f"{target} needs the corpora; name their" in capsys.readouterr().err
        assert not out.exists()
    arguments = ["looks", "--only", "corpus=ner", "--data", str(data), "--minutes", "0"]
    arguments += ["--out", str(out), "--quiet", "--no-page"]
    assert main(arguments, "experiments") == 1  # what it reads is there
    assert capsys.readouterr().out == "0 cells run, 0 failed, 3 left\n"


def test_a_rerun_names_what_runs_failed_cells_again(tmp_path, capsys):
    path = tmp_path / "failing.toml"
    path.write_text(
        TINY.replace("decoders = []", "params = { n_neighbours = 0 }"), "utf-8"
    )
    records = tmp_path / "records"

    def command(*more: str) -> tuple[int, str]:
        status = main(
            ["paper", "all", "--suite", str(path), "--records", str(records)]
            + ["--only", "method=wknn,fold=0", "--quiet", "--no-page", *more],
            "experiments",
        )
        return status, capsys.readouterr().err

    status, first = command()
    assert status == 1 and "retry" not in first
    assert first.count("failed: ner/wknn") == 3 and "InputError" in first
    status, again = command()
    assert status == 1 and again.count("\n") == 1
    assert again.startswith(f"3 of the cells failed in an earlier run, as {records} ")
    assert "--retry-failed does" in again
    assert command("--retry-failed") == (1, first)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["paper", "--only", "method"], "--only: expected name=value pairs"),
        (["paper", "--only", "speed=1"], "cells are chosen by task"),
        (["paper", "--suite", "big"], "expected one of the suites"),
        (["paper", "table-9"], "expected one of table-1"),
        (["nonsense"], "NAME is one of amplitudes, audit, contiguous, crowds, "),
    ],
)
def test_misuse_is_one_sentence(tmp_path, capsys, arguments, words):
    if arguments[0] == "paper":
        arguments = [*arguments, "--out", str(tmp_path)]
    assert main(arguments, "experiments") == 2
    assert words in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
