"""Plot of how the confidences of training tokens move during a fit (Figure 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.tables import table
from tagsift.report import Figure
from tagsift.report.drawing import NARROW, WIDTH, draw, line_style
from tagsift.report.palette import method_styles
from tagsift.typing import FloatArray


@dataclass(frozen=True)
class Evolution:
    """How the confidences of one training token moved during a fit (Figure 5).

    Parameters
    ----------
    title : str
        The word and where it stands.
    labels : tuple of str
        Its candidates.
    values : array of shape (n_steps, n_candidates)
        Confidence after every step.
    truth : str, optional
        The true label; its curve is drawn thicker.
    """

    title: str
    labels: tuple[str, ...]
    values: npt.ArrayLike
    truth: str | None = None


def confidence_evolution(
    watched: Sequence[Evolution], *, title: str = "Confidence of the candidates"
) -> Figure:
    """Confidence curves of watched training tokens, one panel each (Figure 5)."""
    panels: tuple[str, ...] = ()
    rows = []
    for token in watched:
        values = np.asarray(token.values, dtype=np.float64)  # [I, L]
        ends = zip(token.labels, values[-1], strict=True)
        told = ", ".join(f"{label} ends at {value:.2f}" for label, value in ends)
        panels += draw(
            _paint_evolution(token, values),
            alt=f"{token.title}: confidence of every candidate by iteration; {told}",
            width=WIDTH if len(watched) == 1 else NARROW,
            height=2.6,
        )
        steps = values[[0, len(values) // 2, -1]]  # [3, L]
        for label, three in zip(token.labels, steps.T.tolist(), strict=True):
            true = " (true)" if label == token.truth else ""
            rows.append((token.title, label + true, *three))
    return Figure(
        title=title,
        alt=f"{title}: one panel for each of {len(watched)} watched tokens.",
        panels=panels,
        data=table(
            ("token", "candidate", "first|.3f", "half-way|.3f", "last|.3f"),
            rows,
            title=title,
        ),
        caption="The thick curve is the true label.",
    )


def _paint_evolution(token: Evolution, values: FloatArray) -> Any:
    styles = method_styles([f"candidate {label}" for label in token.labels])

    def paint(axes: Any) -> None:
        steps = np.arange(len(values))  # [I]
        places = _spread(values[-1], 0.075)  # [L]
        for j, (label, style) in enumerate(
            zip(token.labels, styles.values(), strict=True)
        ):
            true = label == token.truth
            look = {**line_style(style), "linewidth": 2.4 if true else 1.2}
            if len(values) > 25:
                look["marker"] = "None"
            axes.plot(steps, values[:, j], **look)
            axes.annotate(
                label + (" (true)" if true else ""),
                (1.0, places[j]),
                xycoords=("axes fraction", "data"),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                color=style.colour,
                fontweight="bold" if true else "normal",
                annotation_clip=False,
            )
        axes.set(xlim=(0, max(len(values) - 1, 1)), ylim=(-0.02, 1.02))
        axes.set(xlabel="iteration", ylabel="confidence", title=token.title)
        axes.xaxis.get_major_locator().set_params(integer=True)

    return paint


def _spread(places: FloatArray, gap: float) -> FloatArray:
    """Move labels apart that would overlap, keeping their order and 0 … 1."""
    order = np.argsort(places, kind="stable")  # [L]
    moved = places[order].astype(np.float64)  # [L]
    for i in range(1, len(moved)):
        moved[i] = max(moved[i], moved[i - 1] + gap)
    moved -= max(0.0, moved[-1] - 1.0)
    for i in range(len(moved) - 2, -1, -1):
        moved[i] = min(moved[i], moved[i + 1] - gap)
    result = np.empty_like(moved)  # [L]
    result[order] = moved
    return result
