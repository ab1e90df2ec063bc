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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from experiments.experiment import Experiment, Option
from experiments.fitting import FOUR_SCORES, Score, fit, tuner_of
from experiments.folds import TASKS, Split, corrupted, make_fold
from experiments.records import Record
from experiments.vectors import StoredVectors, write_vectors

if TYPE_CHECKING:
    from tagsift.report import Report, Table

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
    """Both sides in all settings."""

    name = "duel"
    options = {"vectors": Option(Path("runs/duel/vectors.npz"), "a .npz file", Path)}
    vectors: Path

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


#: Setting → records of the partial CRF and ChainGP on the same folds.
Pairs: TypeAlias = dict[tuple[str, str, str], list[tuple[Record, Record]]]


def _pairs(found: Mapping[str, Record], seeds: Sequence[int] = SEEDS) -> Pairs:
    """Collect the folds and seeds run by both sides, by settings."""
    pairs: Pairs = {}
    for cell in all_cells():
        if cell.method == METHODS[0] and cell.seed in seeds:
            keys = [replace(cell, method=method).key for method in METHODS]
            one, other = (found.get(key, {}) for key in keys)
            if "scores" in one and "scores" in other:
                pairs.setdefault(cell.titles, []).append((one, other))
    return pairs


def _sides(pairs: list[tuple[Record, Record]], score: Score) -> tuple[Any, Any, Any]:
    """Values of both sides and ChainGP's lead, fold by fold, [n] each."""
    values = np.array([[side["scores"][score.name] for side in p] for p in pairs])
    crf, gp = values.T
    return crf, gp, (gp - crf) * score.sign


def _tables(found: Mapping[str, Record]) -> Iterator[Table]:
    from experiments.tables import table

    pairs = _pairs(found)
    count = ("score", "settings|>", "ChainGP ahead|>", "mean lead|>", "smallest lead|>")
    yield table(count, _counts(pairs), title="Who wins how often")
    yield table(
        count,
        _counts(_pairs(found, SEEDS[1:])),
        title="The second and third seed alone",
        note="Folds and candidates that were not looked at while the method was made, "
        "of the same sentences.",
    )
    head = ("data", "features", "hidden by")
    for score in FOUR_SCORES:
        rows = []
        for titles, both in pairs.items():
            crf, gp, lead = _sides(both, score)
            told = (score.text(crf), score.text(gp), score.text(lead, "+"))
            rows.append((*titles, len(both), *told))
        sides = (f"{score.title}: partial CRF|>", "ChainGP|>", "lead|>")
        yield table((*head, "fits|>", *sides), rows)
    given, learnt = "s, given: partial CRF|>", "s, learnt: partial CRF|>"
    yield table(
        (*head, given, "ChainGP|>", learnt, "ChainGP|>"),
        [(*titles, *_seconds(titles, found)) for titles in pairs],
    )


def _counts(pairs: Pairs) -> Iterator[tuple[Any, ...]]:
    """Who wins how often, by how much."""
    for score in FOUR_SCORES if pairs else ():
        leads = [_sides(both, score)[2].mean() for both in pairs.values()]
        ahead = sum(lead > 0 for lead in leads)
        told = (score.number(value, "+") for value in (np.mean(leads), min(leads)))
        yield score.title, len(pairs), ahead, *told


def _seconds(
    titles: tuple[str, str, str], found: Mapping[str, Record]
) -> Iterator[str]:
    """Seconds of a fit, hyperparameters given and learnt, for both sides."""
    for learnt in (False, True):
        for method in METHODS:
            seconds = [
                record["seconds"]
                for record in found.values()
                if "scores" in record
                and (record["learnt"], record["config"]["method"]) == (learnt, method)
                and DuelCell(**record["config"]).titles == titles
            ]
            yield f"{np.mean(seconds):.0f}" if seconds else "–"


EXPERIMENT = Duel
