"""Section IV of the paper: its tables, figures and claims.

python -m experiments paper table-2 --suite quick --data corpora --jobs 2
python -m experiments paper all --suite paper --no-run \
        --records experiments/records/paper
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from experiments.experiment import Experiment
from experiments.fitting import DIGITS, fit, make_model, rounded, tuner_of
from experiments.folds import Fold, Split, corrupted, data_folder, make_fold, read_head
from experiments.paper.grid import (
    TARGETS,
    GridCell,
    cells,
    config_of,
    needed,
    params_of,
)
from experiments.paper.page import Coverage, Page
from experiments.paper.results import WATCHED, find
from experiments.paper.suite import SUITES, Suite, read_suite
from experiments.records import Found, Records
from tagsift.data import spans
from tagsift.data.corpus import Corpus
from tagsift.errors import InputError
from tagsift.report import Report


@dataclass(frozen=True)
class Paper(Experiment):
    """The grid of section IV, or the part that one table or figure needs."""

    name = "paper"
    target: str  # one of TARGETS
    suite: Suite
    corpus: str  # what the sentences are from, as records say it: conll or bundled

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("target", nargs="?", default="all", help=", ".join(TARGETS))
        add("--suite", default="quick", help=f"{', '.join(SUITES)}, or a .toml file")
        add("--markdown", type=Path, help="where the Markdown page goes instead")

    @classmethod
    def from_options(cls, options: argparse.Namespace) -> Self:
        """Read the suite; pages drawn again are about the corpus of their records."""
        needed(options.target)
        options.page = "report" if options.target == "all" else options.target
        suite, data = read_suite(options.suite), data_folder(options.data)
        corpus = "bundled" if data is None else "conll"
        if options.no_run:
            corpus = _corpus(Records(options.records).load())
        return cls(data, options.target, suite, corpus)

    @property
    def command(self) -> str:
        return f"python -m experiments paper {self.target} --suite {self.suite.name}"

    @classmethod
    def place(cls, options: argparse.Namespace) -> Path:
        return Path("runs/reproduce") / Path(options.suite).stem

    def all_cells(self) -> list[GridCell]:
        """Cells of the suite; the watched words are in the real corpora only."""
        real = self.corpus != "bundled"
        return [cell for cell in cells(self.suite) if real or not cell.watch]

    def cells(self) -> list[GridCell]:
        return list(filter(needed(self.target), self.all_cells()))

    def config(self, cell: GridCell) -> dict[str, Any]:
        return config_of(cell, self.suite, self.corpus)

    def run(self, cell: GridCell) -> dict[str, Any]:
        if cell.method == "corpus":
            found = self._facts(cell)
        else:
            found = self._evolution(cell) if cell.watch else self._fitted(cell)
        return {"suite": self.suite.name, **found}

    def report(self, found: Found) -> Report:
        """Make the page of the target, of records that the suite asks for."""
        _corpus(found)
        keys = [cell.key for cell in self.all_cells() if cell.key in found]
        mine = {key: found[key] for key in keys}
        fits = tuple(cell for cell in self.cells() if cell.is_fit)
        coverage = Coverage(self.suite, fits, mine, self.command, tuple(self.old(mine)))
        return Page(coverage).report(self.target)

    # The kinds of cells -------------------------------------------------------

    def _facts(self, cell: GridCell) -> dict[str, Any]:
        """The size of a data set, which Table I is made of."""
        corpus = read_head(self.data, cell.task, self.suite.tasks[cell.task])
        facts = {
            "task": cell.task,
            "n_sentences": len(corpus),
            "n_tokens": corpus.n_tokens,
            "n_labels": len(corpus.label_set),
            "n_spans": sum(len(spans(row, corpus.scheme)) for row in corpus.labels),
        }
        return {"facts": facts}

    def _fitted(self, cell: GridCell) -> dict[str, Any]:
        """Everything a finished fit says."""
        _, fold, partial = self._data(cell)
        plan = self.suite.plan(cell.method)
        tuner = tuner_of(cell.method if plan.tuning == "each fit" else "")
        params = {**params_of(cell, plan), **tuner.ask}
        fitted = fit(cell.method, fold, partial, params, cell.seed)
        found: dict[str, Any] = {
            "settings": tuner.read(fitted.model),
            "scores": rounded(fitted.scores()),
        }
        if not fitted.model.method.exact_only:
            one = fitted.recovery()
            found["recovery"] = {
                **rounded({"ambiguous": one.ambiguous, "overall": one.overall}),
                "n_ambiguous": one.n_ambiguous,
                "n_tokens": one.n_tokens,
            }
        if plan.decoders:
            found["recovery"] |= rounded({"argmax": fitted.likeliest().ambiguous})
            found["decoders"] = fitted.decoded(plan.decoders)
        if hasattr(fitted.model, "n_iter_"):
            found["n_iter"] = int(fitted.model.n_iter_)
        wall = {"fit": fitted.fitting.wall, "predict": fitted.tagging.wall}
        return found | {"time": {name: round(value, 3) for name, value in wall.items()}}

    def _evolution(self, cell: GridCell) -> dict[str, Any]:
        """Follow the confidences of a watched word (Figure 5)."""
        watched = WATCHED[cell.watch]
        try:
            split, fold, partial = self._data(cell)
            s, t = find(fold.train, watched)
        except InputError:  # it is tagged in the first fold, and learnt in the others
            split, fold, partial = self._data(replace(cell, fold=1))
            s, t = find(fold.train, watched)
        candidates = [list(sentence) for sentence in partial.candidates or ()]
        candidates[s][t] = frozenset(watched.candidates)
        params = {**self.suite.plan(cell.method).params, "watch": [(s, t)]}
        model = make_model(cell.method, fold, params, cell.seed)
        model.fit(fold.train_features, candidates)
        columns = [model.classes_.index(name) for name in watched.candidates]
        steps = [np.asarray(step["watched"])[0, columns] for step in model.history_]
        return {
            "fold_used": split.fold,
            "truth": fold.train.labels[s][t],
            "labels": list(watched.candidates),
            "evolution": np.round(steps, DIGITS).tolist(),
        }

    def _data(self, cell: GridCell) -> tuple[Split, Fold, Corpus]:
        about = (self.suite.tasks[cell.task], self.suite.folds, cell.fold, cell.seed)
        split = Split(cell.task, *about, cell.subset)
        fold = make_fold(self.data, split)
        return split, fold, corrupted(fold, split, cl=cell.cl, p=cell.p, r=cell.r)


def _corpus(found: Found) -> str:
    """What the records are about; refuses a mixture."""
    corpora = {str(record["config"].get("corpus")) for record in found.values()}
    if len(corpora) > 1:
        raise InputError(
            "the records are of the real corpora and of the bundled one, which cannot "
            "be compared; give each a folder of its own."
        )
    return corpora.pop() if corpora else "bundled"


EXPERIMENT = Paper
