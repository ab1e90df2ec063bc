"""Bars: how many of what, and how sure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tagsift.report.document import Column, Figure, Table, columns
from tagsift.report.drawing import draw, draw_legend, ink
from tagsift.report.matrices import short_name
from tagsift.report.palette import Style
from tagsift.typing import FloatArray

__all__ = ["bar_plot", "confidence_histogram"]

#: Colours of the bars of one row, from the top.
_INKS = ("accent", "counter")
_EDGES = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 1.0)


def bar_plot(
    names: Sequence[str],
    series: Mapping[str, Sequence[float]],
    *,
    title: str,
    axis: str,
    form: str = ",d",
    caption: str = "",
) -> Figure:
    """Rows of at most two bars, one for each series."""
    thick = 0.8 / max(len(series), 1)

    def paint(axes: Any) -> None:
        for k, values in enumerate(series.values()):
            places = np.arange(len(names)) - 0.4 + (k + 0.5) * thick  # [R]
            axes.barh(places, values, 0.9 * thick, color=ink(_INKS[k]), linewidth=0)
        axes.set_yticks(range(len(names)), [short_name(name) for name in names])
        axes.set(xlabel=axis, ylim=(len(names) - 0.5, -0.5))
        axes.tick_params(axis="y", length=0)
        axes.grid(False, axis="y")

    alt = f"{title}: bars for {len(names)} rows; the numbers are in the table below."
    styles: dict[str, Style] = {
        name: {"color": ink(colour), "linewidth": 6}
        for name, colour in zip(series, _INKS, strict=False)
    }
    heads = (Column(""), *columns(dict.fromkeys(series, form)))
    rows = tuple(zip(names, *series.values(), strict=True))
    return Figure(
        title=title,
        alt=alt,
        panels=draw(paint, alt=alt, height=0.55 + 0.24 * len(names)),
        legend=draw_legend(styles) if len(series) > 1 else None,
        data=Table(heads, rows, title=title),
        caption=caption,
    )


def confidence_histogram(sure: FloatArray, *, title: str, what: str) -> Figure:
    """How many labels are how sure, on a scale on which few and many are both seen."""
    counts, _ = np.histogram(sure, np.array(_EDGES))  # [B]
    names = [f"{a:g}–{b:g}" for a, b in zip(_EDGES[:-1], _EDGES[1:], strict=True)]
    below = float((sure < 0.9).mean()) if len(sure) else 0.0

    def paint(axes: Any) -> None:
        axes.bar(range(len(names)), counts, 0.9, color=ink("accent"), linewidth=0)
        axes.set_xticks(range(len(names)), names, rotation=50, ha="right")
        axes.set_yscale("symlog", linthresh=1)
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.set(xlabel="confidence", ylabel=what, ylim=(0, 2 * max(counts.max(), 1)))
        axes.grid(False, axis="x")

    alt = (
        f"{title}: {what} by confidence; {100 * below:.1f} percent of {len(sure):,} "
        "are below 0.9."
    )
    shares = counts / max(len(sure), 1)  # [B]
    rows = tuple(zip(names, counts.tolist(), shares.tolist(), strict=True))
    head = (Column("confidence"), *columns({what: ",d", "share %": ".2f%"}))
    return Figure(
        title=title,
        alt=alt,
        panels=draw(paint, alt=alt, height=3.2),
        data=Table(head, rows, title=title),
        caption=f"{100 * below:.1f} % of the {len(sure):,} labels are less sure than "
        "0.9. The scale of the bars is logarithmic.",
    )
