"""ChainGP against the conditional random field on candidate sets, cell by cell.

Base NP, Chunking and NER of the paper's size, without and with contextual vectors, at
(cl 3, p 0.1), (cl 3, p 0.5) and (r 0.75, p 0.5): 18 settings, five folds each, and two
more seeds for the six settings with cl 3, p 0.1. Both sides get the same folds, the
same candidates and the same features. Hyperparameters of both sides are learnt on the
first training fold of a setting and seed, and used for its other folds.

    python -m experiments duel --records experiments/records/duel.jsonl --jobs 2

The vectors come from the file --vectors, which the packaged encoder makes where there
is none yet (--minutes 0 makes the file and runs no cell).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from experiments.experiment import Experiment
from experiments.fitting import FOUR_SCORES, Score, fit
from experiments.folds import TASKS, Split, corrupted, data_folder, make_fold
from experiments.records import Record
from experiments.tuning import tuner_of
from experiments.vectors import StoredVectors, write_vectors

if TYPE_CHECKING:
    from tagsift.report import Report, Table

__all__ = ["EXPERIMENT", "Duel", "DuelCell"]

METHODS = ("partial-crf", "chain-gp")
N_FOLDS = 5
#: (cl, r, p) of the settings; the first has three seeds.
CORRUPTIONS = ((3, None, 0.1), (3, None, 0.5), (None, 0.75, 0.5))
SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class DuelCell:
    """One fit of one side.

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
    def titles(self) -> tuple[str, str, str]:
        """The row of a table: data, features, and how labels are hidden."""
        hidden = f"cl {self.cl}" if self.cl is not None else f"r {self.r}"
        kind = "with vectors" if self.vectors else "sparse"
        return TASKS[self.task].title, kind, f"{hidden}, p {self.p}"


def all_cells() -> list[DuelCell]:
    """List the cells: first folds first, since the others need what they learn."""
    found = [
        DuelCell(task, vectors, cl, r, p, seed, fold, method)
        for fold in range(N_FOLDS)
        for seed in SEEDS
        for cl, r, p in CORRUPTIONS
        for vectors in (False, True)
        for task in ("chunking", "base-np", "ner")
        for method in reversed(METHODS)
        if seed == SEEDS[0] or (cl, r, p) == CORRUPTIONS[0]
    ]
    return sorted(found, key=lambda cell: cell.fold > 0)


@dataclass(frozen=True)
class Duel(Experiment):
    """Both sides in all settings.

    Parameters
    ----------
    data : Path or None
        Folder of the corpora.
    vectors : Path
        File of the vectors.
    """

    name = "duel"
    data: Path | None
    vectors: Path

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        """Declare the file of the vectors."""
        parser.add_argument(
            "--vectors", type=Path, help="a .npz file (default: OUT/vectors.npz)"
        )

    @classmethod
    def from_options(cls, options: argparse.Namespace) -> Self:
        """Build the duel from what the command line says."""
        vectors = options.vectors or (options.out or Path("runs/duel")) / "vectors.npz"
        return cls(data_folder(options.data), vectors)

    def cells(self) -> list[DuelCell]:
        """All fits."""
        return all_cells()

    def needs(self, cell: DuelCell) -> DuelCell | None:
        """Return the first fold of the same setting and seed."""
        return replace(cell, fold=0) if cell.fold else None

    def prepare(self, todo: Sequence[Any]) -> None:
        """Make the file of the vectors if it is missing and wanted."""
        if any(cell.vectors for cell in todo) and not self.vectors.exists():
            write_vectors(self.vectors, self.data)

    def run(self, cell: DuelCell, needed: Record | None) -> dict[str, Any]:
        """Fit and score one cell, with the hyperparameters of the first fold if any."""
        size = TASKS[cell.task].n_sentences
        split = Split(cell.task, size, N_FOLDS, cell.fold, cell.seed)
        encoder = StoredVectors.of(self.vectors) if cell.vectors else None
        fold = make_fold(self.data, split, encoder)
        partial = corrupted(fold, split, cl=cell.cl, p=cell.p, r=cell.r)
        tuner = tuner_of(cell.method)
        params = tuner.ask if needed is None else needed["settings"]
        fitted = fit(cell.method, fold, partial, params, cell.seed)
        return {
            "scores": fitted.four_scores(),
            "settings": tuner.read(fitted.model),
            "learnt": needed is None,
            "temperature": round(getattr(fitted.model, "temperature_", 1.0), 4),
            "n_iter": int(fitted.model.n_iter_),
            "seconds": round(fitted.fitting.wall, 2),
        }

    def report(self, found: Mapping[str, Record]) -> Report:
        """Who wins how often, every setting, and what it costs."""
        from experiments.tables import page

        return page(
            "ChainGP against the partial CRF",
            found,
            _tables(found),
            "Mean ± standard error over folds and seeds.",
        )


