"""The running server: several reviewers at a time, kills, and what it refuses."""

from __future__ import annotations

import os
import signal
import socket
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the extra 'review' is absent")

import tagsift
from benchmarks.reviewers import Client, decisions_of, hammer, miscounted
from experiments.command import main as benchmark
from experiments.records import Records
from tagsift import read
from tagsift.cli import main
from tagsift.review.serving import is_loopback, listen
from tests.review.conftest import server, written
from tests.waiting import LIMIT, until


def counted(votes: Path, store: Path, reviewers: int, enough: int) -> dict:
    """Reviewers decide, the server is killed among it, and a new one is asked.

    In each turn they decide `enough`, and everybody something.
    """
    tallies = []
    for turn in range(2):
        with server(votes, store, "--every", "20") as (process, address):
            found, threads, stop = hammer(address, reviewers, name=f"t{turn}-")
            tallies += found
            kept = [one.kept for one in found]
            until(lambda kept=kept: all(kept) and sum(map(len, kept)) >= enough)
            if turn:
                stop.set()
                for thread in threads:
                    thread.join(LIMIT)
                with closing(Client(address)) as client:
                    told, progress = (
                        decisions_of(client),
                        client.get("/api/progress")[1],
                    )
            else:
                os.kill(process.pid, signal.SIGKILL)  # in the middle of it all
                for thread in threads:
                    thread.join(LIMIT)
    errors = miscounted(tallies, told)
    kept = sum(len(tally.kept) for tally in tallies)
    assert errors == dict.fromkeys(errors, 0)
    # A decision may be stored whose answer the kill has cut off; no other.
    assert kept <= len(told) <= kept + reviewers
    answers = [one for one in told if one["action"] in ("accept", "none", "relabel")]
    assert progress["decisions"] == len(answers)
    assert len({one["reviewer"] for one in told}) == 2 * reviewers
    return {"kept": kept, "answers": len(answers)}


def test_nothing_is_lost_or_doubled_though_it_is_killed(votes, tmp_path):
    assert counted(votes, tmp_path / "review.db", 12, 15)["kept"] >= 30


@pytest.mark.slow
def test_fifty_reviewers_at_a_time(tmp_path):
    votes = written(tmp_path / "many.tsv", 3000)
    assert counted(votes, tmp_path / "review.db", 50, 2000)["kept"] >= 4000


@pytest.mark.slow
def test_the_benchmark_runs_and_draws(tmp_path, capsys):
    told = ["review", "--tokens", "600", "--reviewers", "2", "--seconds", "1"]
    assert benchmark([*told, "--out", str(tmp_path), "--quiet"], "benchmarks") == 0
    (found,) = Records(tmp_path / "records").load().values()
    assert found["data"]["lost"] == found["data"]["doubled"] == 0
    assert {"first_fit", "fitted", "refit", "many"} <= set(found["time"])
    assert "next item" in capsys.readouterr().out


def refused(capsys, *arguments: object) -> str:
    assert main(["review", *map(str, arguments)]) == 2
    told = capsys.readouterr().err
    assert "Traceback" not in told
    return told


def test_other_addresses_need_a_password(votes, tmp_path, capsys):
    told = (votes, "--votes", "2:6", "--host", "0.0.0.0", "--port", "0")
    assert "--password-file" in refused(capsys, *told)
    password = tmp_path / "password"
    file = ("--password-file", password)
    assert "cannot read the password file" in refused(capsys, *told, *file)
    password.write_text("long enough\n")
    password.chmod(0o644)
    assert "chmod 600" in refused(capsys, *told, *file)
    password.chmod(0o600)
    password.write_text("short\n")
    assert "8 letters or more" in refused(capsys, *told, *file)
    assert not list(tmp_path.glob("*.db*"))


def test_a_password_behind_a_proxy_with_tls(votes, tmp_path):
    password = tmp_path / "password"
    password.touch(mode=0o600)
    password.write_text("open sesame\n")
    told = ("--method", "dawid-skene", "--password-file", str(password))
    with server(votes, tmp_path / "review.db", *told, settings=()) as (_, address):
        connection = HTTPConnection(address.split("/")[2], timeout=LIMIT)
        name = {"Host": "review.example", "X-Forwarded-Proto": "https"}
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        with closing(connection):
            codes, cookies = [], []
            for origin in ("http://review.example", "https://review.example"):
                headers = name | form | {"Origin": origin}
                connection.request("POST", "/login", "password=open+sesame", headers)
                answer = connection.getresponse()
                answer.read()
                codes.append(answer.status)
                cookies.append(answer.headers["set-cookie"] or "")
            assert codes == [403, 303] and "Secure" in cookies[1]
            cookie = {"Cookie": cookies[1].partition(";")[0]}
            connection.request("GET", "/api/progress", headers=name | cookie)
            assert connection.getresponse().status == 200


def test_answers_are_sent_at_once():
    """Of a socket whose protocol is not said, small answers wait 40 ms for others."""
    with listen("127.0.0.1", 0) as taken:
        assert taken.proto == socket.IPPROTO_TCP


def test_only_loopback_is_loopback():
    assert all(map(is_loopback, ("127.0.0.1", "::1", "localhost", "127.8.8.8")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "192.168.1.2", "example.org")))


def test_a_port_that_is_taken(votes, tmp_path, capsys):
    store = tmp_path / "review.db"
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        told = (votes, "--votes", "2:6", "--port", port, "--store", store)
        assert "cannot listen on 127.0.0.1" in refused(capsys, *told)
    assert not store.exists()


def test_bad_files_and_stores(votes, tmp_path, capsys):
    told = ("--votes", "2:6", "--port", "0")
    assert "expected a file" in refused(capsys, tmp_path / "none.tsv", *told)
    nowhere = ("--store", tmp_path / "nowhere" / "review.db")
    assert "cannot use the store" in refused(capsys, votes, *told, *nowhere)
    other = ("--store", votes)
    assert "expected the store of a review" in refused(capsys, votes, *told, *other)
    model = ("--model", tmp_path / "m.tagsift", "--method", "chain-gp")
    assert "--model brings a fitted model" in refused(capsys, votes, *told, *model)


def test_a_store_goes_back_into_clean(votes, tmp_path, capsys):
    corpus = read(votes, votes="2:6")
    view = tagsift.review.CorpusView(corpus)
    file, out = tmp_path / "review.db", tmp_path / "out.conll"
    store = tagsift.review.Store.open(file, view.fingerprint)
    desk = tagsift.review.Desk(view, store)
    one = [tagsift.data.Span("MISC", 0, 2)]
    desk.decide("ann", "12345678", "7:0-2", 0, "relabel", ruled=one)
    told = ["clean", str(votes), "--votes", "2:6", "--exact", str(file)]
    told += ["-o", str(out), "--set", "rounds=1", "--set", "folds=2", "--quiet"]
    assert main(told) == 2 and "has this store open" in capsys.readouterr().err
    store.close()
    assert main(told) == 0
    labels = read(out, columns="token,label,-,-,-").labels
    assert list(labels[7][:2]) == ["B-MISC", "I-MISC"]
