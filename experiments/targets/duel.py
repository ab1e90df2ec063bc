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

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from experiments.experiment import Experiment, Option
from experiments.fitting import FOUR_SCORES, fit, tuner_of
from experiments.folds import TASKS, Split, corrupted, make_fold, read_head
from experiments.records import Found, Record
from experiments.tables import Tables, table
from tagsift.features import ContextualEncoder
from tagsift.storage import atomic_write
from tagsift.typing import FloatArray

METHODS = ("partial-crf", "chain-gp")
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
    method: str

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


Done: TypeAlias = list[tuple[DuelCell, Record]]
#: Setting → scores of folds and seeds that both sides were run on, [n, sides, scores].
Scores: TypeAlias = dict[tuple[str, str, str], FloatArray]


@dataclass(frozen=True)
class Duel(Experiment):
    """Both sides in all settings."""

    name = "duel"
    title = "ChainGP against the partial CRF"
    summary = "Mean ± standard error over folds and seeds."
    options = {"vectors": Option(Path("runs/duel/vectors.npz"), "a .npz file", Path)}
    vectors: Path

    def cells(self) -> list[DuelCell]:
        """List the cells: first folds first, since the others need what they learn."""
        return [
            DuelCell(task, vectors, cl, r, p, seed, fold, method)
            for fold in range(N_FOLDS)
            for seed in SEEDS
            for cl, r, p in CORRUPTIONS
            for vectors in (False, True)
            for task in ("chunking", "base-np", "ner")
            for method in reversed(METHODS)
            if seed == SEEDS[0] or (cl, r, p) == CORRUPTIONS[0]
        ]

    def needs(self, cell: DuelCell) -> DuelCell | None:
        return replace(cell, fold=0) if cell.fold else None

    def prepare(self, todo: Sequence[Any]) -> None:
        if any(cell.vectors for cell in todo) and not self.vectors.exists():
            _write_vectors(self.vectors, self.data)

    def run(self, cell: DuelCell, needed: Record | None) -> dict[str, Any]:
        """Fit and score one cell, with the hyperparameters of the first fold if any."""
        size = TASKS[cell.task].n_sentences
        split = Split(cell.task, size, N_FOLDS, cell.fold, cell.seed)
        encoder = _stored(self.vectors) if cell.vectors else None
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

    def tables(self, found: Found) -> Tables:
        done = list(self.finished(found))
        scores = _scores(done, SEEDS)
        leads = ("ChainGP ahead|>", "mean lead|>", "smallest lead|>")
        count = ("score", "settings|>", *leads)
        yield table(count, _counts(scores), title="Who wins how often")
        yield table(
            count,
            _counts(_scores(done, SEEDS[1:])),
            title="The second and third seed alone",
            note="Folds and candidates that were not looked at while the method was "
            "made, of the same sentences.",
        )
        head = ("data", "features", "hidden by")
        for k, score in enumerate(FOUR_SCORES):
            rows = []
            for titles, both in scores.items():
                crf, gp = both[:, 0, k], both[:, 1, k]  # [n]
                lead = score.text((gp - crf) * score.sign, "+")
                rows.append((*titles, len(both), score.text(crf), score.text(gp), lead))
            sides = (f"{score.title}: partial CRF|>", "ChainGP|>", "lead|>")
            yield table((*head, "fits|>", *sides), rows)
        given, learnt = "s, given: partial CRF|>", "s, learnt: partial CRF|>"
        yield table(
            (*head, given, "ChainGP|>", learnt, "ChainGP|>"),
            [(*titles, *_seconds(titles, done)) for titles in scores],
        )


def _scores(done: Done, seeds: Sequence[int]) -> Scores:
    """Collect the folds and seeds run by both sides, by settings."""
    values = {
        cell: [record["scores"][score.name] for score in FOUR_SCORES]
        for cell, record in done
        if cell.seed in seeds
    }
    found: dict[tuple[str, str, str], list[Any]] = {}
    for cell, ours in values.items():
        rival = replace(cell, method=METHODS[0])
        if cell.method == METHODS[1] and rival in values:
            found.setdefault(cell.titles, []).append((values[rival], ours))
    return {titles: np.array(both) for titles, both in found.items()}


def _counts(scores: Scores) -> Iterator[tuple[Any, ...]]:
    """Who wins how often, by how much."""
    for k, score in enumerate(FOUR_SCORES if scores else ()):
        gaps = [both[:, 1, k] - both[:, 0, k] for both in scores.values()]
        leads = [(gap * score.sign).mean() for gap in gaps]
        ahead = sum(lead > 0 for lead in leads)
        told = (score.number(value, "+") for value in (np.mean(leads), min(leads)))
        yield score.title, len(scores), ahead, *told


def _seconds(titles: tuple[str, str, str], done: Done) -> Iterator[str]:
    """Seconds of a fit, hyperparameters given and learnt, for both sides."""
    mine = [pair for pair in done if pair[0].titles == titles]
    for place in [(learnt, side) for learnt in (False, True) for side in METHODS]:
        seconds = [r["seconds"] for c, r in mine if (r["learnt"], c.method) == place]
        yield f"{np.mean(seconds):.0f}" if seconds else "–"


# Vectors in a file ---------------------------------------------------------------


class StoredVectors:
    """What an encoder would say of known sentences, from a file.

    Half precision, so that the file and the encoder that made it give the same figures;
    the sentences are named by hashes and their words are not in it.
    """

    def __init__(self, path: Path) -> None:
        with np.load(path) as stored:
            keys, cuts, vectors = (stored[x] for x in ("keys", "cuts", "vectors"))
        parts = np.split(vectors, cuts[1:-1])  # [T, D] each
        self.vectors = dict(zip(keys.tolist(), parts, strict=True))
        self.n_features = int(vectors.shape[1])

    def encode(self, sentences: Sequence[Sequence[str]]) -> Any:
        """Word vectors of all words, stacked, [N, D]."""
        rows = [self.vectors[_digest(words)] for words in sentences]
        return np.concatenate(rows).astype(np.float32)  # [N, D]


_stored = lru_cache(maxsize=1)(StoredVectors)  # read once per process


def _digest(words: Sequence[str]) -> str:
    """Name of a sentence that does not give its words away."""
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:24]


def _write_vectors(path: Path, data: Path | None) -> None:
    """Encode the sentences of all tasks, each sentence once."""
    sentences = {
        _digest(words): words
        for task in TASKS.values()
        for words in read_head(data, task.name, task.n_sentences).tokens
    }
    vectors = ContextualEncoder.packaged(layer=4).encode(list(sentences.values()))
    stored: dict[str, Any] = {
        "keys": np.array(list(sentences)),
        "cuts": np.cumsum([0, *map(len, sentences.values())]),  # [K + 1]
        "vectors": vectors.astype(np.float16),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path, "wb") as stream:
        np.savez_compressed(stream, **stored)


EXPERIMENT = Duel
