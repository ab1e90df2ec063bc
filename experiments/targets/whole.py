"""Whole corpora, from the training file to the test file.

CoNLL-2000 (chunking), CoNLL-2003 (named entities) and Base NP; the training labels are
hidden at cl 3, p 0.1. `chain-gp` learns everything. `partial-crf` tunes its penalty on
a held-out fifth of all training sentences, and all six fits are counted. `crf` is tuned
in the same way on the gold labels: the ceiling. All sides get the same candidates and
the same features, words and parts of speech. Every cell has a process of its own.

    python -m experiments whole --records experiments/records/whole.jsonl
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from experiments.experiment import Experiment, KeyedCell, Option
from experiments.fitting import FOUR_SCORES, fit, tuner_of
from experiments.folds import TASKS, Split, corrupted, whole_fold
from experiments.records import Found, Record
from experiments.tables import Tables, table
from tagsift import registry

#: Task → title of its corpus; in the order of the runs.
CORPORA = {"chunking": "CoNLL-2000", "ner": "CoNLL-2003", "base-np": "Base NP"}
#: In the order of the runs.
METHODS = ("partial-crf", "crf", "chain-gp")
CL, P = 3, 0.1


@dataclass(frozen=True)
class WholeCell(KeyedCell):
    """One fit of one method on one corpus."""

    form = f"{{task}}/{{method}}/cl{CL}-p{P}/seed{{seed}}"
    task: str
    method: str
    seed: int  # of the candidates, and of the method


@dataclass(frozen=True)
class Whole(Experiment):
    """All methods on all corpora."""

    name = "whole"
    title = "Whole corpora"
    summary = (
        f"Training file → test file, cl {CL}, p {P} ({METHODS[1]}: gold labels). "
        "CPU seconds are of the whole fit, the choice of hyperparameters included."
    )
    separate = True
    options = {"seed": Option(0, "of the candidates", int)}
    seed: int

    def cells(self) -> list[WholeCell]:
        return [WholeCell(*pair, self.seed) for pair in product(CORPORA, METHODS)]

    def files(self, cell: WholeCell) -> tuple[str, ...]:
        return TASKS[cell.task].files

    def run(self, cell: WholeCell) -> dict[str, Any]:
        fold = whole_fold(self.data, cell.task)
        split = Split(cell.task, len(fold.train), 1, 0, cell.seed, "whole")
        exact = registry.estimator(cell.method).method.exact_only
        partial = corrupted(fold, split, cl=CL, p=None if exact else P, r=None)
        tuner = tuner_of(cell.method)
        fitted = fit(cell.method, fold, partial, tuner.ask, cell.seed)
        chosen = getattr(fitted.model, "tuning_", None)  # of a random field's penalty
        trials = chosen and {
            "criterion": chosen.criterion,
            "n_exact": chosen.n_exact,
            "trials": [
                one.settings | {"score": round(one.score, 6)} for one in chosen.trials
            ],
        }
        return {
            "data": fold.sizes(),
            "scores": fitted.four_scores(),
            "settings": tuner.read(fitted.model),
            "tuning": trials,
            "temperature": round(getattr(fitted.model, "temperature_", 1.0), 4),
            "n_iter": int(fitted.model.n_iter_),
            "time": fitted.costs(),
        }

    def tables(self, found: Found) -> Tables:
        seeds = sorted({record["config"]["seed"] for record in found.values()})
        done = [x for seed in seeds for x in replace(self, seed=seed).finished(found)]
        scores = [f"{score.title}|>" for score in FOUR_SCORES]
        costs = ("fit, CPU s|>", "tagging, tokens/CPU s|>", "peak MiB|>", "steps|>")
        yield table(
            ("data", "seed", "method", *scores, *costs, "found"),
            [_row(cell, record) for cell, record in done],
        )
        lead = f"ChainGP's lead over the partial CRF: {scores.pop(0)}"
        head = ("data", "seed", lead, *scores, "span F1 behind the CRF on gold|>")
        yield table(head, _gaps({cell: record["scores"] for cell, record in done}))


def _row(cell: WholeCell, record: Record) -> tuple[Any, ...]:
    time, settings = record["time"], record["settings"]
    told = f"temperature {record['temperature']:.2f}"
    return (
        CORPORA[cell.task],
        cell.seed,
        registry.estimator(cell.method).method.title,
        *(one.number(record["scores"].get(one.name)) for one in FOUR_SCORES),
        f"{time['fit_cpu_s']:,.0f}",
        f"{time['tag_tokens_per_cpu_s']:,}",
        f"{time.get('fit_peak_mib', time['peak_mib']):,.0f}",
        record["n_iter"],
        f"l2 {settings['l2']:g}" if "l2" in settings else told,
    )


def _gaps(scores: dict[WholeCell, dict[str, float]]) -> Iterator[tuple[Any, ...]]:
    """One row for every ChainGP cell whose rival has been run."""
    for cell, ours in scores.items():
        theirs = scores.get(replace(cell, method="partial-crf"))
        gold = scores.get(replace(cell, method="crf"))
        if cell.method == "chain-gp" and theirs is not None:
            leads = [
                one.number((ours[one.name] - theirs[one.name]) * one.sign, "+")
                for one in FOUR_SCORES
            ]
            behind = None if gold is None else gold["span_f1"] - ours["span_f1"]
            yield CORPORA[cell.task], cell.seed, *leads, FOUR_SCORES[0].number(behind)


EXPERIMENT = Whole
