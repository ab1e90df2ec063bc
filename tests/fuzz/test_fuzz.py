"""A few cases of every kind with the tests, and the harness itself; see `make fuzz`."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from tests.fuzz import pool
from tests.fuzz.dice import Dice
from tests.fuzz.model_files import packed, unpacked
from tests.fuzz.nobody import reviews_are_not_served
from tests.fuzz.outcome import attempt, command


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
@pytest.mark.parametrize(
    "kind",
    ["columns", "formats", "arguments", "models", "features", "votes"],
)
def test_some_cases_of_every_kind(kind):
    found = [one for one in pool.run_cases(2026, range(25), kind) if one is not None]
    assert not found, "\n".join(f"case {one.number}: {one.how}" for one in found)


def test_a_review_is_not_waited_for(tmp_path):
    """Among the command lines are some that would serve until somebody stops them."""
    votes, store = tmp_path / "votes.tsv", tmp_path / "review.db"
    votes.write_text("Ann\tB\tB\nspoke\tO\tB\n")
    told = ("--votes", "2:3", "--scheme", "iob2", "--port", 0, "--store", store)
    with reviews_are_not_served():
        assert command("review", votes, *told) == 0
    assert store.is_file()


def test_the_same_seed_gives_the_same_case():
    for number in range(20):
        first, second = (Dice(f"7/{number}") for _ in range(2))
        assert first.damage_lines("a\tB\n\nb\tO\n") == second.damage_lines(
            "a\tB\n\nb\tO\n"
        )
    assert pool.kind_of(1, 5) == pool.kind_of(1, 5)


def test_edits_keep_the_checksum_right(tmp_path):
    from tagsift import load
    from tagsift.baselines import Naive

    path = tmp_path / "m.tagsift"
    Naive().fit([["a", "b"]], [["X", "Y"]]).save(path)
    path.write_bytes(packed(*unpacked(path.read_bytes())))
    assert load(path).predict([["a"]]) == [["X"]]


@pytest.mark.parametrize(
    "answer", [np.array([np.nan]), [np.array([1.0, np.inf])], float("nan")]
)
def test_answers_with_nan_fail(answer):
    with pytest.raises(Exception, match="that are none"):
        attempt(lambda: answer)


@pytest.mark.parametrize(
    ("kind", "how"),
    [
        ("crash", "killed by SIGSEGV"),
        ("endless", "more than 1 s"),
        ("asleep", "by the clock"),
        ("large", "MemoryError"),
    ],
)
def test_crashes_endless_work_and_memory_are_noticed(monkeypatch, kind, how):
    monkeypatch.setattr(pool, "SECONDS", 1.0)
    monkeypatch.setattr(pool, "PATIENCE", 3 if kind == "asleep" else 600)
    (found,) = pool.run_cases(0, range(1), kind)
    assert how in found.how
