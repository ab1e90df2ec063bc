"""What was decided stays."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tagsift.data import Span
from tagsift.errors import DataError
from tagsift.review.store import Store


def added(store: Store, key: str = "k1", **more):
    told = {"reviewer": "ann", "sentence": 2, "start": 0, "end": 2, "action": "none"}
    spans = {"before": (Span("LOC", 0, 2),), "after": ()}
    return store.add(key=key, **(told | spans | more))


@pytest.fixture
def store(path: Path):
    made = Store.open(path, "text")
    yield made
    made.close()


def test_what_goes_in_comes_out_after_a_new_start(store, path: Path):
    first = added(store, note="why", score=0.25)
    second = added(store, "k2", action="undo", undoes=first.id)
    store.remember(1, 12.5)
    store.lease([2, 3], "ann", 5.0)
    store.lease([3], "bob", 6.0)
    store.close()
    again = Store.open(path, "text")
    assert list(again.decisions()) == [first, second]
    assert again.keyed("k1") == first and again.keyed("k3") is None
    assert first.changed and first.answers and not second.answers
    assert again.history() == [(1, 12.5)]
    assert again.leases() == {2: ("ann", 5.0), 3: ("bob", 6.0)}
    again.release([2])
    assert again.leases() == {3: ("bob", 6.0)}
    again.close()


def test_nothing_is_overwritten(store, path: Path):
    added(store)
    store.close()
    with sqlite3.connect(path) as db:
        for statement in (
            "UPDATE decisions SET reviewer = 'eve'",
            "DELETE FROM decisions",
        ):
            with pytest.raises(sqlite3.IntegrityError, match="never"):
                db.execute(statement)
    db.close()


def test_a_key_is_taken_once(store):
    added(store)
    with pytest.raises(DataError):
        added(store)
    assert len(list(store.decisions())) == 1


def test_a_store_belongs_to_one_server_and_one_text(store, path: Path):
    with pytest.raises(DataError, match="another review has this store open"):
        Store.open(path, "text")
    store.close()
    with pytest.raises(DataError, match="found that of another one"):
        Store.open(path, "another text")


def test_other_files_are_refused(tmp_path: Path):
    other = tmp_path / "other.db"
    other.write_text("no database " * 100)
    with pytest.raises(DataError, match="expected the store of a review"):
        Store.open(other, "text")
    assert other.read_text().startswith("no database")
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as db:
        db.execute("CREATE TABLE mine (x)")
    db.close()
    with pytest.raises(DataError, match="expected the store of a review"):
        Store.open(foreign, "text")
    with pytest.raises(DataError, match="cannot use the store"):
        Store.open(tmp_path / "nowhere" / "review.db", "text")


def test_a_kill_in_the_middle_loses_nothing(path: Path):
    """A process adds decisions and says so after each, until it is killed."""
    code = f"""
        from tagsift.review.store import Store
        store = Store.open({str(path)!r}, "text")
        for n in range(100_000):
            store.add(key=str(n), reviewer="ann", sentence=n, start=0, end=1,
                      action="none", before=(), after=())
            print(n, flush=True)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
        said = [int(worker.stdout.readline()) for _ in range(30)]
        os.kill(worker.pid, signal.SIGKILL)
        said += [int(line) for line in worker.stdout.read().splitlines()]
    store = Store.open(path, "text")
    kept = [one.sentence for one in store.decisions()]
    store.close()
    # What was being written may be there, though nobody was told.
    assert kept[: len(said)] == said and len(kept) <= len(said) + 1
