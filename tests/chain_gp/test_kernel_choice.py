"""The choice between kernels by held-out sentences."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.base import TrainingSet
from tagsift.chain_gp.kernel_choice import best_kernel
from tagsift.chain_gp.mode import ModeFinder
from tagsift.data import corrupt, generate
from tagsift.features import SequenceVectorizer
from tagsift.gp.kernels import GroupKernel


@pytest.fixture(scope="module")
def train() -> TrainingSet:
    partial = corrupt(generate(60, 0, task="chunk"), cl=3, p=0.3, random_state=1)
    mask = np.vstack([partial.label_set.mask(row) for row in partial.candidates])
    features = SequenceVectorizer().fit_transform(partial.rows)
    return TrainingSet(features, mask, tuple(partial.label_set), "plain", 0)


@pytest.fixture(scope="module")
def finder(train: TrainingSet) -> ModeFinder:
    L = train.n_labels
    return ModeFinder(np.zeros((L, L)), np.zeros(L), 30, 200)


@pytest.fixture(scope="module")
def kernel(train: TrainingSet) -> GroupKernel:
    return GroupKernel.start(train.features, 0, rbf=False)


def test_the_likeliest_is_taken(train, finder, kernel):
    kernels = [kernel.scaled(factor) for factor in (1e-6, 0.5, 1e6)]
    each = [
        best_kernel(finder, train, [one], temperature=None, tol=1e-4) for one in kernels
    ]
    best = best_kernel(finder, train, kernels, temperature=None, tol=1e-4)
    assert best.likelihood == max(trial.likelihood for trial in each)
    assert best.kernel == kernels[1]


def test_a_given_temperature_is_kept(train, finder, kernel):
    trial = best_kernel(finder, train, [kernel], temperature=1.7, tol=1e-4)
    assert trial.temperature == 1.7
    free = best_kernel(finder, train, [kernel], temperature=None, tol=1e-4)
    assert 0.6 < free.temperature < 1.6


def test_few_sentences_take_the_first(train, finder, kernel):
    few = train.take_sequences(np.arange(20))
    kernels = [kernel, kernel.scaled(2.0)]
    trial = best_kernel(finder, few, kernels, temperature=None, tol=1e-4)
    assert (trial.kernel, trial.temperature, trial.likelihood) == (kernel, 1.0, 0.0)
