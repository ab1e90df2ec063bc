"""Equations (2)–(3) against loops; chains against enumeration; counts are slopes."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.sgppsl.likelihoods import Piecewise
from tests.reference import confidence as slow_confidence
from tests.reference import pieces as slow
from tests.reference.gradients import central_difference
from tests.reference.label_sequences import sums
from tests.reference.problems import random_moments, small


def likelihoods(problem):
    return {
        "piecewise": problem.piecewise(),
        "chain": problem.chain(),
    }


def test_piece_probability_equals_the_loop():
    problem = small(1)
    q = random_moments(problem, 1)
    shape, square = problem.mask.shape, (problem.n_labels,) * 2
    free = Piecewise(np.full(shape, 1.0 / shape[1]), np.full(square, 1.0 / shape[1]))
    found = free.free(q.mu, q.mu_T)  # every token and every left label counts once
    for y in range(problem.n_labels):
        for n in range(len(q.mu)):
            expected = slow.unary_probability(q.mu[n], y)
            assert found.unary[n, y] == pytest.approx(expected)
        for before in range(problem.n_labels):
            expected = slow.transition_probability(q.mu_T, before, y)
            assert found.pairs[before, y] == pytest.approx(expected)


@pytest.mark.parametrize("literal", [False, True])
def test_piecewise_equals_the_loop(literal):
    problem = small(2)
    q = random_moments(problem, 2)
    mask, offsets = problem.mask, problem.offsets
    C = slow_confidence.confidence(q.mu, q.var, mask)
    C_pairs = slow_confidence.pair_confidence(q.mu_T, q.var_T, mask, offsets)
    if literal:  # every candidate piece once, and log C apart from it
        C, C_pairs = mask.astype(float), (C_pairs > 0).astype(float)
    likelihood = Piecewise(C, C_pairs.sum(axis=0))
    value = likelihood.restricted(q.mu, q.mu_T).value
    value -= likelihood.free(q.mu, q.mu_T).value
    expected = slow.weighted_log_likelihood(q.mu, q.mu_T, mask, offsets, C, C_pairs)
    assert value == pytest.approx(expected, rel=1e-12)
    if literal:
        ones = np.ones_like(C_pairs)
        printed = slow.log_likelihood(q.mu, q.mu_T, mask, offsets, mask + 0.0, ones)
        assert value == pytest.approx(printed, rel=1e-12)


def test_chain_equals_enumeration():
    problem = small(3)
    q = random_moments(problem, 3)
    likelihood = problem.chain()
    everything = np.ones_like(problem.mask)
    for part, mask in (("free", everything), ("restricted", problem.mask)):
        found = getattr(likelihood, part)(q.mu, q.mu_T)
        expected = sums(q.mu, q.mu_T, problem.offsets, mask=mask).log_z.sum()
        assert found.value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["piecewise", "chain"])
@pytest.mark.parametrize("part", ["free", "restricted"])
def test_counts_are_derivatives(name, part):
    problem = small(5, lengths=(3, 2))
    q = random_moments(problem, 5)
    function = getattr(likelihoods(problem)[name], part)
    found = function(q.mu, q.mu_T)
    slope = central_difference(lambda U: function(U, q.mu_T).value, q.mu)
    np.testing.assert_allclose(found.unary, slope, atol=1e-8)
    slope_T = central_difference(lambda T: function(q.mu, T).value, q.mu_T)
    np.testing.assert_allclose(found.pairs, slope_T, atol=1e-8)
    step = 1e-5
    for n, y in np.ndindex(q.mu.shape):
        up, down = q.mu.copy(), q.mu.copy()
        up[n, y] += step
        down[n, y] -= step
        bend = (function(up, q.mu_T).unary - function(down, q.mu_T).unary)[n, y]
        assert found.curvature[n, y] == pytest.approx(bend / (2 * step), abs=1e-8)
