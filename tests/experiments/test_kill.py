"""A run that is killed goes on where it stopped and ends with the same records."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from experiments.records import Records
from tests.experiments.samples import timeless
from tests.waiting import until

ROOT = Path(__file__).parents[2]
ONLY = "task=ner,fold=0,subset=head,p=0.1"
N_CELLS = 3 * 2  # (sgppsl, wknn and partial-crf) × cl


def command(out: Path, jobs: int) -> list[str]:
    return [
        sys.executable, "-m", "experiments", "paper", "--suite", "smoke", "--quiet",
        "--no-page", "--records", str(out), "--only", ONLY, "--jobs", str(jobs),
    ]  # fmt: skip


def environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k != "TAGSIFT_DATA"}


def count(out: Path) -> int:
    """Lines written so far, whole or not."""
    return sum(path.read_bytes().count(b"\n") for path in out.rglob("*.jsonl"))


def kill_after(out: Path, n_lines: int, rng: random.Random) -> None:
    """Start a run with two workers and kill it all once some records are there."""
    run = subprocess.Popen(
        command(out, 2), env=environment(), start_new_session=True, cwd=ROOT,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    until(lambda: count(out) >= n_lines or run.poll() is not None)
    time.sleep(rng.uniform(0.0, 0.5))  # anywhere in a cell; nothing depends on where
    with suppress(ProcessLookupError):  # it has ended meanwhile
        os.killpg(run.pid, signal.SIGKILL)
    run.wait()


def gone(group: int) -> bool:
    """Whether a group of processes has ended."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_killed_run_resumes_with_the_same_records(tmp_path):
    rng = random.Random(5)
    broken, whole = tmp_path / "broken", tmp_path / "whole"
    kill_after(broken, rng.randint(2, 3), rng)
    first = len(Records(broken).load())
    kill_after(broken, first + rng.randint(1, 2), rng)
    assert first <= len(Records(broken).load()) <= N_CELLS
    for folder in (broken, whole):
        subprocess.run(
            command(folder, 1), env=environment(), check=True, cwd=ROOT,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
    ended = {k: timeless(r) for k, r in Records(broken).load().items()}
    unbroken = {k: timeless(r) for k, r in Records(whole).load().items()}
    assert len(ended) == N_CELLS
    assert sum("scores" in one for one in ended.values()) == N_CELLS
    assert ended == unbroken
    assert not any("error" in one for one in ended.values())


def test_workers_end_with_the_run_that_started_them(tmp_path):
    """Only the run itself is killed, as for lack of memory; its workers follow."""
    run = subprocess.Popen(
        command(tmp_path, 2), env=environment(), start_new_session=True, cwd=ROOT,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    until(lambda: count(tmp_path) >= 1)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    until(lambda: gone(run.pid))
