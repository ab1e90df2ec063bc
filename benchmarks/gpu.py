"""The exact (dense) posterior, and ChainGP, on a GPU: agreement with NumPy, then time.

Prints one JSON object a line as results come, and the whole record at the end. Folds
are numbers that ``--export`` writes where the corpora are; without them, and without
corpora, the bundled corpus stands in. Nothing here may hang: every fit runs against a
clock.

    python -m benchmarks.gpu --export runs/gpu/folds.npz
    python -m benchmarks.gpu --folds runs/gpu/folds.npz --out gpu.json
    python -m benchmarks.gpu --device torch-cpu --tokens 300
    python -m benchmarks.gpu --part chain-gp --export runs/gpu/conll2000.npz
    python -m benchmarks.gpu --part chain-gp --folds runs/gpu/conll2000.npz \
        --sizes whole --kernels given --devices cuda --out gpu-chain.json
"""

from __future__ import annotations

import argparse
import json
import traceback
import warnings
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import gpu_chain
from benchmarks.clock import Clock, Parts, say
from benchmarks.common import Workload, fold, load, machine, save
from tagsift.backend import asarray, to_numpy
from tagsift.gp.inducing import choose_points
from tagsift.gp.kernels import RBF, median_distance
from tagsift.sgppsl import SGPPSL, estimator
from tagsift.sgppsl.alternating import Labels, Settings, alternate
from tagsift.sgppsl.confidence import (
    confidence,
    literal_confidence,
    pair_confidence_sums,
)
from tagsift.sgppsl.distances import Distances
from tagsift.sgppsl.expectations import Moments, expectation
from tagsift.sgppsl.fitted import FittedGP
from tagsift.sgppsl.hyperparameters import laplace_evidence
from tagsift.sgppsl.likelihoods import Chain, Piecewise, Separate
from tagsift.sgppsl.posterior import Dense, Inducing
from tagsift.sgppsl.solver import Problem, start

#: Seconds of design.md for 9,400 tokens: (hyperparameters given, learnt), by labels.
BUDGETS = {3: (5.0, 30.0), 20: (30.0, 180.0)}
TOLERANCE = {"functions": 1e-8, "fits": 1e-5}
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


# Single functions ---------------------------------------------------------------


def compare_functions(work: Workload, target: Any) -> dict[str, float]:
    """Largest relative difference between NumPy and the device, by function."""
    found: dict[str, float] = {}
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

    def everything(device: Any) -> dict[str, Any]:
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
            covariance, roots = distances.covariance(kernel)
            beta = move(raw[form])
            slope = covariance.gradient(beta, move(g))
            factors = covariance.factor(move(lam))
            out |= {
                f"{form}: mean": covariance.mean(beta),
                f"{form}: gradient (18)": slope,
                f"{form}: variances (19)": factors.var,
                f"{form}: KL (13)": factors.kl,
                f"{form}: log determinant": factors.log_det,
                f"{form}: precondition": covariance.precondition(factors, slope),
            }
            problem = Problem(covariance, expectation("jensen"))
            state = start(problem, labels.uniform(), L)
            by_theta, by_amplitude = distances.gradient(
                problem, kernel, roots, ways["piecewise"], state
            )
            out[f"{form}: gradient (20), theta"] = by_theta
            out[f"{form}: gradient (20), amplitude"] = by_amplitude
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
            out[f"{form}: predictive mean (23)"], out[f"{form}: variance (24)"] = (
                gp.moments([some])
            )
        return out

    numpy, device = everything("cpu"), everything(target)
    for name, value in numpy.items():
        found[name] = relative(value, device[name])
    return found


# Whole fits ---------------------------------------------------------------------


def compare_fits(work: Workload, target: Any) -> dict[str, float]:
    """Largest relative difference of whole fits: bound, confidences, moments."""
    X = work.train.stacked()
    L = len(work.classes)
    theta = 0.3 / median_distance(X, 0)
    kernel = RBF(np.full(L, theta), np.full(L, 5.0))
    points = choose_points(X, work.mask, kernel.theta[0], 60, 0)
    found: dict[str, float] = {}
    for form, chosen in (("dense", None), ("inducing", points)):
        for likelihood, way, steps in (
            ("piecewise", "jensen", 60),
            ("piecewise", "tilted", 20),
            ("chain", "laplace", 5),  # many small products: slow on a GPU
        ):
            ends = []
            for device in ("cpu", target):
                distances = Distances.of(X, chosen, device)
                covariance, _ = distances.covariance(kernel)
                labels = Labels.build(work.mask, work.train.offsets, device)
                ends.append(
                    alternate(
                        Problem(covariance, expectation(way)),
                        labels,
                        Settings(likelihood=likelihood),
                        max_iter=steps,
                    )
                )
            key = f"{form}, {likelihood}, {way}"
            one, other = ends
            found[f"{key}: bound"] = relative(
                one.history[-1].bound, other.history[-1].bound
            )
            found[f"{key}: confidences"] = relative(one.confidences, other.confidences)
            found[f"{key}: means"] = relative(one.state.q.mu, other.state.q.mu)
            found[f"{key}: variances"] = relative(one.state.q.var, other.state.q.var)
    for device in ("cpu", target):
        distances = Distances.of(X, points, device)
        labels = Labels.build(work.mask, work.train.offsets, device)
        value, _ = laplace_evidence(
            distances, kernel, Separate(labels.evidence), labels.uniform()
        )
        if device == "cpu":
            first = value
    found["evidence"] = relative(first, value)
    return found


