"""What each reading of the paper costs on real data: the switches, one at a time.

Base NP and NER of the paper's size (the first 500 sentences, word and POS features,
cl = 3, p = 0.1 unless a row says otherwise), some folds of five. Weighting, confidence
and neighbour floor are compared at one fixed amplitude and width, so that nothing else
differs; the two ways to learn the hyperparameters are compared with each other.

    python -m experiments readings --records experiments/records/readings.jsonl
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.experiment import Experiment, Option
from experiments.fitting import fit
from experiments.folds import TASKS, Split, corrupted, make_fold
from experiments.records import Record
from tagsift.features.distances import median_distance

if TYPE_CHECKING:
    from tagsift.report import Report, Table

DECODERS = ("weighted", "viterbi", "argmax", "log")
#: θ · median squared distance, and amplitude, of the comparisons at fixed values.
FIXED_THETA, FIXED_AMPLITUDE = 0.3, 20.0


@dataclass(frozen=True)
class Reading:
    """One row of the table.

    Parameters
    ----------
    title : str
        What differs from the default.
    params : dict
        Settings of SGPPSL.
    fixed : bool
        Whether width and amplitude are the fixed ones.
    cl, p : int, float
        Candidates of a token, and share of exact sentences.
    """

    title: str
    params: dict[str, Any] = field(default_factory=dict)
    fixed: bool = True
    cl: int = 3
    p: float = 0.1


_R1, _R2, _R5 = (
    {name: "literal"} for name in ("weighting", "confidence", "neighbour_floor")
)
READINGS = (
    Reading("default readings"),
    Reading("R1 literal", _R1),
    Reading("R2 literal", _R2),
    Reading("R5 literal", _R5),
    Reading("R1, R2, R5 literal", _R1 | _R2 | _R5),
    Reading("amplitude 1, as printed", {"amplitude": 1.0}),
    Reading("R8: learnt by Laplace's evidence", {"hyperparameters": "laplace"}, False),
    Reading("R8 literal: learnt by the bound", {"hyperparameters": "bound"}, False),
    Reading("cl 2, p 0.9: default readings", cl=2, p=0.9),
    Reading("cl 2, p 0.9: R5 literal", _R5, cl=2, p=0.9),
)


@dataclass(frozen=True)
class ReadingCell:
    """One reading on one fold.

    Parameters
    ----------
    task : str
        The data.
    reading : Reading
        What differs.
    fold : int
        Which of the five is tagged.
    """

    task: str
    reading: Reading
    fold: int

    @property
    def key(self) -> str:
        """Name of the cell, the same for all runs."""
        words = re.sub(r"[^a-z0-9.]+", "-", self.reading.title.lower())
        return f"{self.task}/{words}/fold{self.fold}"


@dataclass(frozen=True)
class Readings(Experiment):
    """All readings on some folds."""

    name = "readings"
    options = {"folds": Option(2, "how many of the five", int)}
    folds: int

    def cells(self) -> list[ReadingCell]:
        """All readings, fold by fold."""
        return [
            ReadingCell(task, reading, fold)
            for fold in range(self.folds)
            for task in ("base-np", "ner")
            for reading in READINGS
        ]

    def config(self, cell: ReadingCell) -> dict[str, Any]:
        """Everything that decides the scores."""
        return {"task": cell.task, "fold": cell.fold, **asdict(cell.reading)}

    def run(self, cell: ReadingCell, needed: Record | None) -> dict[str, Any]:
        """Fit and score one reading on one fold, with every decoder."""
        reading = cell.reading
        split = Split(cell.task, TASKS[cell.task].n_sentences, 5, cell.fold, 0)
        fold = make_fold(self.data, split)
        partial = corrupted(fold, split, cl=reading.cl, p=reading.p, r=None, seed=0)
        width = median_distance(fold.train_features.stacked(), 0)
        fixed = {"theta": FIXED_THETA / width, "amplitude": FIXED_AMPLITUDE}
        params = (fixed if reading.fixed else {}) | reading.params
        fitted = fit("sgppsl", fold, partial, params)
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

    def report(self, found: Mapping[str, Record]) -> Report:
        """One table, averaged over folds."""
        from experiments.tables import page

        return page("The readings of the paper", found, [readings_table(found)])


def readings_table(found: Mapping[str, Record]) -> Table:
    """The readings of both tasks, averaged over folds.

    Parameters
    ----------
    found : mapping of str to record
        Records by key.
    """
    from experiments.tables import table

    spans = [f"{name}|.1f|100" for name in DECODERS[1:]]
    return table(
        (
            "task",
            "readings",
            f"span F1 {DECODERS[0]}|.1f|100",
            *spans,
            "token F1 weighted|.1f|100",
            "recovery|.1f|100",
            "ECE|.1f|100",
            "NLL|.3f",
            "σ²|.3g",
            "θ · median|.2g",
        ),
        _rows(found),
    )


def _rows(found: Mapping[str, Record]) -> Iterator[tuple[Any, ...]]:
    for task in TASKS:
        for reading in READINGS:
            mine = [
                record
                for record in found.values()
                if record["config"]["task"] == task
                and record["config"]["title"] == reading.title
                and "error" not in record
            ]
            if not mine:
                continue
            spans = [[r["decoders"][d]["span_f1"] for r in mine] for d in DECODERS]
            tokens = [r["decoders"]["weighted"]["token_weighted_f1"] for r in mine]
            names = ("recovery", "ece", "nll", "amplitude", "theta_times_median")
            rest = [[record[name] for record in mine] for name in names]
            means = np.mean([*spans, tokens, *rest], axis=1)
            yield TASKS[task].title, reading.title, *map(float, means)


EXPERIMENT = Readings