@dataclass(frozen=True)
class Row:
    """Both sides of one setting, over the folds and seeds run by both.

    Parameters
    ----------
    titles : tuple of str
        The setting.
    pairs : list of (record, record)
        The partial CRF and ChainGP on the same fold.
    """

    titles: tuple[str, str, str]
    pairs: list[tuple[Record, Record]]

    def values(self, score: str) -> Any:
        """Values of a score, one row a side, [2, n]."""
        return np.array([[side["scores"][score] for side in p] for p in self.pairs]).T

    def lead(self, score: Score) -> Any:
        """By how much ChainGP is better, fold by fold, [n]."""
        theirs, ours = self.values(score.name)
        return (ours - theirs) * score.sign


def _rows(found: Mapping[str, Record], seeds: Sequence[int] = SEEDS) -> list[Row]:
    """Collect the settings of which both sides have cells in common."""
    groups: dict[tuple[str, str, str], list[tuple[Record, Record]]] = {}
    for cell in all_cells():
        keys = [replace(cell, method=method).key for method in METHODS]
        if cell.method != METHODS[0] or cell.seed not in seeds:
            continue
        one, other = (found.get(key, {}) for key in keys)
        pairs = groups.setdefault(cell.titles, [])
        if "scores" in one and "scores" in other:
            pairs.append((one, other))
    return [Row(titles, pairs) for titles, pairs in groups.items() if pairs]


def _tables(found: Mapping[str, Record]) -> Iterator[Table]:
    from experiments.tables import table

    rows = _rows(found)
    count = ("score", "settings|>", "ChainGP ahead|>", "mean lead|>", "smallest lead|>")
    yield table(count, _counts(rows), title="Who wins how often")
    yield table(
        count,
        _counts(_rows(found, SEEDS[1:])),
        title="The second and third seed alone",
        note="Folds and candidates that were not looked at while the method was made, "
        "of the same sentences.",
    )
    head = ("data", "features", "hidden by")
    for score in FOUR_SCORES:
        lines = []
        for row in rows:
            means = [score.text(side) for side in row.values(score.name)]
            lead = score.text(row.lead(score), "+")
            lines.append((*row.titles, len(row.pairs), *means, lead))
        sides = (f"{score.title}: partial CRF|>", "ChainGP|>", "lead|>")
        yield table((*head, "fits|>", *sides), lines)
    yield table(
        (
            *head,
            "s, given: partial CRF|>",
            "ChainGP|>",
            "s, learnt: partial CRF|>",
            "ChainGP|>",
        ),
        [(*row.titles, *_seconds(row, found)) for row in rows],
    )


def _counts(rows: Sequence[Row]) -> Iterator[tuple[Any, ...]]:
    """Who wins how often, by how much."""
    for score in FOUR_SCORES if rows else ():
        leads = [row.lead(score).mean() for row in rows]
        ahead = sum(lead > 0 for lead in leads)
        told = (score.number(value, "+") for value in (np.mean(leads), min(leads)))
        yield score.title, len(rows), ahead, *told


def _seconds(row: Row, found: Mapping[str, Record]) -> list[str]:
    """Seconds of a fit, hyperparameters given and learnt, for both sides."""
    cells = []
    for learnt in (False, True):
        for method in METHODS:
            seconds = [
                record["seconds"]
                for record in found.values()
                if "scores" in record
                and record["learnt"] is learnt
                and record["config"]["method"] == method
                and DuelCell(**record["config"]).titles == row.titles
            ]
            cells.append(f"{np.mean(seconds):.0f}" if seconds else "–")
    return cells


EXPERIMENT = Duel
