"""Fit time, tagging time and peak memory of every method on two folds of the paper.

Each method runs in a process of its own, so that the peak memory is its own. A memory
figure counts the interpreter and the libraries too (before_fit_mib).

    python -m benchmarks methods --records benchmarks/records/methods.jsonl
    python -m benchmarks methods --only task=base-np,method=sgppsl+partial-crf --redo
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.benchmark import Benchmark, paper_fold, percent, timing_page
from experiments.experiment import Option
from experiments.fitting import fit
from experiments.folds import TASKS
from experiments.measuring import limited
from experiments.records import Record
from tagsift import registry
from tagsift.report import Report

#: Methods that learn from candidate sets; the others learn from votes.
NAMES = tuple(
    name
    for name in registry.names()
    if not registry.estimator(name).__module__.startswith("tagsift.annotators")
)


@dataclass(frozen=True)
class MethodCell:
    task: str
    method: str

    @property
    def key(self) -> str:
        return f"{self.task}/{self.method}"


@dataclass(frozen=True)
class Methods(Benchmark):
    """Every method on a Base NP and a Chunking fold."""

    name = "methods"
    separate = True
    options = {"limit": Option(900.0, "seconds a method", float)}
    limit: float

    def cells(self) -> list[MethodCell]:
        return [
            MethodCell(task, method)
            for task in ("base-np", "chunking")
            for method in NAMES
        ]

    def run(self, cell: MethodCell, needed: Record | None) -> dict[str, Any]:
        exact = registry.estimator(cell.method).method.exact_only
        fold, partial = paper_fold(self.data, cell.task, exact=exact)
        with limited(self.limit):
            fitted = fit(cell.method, fold, partial, {})
        about = {"data": fold.sizes(), "scores": percent(fitted)}
        return {**about, "time": fitted.costs()}

    def report(self, found: Mapping[str, Record]) -> Report:
        from experiments.tables import table

        head = ("method", "fit, CPU s|.1f", "fit, s|.1f", "tagging, tokens/CPU s|,d")
        head += ("peak MiB|,.0f", "span F1|.1f", "recovery|.1f")
        names = ("fit_cpu_s", "fit_s", "tag_tokens_per_cpu_s", "fit_peak_mib")
        tables = []
        for task in dict.fromkeys(cell.task for cell in self.cells()):
            rows, about = [], ""
            for method in NAMES:
                one = found.get(MethodCell(task, method).key)
                if one is None:
                    continue
                title = registry.estimator(method).method.title
                if "error" in one:
                    rows.append((f"{title}: {one['error']}", *[None] * 6))
                    continue
                about = (
                    "{sentences} sentences, {tokens:,} tokens, {labels} labels, "
                    "{features:,} features.".format(**one["data"])
                )
                scores = [one["scores"].get(name) for name in ("span_f1", "recovery")]
                rows.append((title, *(one["time"][name] for name in names), *scores))
            tables.append(table(head, rows, title=TASKS[task].title, note=about))
        return timing_page("All methods", found, tables)


EXPERIMENT = Methods
