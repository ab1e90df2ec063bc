"""The penalty λ of the structured rivals: one for each task and length of lists.

NAIVE, CLPL and CLLP have λ from 0.1, 1 and 10, their other constants at their defaults.
They are fitted to sentences behind those of the paper, as many as a fold has, and are
judged by span F1 on the sentences after them, up to the 2,000th (Chunking: 1,350th).
What is chosen stands in `experiments/paper/penalties.toml`, which the grid reads.

    python -m experiments penalties --records experiments/records/penalties.jsonl
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

from experiments.experiment import Experiment, KeyedCell
from experiments.fitting import fit
from experiments.folds import TASKS, Split, corrupted, development_fold
from experiments.records import Found
from experiments.tables import Tables, means, table

METHODS = ("naive", "clpl", "cllp")
#: What is chosen from.
PENALTIES = (0.1, 1.0, 10.0)
#: Shares of exact sentences, the ends of the grid; the mean of both decides.
SHARES = (0.1, 0.9)


@dataclass(frozen=True)
class PenaltyCell(KeyedCell):
    """One fit."""

    form = "{task}/{method}/cl{cl}-p{p}/{lam:g}"
    task: str
    method: str
    cl: int
    p: float
    lam: float


class Penalties(Experiment):
    """All penalties of the structured rivals."""

    name = "penalties"
    title = "The penalty of the structured rivals"
    summary = "Span F1 (%) on development sentences, mean of p = 0.1 and 0.9."

    def cells(self) -> list[PenaltyCell]:
        about = product((3, 2, 4), SHARES, METHODS, TASKS, PENALTIES)
        return [PenaltyCell(task, name, cl, p, x) for cl, p, name, task, x in about]

    def run(self, cell: PenaltyCell) -> dict[str, Any]:
        fold = development_fold(self.data, cell.task)
        split = Split(cell.task, len(fold.train), 1, 0, 0, "development")
        partial = corrupted(fold, split, cl=cell.cl, p=cell.p, r=None)
        fitted = fit(cell.method, fold, partial, {"lam": cell.lam})
        return {
            "span_f1": round(fitted.scores()["span_f1"], 6),
            "recovery": round(fitted.recovery().ambiguous, 6),
        }

    def tables(self, found: Found) -> Tables:
        scores = means(
            ((x.method, x.task, x.cl), x.lam, one["span_f1"])
            for x, one in self.finished(found)
        )
        head = (f"λ = {lam:g}|.2f|100" for lam in PENALTIES)
        rows = [
            (*place, *map(mine.get, PENALTIES), max(mine, key=mine.__getitem__))
            for place, mine in sorted(scores.items())
        ]
        yield table(("method", "task", "cl|d", *head, "chosen|g"), rows)


EXPERIMENT = Penalties
