"""SGPPSL on consecutive sentences: the first 400 to learn from, the next 100 to tag.

New text is often of other documents, which shuffled folds hide. The exact posterior
under every decoder, as the paper takes the expected log-likelihood and at the mode, and
beside it what the others reach on the same candidates.

    python -m experiments contiguous --records experiments/records/contiguous.jsonl
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

from experiments.experiment import Experiment, KeyedCell, Option
from experiments.fitting import fit, tuner_of
from experiments.folds import TASKS, Fold, read_head, stable_seed
from experiments.records import Found
from experiments.tables import Tables, means, table
from tagsift.data import corrupt

TASK_NAMES, DRAWS = ("base-np", "ner"), 5
DECODERS = ("weighted", "viterbi", "argmax", "log", "log-weighted")
SGPPSL = ("sgppsl jensen", "sgppsl laplace")
OTHERS = ("chain-gp", "partial-crf", "crf")


@dataclass(frozen=True)
class ContiguousCell(KeyedCell):
    """One fit."""

    form = "{task}/draw{draw}/{method}"
    task: str
    draw: int
    method: str  # SGPPSL with its expectation


@dataclass(frozen=True)
class Contiguous(Experiment):
    """SGPPSL and others on consecutive sentences."""

    name = "contiguous"
    title = "The first 400 sentences, and the next 100"
    summary = (
        f"cl 3, p 0.1, word and part of speech; mean of {DRAWS} draws of the "
        "candidates. The CRF has gold labels."
    )
    options = {"device": Option("cpu", "where SGPPSL is fitted", str, ("cpu", "cuda"))}
    device: str

    def cells(self) -> list[ContiguousCell]:
        about = product(TASK_NAMES, range(DRAWS), (*SGPPSL, *OTHERS))
        return [ContiguousCell(*each) for each in about]

    def run(self, cell: ContiguousCell) -> dict[str, Any]:
        whole = read_head(self.data, cell.task, TASKS[cell.task].n_sentences)
        cut = 4 * len(whole) // 5
        fold = Fold.of(whole[:cut], whole[cut:], whole.label_set)
        seed = stable_seed("contiguous", cell.task, cell.draw)
        method, _, way = cell.method.partition(" ")
        cl, p = (1, 1.0) if method == "crf" else (3, 0.1)
        names = fold.label_set
        partial = corrupt(fold.train, cl=cl, p=p, random_state=seed, labels=names)
        params = dict(tuner_of(method).ask)
        if way:
            params |= {"expectation": way, "device": self.device}
        fitted = fit(method, fold, partial, params)
        found: dict[str, Any] = {"scores": fitted.four_scores()}
        if way:
            found |= {"decoders": fitted.decoded(DECODERS), "device": self.device}
        return found

    def tables(self, found: Found) -> Tables:
        values = []
        for cell, record in self.finished(found):
            place, scores = (TASKS[cell.task].title, cell.method), record["scores"]
            for decoder, one in record.get("decoders", {"its own": scores}).items():
                values.append((place, decoder, one["span_f1"]))
            if "recovery" in scores:
                values.append((place, "recovery", scores["recovery"]))
        columns = (*DECODERS, "its own", "recovery")
        rows = [(*x, *map(mine.get, columns)) for x, mine in means(values).items()]
        scored = (f"{name}|.2f|100" for name in columns)
        yield table(("task", "method", *scored), rows)


EXPERIMENT = Contiguous
