"""Figures 5 to 9, drawn from records; line plots with a band over folds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from experiments.folds import TASKS
from experiments.paper.results import (
    F1S,
    FIGURE_OF,
    PROSE,
    WATCHED,
    PaperSetting,
    Results,
)
from experiments.records import Found, Record
from experiments.tables import table
from tagsift.report import Figure
from tagsift.report.drawing import NARROW, WIDTH, draw, draw_legend
from tagsift.report.palette import method_styles
from tagsift.typing import FloatArray

# Figure 5 ----------------------------------------------------------------------


def figure_5(watched: Found) -> Figure | None:
    """Figure 5: confidence curves of the watched words, one panel each.

    A record holds the ``labels`` of a token, their confidences after every step
    (``evolution``, [I, L]) and the ``truth``, whose curve is drawn thicker.
    """
    title, rows = "Figure 5: confidences of watched words", []
    panels: tuple[str, ...] = ()
    for name in filter(watched.__contains__, WATCHED):
        token, about = watched[name], WATCHED[name]
        word = f"“{name}”, {TASKS[about.task].title}, p = {about.p:g}"
        values = np.asarray(token["evolution"], dtype=np.float64)  # [I, L]
        names = [x + " (true)" * (x == token["truth"]) for x in token["labels"]]
        ends = zip(token["labels"], values[-1], strict=True)
        told = ", ".join(f"{label} ends at {value:.2f}" for label, value in ends)
        panels += draw(
            partial(_paint_word, word, token, names, values),
            alt=f"{word}: confidence of every candidate by iteration; {told}",
            width=WIDTH if len(watched) == 1 else NARROW,
            height=2.6,
        )
        steps = values[[0, len(values) // 2, -1]]  # [3, L]
        three = zip(names, steps.T.tolist(), strict=True)
        rows += [(word, name, *values) for name, values in three]
    if not rows:
        return None
    head = ("token", "candidate", "first|.3f", "half-way|.3f", "last|.3f")
    return Figure(
        title=title,
        alt=f"{title}: one panel for each of {len(watched)} watched tokens.",
        panels=panels,
        data=table(head, rows, title=title),
        caption="The thick curve is the true label.",
    )


def _paint_word(
    title: str, token: Record, names: Sequence[str], values: FloatArray, axes: Any
) -> None:
    styles = method_styles([f"candidate {label}" for label in token["labels"]])
    steps = np.arange(len(values))  # [I]
    places = _spread(values[-1], 0.075)  # [L]
    for j, style in enumerate(styles.values()):
        true = token["labels"][j] == token["truth"]
        look = style | {"linewidth": 2.4 if true else 1.2}
        if len(values) > 25:
            look["marker"] = "None"
        axes.plot(steps, values[:, j], **look)
        axes.annotate(
            names[j],
            (1.0, places[j]),
            xycoords=("axes fraction", "data"),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            color=style["color"],
            fontweight="bold" if true else "normal",
            annotation_clip=False,
        )
    axes.set(xlim=(0, max(len(values) - 1, 1)), ylim=(-0.02, 1.02))
    axes.set(xlabel="iteration", ylabel="confidence", title=title)
    axes.xaxis.get_major_locator().set_params(integer=True)


def _spread(places: FloatArray, gap: float) -> FloatArray:
    """Move labels apart that would overlap, keeping their order and 0 … 1."""
    order = np.argsort(places, kind="stable")  # [L]
    steps = gap * np.arange(len(places))  # [L]
    moved = np.maximum.accumulate(places[order] - steps) + steps  # [L]
    moved -= max(0.0, moved[-1] - 1.0)
    moved = np.minimum.accumulate((moved - steps)[::-1])[::-1] + steps  # [L]
    return np.asarray(moved[np.argsort(order)])  # [L]


# Figures 6 to 9 ----------------------------------------------------------------

#: Title of a panel → its settings → where they stand.
Places: TypeAlias = dict[str, dict[PaperSetting, float]]


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
        caption=PROSE["figures-6-to-8"],
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
        caption=PROSE["figure-9"],
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
