"""Reviewers that never tire: many at a time ask for items and decide on them.

They speak with a running server over HTTP, as the page does, and write down what it has
acknowledged, so that it can be counted afterwards.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import urlencode

ACTIONS = ("accept", "accept", "none", "relabel", "skip", "flag")


@dataclass
class Client:
    """One connection to the server."""

    address: str
    reviewer: str = "ann"

    def __post_init__(self) -> None:
        found = re.fullmatch(r"http://([^/]+)/\?token=(.+)", self.address)
        assert found is not None, self.address
        self.connection = HTTPConnection(found[1], timeout=600)
        self.headers = {"Authorization": f"Bearer {found[2]}"}
        self.milliseconds = 0.0  # that the last answer took at the server

    def get(self, path: str, **told: Any) -> tuple[int, Any]:
        """Ask for something."""
        asked = f"{path}?{urlencode(told)}" if told else path
        return self._send("GET", asked, None, self.headers)

    def post(self, path: str, **told: Any) -> tuple[int, Any]:
        """Tell something."""
        headers = self.headers | {"Content-Type": "application/json"}
        return self._send("POST", path, json.dumps(told), headers)

    def _send(self, method: str, path: str, body: Any, headers: Any) -> tuple[int, Any]:
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        content = answer.read()
        told = answer.headers.get("server-timing", "dur=0")
        self.milliseconds = float(told.rpartition("=")[2])
        kind = answer.headers.get("content-type", "")
        return answer.status, json.loads(content) if "json" in kind else content

    def close(self) -> None:
        """End it."""
        self.connection.close()

    def items(self, count: int = 1, **filters: Any) -> list[dict[str, Any]]:
        """The next items."""
        _, told = self.get("/api/items", reviewer=self.reviewer, count=count, **filters)
        return list(told["items"])


@dataclass
class Tally:
    """What one reviewer was told by the server."""

    kept: dict[str, int] = field(default_factory=dict)  # decisions by key
    sent: set[str] = field(default_factory=set)  # keys, acknowledged or not
    refused: int = 0
    asking: list[float] = field(default_factory=list)  # seconds to the next item
    serving: list[float] = field(default_factory=list)  # of them, at the server
    deciding: list[float] = field(default_factory=list)


def work(client: Client, tally: Tally, stop: Event, seed: int, pause: float) -> None:
    """Ask and decide until told to stop, or until the server is gone."""
    rng = random.Random(seed)
    try:
        while True:
            began = time.perf_counter()
            items = client.items()
            tally.asking.append(time.perf_counter() - began)
            tally.serving.append(client.milliseconds / 1e3)
            if items:
                _decide(client, tally, items[0], rng)
            if stop.wait(rng.uniform(0, 2 * pause)):
                return
    except (OSError, HTTPException):
        return
    finally:
        client.close()


def _decide(
    client: Client, tally: Tally, item: dict[str, Any], rng: random.Random
) -> None:
    action = rng.choice(ACTIONS)
    told = {name: item[name] for name in ("start", "end", "version", "revision")}
    if action in ("none", "relabel"):
        label = {"start": item["start"], "end": item["end"], "label": "LOC"}
        told["spans"] = [label] if action == "relabel" else []
    key = f"{client.reviewer}-{len(tally.sent):08d}"
    tally.sent.add(key)
    for _ in range(1 + (rng.random() < 0.2)):  # now and then the answer got lost
        began = time.perf_counter()
        status, answer = client.post(
            "/api/decisions",
            reviewer=client.reviewer,
            key=key,
            item=item["id"],
            action=action,
            **told,
        )
        tally.deciding.append(time.perf_counter() - began)
        if status == 200:
            assert tally.kept.setdefault(key, answer["decision"]) == answer["decision"]
        else:
            tally.refused += 1


def hammer(
    address: str, reviewers: int, *, pause: float = 0.0, name: str = "r"
) -> tuple[list[Tally], list[Thread], Event]:
    """Set reviewers to work; they are at it when this returns."""
    stop, tallies, threads = Event(), [], []
    for number in range(reviewers):
        tally = Tally()
        client = Client(address, f"{name}{number}")
        told = (client, tally, stop, number, pause)
        threads.append(Thread(target=work, args=told, daemon=True))
        tallies.append(tally)
    for thread in threads:
        thread.start()
    return tallies, threads, stop


def decisions_of(client: Client) -> list[dict[str, Any]]:
    """Everything that the server has stored."""
    _, content = client.get("/export/decisions")
    return [json.loads(line) for line in content.splitlines()]


def miscounted(
    tallies: Sequence[Tally], stored: Sequence[dict[str, Any]]
) -> dict[str, int]:
    """Decisions lost, doubled, or stored though nobody sent them."""
    kept = [n for tally in tallies for n in tally.kept.values()]
    names = {key.rpartition("-")[0] for tally in tallies for key in tally.sent}
    stored = [one for one in stored if one["reviewer"] in names]
    sent, numbers = sum(len(x.sent) for x in tallies), {one["id"] for one in stored}
    answered = [
        (one["sentence"], one["start"], one["end"])
        for one in stored
        if one["action"] in ("accept", "none", "relabel")
    ]
    return {
        "lost": len(set(kept) - numbers),
        "doubled": len(kept) - len(set(kept)) + len(stored) - len(numbers),
        "twice": len(answered) - len(set(answered)),  # one item, two answers
        "unsent": max(0, len(stored) - sent),
    }


@contextmanager
def serving(
    votes: Path, store: Path, *options: str, environment: dict[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server in a process of its own, and its address."""
    command = [sys.executable, "-m", "tagsift", "review", str(votes), "--json"]
    command += ["--port", "0", "--store", str(store), *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment
    ) as server:
        try:
            assert server.stdout is not None
            lines = iter(server.stdout.readline, "}\n")
            told = json.loads("".join([*lines, "}"]))
            yield server, told["address"]
        finally:
            server.kill()
