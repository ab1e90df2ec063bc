"""What a tag scheme forbids, and when it is not asked."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.base import TrainingSet
from tagsift.base.training_set import scheme_constraints
from tagsift.data import allowed_transitions
from tagsift.features import FeatureMatrix
from tests.reference.comparing import all_equal

NAMES = ("B-X", "I-X", "O")


def make(mask, names: tuple[str, ...] = NAMES, scheme: str = "iob2") -> TrainingSet:
    mask = np.asarray(mask, dtype=bool)
    n = len(mask)
    features = FeatureMatrix(("x",), (np.zeros((n, 1)),), np.array([0, n]))
    return TrainingSet(features, mask, names, scheme, 0)


def test_the_scheme_is_followed():
    found = scheme_constraints(make(np.ones((4, 3))), known=True)
    all_equal(found, allowed_transitions(NAMES, "iob2"))
    assert not found[1][1]  # I-X opens no sentence


@pytest.mark.parametrize(
    ("train", "known"),
    [
        (make(np.ones((4, 3))), False),
        (make(np.ones((4, 3)), scheme="plain"), True),
        (make([[0, 1, 0]] * 4), True),  # I-X alone: no way to begin
    ],
)
def test_everything_is_allowed_otherwise(train: TrainingSet, known: bool):
    assert all(part.all() for part in scheme_constraints(train, known=known))
