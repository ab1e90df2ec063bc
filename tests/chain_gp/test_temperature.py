"""Temperatures set on sentences that a fit left out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tagsift.base import TrainingSet
from tagsift.base.training_set import hold_out
from tagsift.chain.linear_chain import LinearChain
from tagsift.chain_gp.kernel_choice import best_temperature, held_out_likelihood
from tagsift.features import FeatureMatrix


def make(lengths: list[int], mask: np.ndarray, seed: int = 0) -> TrainingSet:
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    X = np.random.default_rng(5).normal(size=(offsets[-1], 3))
    features = FeatureMatrix(("x",), (X,), offsets)
    return TrainingSet(features, mask, tuple("ABC"[: mask.shape[1]]), "plain", seed)


@pytest.fixture
def weights() -> LinearChain:
    rng = np.random.default_rng(0)
    return LinearChain(
        rng.normal(size=(3, 3)),
        rng.normal(size=3),
        rng.normal(size=(3, 3)),
        rng.normal(size=3),
    )


def test_a_fifth_is_held_out_and_empty_sentences_are_not():
    lengths = [0, *[2] * 60]
    train = make(lengths, np.ones((120, 3), dtype=bool))
    seen, unseen = hold_out(train)
    assert len(unseen) == 12 and len(seen) == 48
    assert set(seen) | set(unseen) == set(range(1, 61))
    again = hold_out(train)
    np.testing.assert_array_equal(unseen, again[1])
    other = hold_out(make(lengths, np.ones((120, 3), dtype=bool), seed=1))
    assert set(other[1]) != set(unseen)


def test_the_likelihood_by_enumeration(weights: LinearChain):
    rng = np.random.default_rng(1)
    mask = rng.random((5, 3)) < 0.5
    mask[np.arange(5), rng.integers(3, size=5)] = True
    train = make([3, 2], mask)
    temperature, total = 1.4, 0.0
    X = train.features.block("x")
    for lo, hi in ((0, 3), (3, 5)):
        inside = outside = 0.0
        for path in itertools.product(range(3), repeat=hi - lo):
            score = weights.start[path[0]]
            for n, y in enumerate(path):
                score += X[lo + n] @ weights.emissions[:, y] + weights.bias[y]
            score += sum(weights.transitions[a, b] for a, b in itertools.pairwise(path))
            outside += np.exp(score / temperature)
            if all(mask[lo + n, y] for n, y in enumerate(path)):
                inside += np.exp(score / temperature)
        total += np.log(inside / outside)
    assert held_out_likelihood(weights, train, temperature) == pytest.approx(total)


def test_temperatures_compose(weights: LinearChain):
    twice = weights.tempered(2.0).tempered(1.5)
    np.testing.assert_allclose(twice.emissions, weights.emissions / 3)
    np.testing.assert_allclose(twice.start, weights.start / 3)


@pytest.mark.parametrize("truth", [0.7, 1.0, 1.5])
def test_many_exact_labels_find_the_temperature(truth: float):
    """Tokens on their own, drawn from the model at a temperature."""
    n = 20000
    rng = np.random.default_rng(2)
    weights = LinearChain(
        rng.normal(size=(3, 3)), np.zeros(3), np.zeros((3, 3)), np.zeros(3)
    )
    train = make([1] * n, np.ones((n, 3), dtype=bool))
    U = weights.scores(train.features) / truth
    p = np.exp(U - U.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    y = (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    unseen = make([1] * n, np.eye(3, dtype=bool)[y])
    assert best_temperature(weights, unseen) == pytest.approx(truth, rel=0.06)


def test_no_labels_leave_the_temperature_alone(weights: LinearChain):
    unseen = make([2] * 20, np.ones((40, 3), dtype=bool))
    assert best_temperature(weights, unseen) == pytest.approx(1.0, abs=1e-3)
