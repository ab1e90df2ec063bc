"""What the benchmarks of a GPU share: folds as numbers, and clocks for a device.

Nothing here may hang: every fit runs against a clock. Work on a device goes on after a
call has returned, so the clock waits for its end.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import joblib

from benchmarks.benchmark import Benchmark
from benchmarks.workload import Workload, load
from experiments.experiment import Option
from experiments.measuring import limited, versions
from experiments.records import Record


@dataclass(frozen=True)
class DeviceBenchmark(Benchmark):
    """Compares and times fits on a GPU, in this process.

    The folds are read as numbers from a file, which is made where there is none yet, so
    that a machine with a GPU needs no corpora.
    """

    options = {
        "folds": Option(Path("runs/benchmarks/folds"), "file of the folds", Path),
        "device": Option("cuda", "where", str, ("cuda", "torch-cpu")),
        "tokens": Option(None, "train on the first ones only", int),
        "limit": Option(100.0, "seconds for one fit", float),
    }
    folds: Path
    device: str
    tokens: int | None
    limit: float

    @abstractmethod
    def workloads(self) -> list[Workload]:
        """Make the folds from the corpora."""

    @abstractmethod
    def measure(self, cell: Any, needed: Record | None, clock: Clock) -> dict[str, Any]:
        """Run one cell against the clock."""

    @property
    def file(self) -> Path:
        """Every benchmark has folds of its own."""
        return self.folds.with_name(f"{self.folds.name}-{self.name}.joblib")

    def prepare(self, todo: Sequence[Any]) -> None:
        if todo and not self.file.exists():
            self.file.parent.mkdir(parents=True, exist_ok=True)
            joblib.dump(self.workloads(), self.file, compress=3)

    def work(self, name: str) -> Workload:
        found = load(self.file)[name]
        return found.first(self.tokens) if self.tokens else found

    def config(self, cell: Any) -> dict[str, Any]:
        more = {"on": self.device, "first_tokens": self.tokens}
        return {**super().config(cell), **more}

    def run(self, cell: Any, needed: Record | None) -> dict[str, Any]:
        clock = Clock(self.device)
        found = self.measure(cell, needed, clock)
        return {**found, **clock.facts(), "versions": versions("torch")}


def gpu_of(found: Mapping[str, Record]) -> str:
    """Say which GPU the records are of."""
    gpus = {record.get("gpu", "no GPU") for record in found.values()}
    torch = {record["versions"].get("torch") for record in found.values()} - {None}
    return f"{', '.join(sorted(gpus))}, PyTorch {', '.join(sorted(torch))}; "


class Clock:
    """The device's own end of work, and its memory."""

    def __init__(self, device: str) -> None:
        import torch

        self.cuda = device == "cuda"
        self.target = torch.device("cuda" if self.cuda else "cpu")
        self.torch = torch

    def now(self) -> float:
        if self.cuda:
            self.torch.cuda.synchronize()
        return time.perf_counter()

    def facts(self) -> dict[str, Any]:
        """Name the GPU."""
        if not self.cuda:
            return {}
        name = self.torch.cuda.get_device_name()
        return {"gpu": name, "cuda": self.torch.version.cuda}

    def forget_peak(self) -> None:
        """Begin to measure the memory of the GPU anew."""
        if self.cuda:
            self.torch.cuda.empty_cache()
            self.torch.cuda.reset_peak_memory_stats()

    def peak(self) -> dict[str, float]:
        """Most memory of the GPU that was held since."""
        if not self.cuda:
            return {}
        return {"gpu_gib": round(self.torch.cuda.max_memory_allocated() / 2**30, 2)}

    @contextmanager
    def pretend(self, module: ModuleType) -> Iterator[None]:
        """Let ``device="cuda"`` mean PyTorch on the CPU where there is no GPU."""
        if self.cuda:
            yield
            return

        def use_device(name: str) -> Any:
            return name if name == "cpu" else self.target

        with mock.patch.object(module, "use_device", use_device):
            yield


class Parts:
    """Seconds and calls of the dear parts of a fit."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.found: dict[str, dict[str, float]] = {}

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            begin = self.clock.now()
            result = function(*args, **kwargs)
            spent = self.found.setdefault(name, {"calls": 0, "seconds": 0.0})
            spent["calls"] += 1
            spent["seconds"] += self.clock.now() - begin
            return result

        return wrapped

    @contextmanager
    def watch(self, parts: Sequence[tuple[Any, str, str]]) -> Iterator[None]:
        """Time attributes of classes or modules: (owner, attribute, title)."""
        with ExitStack() as stack:
            for owner, attribute, title in parts:
                wrapped = self.around(title, getattr(owner, attribute))
                stack.enter_context(mock.patch.object(owner, attribute, wrapped))
            yield


def timed_fit(
    model: Any,
    work: Workload,
    clock: Clock,
    limit: float,
    watched: Sequence[tuple[Any, str, str]],
) -> tuple[dict[str, Any], Any]:
    """Fit and tag once: what it cost, and the labels given (None if it was stopped)."""
    parts = Parts(clock)
    clock.forget_peak()
    facts: dict[str, Any] = {}
    begin = clock.now()
    try:
        with limited(limit), parts.watch(watched):
            model.fit(work.train, work.candidates)
        facts["fit_s"] = round(clock.now() - begin, 3)
        begin = clock.now()
        predicted = model.predict(work.test)
        facts["tag_s"] = round(clock.now() - begin, 3)
        facts |= work.scores(model, predicted)
    except TimeoutError:
        predicted = None
        facts["stopped_after_s"] = round(clock.now() - begin, 1)
    return facts | {"parts": parts.found} | clock.peak(), predicted
