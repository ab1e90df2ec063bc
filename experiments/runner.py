"""Runs the cells of an experiment side by side; what is finished is never lost.

The record of every finished cell is written at once. A run that was killed goes on
where it stopped, and ends with the records of an unbroken one.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from dataclasses import dataclass
from typing import Any, TypeAlias

from experiments.experiment import Experiment
from experiments.measuring import machine, measured, versions
from experiments.records import Found, Record, Records, is_done
from tagsift.errors import InputError, MissingExtraError, ResourceError, TagsiftWarning
from tagsift.progress import progress
from tagsift.threads import blas_threads

#: What cells can be run on.
ENGINES = ("processes", "ray")
Promise: TypeAlias = "futures.Future[Any]"


@dataclass(frozen=True)
class Outcome:
    """What a run did."""

    done: int = 0  # cells finished in this run
    left: int = 0  # cells not begun because the time was over
    errors: tuple[tuple[str, str], ...] = ()  # key and error of those that failed


def pending(
    experiment: Experiment,
    cells: Sequence[Any],
    known: Found,
    *,
    retry_failed: bool = False,
    redo: bool = False,
) -> list[Any]:
    """Cells without a record, in their order, each behind the cell that it needs.

    Cells that failed, or all that were asked for, are there again if so said.
    """

    def done(cell: Any) -> bool:
        record = known.get(cell.key)
        return is_done(record, experiment.config(cell), retry_failed=retry_failed)

    found: dict[str, Any] = {}
    for cell in cells:
        if redo or not done(cell):
            first = experiment.needs(cell)
            if first is not None and not done(first):
                found.setdefault(first.key, first)
            found.setdefault(cell.key, cell)
    return list(found.values())


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
) -> Outcome:
    """Run what is missing (or is to be run again), as the only run on these records.

    After so many minutes no new cell is begun.
    """
    if engine not in ENGINES:
        raise InputError(f"expected an engine of {', '.join(ENGINES)}, found {engine}.")
    with records.exclusive():
        records.tidy()
        known = records.load()
        todo = pending(experiment, cells, known, **again)
        experiment.prepare(todo)
        done, errors = 0, []
        deadline = None if minutes is None else time.monotonic() + 60 * minutes
        with _executor(experiment, jobs, engine) as pool:
            results = _results(pool, experiment, todo, known, jobs, deadline)
            shown = progress(
                results, experiment.name, enabled=not quiet, total=len(todo)
            )
            try:
                for record in shown:
                    records.add(record)
                    done += 1
                    if "error" in record:
                        errors.append((str(record["key"]), str(record["error"])))
            except futures.BrokenExecutor as error:
                raise ResourceError(
                    f"a worker was killed after {done} cells, most likely for lack of "
                    "memory; what is finished is kept. Run again with fewer jobs."
                ) from error
        records.tidy()
    return Outcome(done, len(todo) - done, tuple(errors))


def _results(
    pool: futures.Executor,
    experiment: Experiment,
    todo: Sequence[Any],
    known: dict[str, Record],
    jobs: int,
    deadline: float | None,
) -> Iterator[Record]:
    """Records in the order in which they come, until the time is over."""
    waiting = {cell.key: cell for cell in todo}
    running: dict[Promise, str] = {}
    while waiting or running:
        late = deadline is not None and time.monotonic() > deadline
        for key in [] if late else list(waiting):
            if len(running) >= jobs:
                break
            first = experiment.needs(waiting[key])
            start = None if first is None else first.key
            if start not in waiting and start not in running.values():
                needed = None if start is None else known[start]
                task = pool.submit(run_cell, experiment, waiting.pop(key), needed)
                running[task] = key
        if not running:
            return
        for task in futures.wait(running, return_when=futures.FIRST_COMPLETED).done:
            key = running.pop(task)
            known[key] = task.result()
            yield known[key]


def run_cell(experiment: Experiment, cell: Any, needed: Record | None) -> Record:
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
            if needed is not None and "error" in needed:
                raise InputError(f"{needed['key']} failed: {needed['error']}")
            with blas_threads(experiment.threads):
                record |= experiment.run(cell, needed)
        except Exception as error:  # the other cells shall go on
            record["error"] = f"{type(error).__name__}: {error}"
    record["warnings"] = sorted({type(one.message).__name__ for one in caught})
    record["time"] = cost | machine() | record.get("time", {})
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
        initializer=_end_with_parent,
        max_tasks_per_child=1 if experiment.separate else None,
    )


def _end_with_parent() -> None:
    """Let a worker end when the run that started it was killed."""

    def watch() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
