"""Figures 5 to 9, drawn from records; line plots with a band over folds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from experiments.folds import TASKS
from experiments.paper.evolution import confidence_evolution
from experiments.paper.printed import WATCHED
from experiments.paper.results import F1S, FIGURE_OF, Results, Setting
from experiments.records import Found
from experiments.tables import table
from tagsift.report import Figure
from tagsift.report.drawing import NARROW, WIDTH, draw, draw_legend
from tagsift.report.palette import method_styles
from tagsift.typing import FloatArray

#: Title of a panel → its settings → where they stand.
Places: TypeAlias = dict[str, dict[Setting, float]]


def figure_5(watched: Found) -> Figure | None:
    """Figure 5: confidence curves of the watched words."""
    curves = {
        f"“{word}”, {TASKS[about.task].title}, p = {about.p:g}": watched[word]
        for word, about in WATCHED.items()
        if word in watched
    }
    title = "Figure 5: confidences of watched words"
    return confidence_evolution(curves, title=title) if curves else None


def figures_6_to_8(results: Results, task: str, measure: str) -> Figure | None:
    """Figure 6, 7 or 8: F1 of all methods by p, one panel for every cl."""
    rows: Places = {}
    for s in results.lists:
        if s.task == task:
            rows.setdefault(s.way, {})[s] = s.p
    return _panels(
        results,
        rows,
        measure,
        title=f"Figure {FIGURE_OF[task]}: {TASKS[task].title}, {F1S[measure]}",
        x_label="p",
        caption="Mean over folds; the band is one standard deviation. The CRF on gold "
        "labels is a ceiling and depends on neither cl nor p.",
    )


def figure_9(results: Results, measure: str) -> Figure | None:
    """Figure 9: flip sampling against candidate lists, at the same p."""
    shares = {s.task: s.p for s in reversed(results.settings) if s.r}
    chosen = [
        s
        for s in results.settings
        if s.r or (s.cl in (2, 3) and s.p == shares.get(s.task))
    ]
    counts = Counter(s.task for s in chosen)
    chosen = [s for s in chosen if counts[s.task] > 1]
    # Ways to draw candidates from left to right: fewest flips, lists, more flips.
    fewest = min((s.r for s in chosen if s.r), default=0.0)
    chosen.sort(key=lambda s: (s.r != fewest, s.r > fewest, s.cl, s.r))
    ways = list(dict.fromkeys(s.way for s in chosen))
    rows: Places = {TASKS[task].title: {} for task in results.tasks}
    for s in chosen:
        rows[s.title][s] = ways.index(s.way) + 1.0
    return _panels(
        results,
        rows,
        measure,
        title=f"Figure 9: ways to draw candidates, {F1S[measure]}",
        x_label="sampling",
        x_names=dict(enumerate(ways, 1)),
        caption="r: every wrong label is a candidate with this probability; cl: "
        "candidate lists of this length. p = 0.5. Mean over folds; the band is one "
        "standard deviation.",
    )


def _panels(
    results: Results, rows: Places, measure: str, **words: Any
) -> Figure | None:
    """One panel a row of settings; None where there is no curve."""
    panels: Panels = {}
    for title, row in rows.items():
        for method in results.methods:
            found = [results.folds(method, setting, measure) for setting in row]
            parts = sorted({part for one in found for part in one})
            values = [[100 * one.get(part, np.nan) for one in found] for part in parts]
            if parts:
                band = Band.over_folds(list(row.values()), values)
                panels.setdefault(title, {})[method] = band
    names = {method: results.title(method) for method in results.methods}
    words |= {"y_label": f"{F1S[measure]} (%)", "names": names}
    return line_panels(panels, **words) if panels else None


# Line plots --------------------------------------------------------------------


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


#: Title of a panel → method → its curve.
Panels: TypeAlias = dict[str, dict[str, Band]]


def line_panels(
    panels: Panels,
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
    styles = method_styles(list({name: 0 for row in panels.values() for name in row}))
    titles = {name: (names or {}).get(name, name) for name in styles}
    bands = [band for series in panels.values() for band in series.values()]
    places = sorted({x for band in bands for x in band.x.tolist()})
    about = {"xlabel": x_label, "ylabel": y_label, "ylim": _range(bands)}
    drawn: tuple[str, ...] = ()
    rows = []
    for panel, series in panels.items():
        heading = f"{title}, {panel}" if panel else title
        drawn += draw(
            partial(_paint, series, styles, {**about, "title": panel}, x_names),
            alt=f"{heading}: {y_label} by {x_label} for {len(series)} methods.",
            width=WIDTH if len(panels) == 1 else NARROW,
            height=3.0,
        )
        for name, band in series.items():
            found = dict(zip(band.x.tolist(), band.mean.tolist(), strict=True))
            rows.append((titles[name], panel, *map(found.get, places)))
    heads = [x_names[x] if x_names else f"{x_label} {x:g}" for x in places]
    head = ("method", "panel", *(f"{x}|.1f" for x in heads))
    return Figure(
        title=title,
        alt=f"{title}: {y_label} by {x_label}, {len(panels)} panels, "
        f"{len(styles)} methods.",
        panels=drawn,
        legend=draw_legend(styles, titles) if len(styles) > 1 else None,
        data=table(head, rows, title=title),
        caption=caption,
    )


def _range(bands: Sequence[Band]) -> tuple[float, float]:
    """Common limits of all panels, a little wider than the curves."""
    values = np.concatenate([[*b.mean, *b.low, *b.high] for b in bands])
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    margin = 0.04 * (high - low) or 0.5
    return low - margin, high + margin


def _paint(
    series: Mapping[str, Band],
    styles: Mapping[str, Any],
    about: Mapping[str, Any],
    x_names: Mapping[float, str] | None,
    axes: Any,
) -> None:
    for rank, (name, band) in enumerate(series.items()):
        style = styles[name]
        look = {"color": style["color"], "alpha": 0.10, "linewidth": 0}
        axes.fill_between(band.x, band.low, band.high, **look)
        order = 3 + style["linewidth"] - 0.01 * rank
        axes.plot(band.x, band.mean, **style, zorder=order)
    ticks = sorted({x for band in series.values() for x in band.x.tolist()})
    if x_names:
        axes.set_xticks(list(x_names), list(x_names.values()))
    elif len(ticks) <= 7:
        axes.set_xticks(ticks)
    axes.set(**about)
