"""What learning everything costs ChainGP, beside the search of the partial CRF.

The head of a training file, cl 3, p 0.1; both sides in one process, one after the
other, with features computed before. The budget is 1.5 times the time of the tuned CRF
at 1,000 tokens, and its time above.

    python -m benchmarks learning --records benchmarks/records/learning.jsonl
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from benchmarks.benchmark import CL, Benchmark, P
from experiments.experiment import KeyedCell
from experiments.fitting import fit, tuner_of
from experiments.folds import TASKS, whole_fold
from experiments.records import Found, pick
from experiments.tables import Tables, table
from tagsift.data import corrupt

#: Tokens → most that ChainGP may take, as a share of the time of the tuned CRF.
BUDGETS = {1000: 1.5, 9400: 1.0, 80000: 1.0}
SIDES = ("partial-crf", "chain-gp")


@dataclass(frozen=True)
class LearningCell(KeyedCell):
    """Both fits at one size."""

    form = "{task}/{tokens}"
    task: str
    tokens: int


class Learning(Benchmark):
    """Fits that learn everything, at three sizes."""

    name = "learning"
    title = "What learning costs"
    separate = True

    def cells(self) -> list[LearningCell]:
        return [LearningCell(*pair) for pair in product(("base-np", "ner"), BUDGETS)]

    def files(self, cell: LearningCell) -> tuple[str, ...]:
        return TASKS[cell.task].files

    def run(self, cell: LearningCell) -> dict[str, Any]:
        fold = whole_fold(self.data, cell.task, cell.tokens)
        partial = corrupt(fold.train, cl=CL, p=P, random_state=0)
        fits = {name: fit(name, fold, partial, tuner_of(name).ask) for name in SIDES}
        times = {f"{name}, cpu": one.fitting.cpu for name, one in fits.items()}
        crf, ours = times.values()
        return {
            "data": fold.sizes(),
            "scores": {name: one.four_scores() for name, one in fits.items()},
            "time": {name: round(value, 2) for name, value in times.items()}
            | {"ratio": round(ours / crf, 2)},
        }

    def tables(self, found: Found) -> Tables:
        columns = ("data.tokens", "time.partial-crf, cpu", "time.chain-gp, cpu")
        rows = [
            (cell.task, *pick(one, *columns, "time.ratio"), BUDGETS[cell.tokens])
            for cell, one in self.finished(found)
        ]
        head = ("data", "tokens|,d", "partial CRF, tuned, CPU s|.1f", "ChainGP|.1f")
        yield table((*head, "ratio|.2f", "budget|.1f"), rows)

    def falls_short(self, found: Found) -> list[str]:
        return list(self._late(found))

    def _late(self, found: Found) -> Iterator[str]:
        for cell, one in self.finished(found):
            if one["time"]["ratio"] > BUDGETS[cell.tokens]:
                yield f"{cell.key}: {one['time']['ratio']} times the tuned CRF"


EXPERIMENT = Learning
