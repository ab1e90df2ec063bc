"""Fit time, tagging time and peak memory of every method on two folds of the paper.

Each method runs in a process of its own, so that the peak memory is its own. A memory
figure counts the interpreter and the libraries too (before_fit_mib).

    python -m benchmarks methods --records benchmarks/records/methods.jsonl
    python -m benchmarks methods --only task=base-np,method=sgppsl+partial-crf --redo
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmarks.benchmark import Benchmark, P, percent
from experiments.experiment import KeyedCell, Option
from experiments.fitting import fit
from experiments.folds import TASKS, paper_fold
from experiments.measuring import limited
from experiments.records import Found, pick
from experiments.tables import Tables, table
from tagsift import registry

#: Methods that learn from candidate sets; the others learn from votes.
NAMES = tuple(
    name
    for name in registry.names()
    if not registry.estimator(name).__module__.startswith("tagsift.annotators")
)
#: Task → title of its table.
TITLES = {task: TASKS[task].title for task in ("base-np", "chunking")}


@dataclass(frozen=True)
class MethodCell(KeyedCell):
    form = "{task}/{method}"
    task: str
    method: str


@dataclass(frozen=True)
class Methods(Benchmark):
    """Every method on a Base NP and a Chunking fold."""

    name = "methods"
    title = "All methods"
    separate = True
    options = {"limit": Option(900.0, "seconds a method", float)}
    limit: float

    def cells(self) -> list[MethodCell]:
        return [MethodCell(task, method) for task in TITLES for method in NAMES]

    def run(self, cell: MethodCell) -> dict[str, Any]:
        exact = registry.estimator(cell.method).method.exact_only
        fold, partial = paper_fold(self.data, cell.task, p=None if exact else P)
        with limited(self.limit):
            fitted = fit(cell.method, fold, partial, {})
        about = {"data": fold.sizes(), "scores": percent(fitted)}
        return {**about, "time": fitted.costs()}

    def tables(self, found: Found) -> Tables:
        columns = {
            "fit, CPU s|.1f": "time.fit_cpu_s",
            "fit, s|.1f": "time.fit_s",
            "tagging, tokens/CPU s|,d": "time.tag_tokens_per_cpu_s",
            "peak MiB|,.0f": "time.fit_peak_mib",
            "span F1|.1f": "scores.span_f1",
            "recovery|.1f": "scores.recovery",
        }
        for task, title in TITLES.items():
            rows, about = [], ""
            for method in NAMES:
                one = found.get(MethodCell(task, method).key, {})
                name = registry.estimator(method).method.title
                if "error" in one:
                    rows.append((f"{name}: {one['error']}", *[None] * len(columns)))
                elif one:
                    about = (
                        "{sentences} sentences, {tokens:,} tokens, {labels} labels, "
                        "{features:,} features.".format(**one["data"])
                    )
                    rows.append((name, *pick(one, *columns.values())))
            yield table(("method", *columns), rows, title=title, note=about)


EXPERIMENT = Methods
