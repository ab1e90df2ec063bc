"""A new start begins where the last one ended; before a fit, no labels are saved."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the extra 'review' is absent")

from benchmarks.reviewers import Client
from tagsift.errors import DataError
from tagsift.review.corpus_view import CorpusView
from tagsift.review.session import Desk
from tagsift.review.store import Store
from tests.review.conftest import SAID, corpus_of, fitted, server
from tests.review.test_app import BEARER
from tests.review.test_guard import body, client_of
from tests.waiting import until

#: Bytes of a result.
SIZE = 5_000_000
LABELS = ("/export/corpus?format=conll", "/export/label-studio")


def everything(client: Client) -> dict:
    """What the page shows, and what can be saved."""
    told = {path: client.get(path) for path in (*LABELS, "/export/decisions")}
    told["rows"] = client.get("/api/search", reviewer="ann")
    told["corpus"] = client.get("/api/corpus")
    progress = client.get("/api/progress")[1]
    return told | {"progress": progress | {"reviewers": None}}


def counting(votes: Path, store: Path):
    """A server whose fits are quick and never come by themselves."""
    return server(votes, store, "--method", "dawid-skene", "--every", "0", settings=())


def test_a_killed_server_begins_where_it_ended(votes, tmp_path):
    store = tmp_path / "review.db"
    with counting(votes, store) as (process, address):
        with closing(Client(address)) as client:
            until(lambda: client.get("/api/progress")[1]["revision"] == 1)
            for number in range(3):
                (item,) = client.items()
                told = {name: item[name] for name in ("start", "end", "version")}
                client.post(
                    "/api/decisions",
                    **told,
                    reviewer="ann",
                    key=str(number) * 8,
                    item=item["id"],
                    action="none",
                    spans=[],
                    revision=1,
                )
            before = everything(client)
            assert before["progress"]["decisions"] == 3
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    with counting(votes, store) as (_, address):
        with closing(Client(address)) as client:
            assert everything(client) == before
            assert client.post("/api/refit", reviewer="ann")[0] == 202
            until(lambda: client.get("/api/progress")[1]["revision"] == 2)
            assert client.get("/api/progress")[1]["new"] == 0


class Idle:
    """A learner that never comes to an end."""

    def __init__(self, model: str = "") -> None:
        self.model, self.busy, self.failed, self.asked = model, False, None, []

    def learn(self, exact, then, revision) -> None:
        self.busy = True
        self.asked.append(revision)


@pytest.fixture
def start(path: Path, view):
    """Start a review on the same store; what is asked of its page."""
    stores = []

    def begin(view=view, model: str = "", every: int = 2):
        for store in stores:
            store.close()
        stores.append(Store.open(path, view.fingerprint))
        desk = Desk(view, stores[-1], Idle(model), every=every)
        desk.begin()
        client = client_of(desk)
        client.headers.update(BEARER)
        return desk, client

    yield begin
    stores[-1].close()


def waits(client) -> bool:
    """Whether the labels cannot be saved yet, though all else can."""
    answers = [client.get(path) for path in LABELS]
    if all(answer.status_code == 200 for answer in answers):
        return False
    for answer in answers:
        assert (
            answer.status_code == 503 and "no fit is done" in answer.json()["message"]
        )
    for path in ("/export/decisions", "/export/corpus?format=jsonl&layers=votes"):
        assert client.get(path).status_code == 200
    return True


def test_labels_wait_for_the_first_fit(start):
    desk, client = start()
    assert waits(client) and client.get("/api/corpus").json()["revision"] == 0
    assert client.get("/export/corpus?format=none").status_code == 400
    client.post("/api/decisions", json=body())
    assert waits(client)
    fitted(desk)
    assert not waits(client)


def test_a_fit_that_is_due_runs_at_the_start(start):
    desk, client = start()
    fitted(desk)
    told = {"item": "0:3-5", "revision": 1}
    client.post("/api/decisions", json=body(**told))
    assert start()[0].learner.asked == []
    _, client = start()
    client.post("/api/decisions", json=body(key="k" * 9, item="1:0-1", revision=1))
    again, client = start()
    assert again.learner.asked == [1] and not waits(client)
    assert client.get("/api/progress").json()["revision"] == 1


def test_a_result_of_other_votes_is_not_used(start, view):
    desk, client = start(model="a model")
    fitted(desk)
    votes = view.corpus
    ann, bob, eve = votes.annotators
    said = [[["B-PER", *SAID[0][0][1:]], *SAID[0][1:]], *SAID[1:]]
    others = (
        corpus_of(said=said),
        replace(votes, annotators=(ann, bob, replace(eve, abstains=True))),
        votes.with_exact([["O", *[None] * 6], [None] * 6, [None] * 3]),
        replace(votes, annotators=(ann, bob, replace(eve, name="eva"))),
    )
    for other in others:
        again, client = start(CorpusView(other, title="votes.tsv"), "a model")
        assert waits(client) and again.learner.asked == [0]
    again, client = start(model="another model")
    assert waits(client) and again.learner.asked == [0]
    again, client = start(model="a model")
    assert not waits(client) and again.learner.asked == []


@pytest.mark.parametrize(
    "damage",
    [
        "DROP TABLE result",  # as stores of before are
        "UPDATE result SET content = substr(content, 1, 100)",
        "UPDATE result SET content = zeroblob(length(content))",
        "UPDATE about SET value = 'x' WHERE name = 'result'",
        "UPDATE about SET value = '{}' WHERE name = 'result'",
    ],
)
def test_a_store_without_a_whole_result_opens(start, path, damage):
    desk, client = start()
    fitted(desk)
    client.post("/api/decisions", json=body(revision=1))
    desk.store.close()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(damage)
    desk, client = start()
    assert waits(client)
    assert client.get("/api/progress").json()["decisions"] == 1


def test_a_disk_that_is_full_is_said(start, monkeypatch):
    def full(*told):
        raise DataError("cannot use the store (database or disk is full).", "review.db")

    desk, client = start()
    monkeypatch.setattr(desk.store, "keep_result", full)
    fitted(desk)
    assert not waits(client)
    assert "full" in client.get("/api/progress").json()["unkept"]
    monkeypatch.undo()
    fitted(desk)
    assert client.get("/api/progress").json()["unkept"] is None


def test_a_kill_while_a_result_is_stored_loses_nothing(path: Path):
    """A process stores results one after the other and says so, until it is killed."""
    code = f"""
        from tagsift.review import store as module
        module._PART = 2**20
        store = module.Store.open({str(path)!r}, "text")
        for n in range(100_000):
            store.keep_result(str(n), bytes([n % 256]) * {SIZE})
            print(n, flush=True)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
        said = [int(worker.stdout.readline()) for _ in range(3)]
        os.kill(worker.pid, signal.SIGKILL)
        said += [int(line) for line in worker.stdout.read().splitlines()]
    with closing(Store.open(path, "text")) as store:
        about, content = store.result()
    # What was being stored may be there, though nobody was told.
    assert int(about) in (said[-1], said[-1] + 1)
    assert content == bytes([int(about) % 256]) * SIZE
