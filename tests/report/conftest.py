"""A small tagging to report on."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.report import Tagged

CLASSES = ("B-NP", "B-VP", "I-NP", "O")
WORDS = ["The", "old", "man", "<b>", "$x$", "the", "boats", "&", "left", "."]
LABELS = ["B-NP", "I-NP", "I-NP", "O", "O", "B-NP", "I-NP", "O", "B-VP", "O"]


def _probabilities(labels, seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(len(labels), len(CLASSES)))
    for t, label in enumerate(labels):
        scores[t, CLASSES.index(label)] += 1.5
    weights = np.exp(scores)
    return weights / weights.sum(axis=1, keepdims=True)


def _labels(probabilities):
    return [[CLASSES[j] for j in p.argmax(axis=1)] for p in probabilities]


@pytest.fixture
def tagged() -> Tagged:
    marginals = [_probabilities(LABELS, seed) for seed in range(12)]
    marginals.append(np.zeros((0, 4)))
    return Tagged(
        tokens=[WORDS] * 12 + [[]],
        gold=[LABELS] * 12 + [[]],
        predicted=_labels(marginals),
        classes=CLASSES,
        marginals=marginals,
        scheme="iob2",
    )
