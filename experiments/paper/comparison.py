"""Methods against each other over all settings: losses, tests, ranks, calibration."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from experiments.folds import TASKS
from experiments.paper.results import OURS, Results, Setting
from experiments.paper.significance import Ranking, holm, ranking, wilcoxon
from experiments.tables import table
from tagsift.report import Table


@dataclass(frozen=True)
class Loss:
    """How one of our models does against one rival."""

    model: str
    rival: str
    task: str
    gaps: dict[Setting, float]  # mean difference, model minus rival

    @cached_property
    def lost(self) -> int:
        """Settings in which the rival's mean is higher."""
        return sum(gap < 0 for gap in self.gaps.values())

    @cached_property
    def mean(self) -> float:
        """Mean difference over settings."""
        return float(np.mean(list(self.gaps.values())))

    @cached_property
    def worst(self) -> Setting:
        """Where the model falls furthest behind."""
        return min(self.gaps, key=lambda setting: self.gaps[setting])


def losses(results: Results, measure: str) -> list[Loss]:
    """Every rival that beats one of our models somewhere, the worst first."""
    found = [
        Loss(model, rival, task, gaps)
        for model in OURS
        for rival in results.rivals
        for task in results.tasks
        if (gaps := results.gaps(model, rival, measure, results.of(task)))
    ]
    lost = [loss for loss in found if loss.lost]
    return sorted(lost, key=lambda loss: (OURS.index(loss.model), loss.mean))


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


def wilcoxon_table(results: Results, model: str, measure: str, words: str) -> Table:
    """Wilcoxon signed-rank tests of one model against every other method."""
    tests = {}
    for rival in results.rivals:
        gaps = list(results.gaps(model, rival, measure, results.settings).values())
        if gaps and rival != model:
            tests[rival] = wilcoxon(gaps)
    adjusted = holm([test.p_value for test in tests.values()])
    rows = []
    for (rival, test), p in zip(tests.items(), adjusted.tolist(), strict=True):
        counts = (test.wins, test.ties, test.losses)
        told = ["< 0.0001" if x < 1e-4 else f"{x:.4f}" for x in (test.p_value, p)]
        about = (sum(counts), *counts, test.mean_difference)
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
    rows = []
    for task in results.tasks:
        for method in results.methods:
            means = []
            for measure in ("ece", "nll", "brier", "aurc"):
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
    costs: dict[tuple[str, str, str], list[float]] = {}
    for record in results.records:
        place = (record["config"]["method"], record["config"]["task"])
        for measure, value in record["time"].items():
            costs.setdefault((*place, measure), []).append(value)

    def median(*place: str) -> float | None:
        return float(np.median(costs[place])) if place in costs else None

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
