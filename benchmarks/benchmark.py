"""What the benchmarks share: folds of the paper's size, and how a table was made."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from experiments.experiment import Experiment
from experiments.folds import (
    TASKS,
    Fold,
    Split,
    corrupted,
    data_folder,
    make_fold,
)
from experiments.records import Record
from tagsift.data import PartialCorpus
from tagsift.report import Report, Table

#: Candidates of every ambiguous token, and the share of exact sentences.
CL, P = 3, 0.1


@dataclass(frozen=True)
class Benchmark(Experiment):
    """Times something; threads are left as they are, and records say how many."""

    package = "benchmarks"
    threads = None
    data: Path | None

    @classmethod
    def from_options(cls, options: argparse.Namespace) -> Self:
        return cls(data_folder(options.data))

    def place(self) -> Path:
        return Path("runs/benchmarks") / self.name

    def config(self, cell: Any) -> dict[str, Any]:
        source = "bundled corpus" if self.data is None else "corpus"
        return {**super().config(cell), "source": source}


def paper_fold(
    data: Path | None, task: str, *, exact: bool = False
) -> tuple[Fold, PartialCorpus]:
    """Return the first of five folds of a task, with candidates or gold labels."""
    split = Split(task, TASKS[task].n_sentences, 5, 0, 0)
    fold = make_fold(data, split)
    return fold, corrupted(fold, split, cl=CL, p=None if exact else P, r=None)


def sizes(fold: Fold) -> dict[str, Any]:
    """Return the sizes that a record names."""
    return {
        "sentences": len(fold.train),
        "tokens": fold.train_features.n_tokens,
        "test_tokens": fold.test_features.n_tokens,
        "labels": len(fold.label_set),
        "features": fold.train_features.n_features,
    }


def percent(fitted: Any) -> dict[str, float | None]:
    """Return span F1 and recovery in per cent; no recovery where nothing is hidden."""
    found = {"span_f1": round(100 * fitted.scores()["span_f1"], 2)}
    if not fitted.model.method.exact_only:
        found["recovery"] = round(100 * fitted.recovery().ambiguous, 2)
    return found


def ran(found: Mapping[str, Record]) -> str:
    """Say how records were made."""

    def all_of(part: str, name: str) -> str:
        values = {r[part][name] for r in found.values() if name in r.get(part, {})}
        ordered = sorted(values, key=lambda value: (str(type(value)), value))
        return " to ".join(dict.fromkeys(str(v) for v in (ordered[:1] + ordered[-1:])))

    commands = sorted({f"`{record['command']}`" for record in found.values()})
    return (
        f"{', '.join(commands)}; Python {all_of('versions', 'python')}, "
        f"{all_of('time', 'cores')} cores, threads of the linear algebra: "
        f"{all_of('time', 'threads')}, load {all_of('time', 'load')}."
    )


def timing_page(
    title: str, found: Mapping[str, Record], tables: Sequence[Table], more: str = ""
) -> Report:
    """Return a page whose prose says how the records were made."""
    from experiments.tables import page

    return page(title, found, tables, more + (ran(found) if found else ""))
