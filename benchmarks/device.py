"""What the benchmarks of a GPU share: folds without text, and clocks for a device.

Nothing here may hang: every fit runs against a clock. Work on a device goes on after a
call has returned, so the clock waits for its end.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, NamedTuple
from unittest import mock

import joblib
import numpy as np

from benchmarks.benchmark import Benchmark, percent
from experiments.experiment import Option
from experiments.fitting import fit
from experiments.folds import Fold
from experiments.measuring import limited, versions
from experiments.records import Found
from tagsift.data.corpus import Corpus


class Workload(NamedTuple):
    """A fold and its candidates, without a word of the corpus."""

    name: str
    fold: Fold
    partial: Corpus

    @classmethod
    def of(cls, name: str, fold: Fold, partial: Corpus) -> Workload:
        """Blank the words; the features have been computed."""

        def blank(corpus: Corpus) -> Corpus:
            return replace(corpus, columns=(("",) * corpus.n_tokens,))

        fold = replace(fold, train=blank(fold.train), test=blank(fold.test))
        return cls(name, fold, blank(partial))

    def first(self, n_tokens: int | None) -> Workload:
        """Keep the first training sentences, about `n_tokens` tokens, or all."""
        features = self.fold.train_features
        most = features.n_tokens if n_tokens is None else n_tokens
        count = min(int(np.searchsorted(features.offsets, most)), features.n_sequences)
        kept = features.take_sequences(range(count))
        fold = replace(self.fold, train=self.fold.train[:count], train_features=kept)
        return Workload(self.name, fold, self.partial[:count])


@lru_cache(maxsize=1)
def _load(path: Path) -> dict[str, Workload]:
    return {work.name: work for work in joblib.load(path)}


@dataclass(frozen=True)
class DeviceBenchmark(Benchmark):
    """Compares and times fits on a GPU, in this process.

    The folds are read from a file, which is made where there is none yet, so that a
    machine with a GPU needs no corpora.
    """

    options = {
        "folds": Option(Path("runs/benchmarks/folds"), "file of the folds", Path),
        "device": Option("cuda", "where", str, ("cuda", "torch-cpu")),
        "tokens": Option(None, "train on the first ones only", int),
        "limit": Option(100.0, "seconds for one fit", float),
    }
    module: ClassVar[ModuleType]  # of the estimator, which chooses the device
    #: The dear parts of a fit: attributes of classes or modules, each with a title.
    watched: ClassVar[tuple[tuple[Any, str, str], ...]]
    folds: Path
    device: str
    tokens: int | None
    limit: float

    @abstractmethod
    def workloads(self) -> list[Workload]:
        """Make the folds from the corpora."""

    @abstractmethod
    def measure(self, cell: Any, work: Workload) -> dict[str, Any]:
        """Run one cell against the clock."""

    @property
    def file(self) -> Path:
        """Every benchmark has folds of its own."""
        return self.folds.with_name(f"{self.folds.name}-{self.name}.joblib")

    def prepare(self, todo: Sequence[Any]) -> None:
        if todo and not self.file.exists():
            self.file.parent.mkdir(parents=True, exist_ok=True)
            joblib.dump(self.workloads(), self.file, compress=3)

    def config(self, cell: Any) -> dict[str, Any]:
        more = {"on": self.device, "first_tokens": self.tokens}
        return {**super().config(cell), **more}

    def run(self, cell: Any) -> dict[str, Any]:
        import torch

        work = _load(self.file)[cell.work].first(self.tokens)
        about = {"data": work.fold.sizes(), "versions": versions("torch")}
        if self.cuda:
            found = self.measure(cell, work)
            gpu = {"gpu": self.cuda.get_device_name(), "cuda": torch.version.cuda}
            return about | found | gpu
        # Without a GPU ``device="cuda"`` means PyTorch on the CPU.
        use = {"cpu": "cpu", "cuda": torch.device("cpu")}.__getitem__
        with mock.patch.object(self.module, "use_device", use):
            return about | self.measure(cell, work)

    def about(self, found: Found) -> str:
        gpus = {record.get("gpu", "no GPU") for record in found.values()}
        torch = {record["versions"].get("torch") for record in found.values()} - {None}
        return f"{', '.join(sorted(gpus))}, PyTorch {', '.join(sorted(torch))}; "

    # Clocks -----------------------------------------------------------------------

    @property
    def cuda(self) -> Any:
        """The GPU as PyTorch has it, or None."""
        import torch

        return torch.cuda if self.device == "cuda" else None

    def now(self) -> float:
        """The time when all work on the device has ended."""
        if self.cuda:
            self.cuda.synchronize()
        return time.perf_counter()

    def forget_peak(self) -> None:
        """Begin to measure the memory of the GPU anew."""
        if self.cuda:
            self.cuda.empty_cache()
            self.cuda.reset_peak_memory_stats()

    def peak(self) -> dict[str, float]:
        """Most memory of the GPU that was held since."""
        if not self.cuda:
            return {}
        return {"gpu_gib": round(self.cuda.max_memory_allocated() / 2**30, 2)}

    def timed_fit(
        self, method: str, work: Workload, params: dict[str, Any]
    ) -> tuple[dict[str, Any], Any]:
        """Fit and tag once: what it cost, and the model (None if it was stopped)."""
        parts: dict[str, dict[str, float]] = {}
        self.forget_peak()
        begin = self.now()
        try:
            with limited(self.limit), ExitStack() as stack:
                for owner, attribute, title in self.watched:
                    spent = parts.setdefault(title, {"calls": 0, "seconds": 0.0})
                    timer = self._timer(getattr(owner, attribute), spent)
                    stack.enter_context(mock.patch.object(owner, attribute, timer))
                fitted = fit(method, work.fold, work.partial, params)
        except TimeoutError:
            stopped = {"stopped_after_s": round(self.now() - begin, 1)}
            return {**stopped, "parts": parts, **self.peak()}, None
        walls = {"fit_s": fitted.fitting.wall, "tag_s": fitted.tagging.wall}
        facts = {name: round(value, 3) for name, value in walls.items()}
        return {**facts, **percent(fitted), "parts": parts, **self.peak()}, fitted.model

    def _timer(self, work: Callable[..., Any], spent: dict[str, float]) -> Any:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            begin = self.now()
            result = work(*args, **kwargs)
            spent["calls"] += 1
            spent["seconds"] += self.now() - begin
            return result

        return wrapped
