"""What the benchmarks share: workloads, records and the state of the machine."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import tagsift
from experiments.folds import (
    TASKS,
    Split,
    corrupted,
    data_folder,
    make_fold,
)
from tagsift.features import FeatureMatrix
from tagsift.metrics import span_scores
from tagsift.storage import atomic_write

RECORDS = Path(__file__).parent / "records"
#: Candidates of every ambiguous token, and the share of exact sentences.
CL, P = 3, 0.1
_PACKAGES = ("tagsift", "numpy", "scipy", "scikit-learn", "torch")


@dataclass(frozen=True)
class Workload:
    """One training and one test fold as numbers, with no text in them.

    Parameters
    ----------
    name : str
        Of the task.
    train, test : FeatureMatrix
        Features, computed once.
    mask : ndarray of bool, shape (n_tokens, n_labels)
        Candidate sets of the training tokens.
    gold, test_gold : ndarrays of int
        True labels of training and test tokens.
    classes : tuple of str
        Labels.
    scheme : str
        Tag scheme.
    source : str
        Where the sentences come from.
    """

    name: str
    train: FeatureMatrix
    test: FeatureMatrix
    mask: Any
    gold: Any
    test_gold: Any
    classes: tuple[str, ...]
    scheme: str
    source: str

    @property
    def candidates(self) -> list[Any]:
        return self.train.split(self.mask)

    @property
    def exact(self) -> list[list[str]]:
        return self._names(self.gold, self.train)

    def scores(self, model: Any, predicted: Any) -> dict[str, float]:
        """Span F1 on the test fold and recovery on ambiguous tokens, in per cent."""
        found = span_scores(
            self._names(self.test_gold, self.test), predicted, scheme=self.scheme
        )
        where = {name: k for k, name in enumerate(self.classes)}
        recovered = np.concatenate([[where[x] for x in s] for s in model.recovered_])
        ambiguous = self.mask.sum(axis=1) > 1
        right = (recovered == self.gold)[ambiguous]
        return {
            "span_f1": round(100 * found.f1, 2),
            "recovery": round(100 * float(right.mean()), 2),
        }

    def _names(self, indices: Any, features: FeatureMatrix) -> list[list[str]]:
        return [[self.classes[k] for k in piece] for piece in features.split(indices)]

    def facts(self) -> dict[str, Any]:
        """Return the sizes that a record names."""
        return {
            "task": self.name,
            "source": self.source,
            "sentences": self.train.n_sequences,
            "tokens": self.train.n_tokens,
            "test_tokens": self.test.n_tokens,
            "labels": len(self.classes),
            "features": self.train.n_features,
            "cl": CL,
            "p": P,
        }

    def first(self, n_tokens: int) -> Workload:
        """Keep the first training sentences, about `n_tokens` tokens."""
        count = int(np.searchsorted(self.train.offsets, n_tokens))
        kept = self.train.take_sequences(range(min(count, self.train.n_sequences)))
        n = kept.n_tokens
        return Workload(
            self.name,
            kept,
            self.test,
            self.mask[:n],
            self.gold[:n],
            self.test_gold,
            self.classes,
            self.scheme,
            self.source,
        )


def fold(task: str, data: Path | None = None) -> Workload:
    """Build the first of five folds of a task; the bundled corpus without `data`."""
    folder = data_folder(data)
    split = Split(task, TASKS[task].n_sentences, 5, 0, 0)
    made = make_fold(folder, split)
    partial = corrupted(made, split, cl=CL, p=P, r=None)
    where = {name: k for k, name in enumerate(made.label_set)}
    return Workload(
        task,
        made.train_features,
        made.test_features,
        np.concatenate([made.label_set.mask(s) for s in partial.candidates]),
        np.array([where[x] for s in made.train.labels for x in s]),
        np.array([where[x] for s in made.test.labels for x in s]),
        tuple(made.label_set),
        made.train.scheme,
        "bundled corpus" if folder is None else "corpus",
    )


def save(path: Path, workloads: list[Workload]) -> None:
    """Write workloads as numbers, for a machine without the corpora."""
    arrays: dict[str, Any] = {"tasks": np.array([w.name for w in workloads])}
    for w in workloads:
        for part in ("train", "test"):
            features = getattr(w, part)
            X = sp.csr_matrix(features.stacked())
            arrays |= {
                f"{w.name}/{part}/groups": np.array(features.names),
                f"{w.name}/{part}/widths": np.array(
                    [block.shape[1] for block in features.blocks]
                ),
                f"{w.name}/{part}/data": X.data.astype(np.float32),
                f"{w.name}/{part}/indices": X.indices.astype(np.int32),
                f"{w.name}/{part}/indptr": X.indptr.astype(np.int64),
                f"{w.name}/{part}/shape": np.array(X.shape),
                f"{w.name}/{part}/offsets": features.offsets,
            }
        arrays |= {
            f"{w.name}/mask": w.mask,
            f"{w.name}/gold": w.gold,
            f"{w.name}/test_gold": w.test_gold,
            f"{w.name}/classes": np.array(w.classes),
            f"{w.name}/about": np.array([w.scheme, w.source]),
        }
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **arrays)


def load(path: Path) -> list[Workload]:
    """Read what `save` wrote."""
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}

    def features(name: str) -> FeatureMatrix:
        X = sp.csr_matrix(
            (
                arrays[f"{name}/data"].astype(np.float64),
                arrays[f"{name}/indices"],
                arrays[f"{name}/indptr"],
            ),
            shape=tuple(int(k) for k in arrays[f"{name}/shape"]),
        )
        if f"{name}/groups" not in arrays:
            return FeatureMatrix(("all",), (X,), arrays[f"{name}/offsets"])
        ends = np.cumsum(arrays[f"{name}/widths"])
        widths = zip(ends - arrays[f"{name}/widths"], ends, strict=True)
        columns = sp.csc_matrix(X)
        return FeatureMatrix(
            tuple(str(group) for group in arrays[f"{name}/groups"]),
            tuple(sp.csr_matrix(columns[:, lo:hi]) for lo, hi in widths),
            arrays[f"{name}/offsets"],
        )

    return [
        Workload(
            str(name),
            features(f"{name}/train"),
            features(f"{name}/test"),
            arrays[f"{name}/mask"],
            arrays[f"{name}/gold"],
            arrays[f"{name}/test_gold"],
            tuple(str(x) for x in arrays[f"{name}/classes"]),
            str(arrays[f"{name}/about"][0]),
            str(arrays[f"{name}/about"][1]),
        )
        for name in arrays["tasks"]
    ]


def machine() -> dict[str, Any]:
    """Versions, threads and load: what a time depends on."""
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = tagsift.__version__ if name == "tagsift" else None
    return {
        "python": platform.python_version(),
        "versions": found,
        "cores": os.cpu_count(),
        "threads": os.environ.get("OMP_NUM_THREADS", "all"),
        "load": [round(x, 1) for x in os.getloadavg()],
    }


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Run `work`; return elapsed seconds, CPU seconds and its result.

    On a busy machine the CPU seconds are the steadier figure.
    """
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - wall, time.process_time() - cpu, result


def command() -> str:
    """Return the command line that makes this record again."""
    module = Path(sys.argv[0]).stem
    name = "benchmarks" if module == "__main__" else f"benchmarks.{module}"
    return " ".join(["python -m", name, *sys.argv[1:]])


def write(name: str, record: Mapping[str, Any], folder: Path = RECORDS) -> Path:
    """Write a record as one JSON file, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    with atomic_write(path) as stream:
        stream.write(json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    return path


def read(name: str, folder: Path = RECORDS) -> dict[str, Any] | None:
    """Read a record, or None where there is none."""
    path = folder / f"{name}.json"
    if not path.is_file():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
