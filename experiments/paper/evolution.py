"""Plot of how the confidences of training tokens move during a fit (Figure 5)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from experiments.records import Found, Record
from experiments.tables import table
from tagsift.report import Figure
from tagsift.report.drawing import NARROW, WIDTH, draw
from tagsift.report.palette import method_styles
from tagsift.typing import FloatArray


def confidence_evolution(
    watched: Found, *, title: str = "Confidence of the candidates"
) -> Figure:
    """Confidence curves of watched training tokens, one panel each.

    A record holds the ``labels`` of a token, their confidences after every step
    (``evolution``, [I, L]) and the ``truth``, whose curve is drawn thicker.
    """
    panels: tuple[str, ...] = ()
    rows = []
    for word, token in watched.items():
        values = np.asarray(token["evolution"], dtype=np.float64)  # [I, L]
        names = [x + " (true)" * (x == token["truth"]) for x in token["labels"]]
        ends = zip(token["labels"], values[-1], strict=True)
        told = ", ".join(f"{label} ends at {value:.2f}" for label, value in ends)
        panels += draw(
            partial(_paint, word, token, names, values),
            alt=f"{word}: confidence of every candidate by iteration; {told}",
            width=WIDTH if len(watched) == 1 else NARROW,
            height=2.6,
        )
        steps = values[[0, len(values) // 2, -1]]  # [3, L]
        three = zip(names, steps.T.tolist(), strict=True)
        rows += [(word, name, *values) for name, values in three]
    head = ("token", "candidate", "first|.3f", "half-way|.3f", "last|.3f")
    return Figure(
        title=title,
        alt=f"{title}: one panel for each of {len(watched)} watched tokens.",
        panels=panels,
        data=table(head, rows, title=title),
        caption="The thick curve is the true label.",
    )


def _paint(
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
