"""Equation (17): the loop, its invariances, and the printed form (R2)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagsift.sgppsl.labels import (
    Labels,
    Settings,
    build_likelihood,
    confidence,
    literal_confidence,
    pair_confidence_sums,
)
from tests.reference import confidence as slow
from tests.reference.problems import random_moments, small

BOTH = {"softmax": confidence, "literal": literal_confidence}


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("seed", range(3))
def test_equals_the_loop(name, seed):
    problem = small(seed)
    q = random_moments(problem, seed)
    twin = slow.confidence if name == "softmax" else slow.literal_confidence
    found = BOTH[name](q.mu, q.var, problem.evidence)
    np.testing.assert_allclose(found, twin(q.mu, q.var, problem.mask), rtol=1e-12)


@pytest.mark.parametrize("name", BOTH)
def test_weights_of_labels_multiply_their_scores(name):
    problem, rng = small(2), np.random.default_rng(2)
    q = random_moments(problem, 2)
    weights = problem.mask * rng.random(problem.mask.shape)
    weights /= weights.max(axis=1, keepdims=True)
    twin = slow.confidence if name == "softmax" else slow.literal_confidence
    with np.errstate(divide="ignore"):
        found = BOTH[name](q.mu, q.var, np.log(weights))
    np.testing.assert_allclose(found, twin(q.mu, q.var, weights), rtol=1e-12)
    with np.errstate(divide="ignore"):
        labels = Labels.build(np.log(weights), problem.offsets)
    sums, counts = pair_confidence_sums(q.mu_T, q.var_T, labels.left, labels.right)
    C = slow.pair_confidence(q.mu_T, q.var_T, weights, problem.offsets)
    np.testing.assert_allclose(sums, C.sum(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(counts, (C > 0).sum(axis=0))
    np.testing.assert_allclose(labels.uniform().sum(axis=1), 1.0)


@settings(max_examples=60, derandomize=True)
@given(
    st.integers(0, 10_000),
    st.integers(1, 6),
    st.sampled_from([1e-3, 1.0, 30.0, 1e3]),
    st.sampled_from(sorted(BOTH)),
)
def test_rows_are_distributions_over_the_candidates(seed, n_labels, scale, name):
    rng = np.random.default_rng(seed)
    mu = scale * rng.normal(size=(7, n_labels))
    var = scale * rng.random((7, n_labels))
    mask = rng.random((7, n_labels)) < 0.5
    mask[np.arange(7), rng.integers(n_labels, size=7)] = True
    evidence = np.where(mask, 0.0, -np.inf)
    C = BOTH[name](mu, var, evidence)
    assert np.isfinite(C).all() and (C >= 0).all()
    assert (C[~mask] == 0).all()
    np.testing.assert_allclose(C.sum(axis=1), 1.0, rtol=1e-12)
    single = mask.sum(axis=1) == 1
    np.testing.assert_array_equal(C[single], mask[single].astype(float))
    # The order of the labels does not matter.
    order = rng.permutation(n_labels)
    shuffled = BOTH[name](mu[:, order], var[:, order], evidence[:, order])
    np.testing.assert_allclose(shuffled, C[:, order], rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("seed", range(3))
def test_pair_sums_equal_the_loop(seed):
    problem = small(seed)
    q = random_moments(problem, seed)
    labels = problem.labels()
    sums, counts = pair_confidence_sums(q.mu_T, q.var_T, labels.left, labels.right)
    C = slow.pair_confidence(q.mu_T, q.var_T, problem.mask, problem.offsets)
    np.testing.assert_allclose(sums, C.sum(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(counts, (C > 0).sum(axis=0))
    literal = build_likelihood(Settings("literal"), q, labels, C)
    np.testing.assert_array_equal(literal.pair_weights, (C > 0).sum(axis=0))
    assert sums.sum() == pytest.approx(len(labels.left))
