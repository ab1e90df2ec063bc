"""Plots of curves: calibration, risk and coverage, confidences, methods compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tagsift.errors import InputError
from tagsift.metrics import Reliability, RiskCoverage
from tagsift.report.document import Column, Figure, Table
from tagsift.report.drawing import NARROW, WIDTH, draw, draw_legend, ink, line_style
from tagsift.report.palette import method_styles
from tagsift.typing import FloatArray

__all__ = [
    "Band",
    "Evolution",
    "LinePanel",
    "confidence_evolution",
    "line_panels",
    "reliability_diagram",
    "risk_coverage_plot",
]

_COVERAGES = (0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.0)


@dataclass(frozen=True)
class Band:
    """The curve of one method: a mean and a band around it.

    Parameters
    ----------
    x, mean, low, high : arrays of shape (n_points,)
        NaN where there is no value.
    """

    x: npt.ArrayLike
    mean: npt.ArrayLike
    low: npt.ArrayLike
    high: npt.ArrayLike

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


def reliability_diagram(
    table: Reliability, *, title: str = "Reliability diagram"
) -> Figure:
    """Confidence against accuracy, with the number of tokens behind every bar.

    Parameters
    ----------
    table : Reliability
        The bins.
    title : str
        What to call it.
    """
    filled = table.counts > 0  # [B]
    share = table.counts / table.counts.sum()  # [B]
    width = table.edges[1] - table.edges[0]

    def paint(axes: Any) -> None:
        axes.bar(
            table.edges[:-1][filled],
            table.accuracy[filled],
            width=width,
            align="edge",
            color=ink("accent"),
            alpha=0.30,
            linewidth=0,
        )
        axes.plot([0, 1], [0, 1], color=ink("muted"), linewidth=1, linestyle="--")
        axes.scatter(
            table.confidence[filled],
            table.accuracy[filled],
            s=10 + 240 * share[filled],
            color=ink("accent"),
            linewidth=0,
            zorder=3,
            clip_on=False,
        )
        axes.annotate("not sure enough", (0.03, 0.94), color=ink("muted"), fontsize=8.5)
        axes.annotate(
            "too sure", (0.97, 0.04), color=ink("muted"), fontsize=8.5, ha="right"
        )
        axes.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="confidence", ylabel="accuracy")

    alt = (
        f"{title}: accuracy against confidence in {int(filled.sum())} bins; the "
        f"calibration error is {100 * table.ece:.1f} percent."
    )
    rows = tuple(
        (
            f"{table.edges[b]:.2f}–{table.edges[b + 1]:.2f}",
            int(table.counts[b]),
            float(table.confidence[b]),
            float(table.accuracy[b]),
            float(table.accuracy[b] - table.confidence[b]),
        )
        for b in np.flatnonzero(filled)
    )
    return Figure(
        title=title,
        alt=alt,
        panels=draw(paint, alt=alt, height=3.6),
        data=Table(
            (
                Column("confidence", align="right"),
                Column("tokens", ",d"),
                Column("mean confidence %", ".1f", 100),
                Column("accuracy %", ".1f", 100),
                Column("gap", "+.1f", 100),
            ),
            rows,
            title=title,
        ),
        caption=(
            "On the dashed line a label given with confidence 0.8 is right eight times "
            "in ten. The area of a dot is its share of the tokens. Calibration error "
            f"(ECE): {100 * table.ece:.2f} %, largest gap of a bin: "
            f"{100 * table.mce:.1f} points."
        ),
    )


def risk_coverage_plot(
    curves: Mapping[str, RiskCoverage], *, title: str = "Risk–coverage curve"
) -> Figure:
    """Share of wrong labels among the surest tokens, for one or several methods.

    Parameters
    ----------
    curves : mapping of str to RiskCoverage
        Methods by their table name.
    title : str
        What to call it.
    """
    if not curves:
        raise InputError("A risk–coverage plot needs at least one curve; got none.")
    styles = method_styles(list(curves))

    def paint(axes: Any) -> None:
        highest = 0.0
        for name, curve in curves.items():
            keep = _thin(len(curve.risk))
            style = {**line_style(styles[name]), "marker": "None"}
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


def _thin(n: int, most: int = 400) -> npt.NDArray[np.int64]:
    """Places of at most `most` points of a long curve; the ends are kept."""
    if n <= most:
        return np.arange(n)
    return np.unique(np.linspace(0, n - 1, most).round().astype(np.int64))


def confidence_evolution(
    watched: Sequence[Evolution], *, title: str = "Confidence of the candidates"
) -> Figure:
    """Confidence curves of watched training tokens, one panel each (Figure 5).

    Parameters
    ----------
    watched : sequence of Evolution
        The tokens.
    title : str
        What to call it.
    """
    panels: tuple[str, ...] = ()
    rows = []
    for token in watched:
        values = np.asarray(token.values, dtype=np.float64)  # [I, L]
        if values.ndim != 2 or values.shape[1] != len(token.labels) or not len(values):
            raise InputError(
                f"{token.title}: expected confidences of shape (n_steps, "
                f"{len(token.labels)}), one column per candidate; got {values.shape}."
            )
        told = [
            f"{label} ends at {values[-1, j]:.2f}"
            for j, label in enumerate(token.labels)
        ]
        panels += draw(
            _paint_evolution(token, values),
            alt=f"{token.title}: confidence of every candidate by iteration; "
            + ", ".join(told),
            width=WIDTH if len(watched) == 1 else NARROW,
            height=2.6,
        )
        rows += [
            (
                token.title,
                label + (" (true)" if label == token.truth else ""),
                float(values[0, j]),
                float(values[len(values) // 2, j]),
                float(values[-1, j]),
            )
            for j, label in enumerate(token.labels)
        ]
    return Figure(
        title=title,
        alt=f"{title}: one panel for each of {len(watched)} watched tokens.",
        panels=panels,
        data=Table(
            (
                Column("token"),
                Column("candidate"),
                Column("first", ".3f"),
                Column("half-way", ".3f"),
                Column("last", ".3f"),
            ),
            tuple(rows),
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


def line_panels(
    panels: Sequence[LinePanel],
    *,
    title: str,
    x_label: str,
    y_label: str,
    names: Mapping[str, str] | None = None,
    y_range: tuple[float, float] | None = None,
    caption: str = "",
    x_form: str = "g",
    y_form: str = ".1f",
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
    y_range : tuple of float, optional
        The same for all panels; from the data by default.
    caption : str
        How to read it.
    x_form, y_form : str
        Formats of the numbers in the table.
    """
    if not panels or not all(panel.series for panel in panels):
        raise InputError("A line plot needs at least one curve in every panel.")
    order: dict[str, None] = {}
    for panel in panels:
        order.update(dict.fromkeys(panel.series))
    styles = method_styles(list(order))
    titles = {name: (names or {}).get(name, name) for name in order}
    low, high = y_range or _range(panels)
    drawn: tuple[str, ...] = ()
    for panel in panels:
        heading = f"{title}, {panel.title}" if panel.title else title
        drawn += draw(
            _paint_lines(panel, styles, x_label, y_label, (low, high)),
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
        data=_line_table(panels, titles, title, x_label, x_form, y_form),
        caption=caption,
    )


