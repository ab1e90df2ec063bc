"""Methods against each other over all settings: losses, tests, ranks, calibration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from experiments.folds import TASKS
from experiments.paper.results import GOLD, OURS, Results, Setting
from tagsift.metrics import Ranking, holm, ranking, wilcoxon
from tagsift.report import Column, Table
from tagsift.report.document import Cell

__all__ = [
    "Loss",
    "calibration_table",
    "cost_table",
    "losses",
    "losses_table",
    "rank_methods",
    "wilcoxon_table",
]


@dataclass(frozen=True)
class Loss:
    """How one of our models does against one rival.

    Parameters
    ----------
    model, rival : str
        Names.
    task : str
        Where.
    lost, settings : int
        Settings in which the rival's mean is higher, and settings compared.
    gap : float
        Mean difference, model minus rival.
    worst : Setting
        Where the model falls furthest behind.
    worst_gap : float
        By how much.
    """

    model: str
    rival: str
    task: str
    lost: int
    settings: int
    gap: float
    worst: Setting
    worst_gap: float


def losses(results: Results, measure: str) -> list[Loss]:
    """Every rival that beats one of our models somewhere, the worst first.

    Parameters
    ----------
    results : Results
        Finished cells.
    measure : str
        What decides.
    """
    found = []
    for model in OURS:
        for rival in results.methods:
            if rival in (model, GOLD):
                continue
            for task in results.tasks:
                places = [s for s in results.settings if s.task == task]
                gaps = results.gaps(model, rival, measure, places)
                if not gaps:
                    continue
                lost = sum(gap < 0 for gap in gaps.values())
                worst = min(gaps, key=lambda setting: gaps[setting])
                if lost:
                    found.append(
                        Loss(
                            model,
                            rival,
                            task,
                            lost,
                            len(gaps),
                            float(np.mean(list(gaps.values()))),
                            worst,
                            gaps[worst],
                        )
                    )
    return sorted(found, key=lambda loss: (OURS.index(loss.model), loss.gap))


def losses_table(found: list[Loss], names: Mapping[str, str], words: str) -> Table:
    """Losses as a table.

    Parameters
    ----------
    found : list of Loss
        What `losses` returned.
    names : mapping
        Titles of methods.
    words : str
        What decides, in words.
    """
    return Table(
        (
            Column("model"),
            Column("loses to"),
            Column("task"),
            Column("settings lost", align="right"),
            Column("mean difference", "+.2f", 100),
            Column("worst setting"),
            Column("there", "+.2f", 100),
        ),
        tuple(
            (
                names.get(loss.model, loss.model),
                names.get(loss.rival, loss.rival),
                TASKS[loss.task].title,
                f"{loss.lost} of {loss.settings}",
                loss.gap,
                loss.worst.words.partition(", ")[2],
                loss.worst_gap,
            )
            for loss in found
        ),
        title=f"Where our models lose ({words}, points)",
        note="Means over the folds that both methods were run on. The CRF on gold "
        "labels is no rival and is left out.",
    )


def rank_methods(results: Results, measure: str) -> Ranking | None:
    """Mean ranks over all settings in which every method was run.

    Parameters
    ----------
    results : Results
        Finished cells.
    measure : str
        What is ranked.
    """
    methods = [name for name in results.methods if name != GOLD]
    rows = []
    for setting in results.settings:
        values = [results.folds(name, setting, measure) for name in methods]
        common = set.intersection(*(set(one) for one in values)) if values else set()
        if common:
            rows.append([np.mean([one[part] for part in common]) for one in values])
    if len(methods) < 2 or not rows:
        return None
    return ranking(np.array(rows), methods)


def wilcoxon_table(
    results: Results, model: str, measure: str, names: Mapping[str, str], words: str
) -> Table | None:
    """Wilcoxon signed-rank tests of one model against every other method.

    Parameters
    ----------
    results : Results
        Finished cells.
    model : str
        Whose tests.
    measure : str
        What is compared.
    names : mapping
        Titles of methods.
    words : str
        The measure in words.
    """
    rivals, tests = [], []
    for rival in results.methods:
        if rival in (model, GOLD):
            continue
        gaps = list(results.gaps(model, rival, measure, results.settings).values())
        if gaps:
            rivals.append(rival)
            tests.append(wilcoxon(gaps, np.zeros(len(gaps))))
    if not tests:
        return None
    adjusted = holm([test.p_value for test in tests])
    rows: list[tuple[Cell, ...]] = [
        (
            names.get(rival, rival),
            test.wins + test.ties + test.losses,
            test.wins,
            test.ties,
            test.losses,
            test.mean_difference,
            _p(test.p_value),
            _p(float(p)),
        )
        for rival, test, p in zip(rivals, tests, adjusted, strict=True)
    ]
    return Table(
        (
            Column(f"{names.get(model, model)} against"),
            Column("settings", "d"),
            Column("won", "d"),
            Column("tied", "d"),
            Column("lost", "d"),
            Column("mean difference", "+.2f", 100),
            Column("p-value", align="right"),
            Column("Holm", align="right"),
        ),
        tuple(rows),
        title=f"Wilcoxon signed-rank tests of {names.get(model, model)} ({words})",
        note="One value for each setting, the mean over common folds. Settings of one "
        "task share sentences, so the p-values are too small: read them as an order.",
    )


def _p(value: float) -> str:
    return "< 0.0001" if value < 1e-4 else f"{value:.4f}"


def calibration_table(results: Results, names: Mapping[str, str]) -> Table | None:
    """Calibration of every method that gives probabilities, by task.

    Parameters
    ----------
    results : Results
        Finished cells.
    names : mapping
        Titles of methods.
    """
    measures = ("ece", "nll", "brier", "aurc")
    rows: list[tuple[Cell, ...]] = []
    for task in results.tasks:
        places = [s for s in results.settings if s.task == task]
        for method in results.methods:
            means: list[Cell] = []
            for measure in measures:
                values = [
                    value
                    for setting in places
                    if (value := results.mean(method, setting, measure)) is not None
                ]
                means.append(float(np.mean(values)) if values else None)
            if means[0] is not None:
                rows.append((TASKS[task].title, names.get(method, method), *means))
    if not rows:
        return None
    return Table(
        (
            Column("task"),
            Column("method"),
            Column("ECE %", ".2f", 100),
            Column("NLL", ".4f"),
            Column("Brier", ".4f"),
            Column("AURC", ".4f"),
        ),
        tuple(rows),
        title="Calibration",
        note="Means over all settings and folds; lower is better. The CRF on gold "
        "labels is there for comparison.",
    )


def cost_table(results: Results, names: Mapping[str, str]) -> Table:
    """Median time of a fit and peak of the memory, by method and task.

    Parameters
    ----------
    results : Results
        Finished cells.
    names : mapping
        Titles of methods.
    """
    rows: list[tuple[Cell, ...]] = []
    for method in results.methods:
        cells: list[Cell] = [names.get(method, method)]
        for measure in ("fit", "peak_mib"):
            for task in results.tasks:
                values = [
                    value
                    for record in results.records
                    if record["config"]["method"] == method
                    and record["config"]["task"] == task
                    and (value := record["time"].get(measure)) is not None
                ]
                cells.append(float(np.median(values)) if values else None)
        rows.append(tuple(cells))
    titles = [TASKS[task].title for task in results.tasks]
    return Table(
        (
            Column("method"),
            *(Column(f"{title}, s", ".1f") for title in titles),
            *(Column(f"{title}, MiB", ",.0f") for title in titles),
        ),
        tuple(rows),
        title="Cost of a fit, one core",
        note="Medians of wall time and of the peak memory of the process; settings "
        "tuned beforehand are not counted. Other work ran on the same machine.",
    )
