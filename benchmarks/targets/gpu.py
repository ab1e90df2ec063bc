"""The exact (dense) posterior on a GPU: agreement with NumPy, then time.

    python -m benchmarks gpu --folds folds --minutes 0 --no-page   # makes the file
    python -m benchmarks gpu --folds folds --records gpu.jsonl --no-page
    python -m benchmarks gpu --device torch-cpu --tokens 300

A machine with a GPU needs PyTorch, NumPy, SciPy, scikit-learn and safetensors only.
Single functions are compared by tests/sgppsl/test_torch.py, on a GPU where there is
one; the records of `functions` were made before that.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from benchmarks.benchmark import KERNELS
from benchmarks.device import DeviceBenchmark, Workload
from experiments.experiment import KeyedCell
from experiments.fitting import make_model
from experiments.folds import paper_fold
from experiments.measuring import limited
from experiments.records import Found, pick
from experiments.tables import Tables, table
from tagsift.features.distances import median_distance
from tagsift.sgppsl import estimator
from tagsift.sgppsl.posterior import Dense, Inducing

#: Seconds of design.md for 9,400 tokens: (hyperparameters given, learnt), by task.
BUDGETS = {"base-np": (5.0, 30.0), "chunking": (30.0, 180.0)}
#: Largest relative difference of whole fits from NumPy, and the tokens of these fits.
TOLERANCE, SIZE = 1e-5, 250
#: Likelihood, expectation and steps of the fits that are compared.
FITS = (
    ("piecewise", "jensen", 60),
    ("piecewise", "tilted", 20),
    ("chain", "laplace", 5),  # many small products: slow on a GPU
)


def ends(work: Workload, device: str) -> dict[str, Any]:
    """What whole fits end at on a device: bounds, confidences and marginals."""
    X, found = work.fold.train_features, {}
    theta = 0.3 / median_distance(X.stacked(), 0)
    fixed = {"theta": theta, "amplitude": 5.0, "n_inducing": 60, "device": device}
    for form in ("dense", "inducing"):
        for likelihood, expectation, steps in FITS:
            about = {"posterior": form, "likelihood": likelihood, "max_iter": steps}
            params = {**fixed, **about, "expectation": expectation}
            model = make_model("sgppsl", work.fold, params, 0)
            model.fit(X, work.partial.candidates)
            key = f"{form}, {likelihood}, {expectation}"
            found[f"{key}: bound"] = np.array([model.lower_bound_])
            found[f"{key}: confidences"] = np.vstack(model.confidences_)
            found[f"{key}: marginals"] = np.vstack(model.predict_proba(X))
    return found


def agreement(work: Workload) -> dict[str, Any]:
    """Compare whole fits by their largest differences over their largest values."""
    here, there = (ends(work.first(SIZE), device) for device in ("cpu", "cuda"))
    found = {
        name: float(np.abs(value - there[name]).max() / np.abs(value).max())
        for name, value in here.items()
    }
    worst = max(found, key=lambda name: found[name])
    return {
        "worst": worst,
        "worst_relative": found[worst],
        "tolerance": TOLERANCE,
        "agree": found[worst] <= TOLERANCE,
        "compared": len(found),
        "beyond": {name: gap for name, gap in found.items() if not gap <= TOLERANCE},
    }


@dataclass(frozen=True)
class GpuCell(KeyedCell):
    """Agreement of fits, or the time of a fit: learnt, or given."""

    form = "{task}/{what}"
    what: str
    task: str
    work = property(attrgetter("task"))  # the name of its folds


class Gpu(DeviceBenchmark):
    """The exact posterior of a Base NP and a Chunking fold."""

    name = "gpu"
    title = "The exact posterior"
    module = estimator
    watched = (
        (Dense, "factor", "dense factor"),
        (Dense, "precondition", "dense precondition"),
        (Dense, "mean", "dense mean"),
        (Inducing, "factor", "inducing factor"),
    )

    def workloads(self) -> list[Workload]:
        return [Workload.of(task, *paper_fold(self.data, task)) for task in BUDGETS]

    def cells(self) -> list[GpuCell]:
        agree = [GpuCell("fits", task) for task in BUDGETS]
        kinds = ("learnt", "given")
        return agree + [GpuCell(what, task) for task in BUDGETS for what in kinds]

    def timed(self, work: Workload, settings: dict[str, Any]) -> dict[str, Any]:
        """Fit and tag once; seconds, memory, scores and parts."""
        params = {"posterior": "dense", "device": "cuda", **settings}
        facts, model = self.timed_fit("sgppsl", work, params)
        if model is not None:
            facts |= {
                "outer_steps": model.n_iter_,
                "refreshes": sum(step["refreshed"] for step in model.history_),
                "theta": float(model.kernel_.theta[0]),
                "amplitude": float(model.kernel_.amplitude[0]),
            }
        return {"settings": settings, **facts}

    def measure(self, cell: GpuCell, work: Workload) -> dict[str, Any]:
        if cell.what == "fits":
            with limited(min(60.0, self.limit)):
                return agreement(work)
        # The libraries load their kernels before anything is timed.
        self.timed(work.first(300), {"theta": 0.02, "amplitude": 5.0})
        known = dict(zip(("theta", "amplitude"), KERNELS[cell.task], strict=True))
        facts = self.timed(work, known if cell.what == "given" else {})
        budget = BUDGETS[cell.task][cell.what == "learnt"]
        within = facts.get("fit_s", float("inf")) <= budget
        return {**facts, "budget_s": budget, "within": within}

    def tables(self, found: Found) -> Tables:
        agree, times = [], []
        older = [GpuCell("functions", task) for task in BUDGETS]
        for cell in [*older, *self.cells()]:
            if (one := found.get(cell.key)) is None:
                continue
            told, no = f"{cell.what}, {cell.task}", f"NO {one.get('error', '')}"
            if cell.what in ("functions", "fits"):
                places = ("compared", "worst_relative", "tolerance")
                yes = "yes" if one.get("agree") else no
                agree.append((told, *pick(one, *places), yes))
            else:
                tokens, budget, *rest = pick(
                    one, "data.tokens", "budget_s", "gpu_gib", "outer_steps"
                )
                spent = one.get("fit_s", one.get("stopped_after_s"))
                yes = "yes" if one.get("within") else no
                times.append((told, tokens, spent, budget, yes, *rest))
        head = ("compared with NumPy", "values|d", "worst relative|.1e", "allowed|.0e")
        yield table((*head, "agree|>"), agree)
        head = ("hyperparameters", "tokens|d", "fit, s|.3f", "budget, s|.1f")
        yield table((*head, "kept|>", "GPU GiB|.2f", "outer steps|d"), times)


EXPERIMENT = Gpu
