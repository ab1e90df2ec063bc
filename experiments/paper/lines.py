"""Line plots of many methods, with a band over folds (Figures 6–9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from experiments.tables import table
from tagsift.report import Figure
from tagsift.report.drawing import NARROW, WIDTH, draw, draw_legend, line_style
from tagsift.report.palette import method_styles
from tagsift.typing import FloatArray


class Band(NamedTuple):
    """The curve of one method: a mean and a band around it; NaN where is no value."""

    x: FloatArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def over_folds(cls, x: npt.ArrayLike, values: npt.ArrayLike) -> Band:
        """Mean and one standard deviation; one row a fold, NaN where it was not run."""
        there = np.ma.masked_invalid(np.asarray(values, dtype=np.float64))  # [F, P]
        mean = there.mean(axis=0).filled(np.nan)  # [P]
        spread = there.std(axis=0, ddof=1).filled(0.0)  # [P]
        return cls(np.asarray(x, dtype=np.float64), mean, mean - spread, mean + spread)


class LinePanel(NamedTuple):
    """One panel of a line plot."""

    title: str
    series: Mapping[str, Band]  # methods by their table names


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
    panels. Places have names where they are kinds and not quantities.
    """
    styles = method_styles(list({name: 0 for panel in panels for name in panel.series}))
    titles = {name: (names or {}).get(name, name) for name in styles}
    bands = [band for panel in panels for band in panel.series.values()]
    drawn: tuple[str, ...] = ()
    for panel in panels:
        heading = f"{title}, {panel.title}" if panel.title else title
        drawn += draw(
            partial(_paint, panel, styles, (x_label, y_label), _range(bands), x_names),
            alt=f"{heading}: {y_label} by {x_label} for {len(panel.series)} methods.",
            width=WIDTH if len(panels) == 1 else NARROW,
            height=3.0,
        )
    places = sorted({x for band in bands for x in band.x.tolist()})
    heads = [x_names[x] if x_names else f"{x_label} {x:g}" for x in places]
    rows = []
    for panel in panels:
        for name, band in panel.series.items():
            found = dict(zip(band.x.tolist(), band.mean.tolist(), strict=True))
            rows.append((titles[name], panel.title, *map(found.get, places)))
    return Figure(
        title=title,
        alt=f"{title}: {y_label} by {x_label}, {len(panels)} panels, "
        f"{len(styles)} methods.",
        panels=drawn,
        legend=draw_legend(styles, titles) if len(styles) > 1 else None,
        data=table(
            ("method", "panel", *(f"{x}|.1f" for x in heads)), rows, title=title
        ),
        caption=caption,
    )


def _range(bands: Sequence[Band]) -> tuple[float, float]:
    """Common limits of all panels, a little wider than the curves."""
    values = np.concatenate([[*b.mean, *b.low, *b.high] for b in bands])
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    margin = 0.04 * (high - low) or 0.5
    return low - margin, high + margin


def _paint(
    panel: LinePanel,
    styles: Mapping[str, Any],
    labels: tuple[str, str],
    limits: tuple[float, float],
    x_names: Mapping[float, str] | None,
    axes: Any,
) -> None:
    for rank, (name, band) in enumerate(panel.series.items()):
        style = styles[name]
        look = {"color": style.colour, "alpha": 0.10, "linewidth": 0}
        axes.fill_between(band.x, band.low, band.high, **look)
        order = 3 + style.width - 0.01 * rank
        axes.plot(band.x, band.mean, **line_style(style), zorder=order)
    ticks = sorted({x for band in panel.series.values() for x in band.x.tolist()})
    if x_names:
        axes.set_xticks(list(x_names), list(x_names.values()))
    elif len(ticks) <= 7:
        axes.set_xticks(ticks)
    axes.set(xlabel=labels[0], ylabel=labels[1], ylim=limits)
    if panel.title:
        axes.set_title(panel.title)