# Time ---------------------------------------------------------------------------


def fit(
    work: Workload, clock: Clock, limit: float, settings: dict[str, Any]
) -> dict[str, Any]:
    """Fit and tag once; seconds, memory, scores and parts."""
    parts = Parts(clock)
    clock.forget_peak()
    facts: dict[str, Any] = {"settings": settings}
    with clock.pretend(estimator), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model = SGPPSL(
            labels=work.classes,
            scheme=work.scheme,
            posterior="dense",
            device="cuda",
            **settings,
        )
        begin = clock.now()
        try:
            with clock.limit(limit), parts.watch(*WATCHED):
                model.fit(work.train, work.candidates)
            facts["fit_s"] = round(clock.now() - begin, 3)
            begin = clock.now()
            predicted = model.predict(work.test)
            facts["tag_s"] = round(clock.now() - begin, 3)
            facts |= work.scores(model, predicted)
            facts |= {
                "outer_steps": model.n_iter_,
                "refreshes": sum(step["refreshed"] for step in model.history_),
                "bound": model.lower_bound_,
                "theta": float(model.kernel_.theta[0]),
                "amplitude": float(model.kernel_.amplitude[0]),
            }
        except TimeoutError:
            facts["stopped_after_s"] = round(clock.now() - begin, 1)
    facts["parts"] = parts.facts()
    facts["warnings"] = sorted({str(w.message) for w in heard})
    return facts | clock.peak()


def judged(name: str, facts: dict[str, Any], work: Workload) -> dict[str, Any]:
    """Add the budget of design.md where the size is the one it speaks of."""
    labels = 3 if len(work.classes) <= 3 else 20
    budget = BUDGETS[labels][0 if name == "given" else 1]
    facts["budget_s"] = budget
    spent = facts.get("fit_s", facts.get("stopped_after_s", float("inf")))
    facts["within"] = "fit_s" in facts and spent <= budget
    return facts


def run(args: argparse.Namespace) -> dict[str, Any]:
    clock = Clock(args.device, args.seconds)
    works = load(args.folds) if args.folds else [fold("base-np"), fold("chunking")]
    works = [w.first(args.tokens) if args.tokens else w for w in works]
    record: dict[str, Any] = {"machine": machine(), "device": args.device}
    record |= clock.facts()
    say("machine", **record)
    checks = (
        ("functions", compare_functions, 700),
        ("fits", compare_fits, 250),
    )
    for name, compare, size in checks:
        for work in works:
            key = f"{name}, {len(work.classes)} labels"
            try:
                with clock.limit(min(60.0, clock.left())):
                    found = compare(work.first(size), clock.target)
            except Exception as error:  # report it and go on: time is dear there
                traceback.print_exc()
                record[key] = {"error": f"{type(error).__name__}: {error}"}
                say("agreement", what=key, **record[key])
                continue
            worst = max(found, key=lambda k: found[k])
            record[key] = {
                "worst": worst,
                "worst_relative": found[worst],
                "tolerance": TOLERANCE[name],
                "agree": found[worst] <= TOLERANCE[name],
                "compared": len(found),
                "beyond": {k: v for k, v in found.items() if v > TOLERANCE[name]},
            }
            say("agreement", what=key, **record[key])
    fit(works[0].first(300), clock, 30.0, {"theta": 0.02, "amplitude": 5.0})  # warm up
    for work in works:
        say("fold", **work.facts())
        known: dict[str, Any] = {}
        for name in ("learnt", "given"):
            key = f"{name}, {len(work.classes)} labels"
            if clock.left() < 5.0:
                record[key] = {"error": "no time left"}
                say("time", what=key, **record[key])
                continue
            try:
                facts = fit(work, clock, min(args.limit, clock.left()), known)
                known = {
                    "theta": facts.get("theta", 0.01),
                    "amplitude": facts.get("amplitude", 20.0),
                }
                facts = judged(name, facts, work)
            except Exception as error:
                traceback.print_exc()
                facts = {"error": f"{type(error).__name__}: {error}"}
            record[key] = work.facts() | facts
            say("time", what=key, **facts)
    return record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("sgppsl", "chain-gp"), default="sgppsl")
    parser.add_argument("--device", choices=("cuda", "torch-cpu"), default="cuda")
    parser.add_argument("--folds", type=Path, help="what --export wrote")
    parser.add_argument("--export", type=Path, help="write the folds and stop")
    parser.add_argument("--tokens", type=int, help="train on the first ones only")
    parser.add_argument("--seconds", type=float, default=230.0, help="for everything")
    parser.add_argument("--limit", type=float, default=100.0, help="for one fit")
    parser.add_argument("--out", type=Path, help="where the record goes")
    chain = parser.add_argument_group("of the part chain-gp")
    chain.add_argument("--data", type=Path, help="corpora; TAGSIFT_DATA by default")
    for name, choices in (
        ("--sizes", gpu_chain.SIZES),
        ("--kernels", gpu_chain.KERNELS),
        ("--devices", gpu_chain.DEVICES),
    ):
        chain.add_argument(name, nargs="+", choices=choices, default=list(choices))
    args = parser.parse_args()
    if args.part == "chain-gp":
        if args.export:
            gpu_chain.export(args)
        else:
            gpu_chain.run(args)
        return
    if args.export:
        save(args.export, [fold("base-np"), fold("chunking")])
        return
    record = run(args)
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(record))


if __name__ == "__main__":
    main()
