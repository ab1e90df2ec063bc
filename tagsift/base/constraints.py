"""What a tag scheme says about the transitions of a chain."""

from __future__ import annotations

import numpy as np

from tagsift.base import TrainingSet
from tagsift.data import allowed_transitions
from tagsift.typing import BoolArray

__all__ = ["scheme_constraints"]


def scheme_constraints(
    train: TrainingSet, *, known: bool
) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Transitions, first and last labels that the tag scheme allows.

    Everything is allowed where the scheme is not known for sure, and where the labels
    seen would leave no way through a sentence.
    """
    n_labels = train.n_labels
    if known and train.scheme != "plain":
        names = [str(name) for name in train.classes]
        allowed, first, last = allowed_transitions(names, train.scheme)
        seen = train.mask.any(axis=0)  # [L]
        inside = allowed[np.ix_(seen, seen)]  # [A, A]
        if first[seen].any() and last[seen].any() and inside.any(axis=1).all():
            return allowed, first, last
    free = np.ones(n_labels, dtype=bool)  # [L]
    return np.ones((n_labels, n_labels), dtype=bool), free, free.copy()
