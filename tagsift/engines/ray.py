"""Shards on the actors of a Ray cluster.

A worker is an actor that holds some of the shards. What is asked of all shards is sent
once, as an object of Ray's store, and every worker adds up what its own shards give.
Every step that made the states is remembered: a worker that dies is replaced, its
states are made again from the pieces, and the question is put to it once more, so that
the answer is the same as without the accident.
"""

from __future__ import annotations

import contextlib
import os
import resource
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tagsift.chain import Checkpoint, Each, Shards, Work, add_up
from tagsift.engines.versions import check_versions, versions
from tagsift.errors import (
    InputError,
    MissingExtraError,
    ResourceError,
    TagsiftError,
)
from tagsift.threads import blas_threads

__all__ = ["RayEngine", "cores_of", "started"]

#: How often a worker may die at one question.
_DEATHS = 3

#: Shards, by number, and what a function takes beside the state of each.
Own: TypeAlias = dict[int, tuple[Any, ...]]


class RayEngine:
    """Shards on Ray workers.

    Parameters
    ----------
    n_workers : int, optional
        Workers, one core each; by default all cores of the cluster but one.
    address : str, optional
        The cluster; by default one that Ray knows of, or a new one on this machine.
    checkpoint : Checkpoint, optional
        Where a fit keeps its last steps.
    """

    def __init__(
        self,
        n_workers: int | None = None,
        address: str | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        if n_workers is not None and n_workers < 1:
            raise InputError(f"n_workers must be at least 1; got {n_workers}.")
        self.n_workers, self.address = n_workers, address
        self.checkpoint = checkpoint
        self._last: _RayShards | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_last": None}

    @property
    def n_shards(self) -> int:
        """Into how many shards sentences in memory are cut: one for every worker."""
        if self.n_workers is not None:
            return self.n_workers
        return max(1, cores_of(started(self.address)) - 1)

    def scatter(self, pieces: Iterable[Any]) -> Shards:
        """Hand out the pieces of a corpus, as they come: the first states."""
        ray = started(self.address)
        stored = [ray.put(piece) for piece in pieces]
        n_workers, cores = min(self.n_shards, len(stored)), cores_of(ray)
        if n_workers > cores:
            raise InputError(
                f"the Ray cluster has {cores} cores, {n_workers} workers were asked "
                "for; ask for fewer, or add machines."
            )
        self._last = _RayShards(ray, stored, n_workers)
        return self._last

    def usage(self) -> list[dict[str, float]]:
        """CPU seconds and peak memory (MiB) of every worker."""
        return [] if self._last is None else self._last.usage()


class _Worker:
    """An actor: the states of some shards."""

    def __init__(self) -> None:
        self.states: dict[int, Any] = {}

    def versions(self) -> dict[str, str]:
        return versions()

    def take(self, number: int, piece: Any) -> None:
        self.states[number] = piece

    def then(self, own: Own, work: Work, args: tuple[Any, ...]) -> None:
        with blas_threads():
            for k, more in own.items():
                self.states[k] = work(self.states[k], *args, *more)

    def map(self, own: Own, work: Work, args: tuple[Any, ...]) -> list[Any]:
        return list(self._results(own, work, args))

    def sum(self, own: Own, work: Work, args: tuple[Any, ...]) -> Any:
        return add_up(self._results(own, work, args))

    def _results(self, own: Own, work: Work, args: tuple[Any, ...]) -> Iterable[Any]:
        with blas_threads():
            for k, more in own.items():
                yield work(self.states[k], *args, *more)

    def usage(self) -> dict[str, float]:
        spent = resource.getrusage(resource.RUSAGE_SELF)
        return {
            "cpu_s": round(spent.ru_utime + spent.ru_stime, 2),
            "peak_mib": round(spent.ru_maxrss / 1024, 1),
        }


@dataclass(frozen=True)
class _Question:
    """What is asked of the states of some shards."""

    how: str  # a method of the worker: then, map or sum
    work: Work
    args: Any  # in Ray's store
    each: Each
    asked: Sequence[int]

    def of(self, number: int, n_workers: int) -> Own:
        mine = [k for k in self.asked if k % n_workers == number]
        return {k: () if self.each is None else (self.each[k],) for k in mine}


class _RayShards(Shards):
    """States on workers; shard k lives on worker k modulo their number."""

    def __init__(self, ray: Any, pieces: list[Any], n_workers: int) -> None:
        self._ray = ray
        self._pieces = pieces  # in Ray's store
        self._steps: list[_Question] = []
        self._used: list[dict[str, float]] | None = None
        self._workers: list[Any] = [None] * n_workers
        for number in range(n_workers):
            self._begin(number)

    def __len__(self) -> int:
        return len(self._pieces)

    def __del__(self) -> None:
        with contextlib.suppress(self._ray.exceptions.RayError):  # of a session gone by
            self._dismiss()

    def close(self) -> None:
        """Let the workers go; their cores are free then."""
        self._used = self.usage()
        self._dismiss()

    def _dismiss(self) -> None:
        if self._ray.is_initialized():
            for worker in filter(None, self._workers):
                self._ray.kill(worker)
        self._workers = []

    def then(self, work: Work, *args: Any, each: Each = None) -> None:
        step = self._question("then", work, args, each, range(len(self)))
        self._ask(step)
        self._steps.append(step)

    def results(
        self, work: Work, args: tuple[Any, ...], each: Each, asked: Sequence[int]
    ) -> Iterable[Any]:
        answers = self._ask(self._question("map", work, args, each, asked))
        of_worker = {number: iter(results) for number, results in answers.items()}
        return [next(of_worker[k % len(self._workers)]) for k in asked]

    def sums(
        self, work: Work, args: tuple[Any, ...], each: Each, asked: Sequence[int]
    ) -> Iterable[Any]:
        return self._ask(self._question("sum", work, args, each, asked)).values()

    def usage(self) -> list[dict[str, float]]:
        if self._used is not None:
            return self._used
        return list(self._ray.get([one.usage.remote() for one in self._workers]))

    def _question(
        self,
        how: str,
        work: Work,
        args: tuple[Any, ...],
        each: Each,
        asked: Sequence[int],
    ) -> _Question:
        return _Question(how, work, self._ray.put(args), each, asked)

    def _ask(self, question: _Question) -> dict[int, Any]:
        """The answers of the workers concerned, in the order of their numbers."""
        n_workers = len(self._workers)
        concerned = sorted({k % n_workers for k in question.asked})
        calls = {number: self._send(number, question) for number in concerned}
        return {
            number: self._answer(number, question, calls[number])
            for number in concerned
        }

    def _send(self, number: int, question: _Question) -> Any:
        method = getattr(self._workers[number], question.how)
        own = question.of(number, len(self._workers))
        return method.remote(own, question.work, question.args)

    def _answer(self, number: int, question: _Question, call: Any) -> Any:
        """The answer of a worker; one that has died is replaced, and asked again."""
        gone = self._ray.exceptions.RayActorError
        for _ in range(_DEATHS):
            try:
                return _result(self._ray, call)
            except gone:
                self._begin(number)
                call = self._send(number, question)
        raise ResourceError(
            f"worker {number} died {_DEATHS} times at the same work, most likely for "
            "want of memory; give more workers, or machines with more memory."
        )

    def _begin(self, number: int) -> None:
        """Start a worker, and bring its states to where the others are."""
        worker = self._ray.remote(num_cpus=1)(_Worker).remote()
        check_versions(versions(), _result(self._ray, worker.versions.remote()))
        self._workers[number] = worker
        for k in range(number, len(self), len(self._workers)):
            worker.take.remote(k, self._pieces[k])
        for step in self._steps:
            self._send(number, step)


def _result(ray: Any, call: Any) -> Any:
    """What a call gave; errors of ours are those of a local call."""
    try:
        return ray.get(call)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, TagsiftError):
            raise error.cause from None
        if isinstance(error.cause, ImportError):
            raise InputError(
                f"a Ray worker cannot import what it needs ({error.cause}); install "
                "the same packages on all machines."
            ) from None
        raise


def started(address: str | None) -> Any:
    ray = MissingExtraError.imported("ray", extra="ray", what="the engine 'ray'")
    if not ray.is_initialized():
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
        os.environ.setdefault("RAY_IGNORE_UNHANDLED_ERRORS", "1")  # of other workers
        try:
            with _silent():
                ray.init(
                    address=address,
                    include_dashboard=False if address is None else None,
                    log_to_driver=False,
                    logging_level="ERROR",
                )
        except (ConnectionError, ValueError) as error:
            reason = str(error).strip().splitlines()[0]
            asked = address or os.environ.get("RAY_ADDRESS", "this machine")
            raise InputError(
                f"there is no Ray cluster at {asked} ({reason}); start one, or leave "
                "out the address."
            ) from error
    return ray


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Without what Ray prints as it starts; what goes wrong is an exception."""
    sys.stderr.flush()
    stderr, away = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(away, 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(away)


def cores_of(ray: Any) -> int:
    return int(ray.cluster_resources().get("CPU", 1))
