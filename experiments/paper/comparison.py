"""Methods against each other over all settings: losses, tests, ranks, calibration."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from experiments.folds import TASKS
from experiments.paper.ranks import Ranking, ranking
from experiments.paper.results import OURS, PaperSetting, Results
from experiments.tables import table
from tagsift.report import Table
from tagsift.typing import FloatArray


class Loss(NamedTuple):
    """How one of our models does against one rival."""

    model: str
    rival: str
    task: str
    gaps: dict[PaperSetting, float]  # mean difference, model minus rival
    lost: int  # settings in which the rival's mean is higher
    mean: float  # difference over settings
    worst: PaperSetting  # where the model falls furthest behind


def losses(results: Results, measure: str) -> list[Loss]:
    """Every rival that beats one of our models somewhere, the worst first."""
    found = []
    for sides in itertools.product(OURS, results.rivals, results.tasks):
        model, rival, task = sides
        gaps = results.gaps(model, rival, measure, results.of(task))
        values = list(gaps.values())
        lost = sum(gap < 0 for gap in values)
        if lost:
            worst = min(gaps, key=lambda setting: gaps[setting])  # noqa: B023
            found.append(Loss(*sides, gaps, lost, float(np.mean(values)), worst))
    return sorted(found, key=lambda loss: (OURS.index(loss.model), loss.mean))


def losses_table(results: Results, found: list[Loss], words: str) -> Table:
    """Losses as a table; `words` say what decides."""
    rows = []
    for loss in found:
        names = results.title(loss.model), results.title(loss.rival)
        share = f"{loss.lost} of {len(loss.gaps)}"
        about = (TASKS[loss.task].title, share, loss.mean)
        there = (loss.worst.words.partition(", ")[2], loss.gaps[loss.worst])
        rows.append((*names, *about, *there))
    head = ("model", "loses to", "task", "settings lost|>", "mean difference|+.2f|100")
    return table(
        (*head, "worst setting", "there|+.2f|100"),
        rows,
        title=f"Where our models lose ({words}, points)",
        note="Means over the folds that both methods were run on. The CRF on gold "
        "labels is no rival and is left out.",
    )


def rank_methods(results: Results, measure: str) -> Ranking | None:
    """Mean ranks over all settings in which every method was run."""
    rows = []
    for setting in results.settings:
        values = [results.folds(name, setting, measure) for name in results.rivals]
        common = set.intersection(*map(set, values)) if values else set()
        if common:
            rows.append([np.mean([one[part] for part in common]) for one in values])
    if len(results.rivals) < 2 or not rows:
        return None
    return ranking(np.array(rows), list(results.rivals))


def wilcoxon(gaps: npt.ArrayLike) -> float:
    """Two-sided p-value of the differences of two methods, one for each setting.

    Zero differences are split between the two signs, as Demšar advises.
    """
    if not np.any(gaps):
        return 1.0
    return float(stats.wilcoxon(gaps, zero_method="zsplit").pvalue)


def holm(p_values: npt.ArrayLike) -> FloatArray:
    """Adjust several p-values at once by Holm's step-down rule."""
    p = np.asarray(p_values, dtype=np.float64)  # [n]
    order = np.argsort(p, kind="stable")  # [n]
    stepped = p[order] * np.arange(len(p), 0, -1)  # [n]
    adjusted = np.empty_like(p)  # [n]
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted


def wilcoxon_table(results: Results, model: str, measure: str, words: str) -> Table:
    """Wilcoxon signed-rank tests of one model against every other method."""
    found = {}
    for rival in results.rivals:
        gaps = results.gaps(model, rival, measure, results.settings)
        if gaps and rival != model:
            found[rival] = np.array(list(gaps.values()))  # [S]
    tests = [wilcoxon(values) for values in found.values()]
    rows = []
    for rival, *both in zip(found, tests, holm(tests), strict=True):
        values = found[rival]
        counts = [int((np.sign(values) == sign).sum()) for sign in (1, 0, -1)]
        told = ["< 0.0001" if p < 1e-4 else f"{p:.4f}" for p in both]
        about = (len(values), *counts, float(values.mean()))
        rows.append((results.title(rival), *about, *told))
    head = ("settings|d", "won|d", "tied|d", "lost|d", "mean difference|+.2f|100")
    title = results.title(model)
    return table(
        (f"{title} against", *head, "p-value|>", "Holm|>"),
        rows,
        title=f"Wilcoxon signed-rank tests of {title} ({words})",
        note="One value for each setting, the mean over common folds. Settings of one "
        "task share sentences, so the p-values are too small: read them as an order.",
    )


def calibration_table(results: Results) -> Table:
    """Calibration of every method that gives probabilities, by task."""
    measures, rows = ("ece", "nll", "brier", "aurc"), []
    for task, method in itertools.product(results.tasks, results.methods):
        means = []
        for measure in measures:
            found = [results.mean(method, s, measure) for s in results.of(task)]
            values = [value for value in found if value is not None]
            means.append(float(np.mean(values)) if values else None)
        if means[0] is not None:
            rows.append((TASKS[task].title, results.title(method), *means))
    return table(
        ("task", "method", "ECE %|.2f|100", "NLL|.4f", "Brier|.4f", "AURC|.4f"),
        rows,
        title="Calibration",
        note="Means over all settings and folds; lower is better. The CRF on gold "
        "labels is there for comparison.",
    )


def cost_table(results: Results) -> Table:
    """Median time of a fit and peak of the memory, by method and task."""

    def median(method: str, task: str, measure: str) -> float | None:
        mine = [
            record["time"][measure]
            for record in results.records
            if (record["config"]["method"], record["config"]["task"]) == (method, task)
            and measure in record["time"]
        ]
        return float(np.median(mine)) if mine else None

    units = {"fit": "s|.1f", "peak_mib": "MiB|,.0f"}
    places = [(task, measure) for measure in units for task in results.tasks]
    return table(
        ("method", *(f"{TASKS[task].title}, {units[m]}" for task, m in places)),
        [
            (results.title(method), *(median(method, *place) for place in places))
            for method in results.methods
        ],
        title="Cost of a fit, one core",
        note="Medians of wall time and of the peak memory of the process; settings "
        "tuned beforehand are not counted. Other work ran on the same machine.",
    )
