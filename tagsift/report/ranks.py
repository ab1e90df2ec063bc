"""The critical-difference diagram: mean ranks, and which methods cannot be told apart.

One row per method, so that it stays readable on a narrow screen; a vertical bar joins
the methods whose mean ranks differ by less than Nemenyi's critical difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tagsift.metrics import Ranking
from tagsift.report.document import Column, Figure, Table
from tagsift.report.drawing import draw, ink
from tagsift.report.palette import method_styles

__all__ = ["critical_difference_diagram"]


def critical_difference_diagram(
    ranking: Ranking,
    *,
    title: str = "Mean ranks",
    names: Mapping[str, str] | None = None,
) -> Figure:
    """Draw mean ranks with bars over groups without a significant difference.

    Parameters
    ----------
    ranking : Ranking
        What `tagsift.metrics.ranking` returned.
    title : str
        What to call it.
    names : mapping of str to str, optional
        Titles of methods, where they differ from their table names.
    """
    methods, n = ranking.methods, len(ranking.methods)
    titles = [(names or {}).get(method, method) for method in methods]
    styles = method_styles(methods)
    place = {method: row for row, method in enumerate(methods)}
    bars = [(place[group[0]], place[group[-1]]) for group in ranking.groups]
    columns = _columns(bars)

    def paint(axes: Any) -> None:
        from matplotlib.transforms import blended_transform_factory

        for row, (method, rank) in enumerate(zip(methods, ranking.ranks, strict=True)):
            axes.plot([1, rank], [row, row], color=ink("rule"), linewidth=1, zorder=1)
            axes.plot(
                rank,
                row,
                marker="o",
                markersize=6,
                color=styles[method].colour,
                zorder=3,
            )
            axes.annotate(
                f"{rank:.2f}",
                (rank, row),
                xytext=(7, 0),
                textcoords="offset points",
                va="center",
                fontsize=8.5,
            )
        across = blended_transform_factory(axes.transAxes, axes.transData)
        for (first, last), column in zip(bars, columns, strict=True):
            x = 1.03 + 0.035 * column
            axes.plot(
                [x, x],
                [first - 0.25, last + 0.25],
                transform=across,
                color=ink("ink"),
                linewidth=3,
                solid_capstyle="round",
                clip_on=False,
            )
        length = ranking.critical_difference
        axes.plot([1, 1 + length], [-1, -1], color=ink("counter"), linewidth=2)
        axes.annotate(
            f"critical difference {length:.2f}",
            (1 + length, -1),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            color=ink("counter"),
            fontsize=8.5,
        )
        axes.set_yticks(range(n), titles)
        axes.set_ylim(n - 0.4, -1.7)
        axes.set_xlim(0.8, max(n, 1 + length) + 0.6)
        axes.set_xlabel("mean rank (1 is best)")
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", visible=False)
        axes.spines["left"].set_visible(False)

    order = ", ".join(
        f"{name} {rank:.2f}" for name, rank in zip(titles, ranking.ranks, strict=True)
    )
    alt = (
        f"{title} over {ranking.n_settings} settings, best first: {order}. Critical "
        f"difference {ranking.critical_difference:.2f}."
    )
    letters = [
        ", ".join(
            str(g + 1) for g, group in enumerate(ranking.groups) if method in group
        )
        for method in methods
    ]
    return Figure(
        title=title,
        alt=alt,
        panels=draw(paint, alt=alt, height=0.25 * n + 0.9),
        data=Table(
            (
                Column("method"),
                Column("mean rank", ".2f"),
                Column("group", align="right"),
            ),
            tuple(
                (name, float(rank), letter or "–")
                for name, rank, letter in zip(
                    titles, ranking.ranks, letters, strict=True
                )
            ),
            title=title,
            note="Methods that share a group number do not differ significantly.",
        ),
        caption=(
            f"Over {ranking.n_settings} settings. A bar on the right joins methods "
            "that the Nemenyi test cannot tell apart at the "
            f"{100 * ranking.alpha:g} % level."
        ),
    )


def _columns(bars: list[tuple[int, int]]) -> list[int]:
    """Side-by-side places of the bars, so that overlapping ones stay apart."""
    ends: list[int] = []
    places = []
    for first, last in bars:
        free = next((c for c, end in enumerate(ends) if end < first), len(ends))
        if free == len(ends):
            ends.append(last)
        else:
            ends[free] = last
        places.append(free)
    return places
