"""Figures 5 to 9, drawn from records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from experiments.folds import TASKS
from experiments.paper.evolution import Evolution, confidence_evolution
from experiments.paper.lines import Band, LinePanel, line_panels
from experiments.paper.results import F1S, FIGURE_OF, Results, Setting
from experiments.paper.watched import WATCHED
from experiments.records import Record
from tagsift.report import Figure


def figure_5(watched: Mapping[str, Record]) -> Figure | None:
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
    rows = {}
    for task in results.tasks:
        flips = [s for s in results.of(task) if s.r]
        row = flips + [
            s
            for s in results.of(task)
            if s.cl in (2, 3) and flips and s.p == flips[0].p
        ]
        if len(row) >= 2:
            rows[TASKS[task].title] = row
    places = _places(s for row in rows.values() for s in row)
    ordered = {
        title: dict(sorted(((s, places[s.way]) for s in row), key=lambda pair: pair[1]))
        for title, row in rows.items()
    }
    return _panels(
        results,
        ordered,
        measure,
        title=f"Figure 9: ways to draw candidates, {F1S[measure]}",
        x_label="sampling",
        x_names={place: way for way, place in places.items()},
        caption="r: every wrong label is a candidate with this probability; cl: "
        "candidate lists of this length. p = 0.5. Mean over folds; the band is one "
        "standard deviation.",
    )


def _places(settings: Iterable[Setting]) -> dict[str, int]:
    """Ways to draw candidates from left to right: fewest flips, lists, more flips."""
    found = list(settings)
    fewest = min((setting.r for setting in found if setting.r), default=0.0)
    found.sort(key=lambda s: (s.r != fewest, s.r > fewest, s.cl, s.r))
    return {way: k for k, way in enumerate(dict.fromkeys(s.way for s in found), 1)}


def _panels(
    results: Results,
    rows: Mapping[str, Mapping[Setting, float]],
    measure: str,
    *,
    title: str,
    x_label: str,
    caption: str,
    x_names: Mapping[float, str] | None = None,
) -> Figure | None:
    """One panel a row of settings and places; None where there is no curve."""
    panels = [
        LinePanel(words, series)
        for words, row in rows.items()
        if (series := _series(results, row, measure))
    ]
    if not panels:
        return None
    return line_panels(
        panels,
        title=title,
        x_label=x_label,
        y_label=f"{F1S[measure]} (%)",
        names={method: results.title(method) for method in results.methods},
        x_names=x_names,
        caption=caption,
    )


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
