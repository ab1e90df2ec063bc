"""The exact (dense) posterior on a GPU: agreement with NumPy, then time.

    python -m benchmarks gpu --folds folds --minutes 0 --no-page   # makes the file
    python -m benchmarks gpu --folds folds --records gpu.jsonl --no-page
    python -m benchmarks gpu --device torch-cpu --tokens 300

A machine with a GPU needs PyTorch, NumPy, SciPy, scikit-learn and safetensors only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np

from benchmarks.benchmark import paper_fold, timing_page
from benchmarks.device import Clock, DeviceBenchmark, gpu_of, timed_fit
from benchmarks.workload import Workload
from experiments.measuring import limited
from experiments.records import Record
from tagsift.backend import asarray, to_numpy
from tagsift.features.distances import median_distance
from tagsift.gp.inducing import choose_points
from tagsift.gp.kernels import RBF
from tagsift.report import Report
from tagsift.sgppsl import SGPPSL, estimator
from tagsift.sgppsl.alternating import alternate
from tagsift.sgppsl.confidence import (
    confidence,
    literal_confidence,
    pair_confidence_sums,
)
from tagsift.sgppsl.distances import Distances
from tagsift.sgppsl.expectations import Moments, expectation
from tagsift.sgppsl.fitted import FittedGP
from tagsift.sgppsl.gradients import theta_gradient
from tagsift.sgppsl.hyperparameters import laplace_evidence
from tagsift.sgppsl.labels import Labels, Settings
from tagsift.sgppsl.likelihoods import Chain, Piecewise, Separate
from tagsift.sgppsl.posterior import Dense, Inducing
from tagsift.sgppsl.solver import Problem, start

#: Seconds of design.md for 9,400 tokens: (hyperparameters given, learnt), by task.
BUDGETS = {"base-np": (5.0, 30.0), "chunking": (30.0, 180.0)}
#: Largest relative difference from NumPy, and the tokens that it is measured on.
AGREEMENT = {"functions": (1e-8, 700), "fits": (1e-5, 250)}
#: What the time of a fit is spent on.
WATCHED = (
    (Dense, "factor", "dense factor"),
    (Dense, "precondition", "dense precondition"),
    (Dense, "mean", "dense mean"),
    (Inducing, "factor", "inducing factor"),
)


def relative(one: Any, other: Any) -> float:
    """Largest difference of two arrays over the largest value."""
    a, b = np.asarray(to_numpy(one), float), np.asarray(to_numpy(other), float)
    if a.shape != b.shape or not np.isfinite(b).all():
        return float("inf")
    return float(np.abs(a - b).max() / max(np.abs(a).max(), 1e-300)) if a.size else 0.0


def functions(work: Workload, device: Any) -> dict[str, Any]:
    """Values of every function on a device."""
    rng = np.random.default_rng(0)
    X, mask = work.train.stacked(), work.mask
    N, L = mask.shape
    kernel = RBF(np.full(L, 0.3 / median_distance(X, 0)), np.full(L, 20.0))
    moments = Moments(
        rng.normal(size=(N, L)),
        rng.uniform(0.1, 4.0, size=(N, L)),
        rng.normal(size=(L, L)),
        rng.uniform(0.1, 1.0, size=(L, L)),
    )
    points = choose_points(X, mask, kernel.theta[0], max(N // 8, 8), 0)
    g, lam = rng.normal(size=(N, L)), rng.gamma(1.0, size=(N, L))
    raw = {
        "dense": rng.normal(size=(N, L)),
        "inducing": rng.normal(size=(len(points), L)),
    }
    some = X[: max(N // 4, 1)]

    def move(x: Any) -> Any:
        return asarray(x, device=device)

    q = Moments(*(move(getattr(moments, f.name)) for f in fields(moments)))
    labels = Labels.build(mask, work.train.offsets, device)
    out: dict[str, Any] = {
        "confidence (17)": confidence(q.mu, q.var, labels.evidence),
        "confidence, literal": literal_confidence(q.mu, q.var, labels.evidence),
    }
    pairs, _ = pair_confidence_sums(q.mu_T, q.var_T, labels.left, labels.right)
    out["pair confidences (17)"] = pairs
    ways = {
        "piecewise": Piecewise(labels.uniform(), pairs),
        "chain": Chain(labels.layout, labels.evidence),
        "separate": Separate(labels.evidence),
    }
    for name, likelihood in ways.items():
        for way in ("jensen", "tilted", "sampled", "laplace"):
            at = expectation(way)(likelihood, q)
            key = f"expectation {way}, {name}"
            out[f"{key}: value"] = at.value
            out[f"{key}: gradient"] = at.gradient
            out[f"{key}: precision"] = at.precision
            if name != "separate":
                out[f"{key}: transitions"] = at.gradient_T
    for form, chosen in (("dense", None), ("inducing", points)):
        distances = Distances.of(X, chosen, device)
        values = (move(raw[form]), move(g), move(lam))
        found, gp = carried(form, distances, kernel, values, moments, X, chosen)
        out |= found
        mean, variance = gp.moments(some)
        out |= {
            f"{form}: predictive mean (23)": mean,
            f"{form}: variance (24)": variance,
        }
    covariance, roots = distances.covariance(kernel)  # hyperparameters: through points
    problem = Problem(covariance, expectation("jensen"))
    state = start(problem, labels.uniform(), L)
    slopes = theta_gradient(distances, problem, kernel, roots, ways["piecewise"], state)
    out["gradient (20), theta"], out["gradient (20), amplitude"] = slopes
    return out


def carried(
    form: str,
    distances: Distances,
    kernel: RBF,
    values: tuple[Any, Any, Any],
    moments: Moments,
    X: Any,
    chosen: Any,
) -> tuple[dict[str, Any], FittedGP]:
    """What a covariance gives at some values, and the process with them."""
    beta, g, lam = values
    covariance, roots = distances.covariance(kernel)
    slope, factors = covariance.gradient(beta, g), covariance.factor(lam)
    gp = FittedGP(
        kernel,
        X if chosen is None else X[chosen],
        beta,
        factors.cholesky,
        roots,
        factors.root if chosen is None else None,
        moments.mu_T,
        moments.var_T,
    )
    return {
        f"{form}: mean": covariance.mean(beta),
        f"{form}: gradient (18)": slope,
        f"{form}: variances (19)": factors.var,
        f"{form}: KL (13)": factors.kl,
        f"{form}: log determinant": factors.log_det,
        f"{form}: precondition": covariance.precondition(factors, slope),
    }, gp


def fits(work: Workload, device: Any) -> dict[str, Any]:
    """What whole fits end at on a device: bound, confidences, moments; the evidence."""
    X, L = work.train.stacked(), len(work.classes)
    kernel = RBF(np.full(L, 0.3 / median_distance(X, 0)), np.full(L, 5.0))
    points = choose_points(X, work.mask, kernel.theta[0], 60, 0)
    labels = Labels.build(work.mask, work.train.offsets, device)
    out: dict[str, Any] = {}
    for form, chosen in (("dense", None), ("inducing", points)):
        for likelihood, way, steps in (
            ("piecewise", "jensen", 60),
            ("piecewise", "tilted", 20),
            ("chain", "laplace", 5),  # many small products: slow on a GPU
        ):
            covariance, _ = Distances.of(X, chosen, device).covariance(kernel)
            problem = Problem(covariance, expectation(way))
            settings = Settings(likelihood=likelihood)
            end = alternate(problem, labels, settings, max_iter=steps)
            key = f"{form}, {likelihood}, {way}"
            out[f"{key}: bound"] = end.history[-1].bound
            out[f"{key}: confidences"] = end.confidences
            out[f"{key}: means"] = end.state.q.mu
            out[f"{key}: variances"] = end.state.q.var
    separate = Separate(labels.evidence)
    distances = Distances.of(X, points, device)
    out["evidence"], _ = laplace_evidence(distances, kernel, separate, labels.uniform())
    return out


# Time ---------------------------------------------------------------------------


def fit(
    work: Workload, clock: Clock, limit: float, settings: dict[str, Any]
) -> dict[str, Any]:
    """Fit and tag once; seconds, memory, scores and parts."""
    model = SGPPSL(
        labels=work.classes,
        scheme=work.scheme,
        posterior="dense",
        device="cuda",
        **settings,
    )
    with clock.pretend(estimator):
        facts, predicted = timed_fit(model, work, clock, limit, WATCHED)
    if predicted is not None:
        facts |= {
            "outer_steps": model.n_iter_,
            "refreshes": sum(step["refreshed"] for step in model.history_),
            "theta": float(model.kernel_.theta[0]),
            "amplitude": float(model.kernel_.amplitude[0]),
        }
    return {"settings": settings, **facts}


@lru_cache(maxsize=1)
def warm_up(experiment: Gpu) -> None:
    """Let the libraries load their kernels before anything is timed."""
    work = experiment.work("base-np").first(300)
    clock = Clock(experiment.device)
    fit(work, clock, 30.0, {"theta": 0.02, "amplitude": 5.0})


@dataclass(frozen=True)
class GpuCell:
    """Agreement of functions or fits, or the time of a fit: learnt, then given."""

    what: str
    task: str

    @property
    def key(self) -> str:
        return f"{self.task}/{self.what}"


@dataclass(frozen=True)
class Gpu(DeviceBenchmark):
    """The exact posterior of a Base NP and a Chunking fold."""

    name = "gpu"

    def workloads(self) -> list[Workload]:
        return [Workload.of(task, *paper_fold(self.data, task)) for task in BUDGETS]

    def cells(self) -> list[GpuCell]:
        agree = [GpuCell(what, task) for what in AGREEMENT for task in BUDGETS]
        kinds = ("learnt", "given")
        return agree + [GpuCell(what, task) for task in BUDGETS for what in kinds]

    def needs(self, cell: GpuCell) -> GpuCell | None:
        return replace(cell, what="learnt") if cell.what == "given" else None

    def measure(
        self, cell: GpuCell, needed: Record | None, clock: Clock
    ) -> dict[str, Any]:
        work = self.work(cell.task)
        if cell.what in AGREEMENT:
            return self.agreement(cell, work, clock)
        warm_up(self)
        names = ("theta", "amplitude")
        known = {} if needed is None else {name: needed[name] for name in names}
        facts = fit(work, clock, self.limit, known)
        budget = BUDGETS[cell.task][cell.what == "learnt"]
        within = facts.get("fit_s", float("inf")) <= budget
        return {"data": work.sizes(), **facts, "budget_s": budget, "within": within}

    def agreement(self, cell: GpuCell, work: Workload, clock: Clock) -> dict[str, Any]:
        tolerance, size = AGREEMENT[cell.what]
        make = functions if cell.what == "functions" else fits
        with limited(min(60.0, self.limit)):
            ends = [make(work.first(size), on) for on in ("cpu", clock.target)]
        found = {
            name: relative(value, ends[1][name]) for name, value in ends[0].items()
        }
        worst = max(found, key=lambda name: found[name])
        return {
            "data": work.sizes(),
            "worst": worst,
            "worst_relative": found[worst],
            "tolerance": tolerance,
            "agree": found[worst] <= tolerance,
            "compared": len(found),
            "beyond": {name: v for name, v in found.items() if v > tolerance},
        }

    def report(self, found: Mapping[str, Record]) -> Report:
        from experiments.tables import table

        agree, times = [], []
        for cell in self.cells():
            one = found.get(cell.key)
            if one is None:
                continue
            told = (f"{cell.what}, {cell.task}", one.get("error"))
            if cell.what in AGREEMENT:
                yes = "yes" if one.get("agree") else f"NO {told[1] or ''}"
                names = ("compared", "worst_relative", "tolerance")
                agree.append((told[0], *(one.get(name) for name in names), yes))
                continue
            yes = "yes" if one.get("within") else f"NO {told[1] or ''}"
            tokens = one.get("data", {}).get("tokens")
            spent = one.get("fit_s", one.get("stopped_after_s"))
            rest = (one.get("gpu_gib"), one.get("outer_steps"))
            times.append((told[0], tokens, spent, one.get("budget_s"), yes, *rest))
        head = ("compared with NumPy", "values|d", "worst relative|.1e", "allowed|.0e")
        tables = [table((*head, "agree|>"), agree)]
        head = ("hyperparameters", "tokens|d", "fit, s|.3f", "budget, s|.1f", "kept|>")
        tables.append(table((*head, "GPU GiB|.2f", "outer steps|d"), times))
        return timing_page("The exact posterior", found, tables, gpu_of(found))


EXPERIMENT = Gpu
