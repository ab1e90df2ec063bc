"""Plots of how far a tagger's confidences can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from tagsift.errors import InputError
from tagsift.metrics import Reliability, RiskCoverage
from tagsift.report.document import Column, Figure, Table, columns
from tagsift.report.drawing import draw, draw_legend, ink
from tagsift.report.palette import method_styles
from tagsift.typing import IntArray

__all__ = ["reliability_diagram", "risk_coverage_plot"]

_COVERAGES = (0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.0)


def reliability_diagram(
    table: Reliability, *, title: str = "Reliability diagram"
) -> Figure:
    """Confidence against accuracy, with the number of tokens behind every bar."""
    filled = np.flatnonzero(table.counts)  # [B']
    alt = (
        f"{title}: accuracy against confidence in {len(filled)} bins; the calibration "
        f"error is {100 * table.ece:.1f} percent."
    )
    rows = []
    for b in filled:
        sure, right = float(table.confidence[b]), float(table.accuracy[b])
        edges = f"{table.edges[b]:.2f}–{table.edges[b + 1]:.2f}"
        rows.append((edges, int(table.counts[b]), sure, right, right - sure))
    return Figure(
        title=title,
        alt=alt,
        panels=draw(partial(_paint_bins, table, filled), alt=alt, height=3.6),
        data=Table(
            (
                Column("confidence", align="right"),
                *columns({"tokens": ",d", "mean confidence %": ".1f%"}),
                *columns({"accuracy %": ".1f%", "gap": "+.1f%"}),
            ),
            tuple(rows),
            title=title,
        ),
        caption=(
            "On the dashed line a label given with confidence 0.8 is right eight times "
            "in ten. The area of a dot is its share of the tokens. Calibration error "
            f"(ECE): {100 * table.ece:.2f} %, largest gap of a bin: "
            f"{100 * table.mce:.1f} points."
        ),
    )


def _paint_bins(table: Reliability, filled: IntArray, axes: Any) -> None:
    share = table.counts[filled] / table.counts.sum()  # [B']
    accuracy = table.accuracy[filled]  # [B']
    look: dict[str, Any] = {"color": ink("accent"), "linewidth": 0}
    width = table.edges[1] - table.edges[0]
    axes.bar(table.edges[filled], accuracy, width, align="edge", alpha=0.30, **look)
    axes.plot([0, 1], [0, 1], color=ink("muted"), linewidth=1, linestyle="--")
    look |= {"s": 10 + 240 * share, "zorder": 3, "clip_on": False}
    axes.scatter(table.confidence[filled], accuracy, **look)
    words = {"color": ink("muted"), "fontsize": 8.5}
    axes.annotate("not sure enough", (0.03, 0.94), **words)
    axes.annotate("too sure", (0.97, 0.04), ha="right", **words)
    axes.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="confidence", ylabel="accuracy")


def risk_coverage_plot(curves: Mapping[str, RiskCoverage]) -> Figure:
    """Share of wrong labels among the surest tokens, for one or several methods."""
    title = "Risk–coverage curve"
    if not curves:
        raise InputError("A risk–coverage plot needs at least one curve; got none.")
    styles = method_styles(list(curves))

    def paint(axes: Any) -> None:
        highest = 0.0
        for name, curve in curves.items():
            keep = _thin(len(curve.risk))
            style = styles[name] | {"marker": "None"}
            axes.plot(100 * curve.coverage[keep], 100 * curve.risk[keep], **style)
            highest = max(highest, float(curve.risk[keep].max()))
        axes.set(xlim=(0, 100), ylim=(0, max(105 * highest, 1.0)))
        axes.set(xlabel="tokens kept, surest first (%)", ylabel="wrong among them (%)")

    best = min(curves, key=lambda name: curves[name].aurc)
    alt = (
        f"{title}: wrong labels among the tokens kept, as more and more tokens are "
        f"kept. Area under the curve of {best}: {curves[best].aurc:.4f}."
    )
    return Figure(
        title=title,
        alt=alt,
        panels=draw(paint, alt=alt, height=3.2),
        legend=draw_legend(styles) if len(curves) > 1 else None,
        data=Table(
            (
                Column("method"),
                *(Column(f"{100 * c:g} % kept", ".2f", 100) for c in _COVERAGES),
                Column("area (AURC)", ".4f"),
            ),
            tuple(
                (name, *(curve.risk_at(c) for c in _COVERAGES), curve.aurc)
                for name, curve in curves.items()
            ),
            title=f"{title}: wrong labels in percent",
        ),
        caption=(
            "Leave the least sure tokens to a person: the curve says how many of the "
            "remaining labels are wrong. The lower the better."
        ),
    )


def _thin(n: int) -> IntArray:
    """Places of at most 400 points of a long curve; the ends are kept."""
    return np.unique(np.linspace(0, n - 1, min(n, 400)).round().astype(np.int64))
