"""Temperatures and bonuses set on sentences that a fit left out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tagsift.base import TrainingSet
from tagsift.base.training_set import hold_out, hold_out_last
from tagsift.chain.linear_chain import LinearChain
from tagsift.chain_gp.held_out import (
    HeldOut,
    best_bonus,
    best_temperature,
    expected_f1,
    held_out_likelihood,
    usual_temperature,
)
from tagsift.features import FeatureMatrix
from tagsift.gp.kernels import GroupKernel


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


def test_the_last_sentences_are_held_out():
    seen, unseen = hold_out_last(make([2] * 7, np.ones((14, 3), dtype=bool)))
    assert (seen.tolist(), unseen.tolist()) == ([0, 1, 2, 3, 4], [5, 6])
    seen, unseen = hold_out_last(make([4, 3], np.ones((7, 3), dtype=bool)))
    assert (seen.tolist(), unseen.tolist()) == ([0, 1], [])


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
    found = held_out_likelihood(HeldOut(weights, train), temperature)
    assert found == pytest.approx(total)


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
    found = best_temperature(HeldOut(weights, unseen), 1.2)
    assert found == pytest.approx(truth, rel=0.06)


def test_no_labels_leave_the_temperature_where_the_prior_is(weights: LinearChain):
    unseen = make([2] * 20, np.ones((40, 3), dtype=bool))
    found = best_temperature(HeldOut(weights, unseen), 1.3)
    assert found == pytest.approx(1.3, abs=1e-3)
    assert best_temperature(None, 1.3) == 1.2


def test_the_prior_weighs_as_much_as_its_width_says(weights: LinearChain):
    """Slow twin: the best of many temperatures."""
    mask = np.eye(3, dtype=bool)[np.random.default_rng(3).integers(3, size=40)]
    held_out = HeldOut(weights, make([2] * 20, mask))
    grid = np.exp(np.linspace(-1, 1, 2001))
    values = [held_out_likelihood(held_out, t) for t in grid[::20]]
    like = np.interp(grid, grid[::20], values)
    twin = grid[np.argmax(like - 0.5 * (np.log(grid / 1.3) / 0.1) ** 2)]
    found = best_temperature(held_out, 1.3)
    assert found == pytest.approx(twin, rel=0.005)
    assert found > 1.31  # random labels pull it up


def test_wider_weights_have_higher_temperatures():
    def usual(*variances: float) -> float:
        linear = {str(k): v for k, v in enumerate(variances)}
        return usual_temperature(GroupKernel(linear, {}))

    assert usual(1.0) == pytest.approx(1.15)
    assert usual(6.0, 6.0) == pytest.approx(1.15 * 6**0.1)
    assert usual(1.0, 1.0, 10.0) == usual(1.0)  # indicators beside vectors
    assert (usual(0.0), usual(1e6)) == (usual(1.0), usual(10.0))


FREE = (np.ones((3, 3), dtype=bool), np.ones(3, dtype=bool), np.ones(3, dtype=bool))
INSIDE = np.array([False, True, True])


def test_expected_f1_token_by_token(weights: LinearChain):
    """Against loops over the tokens of sentences of one token."""
    unseen = make([1] * 30, np.random.default_rng(3).random((30, 3)) < 0.8)
    unseen.mask[np.arange(30), np.random.default_rng(4).integers(3, size=30)] = True
    held_out, T = HeldOut(weights, unseen), 1.5
    hits = taken = true = 0.0
    for x, mask in zip(unseen.features.block("x"), unseen.mask, strict=True):
        score = (x @ weights.emissions + weights.bias + weights.start) / T
        p = np.where(mask, np.exp(score), 0.0)
        p /= p.sum()
        label = int(score.argmax())
        taken += INSIDE[label]
        hits += INSIDE[label] * p[label]
        true += p[INSIDE].sum()
    found = expected_f1(held_out, T, FREE, INSIDE)
    assert found == pytest.approx(2 * hits / (taken + true))
    bonus = best_bonus(held_out, T, FREE, INSIDE)
    assert bonus == pytest.approx(T * np.log((2 - found) / found))


def test_the_bonus_takes_spans_from_half_the_f1_on():
    """Lone tokens: the decision flips where the probability of a span is F / 2."""
    weights = LinearChain(
        np.array([[0.0, 1.0, -9.0]]), np.zeros(3), np.zeros((3, 3)), np.zeros(3)
    )
    rng = np.random.default_rng(0)
    mask = np.ones((400, 3), dtype=bool)
    X = rng.normal(size=(400, 1))
    features = FeatureMatrix(("x",), (X,), np.arange(401))
    unseen = TrainingSet(features, mask, ("O", "B-X", "I-X"), "iob2", 0)
    held_out = HeldOut(weights, unseen)
    f1 = expected_f1(held_out, 1.0, FREE, INSIDE)
    bonus = best_bonus(held_out, 1.0, FREE, INSIDE)
    threshold = 1.0 / (1.0 + np.exp(bonus))  # where a score of −bonus is a tie
    assert 0.3 < f1 < 1.0 and threshold == pytest.approx(f1 / 2)


def test_bonuses_are_bounded(weights: LinearChain):
    assert best_bonus(None, 1.0, FREE, INSIDE) == 0.5
    unseen = make([2] * 20, np.tile([True, False, False], (40, 1)))
    assert best_bonus(HeldOut(weights, unseen), 1.0, FREE, INSIDE) == 2.0
