"""Heat maps: the labels of a sentence, and confusion of labels.

A cell is filled with one colour whose opacity is the value, so the same drawing reads
well on a light and on a dark page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tagsift.errors import InputError
from tagsift.report.document import Column, Figure, Table
from tagsift.report.drawing import WIDTH, draw, ink
from tagsift.typing import FloatArray, Label

__all__ = ["confusion_plot", "heat_map", "sentence_map", "short_name"]

#: Most labels in the map of a sentence, tokens there, and labels in a confusion.
_MOST_LABELS, _MOST_TOKENS, _MOST_CONFUSED = 12, 30, 25


def heat_map(
    values: npt.ArrayLike,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str,
    row_name: str = "",
    column_name: str = "",
    form: str = ".2f",
    limit: float | None = None,
    outlined: Sequence[tuple[int, int]] = (),
    dotted: Sequence[tuple[int, int]] = (),
    caption: str = "",
    heading: str = "",
) -> Figure:
    """A matrix as coloured cells; negative values take the counter colour.

    NaN leaves a cell empty, `limit` is drawn in full colour (the largest magnitude by
    default), `outlined` cells have a frame and `dotted` ones a dot, and `heading` is
    drawn above.
    """
    what = f"{title}: expected a matrix of"
    matrix = _matrix(values, len(rows), len(columns), what)  # [R, C]
    finite = np.abs(matrix[np.isfinite(matrix)])  # [K]
    top = limit or (float(finite.max()) if len(finite) else 0.0) or 1.0
    numbers = len(columns) <= 10

    def paint(axes: Any) -> None:
        _paint_cells(axes, matrix / top, matrix, form if numbers else None)
        for i, j in outlined:
            axes.add_patch(_cell(i, j, fill=False, edgecolor=ink("ink"), linewidth=1.3))
        # Numbers stand in the middle, so the dot goes to the corner.
        right, up, size = (0.36, 0.28, 2.8) if numbers else (0, 0, 3.2)
        for i, j in dotted:
            look = {"markersize": size, "color": _on(matrix[i, j] / top)}
            axes.plot(j + right, i - up, marker="o", linewidth=0, **look)
        _name_cells(axes, rows, columns)
        axes.set(xlabel=column_name, ylabel=row_name if column_name else "")
        axes.set_title(short_name(heading))

    longest = max(len(name) for name in columns)
    size = f"{len(rows)} rows by {len(columns)} columns"
    alt = f"{title}: {size}; the numbers are in the table below."
    return Figure(
        title=title,
        alt=alt,
        panels=draw(
            paint,
            alt=alt,
            width=WIDTH + 0.16 * max(len(columns) - 12, 0),
            height=0.23 * len(rows) + 0.4 + 0.06 * longest + 0.2 * bool(column_name),
        ),
        data=Table(
            (Column(row_name or "row"), *(Column(name, form) for name in columns)),
            tuple(
                (name, *(None if np.isnan(value) else float(value) for value in row))
                for name, row in zip(rows, matrix, strict=True)
            ),
            title=title,
        ),
        caption=caption,
    )


def _matrix(values: npt.ArrayLike, rows: int, columns: int, what: str) -> FloatArray:
    matrix = np.asarray(values, dtype=np.float64)  # [R, C]
    if matrix.shape != (rows, columns) or not matrix.size:
        raise InputError(f"{what} shape ({rows}, {columns}), got shape {matrix.shape}.")
    return matrix


def _paint_cells(
    axes: Any, share: FloatArray, matrix: FloatArray, form: str | None
) -> None:
    for (i, j), value in np.ndenumerate(share):
        if np.isnan(value):
            continue
        depth = float(min(abs(value), 1.0))
        colour = ink("accent") if value >= 0 else ink("counter")
        axes.add_patch(_cell(i, j, facecolor=ink("rule"), alpha=0.35, linewidth=0))
        axes.add_patch(_cell(i, j, facecolor=colour, alpha=depth, linewidth=0))
        if form is not None and depth >= 0.005:
            look = {"ha": "center", "va": "center", "color": _on(value)}
            axes.text(j, i, f"{matrix[i, j]:{form}}", fontsize=7.5, **look)


def _name_cells(axes: Any, rows: Sequence[str], columns: Sequence[str]) -> None:
    """Names on the left and on top, and no frame."""
    steep = max(len(name) for name in columns) * len(columns) > 42
    axes.set_xticks(
        range(len(columns)),
        [short_name(name) for name in columns],
        rotation=60 if steep else 0,
        ha="left" if steep else "center",
        rotation_mode="anchor",
    )
    axes.set_yticks(range(len(rows)), [short_name(name) for name in rows])
    axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.tick_params(length=0)
    axes.grid(False)
    axes.spines[:].set_visible(False)


def _cell(i: int, j: int, **look: Any) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((j - 0.47, i - 0.46), 0.94, 0.92, **look)


def _on(share: float) -> str:
    """Colour of text on a cell."""
    return ink("on-accent") if abs(share) > 0.55 else ink("ink")


def short_name(name: str) -> str:
    """Cut a name for a drawing, and show what cannot be seen."""
    name = "".join(letter if letter.isprintable() else "·" for letter in name)
    return name if len(name) <= 18 else name[:17] + "…"


def sentence_map(
    tokens: Sequence[str],
    marginals: npt.ArrayLike,
    classes: Sequence[Label],
    *,
    predicted: Sequence[Label],
    gold: Sequence[Label],
) -> Figure:
    """How sure every label of every token of a sentence is.

    The labels given (a dot) and the true ones (a frame) are always shown, and with them
    those that have the largest probability somewhere. Of a long sentence, what is
    around its least sure token is shown.
    """
    what = "One sentence: expected marginals of"
    array = _matrix(marginals, len(tokens), len(classes), what)  # [T, L]
    worst = int(array.max(axis=1).argmin())
    first = max(0, min(worst - _MOST_TOKENS // 2, len(tokens) - _MOST_TOKENS))
    part = slice(first, first + _MOST_TOKENS)
    tokens, array = tokens[part], array[part]
    predicted, gold = predicted[part], gold[part]
    place = {label: j for j, label in enumerate(classes)}
    named = {place[x] for x in (*predicted, *gold) if x in place}
    peak = array.max(axis=0)  # [L]
    ranked = sorted(place.values(), key=lambda j: (j not in named, -peak[j], j))
    kept = sorted(ranked[: max(_MOST_LABELS, len(named))])
    column = {j: k for k, j in enumerate(kept)}

    def cells(labels: Sequence[Label]) -> list[tuple[int, int]]:
        return [(t, column[place[k]]) for t, k in enumerate(labels) if k in place]

    left_out = len(classes) - len(kept)
    return heat_map(
        array[:, kept],
        list(tokens),
        [str(classes[j]) for j in kept],
        title="Probability of every label",
        row_name="token",
        limit=1.0,
        outlined=cells(gold),
        dotted=cells(predicted),
        caption="The stronger the colour, the more probable. A dot marks the label "
        "given, a frame the true one."
        + (f" {left_out} improbable labels are left out." if left_out else ""),
    )


def confusion_plot(labels: Sequence[Label], counts: npt.ArrayLike) -> Figure:
    """Share of the tokens of every gold label that got every other label."""
    table = np.asarray(counts, dtype=np.float64)  # [L, L]
    often = table.sum(axis=0) + table.sum(axis=1)  # [L]
    kept = np.sort(np.argsort(-often, kind="stable")[:_MOST_CONFUSED])
    kept = kept[often[kept] > 0]  # [L']
    left_out = int((often > 0).sum()) - len(kept)
    names = [str(labels[k]) for k in kept]
    table = table[np.ix_(kept, kept)]  # [L', L']
    support = table.sum(axis=1, keepdims=True)  # [L', 1]
    with np.errstate(invalid="ignore"):
        share = 100 * table / support  # [L', L']
    return heat_map(
        share,
        names,
        names,
        title="Confused labels",
        row_name="gold",
        column_name="given",
        form=".0f",
        limit=100.0,
        caption="Percent of the tokens of a gold label (row) that were given a label."
        + (f" {left_out} rarer labels are left out." if left_out else ""),
    )
