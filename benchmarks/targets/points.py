"""Inducing points: the greedy choice against a uniform draw, at several sizes.

Bound, span F1 and recovery of SGPPSL with the hyperparameters given.

    python -m benchmarks points --records benchmarks/records/points.jsonl
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.benchmark import KERNELS, Benchmark, paper_fold, percent
from experiments.experiment import KeyedCell
from experiments.fitting import fit
from experiments.records import Found, pick
from experiments.tables import Tables, table
from tagsift.gp.inducing import choose_points


@dataclass(frozen=True)
class PointsCell(KeyedCell):
    form = "{task}/{points}/{strategy}/seed{seed}"
    task: str
    points: int
    strategy: str
    seed: int


class Points(Benchmark):
    """SGPPSL with both choices."""

    name = "points"
    title = "Inducing points"

    def cells(self) -> list[PointsCell]:
        about = itertools.product(KERNELS, (200, 400), ("uniform", "greedy"), (0, 1))
        return [PointsCell(*one) for one in about]

    def run(self, cell: PointsCell) -> dict[str, Any]:
        fold, partial = paper_fold(self.data, cell.task)
        theta, amplitude = KERNELS[cell.task]
        params = {"theta": theta, "amplitude": amplitude, "n_inducing": cell.points}

        def choose(*given: Any) -> Any:
            if cell.strategy == "greedy":
                return choose_points(*given)
            X, _, _, n_points, draw = given
            rng = np.random.default_rng(draw)
            return np.sort(rng.choice(X.shape[0], n_points, replace=False))

        with mock.patch("tagsift.sgppsl.estimator.choose_points", choose):
            fitted = fit("sgppsl", fold, partial, params, cell.seed)
        scores = percent(fitted)
        log = fitted.decoded(["log"])["log"]["span_f1"] or 0.0
        return {
            "bound": round(fitted.model.lower_bound_, 1),
            "scores": scores | {"span_f1_log_decoder": round(100 * log, 2)},
            "time": {"fit_cpu_s": round(fitted.fitting.cpu, 2)},
        }

    def tables(self, found: Found) -> Tables:
        columns = {
            "bound|,.0f": "bound",
            "F1, weighted|.1f": "scores.span_f1",
            "F1, log|.1f": "scores.span_f1_log_decoder",
            "recovery|.1f": "scores.recovery",
            "fit, CPU s|.1f": "time.fit_cpu_s",
        }
        groups: dict[str, list[list[float]]] = {}
        for cell, one in self.finished(found):
            key = f"{cell.task}, {cell.points}, {cell.strategy}"
            groups.setdefault(key, []).append(pick(one, *columns.values()))
        rows = [(key, *np.mean(values, axis=0)) for key, values in groups.items()]
        yield table(("task, points, choice", *columns), rows)


EXPERIMENT = Points
