"""ChainGP against the conditional random field on candidate sets, cell by cell.

Base NP, Chunking and NER of the paper's size, without and with contextual vectors, at
(cl 3, p 0.1), (cl 3, p 0.5) and (r 0.75, p 0.5): 18 settings, five folds each, and two
more seeds for the six settings with cl 3, p 0.1. Both sides get the same folds, the
same candidates and the same features, and learn their hyperparameters from the training
sentences of each fold. What the tag scheme forbids is told to both sides or to neither;
a third comparison has both at their defaults, where it is told to ChainGP alone.

    python -m experiments duel --records experiments/records/duel.jsonl --jobs 2
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from experiments.experiment import Experiment
from experiments.fitting import FOUR_SCORES, fit, tuner_of
from experiments.folds import TASKS, paper_fold
from experiments.records import Found, Record
from experiments.tables import Tables, table
from tagsift.features import ContextualEncoder
from tagsift.report import Table
from tagsift.typing import FloatArray

#: Name of a side → method and settings.
SIDES: dict[str, tuple[str, dict[str, Any]]] = {
    "partial-crf": ("partial-crf", {}),
    "chain-gp": ("chain-gp", {}),
    "partial-crf-bans": ("partial-crf", {"bans": True}),
    "chain-gp-free": ("chain-gp", {"constraints": "none"}),
}
#: Title of a comparison → partial CRF and ChainGP.
PAIRS = {
    "both with the scheme's bans": ("partial-crf-bans", "chain-gp"),
    "both without bans": ("partial-crf", "chain-gp-free"),
    "both at their defaults, bans for ChainGP alone": ("partial-crf", "chain-gp"),
}
N_FOLDS = 5
#: (cl, r, p) of the settings; the first has three seeds.
CORRUPTIONS = ((3, None, 0.1), (3, None, 0.5), (None, 0.75, 0.5))
SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class DuelCell:
    """One fit of one side."""

    task: str
    vectors: bool  # whether contextual vectors are among the features
    cl: int | None
    r: float | None
    p: float
    seed: int  # of the folds and candidates
    fold: int
    method: str  # one of SIDES

    @property
    def key(self) -> str:
        _, kind, hidden = self.titles
        data = f"{self.task}/{kind.removeprefix('with ')}"
        drawn = hidden.replace(", ", "-").replace(" ", "")  # cl3-p0.1
        return f"{data}/{drawn}/seed{self.seed}/fold{self.fold}/{self.method}"

    @property
    def titles(self) -> tuple[str, str, str]:
        """The row of a table: data, features, and how labels are hidden."""
        hidden = f"cl {self.cl}" if self.cl is not None else f"r {self.r}"
        kind = "with vectors" if self.vectors else "sparse"
        return TASKS[self.task].title, kind, f"{hidden}, p {self.p}"


Done: TypeAlias = dict[DuelCell, Record]
#: Setting → scores of folds and seeds that both sides were run on, [n, sides, scores].
Scores: TypeAlias = dict[tuple[str, str, str], FloatArray]


#: Layer 4 of the packaged encoder, which keeps its vectors on disk; one per process.
encoder = lru_cache(functools.partial(ContextualEncoder.packaged, layer=4))


class Duel(Experiment):
    """Both sides in all settings."""

    name = "duel"
    title = "ChainGP against the partial CRF"
    summary = "Mean ± standard error over folds and seeds."

    def cells(self) -> list[DuelCell]:
        """List the cells: five folds of cl 3, p 0.1 with sparse features first."""
        return [
            DuelCell(task, vectors, cl, r, p, seed, fold, side)
            for seed in SEEDS
            for cl, r, p in CORRUPTIONS
            for vectors in (False, True)
            for fold in range(N_FOLDS)
            for task in ("ner", "base-np", "chunking")
            for side in SIDES
            if seed == SEEDS[0] or (cl, r, p) == CORRUPTIONS[0]
        ]

    def config(self, cell: DuelCell) -> dict[str, Any]:
        return {**super().config(cell), "tuning": "each fit"}

    def run(self, cell: DuelCell) -> dict[str, Any]:
        """Fit and score one cell."""
        hidden = {x: getattr(cell, x) for x in ("cl", "p", "r", "seed")}
        hidden["encoder"] = encoder() if cell.vectors else None
        fold, partial = paper_fold(self.data, cell.task, cell.fold, **hidden)
        method, params = SIDES[cell.method]
        tuner = tuner_of(method)
        fitted = fit(method, fold, partial, {**tuner.ask, **params}, cell.seed)
        return {
            "scores": fitted.four_scores(),
            "settings": tuner.read(fitted.model),
            "temperature": round(getattr(fitted.model, "temperature_", 1.0), 4),
            "n_iter": int(fitted.model.n_iter_),
            "seconds": round(fitted.fitting.wall, 2),
        }

    def tables(self, found: Found) -> Tables:
        done = dict(self.finished(found))
        for title, pair in PAIRS.items():
            scores = paired(done, pair)
            yield lead_counts(scores, f"Who wins how often: {title}")
            later = {cell: one for cell, one in done.items() if cell.seed in SEEDS[1:]}
            yield lead_counts(
                paired(later, pair),
                f"The second and third seed alone: {title}",
                note="Folds and candidates that were not looked at while the method "
                "was made, of the same sentences.",
            )
            yield leads(scores, title)
        yield table(
            ("data", "features", "hidden by", *(f"s: {side}|>" for side in SIDES)),
            _seconds(done),
            title="Time of a fit, hyperparameters learnt",
        )


def paired(done: Mapping[Any, Record], pair: Sequence[str]) -> Scores:
    """Collect what was run by both sides, by settings."""
    found: dict[tuple[str, str, str], list[Any]] = {}
    for cell in done:
        sides = [replace(cell, method=side) for side in pair]
        if cell == sides[0] and sides[1] in done:
            both = [
                [done[side]["scores"][score.name] for score in FOUR_SCORES]
                for side in sides
            ]
            found.setdefault(cell.titles, []).append(both)
    return {titles: np.array(both) for titles, both in found.items()}


def lead_counts(scores: Scores, title: str, note: str = "") -> Table:
    """Who wins how often, by how much."""
    rows = []
    for k, score in enumerate(FOUR_SCORES if scores else ()):
        gaps = [both[:, 1, k] - both[:, 0, k] for both in scores.values()]
        lead = [(gap * score.sign).mean() for gap in gaps]
        ahead = sum(one > 0 for one in lead)
        told = (score.number(value, "+") for value in (np.mean(lead), min(lead)))
        rows.append((score.title, len(scores), ahead, *told))
    head = ("score", "settings|>", "ChainGP ahead|>", "mean lead|>", "smallest lead|>")
    return table(head, rows, title=title, note=note)


def leads(scores: Scores, title: str) -> Table:
    """Scores of the partial CRF and ChainGP's leads, setting by setting."""
    rows = []
    for titles, both in scores.items():
        told = []
        for k, score in enumerate(FOUR_SCORES):
            crf, gp = both[:, 0, k], both[:, 1, k]  # [n]
            told += [score.text(crf), score.text((gp - crf) * score.sign, "+")]
        rows.append((*titles, len(both), *told))
    heads = [(f"{score.title}: partial CRF|>", "lead|>") for score in FOUR_SCORES]
    head = ("data", "features", "hidden by", "fits|>", *chain.from_iterable(heads))
    return table(head, rows, title=f"Setting by setting: {title}")


def _seconds(done: Done) -> Iterator[tuple[str, ...]]:
    """Mean seconds of a fit of every side, by settings."""
    times: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for cell, record in done.items():
        if record.get("learnt", True):  # some older records had given ones
            sides = times.setdefault(cell.titles, {})
            sides.setdefault(cell.method, []).append(record["seconds"])
    for titles, mine in times.items():
        told = (f"{np.mean(mine[x]):.0f}" if x in mine else "–" for x in SIDES)
        yield *titles, *told


EXPERIMENT = Duel
