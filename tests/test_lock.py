"""Two processes never work in one folder; nothing is left of one that died."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tagsift.errors import DataError
from tagsift.lock import exclusive

HOLD = """
import sys
from tagsift.lock import exclusive
with exclusive(sys.argv[1]):
    print("in", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock until its input ends."""
    root = str(Path(__file__).parents[1])
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert process.stdout.readline() == b"in\n"
    yield process
    process.kill()
    process.communicate()


def test_a_second_run_is_refused_and_told_of_the_first(holder, tmp_path):
    with pytest.raises(DataError, match=f"process '{holder.pid}'"), exclusive(tmp_path):
        pass
    holder.communicate(b"")  # it ends as it should
    with exclusive(tmp_path):
        pass


def test_a_killed_run_leaves_nothing_locked(holder, tmp_path):
    holder.kill()
    holder.wait()
    with exclusive(tmp_path):
        assert (tmp_path / ".lock").read_text() == str(os.getpid())


def test_errors_pass_through_and_free_the_folder(tmp_path):
    with pytest.raises(RuntimeError, match="stop"), exclusive(tmp_path / "new"):
        raise RuntimeError("stop")
    with exclusive(tmp_path / "new"):
        pass


def test_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot work in"), exclusive(tmp_path / "file"):
        pass
