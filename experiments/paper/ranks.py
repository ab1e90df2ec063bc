"""Mean ranks of many methods, and which of them cannot be told apart.

Nemenyi's critical difference, as in Demšar (Journal of Machine Learning Research 7,
2006). The diagram has one row per method, so that it stays readable on a narrow screen;
a vertical bar joins the methods whose mean ranks differ by less than that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from experiments.tables import table
from tagsift.report import Figure
from tagsift.report.drawing import draw, ink
from tagsift.report.palette import method_styles
from tagsift.typing import FloatArray

#: Level of significance.
_ALPHA = 0.05


@dataclass(frozen=True)
class Ranking:
    """What a critical-difference diagram shows."""

    methods: tuple[str, ...]  # from best to worst mean rank
    ranks: tuple[float, ...]  # mean ranks, in the same order
    critical_difference: float  # mean ranks further apart differ significantly
    groups: tuple[tuple[str, ...], ...]  # maximal runs without such a difference
    n_settings: int
    alpha: float = _ALPHA


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
            f"{100 * ranking.alpha:g} % level."
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
