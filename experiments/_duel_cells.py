"""The cells of the duel: who is fitted to what, and which scores are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

METHODS = ("partial-crf", "chain-gp")
N_FOLDS = 5
#: (cl, r, p) of the settings; the first has three seeds.
CORRUPTIONS = ((3, None, 0.1), (3, None, 0.5), (None, 0.75, 0.5))
SEEDS = (0, 1, 2)
#: Score, title, factor, digits, and whether more is better.
SCORES = (
    ("span_f1", "span F1", 100, 2, True),
    ("recovery", "recovery", 100, 2, True),
    ("nll", "NLL", 1, 4, False),
    ("ece", "ECE", 100, 2, False),
)


@dataclass(frozen=True)
class Cell:
    """One fit of one method.

    Parameters
    ----------
    task, vectors : str and bool
        The data, and whether contextual vectors are among the features.
    cl, r, p
        How the labels are hidden.
    seed, fold : int
        Of the folds and candidates.
    method : str
        Who is fitted.
    """

    task: str
    vectors: bool
    cl: int | None
    r: float | None
    p: float
    seed: int
    fold: int
    method: str

    @property
    def key(self) -> str:
        """Name of the cell, the same for all runs."""
        hidden = f"cl{self.cl}" if self.cl is not None else f"r{self.r}"
        vectors = "vectors" if self.vectors else "sparse"
        return (
            f"{self.task}/{vectors}/{hidden}-p{self.p}/seed{self.seed}"
            f"/fold{self.fold}/{self.method}"
        )

    @property
    def setting(self) -> tuple[Any, ...]:
        """What the rows of the table are."""
        return self.task, self.vectors, self.cl, self.r, self.p


def all_cells() -> list[Cell]:
    """List the cells: first folds first, since the others need what they learn."""
    found = [
        Cell(task, vectors, cl, r, p, seed, fold, method)
        for fold in range(N_FOLDS)
        for seed in SEEDS
        for cl, r, p in CORRUPTIONS
        for vectors in (False, True)
        for task in ("chunking", "base-np", "ner")
        for method in reversed(METHODS)
        if seed == SEEDS[0] or (cl, r, p) == CORRUPTIONS[0]
    ]
    return sorted(found, key=lambda cell: cell.fold > 0)
