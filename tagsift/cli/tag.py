"""``tagsift tag``: label new text with a fitted model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tagsift
from tagsift.cli._options import Json, ModelFile, OutOrScreen, Reading, argument, option
from tagsift.cli._output import print_json, write_columns
from tagsift.cli._training import check_columns
from tagsift.errors import InputError

if TYPE_CHECKING:
    from tagsift.data import Row
    from tagsift.typing import FloatArray

__all__ = ["EXAMPLE", "PLACE", "run"]

PLACE = 40
EXAMPLE = "tagsift tag model.tagsift text.conll -o tagged.conll --marginals"


def run(
    model: ModelFile,
    text: Annotated[
        Path, argument("TEXT", "Column file: the training columns without the label.")
    ],
    *,
    out: OutOrScreen = None,
    marginals: Annotated[
        bool, option("Add the label's probability, then every label's (as LABEL=P).")
    ] = False,
    gold: Annotated[
        bool, option("The last column holds gold labels; ignore it.")
    ] = False,
    reading: Reading,
    json: Json = False,
) -> None:
    """Label new text: its columns, then the label."""
    tagger = tagsift.load(model)
    if gold and reading.columns is not None:
        raise InputError("--gold and --columns: name the gold column 'gold' instead.")
    if gold:
        rows = tagsift.read_conll(text, scheme="plain", **vars(reading)).rows
    else:
        rows = tagsift.read_text(text, **vars(reading))
    check_columns(tagger, text, rows, named=reading.columns is not None)
    labels = [[str(name) for name in sentence] for sentence in tagger.predict(rows)]
    names = [str(name) for name in tagger.classes_]
    probabilities = tagger.predict_marginals(rows) if marginals else None
    if json and out is None:
        sentences: list[dict[str, Any]] = [
            {"tokens": [row[0] for row in sentence], "labels": found}
            for sentence, found in zip(rows, labels, strict=True)
        ]
        for entry, table in zip(sentences, probabilities or (), strict=False):
            entry["marginals"] = table.tolist()
        print_json({"classes": names, "sentences": sentences})
        return
    tables = [None] * len(rows) if probabilities is None else probabilities
    cells = (
        list(_cells(sentence, found, table, names))
        for sentence, found, table in zip(rows, labels, tables, strict=True)
    )
    write_columns(out, cells)
    if json:
        sizes = {"sentences": len(rows), "tokens": sum(map(len, rows))}
        print_json({"out": str(out), **sizes, "classes": names})


def _cells(
    rows: list[Row], labels: list[str], table: FloatArray | None, names: list[str]
) -> Iterator[tuple[str, ...]]:
    """Columns of one tagged sentence."""
    column = {name: k for k, name in enumerate(names)}
    for t, (row, label) in enumerate(zip(rows, labels, strict=True)):
        more = []
        if table is not None:
            more = [f"{table[t, column[label]]:.6f}"]
            more += [f"{name}={table[t, k]:.6f}" for name, k in column.items()]
        yield (*row, label, *more)
