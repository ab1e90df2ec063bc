"""The review page's server: the first page, the next item, many reviewers at a time.

Synthetic sentences with the votes of five simulated annotators. The server runs in a
process of its own and fits in another one, as always. Times are those of a client on
the same machine, and those that the server itself says it took; its CPU milliseconds
for one item do not hang on what else the machine does.

    python -m benchmarks review --tokens 20000 --seconds 10
"""

from __future__ import annotations

import os
import re
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import tagsift
from benchmarks.benchmark import Benchmark
from benchmarks.reviewers import Client, decisions_of, hammer, miscounted, serving
from experiments.experiment import KeyedCell, Option
from experiments.records import Found
from experiments.tables import Tables, by_columns, table

#: Tokens of a sentence, on average; items that are asked for, one after the other.
PER_SENTENCE, ASKED = 14.35, 200
#: Seconds that a reviewer thinks, on average, and for which a fit is waited for.
THINKING, PATIENCE = 1.0, 1800


@dataclass(frozen=True)
class ReviewCell(KeyedCell):
    form = "{tokens}/{reviewers}"
    tokens: int
    reviewers: int


@dataclass(frozen=True)
class Review(Benchmark):
    """A server, and those who ask it."""

    name = "review"
    title = "The review page"
    options = {
        "tokens": Option(200_000, "size of the corpus", int),
        "reviewers": Option(50, "reviewers at a time", int),
        "seconds": Option(60, "for which they work", int),
    }
    tokens: int
    reviewers: int
    seconds: int

    def cells(self) -> list[ReviewCell]:
        return [ReviewCell(self.tokens, self.reviewers)]

    def config(self, cell: ReviewCell) -> dict[str, Any]:
        told = {"seconds": self.seconds, "source": "synthetic sentences"}
        return {**super().config(cell), **told}

    def run(self, cell: ReviewCell) -> dict[str, Any]:
        with TemporaryDirectory() as folder:
            votes = Path(folder) / "votes.tsv"
            sizes = _write_votes(votes, cell.tokens)
            began = time.perf_counter()
            options = ("--votes", "3:7", "--every", "0")
            store = Path(folder) / "review.db"
            with serving(votes, store, *options) as (server, address):
                taken = {"start_s": round(time.perf_counter() - began, 2)}
                with closing(Client(address)) as client:
                    told = self._measure(client, server.pid, cell.reviewers)
        counts = told.pop("counts")
        return {"data": {**sizes, **counts}, "time": {**taken, **told}}

    def _measure(self, client: Client, pid: int, reviewers: int) -> dict[str, Any]:
        """First page and items while the first fit runs, many at once, then a refit."""
        found: dict[str, Any] = {"first_page_s": _first_page(client)}
        found["first_fit"] = _items(client, pid)
        busy = _fitting(client)
        tallies, threads, stop = hammer(client.address, reviewers, pause=THINKING)
        time.sleep(self.seconds)
        stop.set()
        for thread in threads:
            thread.join()
        found["many"] = _milliseconds(
            [t for one in tallies for t in one.asking],
            [t for one in tallies for t in one.serving],
        )
        client.close()  # the server may have done so, after a minute without a word
        stored = decisions_of(client)
        kept = sum(len(one.kept) for one in tallies)
        errors = miscounted(tallies, stored)
        found["fitting"] = busy and _fitting(client)  # all that time
        waited = time.perf_counter()
        while _fitting(client) and time.perf_counter() - waited < PATIENCE:
            time.sleep(5)
        progress = client.get("/api/progress")[1]
        found["fit_s"] = progress["fit_seconds"]
        if progress["revision"]:
            found["fitted"] = _items(client, pid)
            client.post("/api/refit", reviewer="ann")
            found["refit"] = _items(client, pid)
        items = {"items": progress["items"]}
        return found | {"counts": {**items, "decisions": kept, **errors}}

    def tables(self, found: Found) -> Tables:
        sizes = {
            "tokens|,d": "data.tokens",
            "spans|,d": "data.spans",
            "first page, s|.2f": "time.first_page_s",
            "start, s|.1f": "time.start_s",
            "a fit, s|.0f": "time.fit_s",
        }
        yield by_columns(found.values(), sizes)
        columns = {
            "median ms|.0f": "median_ms",
            "95 %|.0f": "p95_ms",
            "most|.0f": "most_ms",
            "at the server|.0f": "server_median_ms",
            "95 % there|.0f": "server_p95_ms",
            "CPU ms|.1f": "cpu_ms",
        }
        rows = [
            (name, *map(one["time"][key].get, columns.values()))
            for _, one in self.finished(found)
            for name, key in PHASES.items()
            if key in one["time"]
        ]
        yield table(["next item", *columns], rows)
        counts = {
            "reviewers|d": "config.reviewers",
            "seconds|d": "config.seconds",
            "decisions|,d": "data.decisions",
            "lost|d": "data.lost",
            "doubled|d": "data.doubled",
        }
        yield by_columns(found.values(), counts)


#: What went on while items were asked for.
PHASES = {
    "one reviewer, during the first fit": "first_fit",
    "many reviewers, during the first fit": "many",
    "one reviewer, no fit": "fitted",
    "one reviewer, during a refit": "refit",
}


def _write_votes(path: Path, tokens: int) -> dict[str, int]:
    corpus = tagsift.generate(round(tokens / PER_SENTENCE), 1, "ner")
    votes = tagsift.data.simulate_votes(corpus, random_state=0)
    tagsift.io.write_columns(path, votes, gold=False)
    spans = sum(len(tagsift.data.spans(row, "iob2")) for row in corpus.labels)
    return {"tokens": votes.n_tokens, "sentences": len(votes), "spans": spans}


def _first_page(client: Client) -> float:
    """Everything that a browser asks for before the first item can be seen."""
    began = time.perf_counter()
    _, page = client.get("/")
    for name in re.findall(rb'"static/([\w.]+)"', page):
        client.get(f"/static/{name.decode()}")
    client.get("/api/corpus")
    assert client.items(3)
    return round(time.perf_counter() - began, 3)


def _fitting(client: Client) -> bool:
    return bool(client.get("/api/progress")[1]["refitting"])


def _items(client: Client, pid: int) -> dict[str, float]:
    """Ask for one item after the other, and accept each."""
    taken, serving, cpu = [], [], 0.0
    for number in range(ASKED):
        busy = _cpu_seconds(pid)
        began = time.perf_counter()
        (item,) = client.items()
        taken.append(time.perf_counter() - began)
        serving.append(client.milliseconds / 1e3)
        cpu += _cpu_seconds(pid) - busy
        key = f"{os.getpid()}-{time.monotonic_ns()}-{number}"
        told = {name: item[name] for name in ("version", "revision")}
        told |= {"item": item["id"], "action": "accept"}
        client.post("/api/decisions", reviewer="ann", key=key, **told)
    return _milliseconds(taken, serving) | {"cpu_ms": round(1e3 * cpu / ASKED, 2)}


def _milliseconds(taken: list[float], serving: list[float]) -> dict[str, float]:
    """Middle, slow and slowest times, for the client and at the server."""
    return {
        f"{where}{name}_ms": round(1e3 * float(np.quantile(times, share)), 1)
        for where, times in (("", taken), ("server_", serving))
        for name, share in (("median", 0.5), ("p95", 0.95), ("most", 1.0))
    }


def _cpu_seconds(pid: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


EXPERIMENT = Review
