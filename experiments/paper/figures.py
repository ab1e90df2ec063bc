"""Figures 5 to 9, drawn from records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from experiments.folds import TASKS
from experiments.paper.results import F1S, FIGURE_OF, Results, Setting
from experiments.paper.watched import WATCHED
from experiments.records import Record
from tagsift.report import (
    Band,
    Evolution,
    Figure,
    LinePanel,
    confidence_evolution,
    line_panels,
)

__all__ = ["figure_5", "figure_9", "figures_6_to_8"]


def figure_5(found: Iterable[Record]) -> Figure | None:
    """Figure 5: confidence curves of the watched words.

    Parameters
    ----------
    found : iterable of records
        Those with an ``evolution`` are drawn.
    """
    curves = []
    by_word = {
        record["config"]["watch"]: record for record in found if "evolution" in record
    }
    for word, watched in WATCHED.items():
        if word not in by_word:
            continue
        record = by_word[word]
        curves.append(
            Evolution(
                f"“{word}”, {TASKS[watched.task].title}, p = {watched.p:g}",
                tuple(record["labels"]),
                np.asarray(record["evolution"]),
                record["truth"],
            )
        )
    if not curves:
        return None
    return confidence_evolution(curves, title="Figure 5: confidences of watched words")


def figures_6_to_8(
    results: Results, task: str, measure: str, names: Mapping[str, str]
) -> Figure | None:
    """Figure 6, 7 or 8: F1 of all methods by p, one panel for every cl.

    Parameters
    ----------
    results : Results
        Finished cells.
    task : str
        Which task.
    measure : str
        Which F1.
    names : mapping
        Titles of methods.
    """
    places = [setting for setting in results.lists if setting.task == task]
    panels = []
    for cl in sorted({setting.cl for setting in places}):
        row = [setting for setting in places if setting.cl == cl]
        series = _series(results, row, [setting.p for setting in row], measure)
        if series:
            panels.append(LinePanel(f"cl = {cl}", series))
    if not panels:
        return None
    return line_panels(
        panels,
        title=f"Figure {FIGURE_OF[task]}: {TASKS[task].title}, {F1S[measure]}",
        x_label="p",
        y_label=f"{F1S[measure]} (%)",
        names=names,
        caption="Mean over folds; the band is one standard deviation. The CRF on gold "
        "labels is a ceiling and depends on neither cl nor p.",
    )


def figure_9(results: Results, measure: str, names: Mapping[str, str]) -> Figure | None:
    """Figure 9: flip sampling against candidate lists, at the same p.

    Parameters
    ----------
    results : Results
        Finished cells.
    measure : str
        Which F1.
    names : mapping
        Titles of methods.
    """
    rows = {}
    for task in results.tasks:
        flips = [s for s in results.settings if s.task == task and s.r]
        lists = [
            s
            for s in results.lists
            if s.task == task and s.cl in (2, 3) and flips and s.p == flips[0].p
        ]
        if len(flips) + len(lists) >= 2:
            rows[task] = [*flips, *lists]
    places = _places(setting for row in rows.values() for setting in row)
    panels = []
    for task, row in rows.items():
        row.sort(key=lambda setting: places[setting.way])
        x = [places[setting.way] for setting in row]
        series = _series(results, row, x, measure)
        if series:
            panels.append(LinePanel(TASKS[task].title, series))
    if not panels:
        return None
    return line_panels(
        panels,
        title=f"Figure 9: ways to draw candidates, {F1S[measure]}",
        x_label="sampling",
        y_label=f"{F1S[measure]} (%)",
        names=names,
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


def _series(
    results: Results, row: list[Setting], x: Iterable[float], measure: str
) -> dict[str, Band]:
    """Curves of all methods with a value in one of the settings."""
    parts = sorted(
        {
            part
            for method in results.methods
            for setting in row
            for part in results.folds(method, setting, measure)
        }
    )
    places = list(x)
    series = {}
    for method in results.methods:
        values = np.full((len(parts), len(row)), np.nan)  # [F, P]
        for column, setting in enumerate(row):
            for part, value in results.folds(method, setting, measure).items():
                values[parts.index(part), column] = 100 * value
        if not np.isnan(values).all():
            series[method] = Band.over_folds(places, values)
    return series
