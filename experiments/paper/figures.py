"""Figures 5 to 9, drawn from records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.folds import TASKS
from experiments.paper.evolution import Evolution, confidence_evolution
from experiments.paper.lines import Band, LinePanel, line_panels
from experiments.paper.results import F1S, FIGURE_OF, Results, Setting
from experiments.paper.watched import WATCHED
from experiments.records import Found
from tagsift.report import Figure


def figure_5(watched: Found) -> Figure | None:
    """Figure 5: confidence curves of the watched words."""
    curves = [
        Evolution(
            f"“{word}”, {TASKS[about.task].title}, p = {about.p:g}",
            tuple(watched[word]["labels"]),
            np.asarray(watched[word]["evolution"]),
            watched[word]["truth"],
        )
        for word, about in WATCHED.items()
        if word in watched
    ]
    if not curves:
        return None
    return confidence_evolution(curves, title="Figure 5: confidences of watched words")


def figures_6_to_8(results: Results, task: str, measure: str) -> Figure | None:
    """Figure 6, 7 or 8: F1 of all methods by p, one panel for every cl."""
    rows: dict[str, dict[Setting, float]] = {}
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
    chosen = [s for s in chosen if sum(s.task == other.task for other in chosen) > 1]
    # Ways to draw candidates from left to right: fewest flips, lists, more flips.
    fewest = min((s.r for s in chosen if s.r), default=0.0)
    chosen.sort(key=lambda s: (s.r != fewest, s.r > fewest, s.cl, s.r))
    ways = list(dict.fromkeys(s.way for s in chosen))
    rows = {
        TASKS[task].title: {
            s: ways.index(s.way) + 1.0 for s in chosen if s.task == task
        }
        for task in results.tasks
    }
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
    results: Results,
    rows: Mapping[str, Mapping[Setting, float]],
    measure: str,
    **words: Any,
) -> Figure | None:
    """One panel a row of settings and places; None where there is no curve."""
    panels = [
        LinePanel(title, series)
        for title, row in rows.items()
        if (series := _series(results, row, measure))
    ]
    names = {method: results.title(method) for method in results.methods}
    words |= {"y_label": f"{F1S[measure]} (%)", "names": names}
    return line_panels(panels, **words) if panels else None


def _series(
    results: Results, row: Mapping[Setting, float], measure: str
) -> dict[str, Band]:
    """Curves of all methods with a value in one of the settings."""
    series = {}
    for method in results.methods:
        found = [results.folds(method, setting, measure) for setting in row]
        parts = sorted({part for one in found for part in one})
        values = [[100 * one.get(part, np.nan) for one in found] for part in parts]
        if parts:
            series[method] = Band.over_folds(list(row.values()), values)
    return series
