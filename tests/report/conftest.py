"""A small tagging and small training labels to report on."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.report import Cleaned, Tagged

CLASSES = ("B-NP", "B-VP", "I-NP", "O")
WORDS = ["The", "old", "man", "<b>", "$x$", "the", "boats", "&", "left", "."]
LABELS = ["B-NP", "I-NP", "I-NP", "O", "O", "B-NP", "I-NP", "O", "B-VP", "O"]


def _probabilities(labels, seed, candidates=None):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(len(labels), len(CLASSES)))
    for t, label in enumerate(labels):
        scores[t, CLASSES.index(label)] += 1.5
        if candidates is not None:
            outside = [name not in candidates[t] for name in CLASSES]
            scores[t, outside] = -np.inf
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


@pytest.fixture
def training() -> Cleaned:
    rng = np.random.default_rng(0)
    candidates = [
        [{label, str(rng.choice(CLASSES))} for label in LABELS] for _ in range(12)
    ]
    confidences = [
        _probabilities(LABELS, 100 + s, sets) for s, sets in enumerate(candidates)
    ]
    return Cleaned(
        tokens=[WORDS] * 12 + [[]],
        candidates=[*candidates, []],
        recovered=[*_labels(confidences), []],
        classes=CLASSES,
        confidences=[*confidences, np.zeros((0, 4))],
        gold=[LABELS] * 12 + [[]],
    )
