"""ChainGP on a GPU: the same fits by NumPy and by PyTorch, CoNLL-2000 in two sizes.

First the objective at one point: value and gradient on both sides, and the time of an
evaluation. Then whole fits, with hyperparameters given (those that learning starts at)
and learnt; the fits on the GPU come first, those by NumPy after them.

    python -m benchmarks gpu_chain --folds folds --minutes 0 --no-page
    python -m benchmarks gpu_chain --folds folds --no-page \\
        --only size=whole,kernel=given+none,device=cuda
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.benchmark import CL, P, timing_page
from benchmarks.device import Clock, DeviceBenchmark, gpu_of, timed_fit
from benchmarks.workload import Workload
from experiments.folds import whole_fold
from experiments.measuring import limited
from experiments.records import Record
from tagsift.backend import asarray, to_numpy
from tagsift.base import TrainingSet
from tagsift.base.constraints import scheme_constraints
from tagsift.chain.objective import ChainObjective
from tagsift.chain_gp import ChainGP, estimator
from tagsift.data import corrupt
from tagsift.gp.groups import GroupKernel, InducingColumns
from tagsift.report import Report

SIZES: dict[str, int | None] = {"9400": 9400, "whole": None}
KERNELS, DEVICES = ("given", "learnt"), ("cuda", "cpu")
#: Largest relative difference of an evaluation (its columns are in single precision),
#: and of the log-posterior of fits that stop at the same tolerance.
_EVALUATION, _POSTERIOR = 1e-5, 1e-3
#: Smallest share of equal test labels.
_EQUAL = 0.995
#: What the time of a fit is spent on.
WATCHED = (
    (ChainObjective, "__init__", "objective: prepare"),
    (ChainObjective, "__call__", "objective: evaluate"),
    (estimator, "learn_kernels", "evidence"),
    (InducingColumns, "columns", "RBF columns"),
)
#: What fits of this process gave: (size, kernel, device) → labels and marginals.
_ANSWERS: dict[tuple[str, str, str], dict[str, Any]] = {}


def start_kernel(work: Workload) -> dict[str, Any]:
    """Hyperparameters to give: where learning starts."""
    return GroupKernel.start(work.train, 0).as_dict()


def evaluation(work: Workload, clock: Clock, repeat: int = 5) -> dict[str, Any]:
    """Value and gradient of the objective on both sides, and what one costs."""
    train = TrainingSet(work.train, work.mask, work.classes, work.scheme, 0)
    found: dict[str, Any] = {}
    ends: dict[str, tuple[float, Any]] = {}
    for device in DEVICES:
        clock.forget_peak()
        with clock.pretend(estimator):
            model = ChainGP(kernel=start_kernel(work), device=device)
            model.allowed_ = scheme_constraints(train, known=True)
            kernel = GroupKernel.from_dict(model.kernel or {})
            begin = clock.now()
            finder = model._finder()
            _, phi = finder.whiten(train, kernel)
            found[f"columns_s, {device}"] = round(clock.now() - begin, 3)
            begin = clock.now()
            objective = finder.objective(replace(train, features=phi), kernel)
            found[f"prepare_s, {device}"] = round(clock.now() - begin, 3)
        w = 0.1 * np.random.default_rng(0).standard_normal(objective.n_parameters)
        point = asarray(w, device=objective.device)  # [P]
        ends[device] = objective(point)  # warm
        seconds = []
        for _ in range(repeat):
            begin = clock.now()
            objective(point)
            seconds.append(clock.now() - begin)
        found[f"evaluation_ms, {device}"] = round(1e3 * min(seconds), 2)
        found["parameters"] = objective.n_parameters
        if device == "cuda":
            found |= clock.peak()
    (value, slope), (other, twin) = ends["cpu"], ends["cuda"]
    gap = np.abs(to_numpy(twin) - slope).max() / np.abs(slope).max()
    found["value_relative"] = abs(other - value) / abs(value)
    found["gradient_relative"] = float(gap)
    found["tolerance"] = _EVALUATION
    worst = max(found["value_relative"], found["gradient_relative"])
    found["agree"] = bool(worst <= _EVALUATION)
    return found


def fit(
    work: Workload, kernel: str, device: str, clock: Clock, limit: float
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Fit and tag once: what it cost, and its answers (None if it was stopped)."""
    model = ChainGP(
        kernel=start_kernel(work) if kernel == "given" else None,
        labels=work.classes,
        scheme=work.scheme,
        device=device,
    )
    with clock.pretend(estimator):
        facts, predicted = timed_fit(model, work, clock, limit, WATCHED)
        if predicted is None:
            return facts, None
        marginals = np.vstack(model.predict_marginals(work.test))  # [M, L]
    facts |= {
        "steps": model.n_iter_,
        "log_posterior": model.log_posterior_,
        "temperature": model.temperature_,
        "kernel": model.kernel_.as_dict(),
    }
    return facts, {
        "labels": np.concatenate([np.array(s) for s in predicted]),
        "recovered": np.concatenate([np.array(s) for s in model.recovered_]),
        "marginals": marginals,
        "log_posterior": model.log_posterior_,
    }


