"""Runs the cells of an experiment side by side; what is finished is never lost.

The record of every finished cell is written at once. A run that was killed goes on
where it stopped, and ends with the records of an unbroken one.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from typing import Any, TypeAlias

from experiments.experiment import Experiment
from experiments.measuring import PINNED, machine, measured, versions
from experiments.records import Found, Record, Records, is_done
from tagsift.errors import InputError, MissingExtraError, ResourceError, TagsiftWarning
from tagsift.progress import progress
from tagsift.threads import blas_threads

#: What cells can be run on.
ENGINES = ("processes", "ray")
Promise: TypeAlias = "futures.Future[Any]"


def pending(
    experiment: Experiment,
    cells: Sequence[Any],
    known: Found,
    *,
    retry_failed: bool = False,
    renew: bool = False,
    redo: bool = False,
) -> list[Any]:
    """Cells without a record, in their order.

    Cells that failed, that were run in another environment, or all that were asked for,
    are there again if so said.
    """
    here = {name: x for name, x in versions().items() if name in PINNED}.items()

    def done(cell: Any) -> bool:
        record = known.get(cell.key)
        if renew and not here <= (record or {}).get("versions", {}).items():
            return False
        return is_done(record, experiment.config(cell), retry_failed=retry_failed)

    return [cell for cell in cells if redo or not done(cell)]


def run(
    experiment: Experiment,
    records: Records,
    cells: Sequence[Any],
    *,
    jobs: int = 1,
    engine: str = "processes",
    minutes: float | None = None,
    quiet: bool = False,
    **again: bool,
) -> list[Record]:
    """Run what is missing (or is to be run again), as the only run on these records.

    After so many minutes no new cell is begun. Returns the new records.
    """
    if engine not in ENGINES:
        raise InputError(f"expected an engine of {', '.join(ENGINES)}, found {engine}.")
    experiment.check_corpora(pending(experiment, cells, records.load(), **again))
    with records.exclusive():
        records.tidy()
        todo = pending(experiment, cells, records.load(), **again)
        experiment.prepare(todo)
        made: list[Record] = []
        deadline = None if minutes is None else time.monotonic() + 60 * minutes
        with _executor(experiment, jobs, engine) as pool:
            results = _results(pool, experiment, todo, jobs, deadline)
            shown = progress(
                results, experiment.name, enabled=not quiet, total=len(todo)
            )
            try:
                for record in shown:
                    records.add(record)
                    made.append(record)
            except futures.BrokenExecutor as error:
                raise ResourceError(
                    f"a worker was killed after {len(made)} cells, most likely for "
                    "lack of memory; what is finished is kept. Use fewer jobs."
                ) from error
        records.tidy()
    return made


def _results(
    pool: futures.Executor,
    experiment: Experiment,
    todo: Sequence[Any],
    jobs: int,
    deadline: float | None,
) -> Iterator[Record]:
    """Records in the order in which they come, until the time is over."""
    waiting, running = deque(todo), set[Promise]()
    while waiting or running:
        late = deadline is not None and time.monotonic() > deadline
        while waiting and not late and len(running) < jobs:
            running.add(pool.submit(run_cell, experiment, waiting.popleft()))
        if not running:
            return
        done, running = futures.wait(running, return_when=futures.FIRST_COMPLETED)
        yield from (task.result() for task in done)


def run_cell(experiment: Experiment, cell: Any) -> Record:
    """Run one cell and return its record; an error becomes part of it."""
    record: Record = {
        "key": cell.key,
        "config": experiment.config(cell),
        "versions": versions(),
        "command": experiment.command,
    }
    with warnings.catch_warnings(record=True) as caught, measured() as cost:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", TagsiftWarning)
        try:
            with blas_threads(experiment.threads):
                record |= experiment.run(cell)
        except Exception as error:  # the other cells shall go on
            record["error"] = f"{type(error).__name__}: {error}"
    record["warnings"] = sorted({type(one.message).__name__ for one in caught})
    record["time"] = cost | machine(experiment.threads) | record.get("time", {})
    return record


class _Here(futures.Executor):
    """Runs what is submitted at once, in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kw: Any) -> Promise:
        task: Promise = futures.Future()
        task.set_result(fn(*args, **kw))
        return task


class _Ray(futures.Executor):
    """Sends what is submitted to a Ray cluster, or to one started on this machine."""

    def __init__(self) -> None:
        if importlib.util.find_spec("ray") is None:
            raise MissingExtraError.for_package(
                "ray", extra="ray", what="running cells on a Ray cluster"
            )
        import ray

        self.remote = ray.remote

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kw: Any) -> Promise:
        task: Promise = self.remote(fn).remote(*args, **kw).future()
        return task


def _executor(experiment: Experiment, jobs: int, engine: str) -> futures.Executor:
    if engine == "ray":
        return _Ray()
    if jobs == 1 and not experiment.separate:
        return _Here()
    return futures.ProcessPoolExecutor(
        jobs,
        multiprocessing.get_context("spawn"),
        initializer=_end_with_run,
        max_tasks_per_child=1 if experiment.separate else None,
    )


def _end_with_run() -> None:
    """Let a worker end, without a word, when the run was stopped or killed."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(1))

    def watch() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
