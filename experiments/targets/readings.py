"""What each reading of the paper costs on real data: the switches, one at a time.

Base NP and NER of the paper's size (the first 500 sentences, word and POS features,
cl = 3, p = 0.1 unless a row says otherwise), some folds of five. Weighting, confidence
and neighbour floor are compared at one fixed amplitude and width, so that nothing else
differs; the two ways to learn the hyperparameters are compared with each other. All
fits have 400 inducing points (R9), so that minutes are enough.

    python -m experiments readings --records experiments/records/readings.jsonl
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any

import numpy as np

from experiments.experiment import Experiment, KeyedCell, Option
from experiments.fitting import fit
from experiments.folds import TASKS, paper_fold
from experiments.records import Found, pick
from experiments.tables import Tables, means, table
from tagsift.features.distances import median_distance
from tagsift.features.scaling import scale_features

DECODERS = ("weighted", "viterbi", "argmax", "log")
#: θ · median squared distance, and amplitude, of the comparisons at fixed values.
FIXED_THETA, FIXED_AMPLITUDE = 0.3, 20.0


@dataclass(frozen=True)
class ReadingChoice:
    """One row of the table."""

    title: str  # what differs from the default
    params: dict[str, Any] = field(default_factory=dict)  # of SGPPSL
    fixed: bool = True  # whether width and amplitude are the fixed ones
    cl: int = 3
    p: float = 0.1

    @property
    def slug(self) -> str:
        """The title as part of a key."""
        return re.sub(r"[^a-z0-9.]+", "-", self.title.lower())


_R1, _R2, _R5 = (
    {name: "literal"} for name in ("weighting", "confidence", "neighbour_floor")
)
READINGS = (
    ReadingChoice("default readings"),
    ReadingChoice("R1 literal", _R1),
    ReadingChoice("R2 literal", _R2),
    ReadingChoice("R5 literal", _R5),
    ReadingChoice("R1, R2, R5 literal", _R1 | _R2 | _R5),
    ReadingChoice("amplitude 1, as printed", {"amplitude": 1.0}),
    ReadingChoice("R8: learnt by held-out sets", fixed=False),
    ReadingChoice(
        "R8 literal: learnt by the bound", {"hyperparameters": "bound"}, False
    ),
    ReadingChoice("cl 2, p 0.9: default readings", cl=2, p=0.9),
    ReadingChoice("cl 2, p 0.9: R5 literal", _R5, cl=2, p=0.9),
)
#: Column → what it shows of a record.
COLUMNS = {
    "span F1 weighted|.1f|100": "decoders.weighted.span_f1",
    **{f"{name}|.1f|100": f"decoders.{name}.span_f1" for name in DECODERS[1:]},
    "token F1 weighted|.1f|100": "decoders.weighted.token_weighted_f1",
    "recovery|.1f|100": "recovery",
    "ECE|.1f|100": "ece",
    "NLL|.3f": "nll",
    "σ²|.3g": "amplitude",
    "θ · median|.2g": "theta_times_median",
}


@dataclass(frozen=True)
class ReadingCell(KeyedCell):
    """One reading on one of the five folds."""

    form = "{task}/{reading.slug}/fold{fold}"
    task: str
    reading: ReadingChoice
    fold: int


@dataclass(frozen=True)
class Readings(Experiment):
    """All readings on some folds."""

    name = "readings"
    title = "The readings of the paper"
    options = {"folds": Option(2, "how many of the five", int)}
    folds: int

    def cells(self) -> list[ReadingCell]:
        about = product(range(self.folds), ("base-np", "ner"), READINGS)
        return [ReadingCell(task, reading, fold) for fold, task, reading in about]

    def config(self, cell: ReadingCell) -> dict[str, Any]:
        return {"task": cell.task, "fold": cell.fold, **asdict(cell.reading)}

    def run(self, cell: ReadingCell) -> dict[str, Any]:
        reading = cell.reading
        where = self.data, cell.task, cell.fold
        fold, partial = paper_fold(*where, cl=reading.cl, p=reading.p, drawn=0)
        width = median_distance(scale_features(fold.train_features)[0], 0)
        fixed = {"theta": FIXED_THETA / width, "amplitude": FIXED_AMPLITUDE}
        params = (fixed if reading.fixed else {}) | reading.params
        fitted = fit("sgppsl", fold, partial, {"posterior": "inducing", **params})
        model, scores = fitted.model, fitted.scores()
        return {
            "decoders": fitted.decoded(DECODERS),
            "recovery": fitted.recovery().ambiguous,
            "ece": scores["ece"],
            "nll": scores["nll"],
            "amplitude": float(np.median(model.kernel_.amplitude)),
            "theta_times_median": float(np.median(model.kernel_.theta) * width),
            "unseen_pairs": int((model.decoding_.tau_T == 0).sum()),
            "n_iter": model.n_iter_,
            "seconds": round(fitted.fitting.wall, 1),
        }

    def tables(self, found: Found) -> Tables:
        values = means(
            ((cell.task, cell.reading.title), column, value)
            for cell, record in self.finished(found)
            for column, value in zip(
                COLUMNS, pick(record, *COLUMNS.values()), strict=True
            )
        )
        rows = [
            (TASKS[task].title, one.title, *values[task, one.title].values())
            for task, one in product(TASKS, READINGS)
            if (task, one.title) in values
        ]
        yield table(("task", "readings", *COLUMNS), rows)


EXPERIMENT = Readings
