"""A fold as numbers, with no text in it, for a machine without the corpora."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from experiments.folds import Fold
from tagsift.data import LabelSet, PartialCorpus
from tagsift.features import FeatureMatrix
from tagsift.metrics import span_scores


@dataclass(frozen=True)
class Workload:
    """One training and one test fold.

    Parameters
    ----------
    name : str
        Of the task, or of its size.
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
    """

    name: str
    train: FeatureMatrix
    test: FeatureMatrix
    mask: Any
    gold: Any
    test_gold: Any
    classes: tuple[str, ...]
    scheme: str

    @classmethod
    def of(cls, name: str, fold: Fold, partial: PartialCorpus) -> Workload:
        """Turn a fold and its candidates into numbers."""
        labels = LabelSet.union([*fold.train.labels, *fold.test.labels])
        where = {label: k for k, label in enumerate(labels)}
        gold, test_gold = (
            np.array([where[x] for s in part.labels for x in s])
            for part in (fold.train, fold.test)
        )
        mask = np.concatenate([labels.mask(s) for s in partial.candidates])
        features = (fold.train_features, fold.test_features)
        about = (tuple(labels), fold.train.scheme)
        return cls(name, *features, mask, gold, test_gold, *about)

    @property
    def candidates(self) -> list[Any]:
        return self.train.split(self.mask)

    def scores(self, model: Any, predicted: Any) -> dict[str, float]:
        """Span F1 on the test fold and recovery on ambiguous tokens, in per cent."""
        rows = self.test.split(self.test_gold)
        gold = [[self.classes[k] for k in row] for row in rows]
        found = span_scores(gold, predicted, scheme=self.scheme)
        where = {name: k for k, name in enumerate(self.classes)}
        recovered = np.concatenate([[where[x] for x in s] for s in model.recovered_])
        right = (recovered == self.gold)[self.mask.sum(axis=1) > 1]
        return {
            "span_f1": round(100 * found.f1, 2),
            "recovery": round(100 * float(right.mean()), 2),
        }

    def sizes(self) -> dict[str, int]:
        """Return the sizes that a record names."""
        return {
            "sentences": self.train.n_sequences,
            "tokens": self.train.n_tokens,
            "test_tokens": self.test.n_tokens,
            "labels": len(self.classes),
            "features": self.train.n_features,
        }

    def first(self, n_tokens: int) -> Workload:
        """Keep the first training sentences, about `n_tokens` tokens."""
        count = int(np.searchsorted(self.train.offsets, n_tokens))
        kept = self.train.take_sequences(range(min(count, self.train.n_sequences)))
        n = kept.n_tokens
        return replace(self, train=kept, mask=self.mask[:n], gold=self.gold[:n])


@lru_cache(maxsize=1)
def load(path: Path) -> dict[str, Workload]:
    """Read a file of workloads, by their names."""
    return {work.name: work for work in joblib.load(path)}
