from __future__ import annotations

import importlib.util
import json
from concurrent.futures import BrokenExecutor

import pytest

from tagsift.errors import InputError, MissingExtraError, ResourceError
from tagsift.experiments import records, runner
from tagsift.experiments.__main__ import main
from tagsift.experiments.runner import run_suite
from tagsift.experiments.suite import read_suite
from tagsift.experiments.work import Place
from tests.experiments.samples import TINY

N_CELLS = 2 * (3 + 3 + 1)  # folds × (majority, wknn: three settings each; crf: one)


def timeless(folder):
    return {key: records.timeless(r) for key, r in records.load(folder).items()}


@pytest.fixture
def unbroken(tiny, tmp_path):
    """Return the records of a run in one process."""
    folder = tmp_path / "unbroken"
    run_suite(read_suite(str(tiny)), Place(None, folder), quiet=True)
    return timeless(folder)


def test_a_record_holds_what_tables_need(unbroken):
    one = unbroken["ner/wknn/cl2-p0.1-f0-s0"]
    assert set(one) >= {"config", "scores", "recovery", "versions", "warnings"}
    assert set(one["scores"]) >= {"span_f1", "span_f1_strict", "token_weighted_f1"}
    assert 0.0 <= one["recovery"]["ambiguous"] <= 1.0
    gold = unbroken["ner/crf/gold-f1-s0"]
    assert "recovery" not in gold and "ece" in gold["scores"]
    facts = unbroken["ner/corpus/head"]["facts"]
    assert facts["n_sentences"] == 12


def test_workers_give_the_same_records(tiny, tmp_path, unbroken):
    folder = tmp_path / "workers"
    outcome = run_suite(read_suite(str(tiny)), Place(None, folder), jobs=2, quiet=True)
    assert (outcome.done, outcome.failed, outcome.left) == (N_CELLS, 0, 0)
    assert timeless(folder) == unbroken


@pytest.mark.skipif(
    importlib.util.find_spec("ray") is None,
    reason="the extra 'ray' is not installed: pip install 'tagsift[ray]'",
)
@pytest.mark.filterwarnings("ignore")
def test_a_ray_cluster_gives_the_same_records(tiny, tmp_path, unbroken):
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        outcome = run_suite(
            read_suite(str(tiny)),
            Place(None, tmp_path / "ray"),
            jobs=2,
            backend="ray",
            quiet=True,
        )
    finally:
        ray.shutdown()
    assert (outcome.done, outcome.failed) == (N_CELLS, 0)
    assert timeless(tmp_path / "ray") == unbroken


def test_ray_that_is_not_installed_is_told(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"tagsift\[ray\]"):
        run_suite(
            read_suite(str(tiny)), Place(None, tmp_path), backend="ray", quiet=True
        )


def test_a_killed_worker_is_told(tiny, tmp_path, monkeypatch):
    def die(*arguments):
        raise BrokenExecutor("gone")

    monkeypatch.setattr(runner, "_one", die)
    with pytest.raises(ResourceError, match="a worker was killed after 0 cells"):
        run_suite(read_suite(str(tiny)), Place(None, tmp_path), quiet=True)


def test_an_unknown_backend_is_refused(tiny, tmp_path):
    with pytest.raises(InputError, match="expected a backend among loky"):
        run_suite(read_suite(str(tiny)), Place(None, tmp_path), backend="sun")


def test_a_failing_method_is_recorded_and_the_rest_goes_on(tmp_path):
    path = tmp_path / "failing.toml"
    path.write_text(
        TINY.replace("decoders = []", "params = { n_neighbours = 0 }"), "utf-8"
    )
    folder = tmp_path / "out"
    outcome = run_suite(read_suite(str(path)), Place(None, folder), quiet=True)
    assert (outcome.done, outcome.failed) == (N_CELLS, 6)
    found = records.load(folder)
    failed = [key for key, one in found.items() if "error" in one]
    assert {key.split("/")[1] for key in failed} == {"wknn"} and len(failed) == 6
    assert "InputError" in found[failed[0]]["error"]
    assert {key for key, _ in outcome.errors} == set(failed)
    again = run_suite(read_suite(str(path)), Place(None, folder), quiet=True)
    assert again.done == 0
    retried = run_suite(
        read_suite(str(path)), Place(None, folder), retry_failed=True, quiet=True
    )
    assert (retried.done, retried.failed) == (6, 6)


def test_a_changed_setting_runs_its_cells_again(tiny, tmp_path, unbroken):
    folder = tmp_path / "unbroken"
    tiny.write_text(TINY.replace("max_iter = 3", "max_iter = 4"), "utf-8")
    outcome = run_suite(read_suite(str(tiny)), Place(None, folder), quiet=True)
    assert outcome.done == 2  # the two folds of crf


def test_a_tuning_that_is_there_leaves_no_trace_in_a_record(tmp_path):
    """A run killed between a tuning and its cell must end with the same record."""
    suite, place = read_suite("smoke"), Place(None, tmp_path)
    only = {"task": "ner", "method": "sgppsl", "cl": "2", "p": "0.1", "fold": "0"}
    run_suite(suite, place, only=only, quiet=True)
    key = "ner/sgppsl/cl2-p0.1-f0-s0"
    first = timeless(tmp_path)
    assert first[key]["settings"] == first[tuning_of(key)]["settings"]
    (tmp_path / f"{key}.json").unlink()
    assert run_suite(suite, place, only=only, quiet=True).done == 1
    assert timeless(tmp_path) == first


def tuning_of(key: str) -> str:
    stem, _, name = key.rpartition("/")
    return f"{stem}/tuning-{name}"


def test_the_command_runs_in_pieces(tiny, tmp_path, capsys, unbroken):
    folder = tmp_path / "pieces"

    def run(*more: str) -> tuple[int, str]:
        status = main(["--suite", str(tiny), "--out", str(folder), "--quiet", *more])
        return status, capsys.readouterr().out

    assert run("--minutes", "0") == (1, f"0 cells run, 0 failed, {N_CELLS} left\n")
    assert run("--only", "method=crf,fold=0") == (0, "1 cells run, 0 failed, 0 left\n")
    status, text = run("--count")
    assert text == f"{N_CELLS} cells, {N_CELLS - 1} of them not run yet\n"
    assert run()[0] == 0
    assert timeless(folder) == unbroken
    assert run("--compact", str(tmp_path / "joined"))[0] == 0
    joined = tmp_path / "joined"
    assert timeless(joined) == unbroken
    lines = (joined / "ner-wknn.jsonl").read_text("utf-8").splitlines()
    assert all(json.loads(line) for line in lines)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--only", "method"], "--only: expected name=value pairs"),
        (["--only", "speed=1"], "cells are chosen by task"),
        (["--suite", "big"], "expected one of the suites"),
    ],
)
def test_misuse_is_one_sentence(tmp_path, capsys, more, words):
    assert main(["--out", str(tmp_path), *more]) == 2
    assert words in capsys.readouterr().err


def test_records_hold_no_paths_and_no_text(unbroken, tmp_path):
    text = json.dumps(list(unbroken.values()))
    assert str(tmp_path) not in text and "/" not in text.replace("ner/", "").replace(
        "wknn/", ""
    ).replace("crf/", "").replace("majority/", "").replace("corpus/", "")
