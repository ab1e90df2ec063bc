"""Whether ChainGP depends on last digits: refits on features changed by 1e-9.

NER and Base NP of the paper's size, without and with contextual vectors, cl 3, p 0.1,
five folds. Every feature value is multiplied by 1 + 1e-9 z, z standard normal, ten
times anew, and everything is fitted again. The exit status is 1 where the mean span F1
of the five folds differs by 0.3 points or more between any two of the eleven fits.

    python -m experiments stability --records experiments/records/stability.jsonl
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from experiments.experiment import Experiment, KeyedCell
from experiments.fitting import fit
from experiments.folds import TASKS, paper_fold
from experiments.records import Found
from experiments.tables import Tables, table
from experiments.targets.duel import encoder
from tagsift.features import FeatureMatrix
from tagsift.typing import FloatArray

N_FOLDS, N_CHANGES, SIZE, MOST = 5, 10, 1e-9, 0.3
CL, P = 3, 0.1


@dataclass(frozen=True)
class StabilityCell(KeyedCell):
    """One fold of one fit."""

    form = "{task}/vectors{vectors}/change{change}/fold{fold}"
    task: str
    vectors: bool
    change: int  # 0: none
    fold: int


def changed(features: FeatureMatrix, seed: int) -> FeatureMatrix:
    """Return the features with every value changed in its ninth digit."""
    rng = np.random.default_rng(seed)

    def change(block: Any) -> Any:
        values = block.copy()
        numbers = values.data if hasattr(block, "indptr") else values
        numbers *= 1.0 + SIZE * rng.standard_normal(numbers.shape)
        return values

    return replace(features, blocks=tuple(map(change, features.blocks)))


class Stability(Experiment):
    """ChainGP on features that differ in the ninth digit."""

    name = "stability"
    title = "Fits on features that differ in the ninth digit"

    def cells(self) -> list[StabilityCell]:
        changes, folds = range(N_CHANGES + 1), range(N_FOLDS)
        cells = product((False, True), ("ner", "base-np"), changes, folds)
        return [StabilityCell(task, vectors, *rest) for vectors, task, *rest in cells]

    def run(self, cell: StabilityCell) -> dict[str, Any]:
        vectors = encoder() if cell.vectors else None
        fold, partial = paper_fold(self.data, cell.task, cell.fold, encoder=vectors)
        if cell.change:
            features = changed(fold.train_features, cell.change)
            fold = replace(fold, train_features=features)
        return {"scores": fit("chain-gp", fold, partial, {}).four_scores()}

    def _means(self, found: Found) -> Iterator[tuple[str, FloatArray]]:
        """Mean span F1 of the folds, for every change, in points."""
        scores: dict[str, dict[int, list[float]]] = {}
        for cell, record in self.finished(found):
            kind = "with vectors" if cell.vectors else "sparse"
            fits = scores.setdefault(f"{TASKS[cell.task].title}, {kind}", {})
            fits.setdefault(cell.change, []).append(100 * record["scores"]["span_f1"])
        for title, fits in scores.items():
            whole = [np.mean(f1) for f1 in fits.values() if len(f1) == N_FOLDS]
            if whole:
                yield title, np.array(whole)

    def tables(self, found: Found) -> Tables:
        head = ("data", "fits|d", "lowest|.2f", "highest|.2f", "spread|.2f")
        rows = [
            (title, len(f1), f1.min(), f1.max(), np.ptp(f1))
            for title, f1 in self._means(found)
        ]
        yield table(head, rows, note=f"Mean span F1 of five folds, cl {CL}, p {P}.")

    def falls_short(self, found: Found) -> list[str]:
        return [
            f"{title}: {np.ptp(f1):.2f} points between fits, {MOST} or more"
            for title, f1 in self._means(found)
            if np.ptp(f1) >= MOST
        ]


EXPERIMENT = Stability