def agreement(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Compare the answers of two fits of the same model."""
    gaps = np.abs(one["marginals"] - other["marginals"])  # [M, L]
    bound = one["log_posterior"]
    found: dict[str, Any] = {
        "equal_labels": float((one["labels"] == other["labels"]).mean()),
        "equal_recovered": float((one["recovered"] == other["recovered"]).mean()),
        "marginals_largest_gap": float(gaps.max()),
        "marginals_mean_gap": float(gaps.mean()),
        "log_posterior_relative": abs(other["log_posterior"] - bound) / abs(bound),
    }
    found["agree"] = bool(
        found["equal_labels"] >= _EQUAL
        and found["log_posterior_relative"] <= _POSTERIOR
    )
    return found


@dataclass(frozen=True)
class ChainCell:
    """One evaluation of a size, or one fit."""

    size: str
    kernel: str
    device: str

    @property
    def key(self) -> str:
        return f"{self.size}/{self.kernel}/{self.device}"


@dataclass(frozen=True)
class GpuChain(DeviceBenchmark):
    """ChainGP on both sides."""

    name = "gpu_chain"

    def workloads(self) -> list[Workload]:
        found = []
        for size, n_tokens in SIZES.items():
            fold = whole_fold(self.data, "chunking", n_tokens)
            partial = corrupt(fold.train, cl=CL, p=P, random_state=0)
            found.append(Workload.of(size, fold, partial))
        return found

    def cells(self) -> list[ChainCell]:
        found = [ChainCell(size, "none", "both") for size in SIZES]
        return found + [
            ChainCell(size, kernel, device)
            for device in DEVICES
            for size in SIZES
            for kernel in KERNELS
        ]

    def measure(
        self, cell: ChainCell, needed: Record | None, clock: Clock
    ) -> dict[str, Any]:
        work = self.work(cell.size)
        about = {"data": work.sizes()}
        if cell.kernel == "none":
            evaluation(work.first(300), clock)  # warm up
            with limited(min(60.0, self.limit)):
                return about | evaluation(work, clock)
        facts, found = fit(work, cell.kernel, cell.device, clock, self.limit)
        if found is not None:
            _ANSWERS[cell.size, cell.kernel, cell.device] = found
            twin = _ANSWERS.get((cell.size, cell.kernel, "cuda"))
            if cell.device == "cpu" and twin is not None:
                facts["agreement"] = agreement(found, twin)
        return about | facts

    def report(self, found: Mapping[str, Record]) -> Report:
        from experiments.tables import table

        single, fits = [], []
        for cell in self.cells():
            one = found.get(cell.key, {"error": ""})
            if "error" in one:
                continue
            tokens = one["data"]["tokens"]
            if cell.kernel == "none":
                names = ("parameters", "evaluation_ms, cpu", "evaluation_ms, cuda")
                worst = max(one["value_relative"], one["gradient_relative"])
                agree = "yes" if one["agree"] else "NO"
                costs = [one[name] for name in names]
                single.append((cell.size, tokens, *costs, worst, agree))
                continue
            twin = found.get(replace(cell, device="cpu").key, {})
            same = twin.get("agreement", {}).get("equal_labels")
            stopped = f"more than {one.get('stopped_after_s')}, stopped"
            spent = one.get("fit_s", stopped)
            facts = [one.get(k) for k in ("tag_s", "gpu_gib", "steps", "span_f1")]
            name = f"{cell.size}, {cell.kernel}, {cell.device}"
            share = "" if same is None else f"{100 * same:.2f} %"
            fits.append((name, tokens, spent, *facts, share))
        head = ("one evaluation", "tokens|d", "parameters|,d", "NumPy, ms|.2f")
        head += ("GPU, ms|.2f", "worst relative|.1e", "agree|>")
        tables = [table(head, single)]
        head = ("fit", "tokens|d", "fit, s|.3f", "tagging, s|.3f", "GPU GiB|.2f")
        tables.append(table((*head, "steps|d", "span F1|.2f", "labels equal|>"), fits))
        return timing_page("ChainGP on a GPU", found, tables, gpu_of(found))


EXPERIMENT = GpuChain
