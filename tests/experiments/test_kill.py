"""A run that is killed goes on where it stopped and ends with the same records."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from tagsift.experiments import records

ONLY = "task=ner+base-np,fold=0,subset=head,p=0.1"
N_CELLS = 2 * 3 * 2  # tasks × (sgppsl, wknn and partial-crf) × cl
N_RECORDS = N_CELLS + 4 + 3  # settings tuned on the first fold, and data sets


def command(out: Path, jobs: int) -> list[str]:
    return [
        sys.executable, "-m", "tagsift.experiments", "--suite", "smoke", "--quiet",
        "--out", str(out), "--only", ONLY, "--jobs", str(jobs),
    ]  # fmt: skip


def environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k != "TAGSIFT_DATA"}


def kill_after(out: Path, n_files: int, rng: random.Random) -> None:
    """Start a run with two workers and kill it all once some records are there."""
    run = subprocess.Popen(
        command(out, 2), env=environment(), start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while len(list(out.rglob("*.json"))) < n_files and run.poll() is None:
        assert time.monotonic() < deadline, "the run wrote nothing"
        time.sleep(0.02)
    time.sleep(rng.uniform(0.0, 0.5))
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()


def test_a_killed_run_resumes_with_the_same_records(tmp_path):
    rng = random.Random(5)
    broken, whole = tmp_path / "broken", tmp_path / "whole"
    kill_after(broken, rng.randint(5, 10), rng)
    first = len(records.load(broken))
    kill_after(broken, first + rng.randint(1, 3), rng)
    assert first <= len(records.load(broken)) <= N_RECORDS
    for folder in (broken, whole):
        subprocess.run(command(folder, 1), env=environment(), check=True)
    ended = {k: records.timeless(r) for k, r in records.load(broken).items()}
    unbroken = {k: records.timeless(r) for k, r in records.load(whole).items()}
    assert len(ended) == N_RECORDS
    assert sum("scores" in one for one in ended.values()) == N_CELLS
    assert ended == unbroken
    assert not any("error" in one for one in ended.values())
