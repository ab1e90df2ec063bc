"""Line plots of many methods, with a band over folds (Figures 6–9)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.tables import table
from tagsift.report import Figure, Table
from tagsift.report.drawing import NARROW, WIDTH, draw, draw_legend, line_style
from tagsift.report.palette import method_styles
from tagsift.typing import FloatArray


@dataclass(frozen=True)
class Band:
    """The curve of one method: a mean and a band around it.

    Parameters
    ----------
    x, mean, low, high : ndarrays of shape (n_points,)
        NaN where there is no value.
    """

    x: FloatArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def over_folds(cls, x: npt.ArrayLike, values: npt.ArrayLike) -> Band:
        """Mean and one standard deviation over folds.

        Parameters
        ----------
        x : array of shape (n_points,)
            Places.
        values : array of shape (n_folds, n_points)
            One row per fold; NaN where a fold was not run.
        """
        table = np.asarray(values, dtype=np.float64)  # [F, P]
        there = ~np.isnan(table)  # [F, P]
        count = there.sum(axis=0)  # [P]
        filled = np.where(there, table, 0.0)  # [F, P]
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = filled.sum(axis=0) / count  # [P]
            squares = np.where(there, (table - mean) ** 2, 0.0).sum(axis=0)  # [P]
            spread = np.sqrt(squares / np.maximum(count - 1, 1))  # [P]
        return cls(np.asarray(x, dtype=np.float64), mean, mean - spread, mean + spread)


@dataclass(frozen=True)
class LinePanel:
    """One panel of a line plot.

    Parameters
    ----------
    title : str
        Its heading.
    series : mapping of str to Band
        Methods by their table name.
    """

    title: str
    series: Mapping[str, Band]


def line_panels(
    panels: Sequence[LinePanel],
    *,
    title: str,
    x_label: str,
    y_label: str,
    names: Mapping[str, str] | None = None,
    caption: str = "",
    x_names: Mapping[float, str] | None = None,
) -> Figure:
    """Line plots with bands for many methods, panels side by side (Figures 6–9).

    Every method keeps its colour and marker in every figure; one legend serves all
    panels.

    Parameters
    ----------
    panels : sequence of LinePanel
        From left to right.
    title, x_label, y_label : str
        Words.
    names : mapping of str to str, optional
        Titles of methods, where they differ from their table names.
    caption : str
        How to read it.
    x_names : mapping of float to str, optional
        Names of all places, where they are kinds and not quantities.
    """
    order = list(dict.fromkeys(name for panel in panels for name in panel.series))
    styles = method_styles(order)
    titles = {name: (names or {}).get(name, name) for name in order}
    limits = _range(panels)
    drawn: tuple[str, ...] = ()
    for panel in panels:
        heading = f"{title}, {panel.title}" if panel.title else title
        drawn += draw(
            partial(_paint_lines, panel, styles, x_label, y_label, limits, x_names),
            alt=f"{heading}: {y_label} by {x_label} for {len(panel.series)} methods.",
            width=WIDTH if len(panels) == 1 else NARROW,
            height=3.0,
        )
    return Figure(
        title=title,
        alt=f"{title}: {y_label} by {x_label}, {len(panels)} panels, "
        f"{len(order)} methods.",
        panels=drawn,
        legend=draw_legend(styles, titles) if len(order) > 1 else None,
        data=_line_table(
            panels,
            titles,
            title,
            lambda x: x_names[x] if x_names else f"{x_label} {x:g}",
        ),
        caption=caption,
    )


def _range(panels: Sequence[LinePanel]) -> tuple[float, float]:
    """Common limits of all panels, a little wider than the curves."""
    bands = [band for panel in panels for band in panel.series.values()]
    values = np.concatenate([[*b.mean, *b.low, *b.high] for b in bands])
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    margin = 0.04 * (high - low) or 0.5
    return low - margin, high + margin


def _paint_lines(
    panel: LinePanel,
    styles: Mapping[str, Any],
    x_label: str,
    y_label: str,
    limits: tuple[float, float],
    x_names: Mapping[float, str] | None,
    axes: Any,
) -> None:
    ticks: set[float] = set()
    for rank, (name, band) in enumerate(panel.series.items()):
        style = styles[name]
        look = {"color": style.colour, "alpha": 0.10, "linewidth": 0}
        axes.fill_between(band.x, band.low, band.high, **look)
        order = 3 + style.width - 0.01 * rank
        axes.plot(band.x, band.mean, **line_style(style), zorder=order)
        ticks.update(band.x.tolist())
    if x_names:
        axes.set_xticks(list(x_names), list(x_names.values()))
    elif len(ticks) <= 7:
        axes.set_xticks(sorted(ticks))
    axes.set(xlabel=x_label, ylabel=y_label, ylim=limits)
    if panel.title:
        axes.set_title(panel.title)


def _line_table(
    panels: Sequence[LinePanel],
    titles: Mapping[str, str],
    title: str,
    heading: Callable[[float], str],
) -> Table:
    bands = [band for panel in panels for band in panel.series.values()]
    places = sorted({x for band in bands for x in band.x.tolist()})
    rows = []
    for panel in panels:
        for name, band in panel.series.items():
            found = dict(zip(band.x.tolist(), band.mean.tolist(), strict=True))
            values = [found.get(x, float("nan")) for x in places]
            rows.append((titles[name], panel.title, *values))
    heads = (f"{heading(x)}|.1f" for x in places)
    return table(("method", "panel", *heads), rows, title=title)
