"""Inducing points: the greedy choice against a uniform draw, at several sizes.

Bound, span F1 and recovery of SGPPSL with the hyperparameters given.

    python -m benchmarks points --records benchmarks/records/points.jsonl
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.benchmark import Benchmark, paper_fold, percent, timing_page
from experiments.fitting import fit
from experiments.records import Record
from tagsift.gp.inducing import choose_points
from tagsift.report import Report

#: θ and amplitude that the evidence chooses on these folds.
KERNELS = {"base-np": (0.00556, 10.0), "chunking": (0.00556, 80.0)}


@dataclass(frozen=True)
class PointsCell:
    task: str
    points: int
    strategy: str
    seed: int

    @property
    def key(self) -> str:
        return f"{self.task}/{self.points}/{self.strategy}/seed{self.seed}"


@dataclass(frozen=True)
class Points(Benchmark):
    """SGPPSL with both choices."""

    name = "points"

    def cells(self) -> list[PointsCell]:
        return [
            PointsCell(task, points, strategy, seed)
            for task in KERNELS
            for points in (200, 400)
            for strategy in ("uniform", "greedy")
            for seed in range(2)
        ]

    def run(self, cell: PointsCell, needed: Record | None) -> dict[str, Any]:
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

    def report(self, found: Mapping[str, Record]) -> Report:
        from experiments.tables import table

        groups: dict[str, list[list[float]]] = {}
        for cell in self.cells():
            one = found.get(cell.key, {"error": ""})
            if "error" not in one:
                key = f"{cell.task}, {cell.points}, {cell.strategy}"
                names = ("span_f1", "span_f1_log_decoder", "recovery")
                values = [one["scores"][name] for name in names]
                values = [one["bound"], *values, one["time"]["fit_cpu_s"]]
                groups.setdefault(key, []).append(values)
        rows = [
            (key, *map(statistics.mean, zip(*values, strict=True)))
            for key, values in groups.items()
        ]
        head = ("task, points, choice", "bound|,.0f", "F1, weighted|.1f", "F1, log|.1f")
        made = table((*head, "recovery|.1f", "fit, CPU s|.1f"), rows)
        return timing_page("Inducing points", found, [made])


EXPERIMENT = Points
