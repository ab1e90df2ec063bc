"""Methods against each other over all settings: losses, tests, ranks, calibration.

Mean ranks come with Nemenyi's critical difference, as in Demšar (Journal of Machine
Learning Research 7, 2006). Their diagram has one row per method, so that it stays
readable on a narrow screen; a vertical bar joins methods that cannot be told apart.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from experiments.folds import TASKS
from experiments.paper.results import OURS, PROSE, PaperSetting, Results
from experiments.tables import table
from tagsift.report import Figure, Table
from tagsift.report.drawing import draw, ink
from tagsift.report.palette import method_styles
from tagsift.typing import FloatArray

#: Level of significance.
_ALPHA = 0.05


class Loss(NamedTuple):
    """How one of our models does against one rival."""

    model: str
    rival: str
    task: str
    gaps: dict[PaperSetting, float]  # mean difference, model minus rival

    @property
    def mean(self) -> float:
        """Difference over settings."""
        return sum(self.gaps.values()) / len(self.gaps)


def losses(results: Results, measure: str) -> list[Loss]:
    """Every rival that beats one of our models somewhere, the worst first."""
    found = []
    for model, rival, task in itertools.product(OURS, results.rivals, results.tasks):
        gaps = results.gaps(model, rival, measure, results.of(task))
        if min(gaps.values(), default=0.0) < 0:
            found.append(Loss(model, rival, task, gaps))
    return sorted(found, key=lambda loss: (OURS.index(loss.model), loss.mean))


def losses_table(results: Results, found: list[Loss], words: str) -> Table:
    """Losses as a table; `words` say what decides."""
    rows = []
    for loss in found:
        names = results.title(loss.model), results.title(loss.rival)
        share = f"{sum(x < 0 for x in loss.gaps.values())} of {len(loss.gaps)}"
        worst, there = min(loss.gaps.items(), key=lambda pair: pair[1])
        about = TASKS[loss.task].title, share, loss.mean
        rows.append((*names, *about, worst.words.partition(", ")[2], there))
    head = ("model", "loses to", "task", "settings lost|>", "mean difference|+.2f|100")
    return table(
        (*head, "worst setting", "there|+.2f|100"),
        rows,
        title=f"Where our models lose ({words}, points)",
        note=PROSE["losses"],
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
        note=PROSE["wilcoxon"],
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
        note=PROSE["calibration"],
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
        note=PROSE["cost"],
    )


@dataclass(frozen=True)
class Ranking:
    """What a critical-difference diagram shows."""

    methods: tuple[str, ...]  # from best to worst mean rank
    ranks: tuple[float, ...]  # mean ranks, in the same order
    critical_difference: float  # mean ranks further apart differ significantly
    groups: tuple[tuple[str, ...], ...]  # maximal runs without such a difference
    n_settings: int


def critical_difference(n_methods: int, n_settings: int) -> float:
    r"""Nemenyi's critical difference of mean ranks, q_α √(m (m + 1) / 6n).

    q_α is the quantile of the studentised range at infinite degrees of freedom, by √2.
    """
    quantile = stats.studentized_range.ppf(1.0 - _ALPHA, n_methods, np.inf)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / 12 / n_settings))


def ranking(scores: FloatArray, methods: Sequence[str]) -> Ranking:
    """Rank the methods of the columns over the settings of the rows, higher is better.

    Methods that cannot be told apart form groups; ties share their ranks.
    """
    n_settings, n_methods = scores.shape
    ranks = stats.rankdata(-scores, axis=1).mean(axis=0)  # [m]
    order = np.argsort(ranks, kind="stable")  # [m]
    names = tuple(methods[i] for i in order)
    ranks = ranks[order]  # [m]
    difference = critical_difference(n_methods, n_settings)
    ends = np.searchsorted(ranks, ranks + difference, "right")  # [m]
    reach = np.maximum.accumulate(np.concatenate([[0], ends[:-1]]))  # [m]
    return Ranking(
        methods=names,
        ranks=tuple(ranks.tolist()),
        critical_difference=difference,
        groups=tuple(
            names[first:end]
            for first, end in enumerate(ends)
            if end > reach[first] and end - first > 1
        ),
        n_settings=n_settings,
    )


def critical_difference_diagram(
    ranking: Ranking,
    *,
    title: str = "Mean ranks",
    names: Mapping[str, str] | None = None,
) -> Figure:
    """Draw mean ranks with bars over groups without a significant difference."""
    titles = [(names or {}).get(method, method) for method in ranking.methods]
    rows = []
    for name, method, rank in zip(titles, ranking.methods, ranking.ranks, strict=True):
        groups = [str(g) for g, one in enumerate(ranking.groups, 1) if method in one]
        rows.append((name, rank, ", ".join(groups) or "–"))
    order = ", ".join(f"{name} {rank:.2f}" for name, rank, _ in rows)
    alt = (
        f"{title} over {ranking.n_settings} settings, best first: {order}. Critical "
        f"difference {ranking.critical_difference:.2f}."
    )
    height = 0.25 * len(titles) + 0.9
    return Figure(
        title=title,
        alt=alt,
        panels=draw(partial(_paint, ranking, titles), alt=alt, height=height),
        data=table(
            ("method", "mean rank|.2f", "group|>"),
            rows,
            title=title,
            note="Methods that share a group number do not differ significantly.",
        ),
        caption=(
            f"Over {ranking.n_settings} settings. A bar on the right joins methods "
            "that the Nemenyi test cannot tell apart at the "
            f"{100 * _ALPHA:g} % level."
        ),
    )


def _paint(ranking: Ranking, titles: Sequence[str], axes: Any) -> None:
    n, length = len(titles), ranking.critical_difference
    styles = method_styles(ranking.methods)
    beside = {"textcoords": "offset points", "va": "center", "fontsize": 8.5}
    for row, rank in enumerate(ranking.ranks):
        colour = styles[ranking.methods[row]]["color"]
        axes.plot([1, rank], [row, row], color=ink("rule"), linewidth=1, zorder=1)
        axes.plot(rank, row, marker="o", markersize=6, color=colour, zorder=3)
        axes.annotate(f"{rank:.2f}", (rank, row), xytext=(7, 0), **beside)
    _paint_groups(ranking, axes)
    axes.plot([1, 1 + length], [-1, -1], color=ink("counter"), linewidth=2)
    axes.annotate(
        f"critical difference {length:.2f}",
        (1 + length, -1),
        xytext=(5, 0),
        color=ink("counter"),
        **beside,
    )
    axes.set_yticks(range(n), titles)
    axes.set(ylim=(n - 0.4, -1.7), xlim=(0.8, max(n, 1 + length) + 0.6))
    axes.set_xlabel("mean rank (1 is best)")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)


def _paint_groups(ranking: Ranking, axes: Any) -> None:
    """Bars on the right, each beside the methods it joins."""
    from matplotlib.transforms import blended_transform_factory

    place = ranking.methods.index
    bars = [(place(group[0]), place(group[-1])) for group in ranking.groups]
    look = {"color": ink("ink"), "linewidth": 3, "solid_capstyle": "round"}
    across = blended_transform_factory(axes.transAxes, axes.transData)
    for (first, last), column in zip(bars, _columns(bars), strict=True):
        ends = ([1.03 + 0.035 * column] * 2, [first - 0.25, last + 0.25])
        axes.plot(*ends, transform=across, clip_on=False, **look)


def _columns(bars: list[tuple[int, int]]) -> list[int]:
    """Side-by-side places of the bars, so that overlapping ones stay apart."""
    ends: list[int] = []
    places = []
    for first, last in bars:
        free = next((c for c, end in enumerate(ends) if end < first), len(ends))
        ends[free : free + 1] = [last]
        places.append(free)
    return places
