"""Growth of fit time with tokens and with labels.

Tokens come from the head of the CoNLL-2000 training file, labels from its tag set
merged to fewer. Every fit runs in a process of its own.

    python -m benchmarks growth --max-tokens 20000 --minutes 5
    python -m benchmarks growth --max-tokens 250000 --only method=sgppsl
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.benchmark import CL, Benchmark, P, fit_costs
from experiments.experiment import KeyedCell, Option
from experiments.folds import TASKS, whole_fold
from experiments.records import Found
from experiments.tables import Tables, by_columns
from tagsift import registry
from tagsift.data import corrupt
from tagsift.data.corpus import Corpus
from tagsift.data.stacking import split_at

SIZES = (1000, 5000, 20000, 80000, 250000)
LABELS = (3, 6, 12, 22)
#: Tokens at which the number of labels varies.
LABEL_TOKENS = 5000
#: ChainGP learns everything, as by default; the others are given what they need.
SETTINGS: dict[str, dict[str, Any]] = {
    "partial-crf": {},
    "chain-gp": {},
    "sgppsl": {"theta": 0.17, "amplitude": 80.0, "posterior": "inducing"},
}


@dataclass(frozen=True)
class GrowthCell(KeyedCell):
    form = "{method}/{tokens}/{labels}"
    method: str
    tokens: int
    labels: int


def masks(corpus: Corpus, n_labels: int) -> tuple[list[Any], tuple[str, ...]]:
    """Corrupt the labels, the rarest merged so that `n_labels` are left."""
    names, counts = np.unique([x for s in corpus.labels for x in s], return_counts=True)
    kept = names[np.argsort(-counts, kind="stable")[: max(n_labels, 1)]]
    classes = tuple(sorted(str(x) for x in kept))
    partial = corrupt(corpus, cl=CL, p=P, random_state=0)
    everything, last = partial.label_set, len(classes) - 1
    where = [classes.index(x) if x in classes else last for x in everything]
    merge = np.zeros((len(everything), len(classes)), dtype=bool)
    merge[np.arange(len(everything)), where] = True
    mask = partial.members[partial.candidate_codes] @ merge  # [N, L]
    return split_at(mask, partial.bounds), classes


@dataclass(frozen=True)
class Growth(Benchmark):
    """Three methods at all sizes."""

    name = "growth"
    title = "Growth"
    separate = True
    options = {"max_tokens": Option(20000, "the largest size", int)}
    max_tokens: int

    def cells(self) -> list[GrowthCell]:
        shapes = [(size, LABELS[-1]) for size in SIZES if size <= self.max_tokens]
        shapes += [(min(LABEL_TOKENS, self.max_tokens), n) for n in LABELS[:-1]]
        return [GrowthCell(method, *shape) for shape in shapes for method in SETTINGS]

    def files(self, cell: GrowthCell) -> tuple[str, ...]:
        return TASKS["chunking"].files

    def run(self, cell: GrowthCell) -> dict[str, Any]:
        fold = whole_fold(self.data, "chunking", cell.tokens)
        y, classes = masks(fold.train, cell.labels)
        X = fold.train_features
        model = registry.make(cell.method, scheme="plain", **SETTINGS[cell.method])
        time = fit_costs(lambda: model.fit(X, y))
        time["us_per_token"] = round(1e6 * time["fit_cpu_s"] / X.n_tokens, 1)
        sizes = {"tokens": X.n_tokens, "labels": len(classes)}
        data = {**sizes, "features": X.n_features}
        return {"data": data, "steps": model.n_iter_, "time": time}

    def tables(self, found: Found) -> Tables:
        columns = {
            "tokens|,d": "data.tokens",
            "labels|d": "data.labels",
            "method": "config.method",
            "CPU s|.1f": "time.fit_cpu_s",
            "µs/token|.0f": "time.us_per_token",
            "peak MiB|,.0f": "time.fit_peak_mib",
            "steps|d": "steps",
        }
        order = ("merged", "config.method", "data.tokens", "data.labels")
        merged = [
            one | {"merged": one["config"]["labels"] != LABELS[-1]}
            for one in found.values()
        ]
        yield by_columns(merged, columns, *order)


EXPERIMENT = Growth
