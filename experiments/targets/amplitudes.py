"""The best that Equation (30) reaches: SGPPSL's paper decoder over all amplitudes.

The cells of Table III in which the paper's figure is not reached with the amplitude
that held-out candidate sets choose, again with each amplitude in turn: exact posterior,
cl 3, all five folds. F1 is the one that Table III is compared by: of spans on Chunking,
of tokens, weighted, on NER.

    python -m experiments amplitudes --records experiments/records/amplitudes.jsonl
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

from experiments.experiment import Experiment, KeyedCell, Option
from experiments.fitting import fit
from experiments.folds import TASKS, paper_fold
from experiments.paper.results import TABLE_3
from experiments.paper.tables import COMPARED
from experiments.records import Found
from experiments.tables import Tables, means, table

#: Task and p of the cells that are below the paper.
BELOW = (("chunking", 0.9), ("ner", 0.7), ("ner", 0.9))
AMPLITUDES = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)


@dataclass(frozen=True)
class AmplitudeCell(KeyedCell):
    """One fit."""

    form = "{task}/p{p}/amplitude{amplitude:g}/fold{fold}"
    task: str
    p: float
    amplitude: float
    fold: int


@dataclass(frozen=True)
class Amplitudes(Experiment):
    """The weighted decoder over amplitudes."""

    name = "amplitudes"
    title = "The weighted decoder over amplitudes"
    summary = "F1 (%) of Table III, mean of five folds."
    options = {"device": Option("cpu", "where SGPPSL is fitted", str, ("cpu", "cuda"))}
    device: str

    def cells(self) -> list[AmplitudeCell]:
        about = product(BELOW, AMPLITUDES, range(5))
        return [AmplitudeCell(*place, x, fold) for place, x, fold in about]

    def run(self, cell: AmplitudeCell) -> dict[str, Any]:
        fold, partial = paper_fold(self.data, cell.task, cell.fold, p=cell.p)
        params = {"amplitude": cell.amplitude, "hyperparameters": "fixed"}
        params |= {"constraints": "none", "device": self.device}
        fitted = fit("sgppsl", fold, partial, params)
        return {
            "decoders": fitted.decoded(("weighted", "log-weighted")),
            "n_iter": fitted.model.n_iter_,
            "device": self.device,
        }

    def tables(self, found: Found) -> Tables:
        scores = means(
            ((x.task, x.p), x.amplitude, one["decoders"]["weighted"][COMPARED[x.task]])
            for x, one in self.finished(found)
        )
        head = (f"σ² = {amplitude:g}|.2f|100" for amplitude in AMPLITUDES)
        rows = [
            (
                TASKS[task].title,
                p,
                *map(one.get, AMPLITUDES),
                TABLE_3[task, "weighted", p],
            )
            for (task, p), one in scores.items()
        ]
        yield table(("task", "p|g", *head, "paper|.2f"), rows)


EXPERIMENT = Amplitudes
