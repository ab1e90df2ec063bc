"""Runs the cells of a suite in parallel; what is finished is never lost.

Every finished cell is written at once by the worker that ran it. A run that was killed
goes on where it stopped, and ends with the records of an unbroken one.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from typing import Any

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from tagsift.errors import InputError, MissingExtraError, ResourceError
from tagsift.experiments import records
from tagsift.experiments.grid import Cell, cells, choose, config_of
from tagsift.experiments.protocol import read_head
from tagsift.experiments.records import Record
from tagsift.experiments.suite import Suite
from tagsift.experiments.work import Place, run_cell
from tagsift.progress import progress

__all__ = ["BACKENDS", "Outcome", "pending", "run_suite", "wanted_cells"]

#: What joblib can run on.
BACKENDS = ("loky", "sequential", "ray")
#: Seconds between two lines of progress where no bar can be drawn.
_EVERY = 20.0


@dataclass(frozen=True)
class Outcome:
    """What a run did.

    Parameters
    ----------
    done, failed, left : int
        Cells finished in this run, those of them that failed, and cells not begun
        because the time was over.
    errors : tuple of (str, str)
        Key and error of the cells that failed.
    """

    done: int
    failed: int
    left: int
    errors: tuple[tuple[str, str], ...] = ()


def wanted_cells(
    suite: Suite, corpus: str, only: dict[str, str] | None = None
) -> list[Cell]:
    """Cells that a suite asks for; the watched words are in the real corpora only."""
    found = choose(cells(suite), only or {})
    return [cell for cell in found if corpus != "bundled" or not cell.watch]


def pending(
    found: Iterable[Cell], suite: Suite, place: Place, *, retry_failed: bool = False
) -> list[Cell]:
    """Cells without a record of the same configuration, in their order."""
    known = records.load(place.out)
    return [
        cell
        for cell in found
        if not records.is_done(
            known.get(cell.key),
            config_of(cell, suite, place.corpus),
            retry_failed=retry_failed,
        )
    ]


def run_suite(
    suite: Suite,
    place: Place,
    *,
    jobs: int = 1,
    backend: str = "loky",
    only: dict[str, str] | None = None,
    chosen: Callable[[Cell], bool] = lambda cell: True,
    minutes: float | None = None,
    retry_failed: bool = False,
    quiet: bool = False,
) -> Outcome:
    """Run what is missing of a suite.

    Parameters
    ----------
    suite : Suite
        What shall be run.
    place : Place
        Where to read and write.
    jobs : int
        Workers, each with one BLAS thread.
    backend : {"loky", "sequential", "ray"}
        Where the workers live. Threads are no choice: a warning could not be told
        to be that of a cell.
    only : dict, optional
        Conditions on the cells, as in `tagsift.experiments.grid.choose`.
    chosen : callable
        One more condition, such as that of one table.
    minutes : float, optional
        After this time no new cell is begun.
    retry_failed : bool
        Whether cells that failed before are run again.
    quiet : bool
        Show no progress.
    """
    if backend not in BACKENDS:
        raise InputError(
            f"expected a backend among {', '.join(BACKENDS)}, found {backend!r}."
        )
    place.out.mkdir(parents=True, exist_ok=True)
    _write_facts(suite, place)
    wanted = filter(chosen, wanted_cells(suite, place.corpus, only))
    todo = pending(wanted, suite, place, retry_failed=retry_failed)
    deadline = None if minutes is None else time.time() + 60 * minutes
    results = _parallel(todo, suite, place, jobs, backend, deadline)
    done, errors, left = 0, [], 0
    try:
        for result in _shown(results, len(todo), suite.name, quiet):
            if result is None:
                left += 1
                continue
            done += 1
            if "error" in result:
                errors.append((records.key_of(result), str(result["error"])))
    except BrokenExecutor as error:
        raise ResourceError(
            f"a worker was killed after {done} cells, most likely for lack of memory; "
            "what is finished is kept. Run again with fewer jobs."
        ) from error
    return Outcome(done, len(errors), left, tuple(errors))


def _write_facts(suite: Suite, place: Place) -> None:
    """Record the size of every data set, which Table I is made of."""
    known = records.load(place.out)
    for task, n_sentences in suite.tasks.items():
        key = f"{task}/corpus/head"
        config = {
            "task": task,
            "corpus": place.corpus,
            "n_sentences": n_sentences,
            "subset": "head",
        }
        if records.is_done(known.get(key), config):
            continue
        corpus = read_head(place.data, task, n_sentences)
        facts = {
            "task": task,
            "n_sentences": len(corpus),
            "n_tokens": corpus.n_tokens,
            "n_labels": len(corpus.label_set),
            "n_spans": corpus.n_spans,
        }
        records.write(place.out, {"key": key, "config": config, "facts": facts})


def _parallel(
    todo: list[Cell],
    suite: Suite,
    place: Place,
    jobs: int,
    backend: str,
    deadline: float | None,
) -> Iterator[Record | None]:
    """Results in the order in which they come; None for cells that were not begun."""
    if backend == "sequential" or (jobs == 1 and backend == "loky"):
        return (_one(cell, suite, place, deadline) for cell in todo)
    lazily = backend != "ray"
    if backend == "ray":
        _register_ray()
    workers = Parallel(
        n_jobs=jobs,
        backend=backend,
        batch_size=1,
        pre_dispatch="2*n_jobs",
        return_as="generator_unordered" if lazily else "list",
    )
    found: Any = workers(delayed(_one)(cell, suite, place, deadline) for cell in todo)
    return iter(found)


def _one(
    cell: Cell, suite: Suite, place: Place, deadline: float | None
) -> Record | None:
    """Run a cell on one BLAS thread and write its record, unless the time is over."""
    if deadline is not None and time.time() > deadline:
        return None
    with threadpool_limits(limits=1):
        record = run_cell(cell, suite, place)
    records.write(place.out, record)
    return record


def _register_ray() -> None:
    """Let joblib know of the Ray cluster, or start one on this machine."""
    if importlib.util.find_spec("ray") is None:
        raise MissingExtraError.for_package(
            "ray", extra="ray", what="running cells on a Ray cluster"
        )
    from ray.util.joblib import register_ray

    register_ray()


def _shown(
    results: Iterator[Record | None], total: int, title: str, quiet: bool
) -> Iterator[Record | None]:
    """Pass the results on, with a bar where one can be drawn and lines elsewhere."""
    if quiet or not total:
        return results
    if sys.stderr.isatty() and importlib.util.find_spec("rich") is not None:
        return progress(results, f"suite {title}", total=total)
    return _lines(results, total, lambda text: print(text, file=sys.stderr, flush=True))


def _lines(
    results: Iterator[Record | None], total: int, say: Callable[[str], None]
) -> Iterator[Record | None]:
    """Say now and then how far the run is and how long the rest will take."""
    start = last = time.monotonic()
    for number, result in enumerate(results, 1):
        yield result
        now = time.monotonic()
        if now - last >= _EVERY or number == total:
            last, rest = now, (now - start) / number * (total - number)
            say(
                f"{number} of {total} cells, {(now - start) / 60:.1f} min gone, "
                f"about {rest / 60:.0f} min left"
            )