def _range(panels: Sequence[LinePanel]) -> tuple[float, float]:
    """Common limits of all panels, a little wider than the curves."""
    values = np.concatenate(
        [
            np.asarray(part, dtype=np.float64).ravel()
            for panel in panels
            for band in panel.series.values()
            for part in (band.mean, band.low, band.high)
        ]
    )
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
) -> Any:
    def paint(axes: Any) -> None:
        ticks: set[float] = set()
        for rank, (name, band) in enumerate(panel.series.items()):
            style = styles[name]
            x = np.asarray(band.x, dtype=np.float64)  # [P]
            order = 3 + style.width - 0.01 * rank
            axes.fill_between(
                x,
                np.asarray(band.low, dtype=np.float64),
                np.asarray(band.high, dtype=np.float64),
                color=style.colour,
                alpha=0.10,
                linewidth=0,
            )
            axes.plot(x, np.asarray(band.mean), **line_style(style), zorder=order)
            ticks.update(x.tolist())
        if len(ticks) <= 7:
            axes.set_xticks(sorted(ticks))
        axes.set(xlabel=x_label, ylabel=y_label, ylim=limits)
        if panel.title:
            axes.set_title(panel.title)

    return paint


def _line_table(
    panels: Sequence[LinePanel],
    titles: Mapping[str, str],
    title: str,
    x_label: str,
    x_form: str,
    y_form: str,
) -> Table:
    places = sorted(
        {
            float(x)
            for panel in panels
            for band in panel.series.values()
            for x in np.asarray(band.x, dtype=np.float64)
        }
    )
    rows = []
    for panel in panels:
        for name, band in panel.series.items():
            found = dict(
                zip(
                    np.asarray(band.x, dtype=np.float64).tolist(),
                    np.asarray(band.mean, dtype=np.float64).tolist(),
                    strict=True,
                )
            )
            values = [found.get(x, float("nan")) for x in places]
            rows.append((titles[name], panel.title, *values))
    return Table(
        (
            Column("method"),
            Column("panel"),
            *(Column(f"{x_label} {x:{x_form}}", y_form) for x in places),
        ),
        tuple(rows),
        title=title,
    )
