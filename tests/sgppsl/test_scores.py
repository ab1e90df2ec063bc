"""Equations (25)–(28) against loops and quadrature."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.sgppsl.predictive import (
    emission_scores,
    transition_scores,
)
from tests.reference import decoding as slow


def moments(seed, shape=(6, 3)):
    rng = np.random.default_rng(seed)
    return rng.normal(size=shape), rng.gamma(1.0, size=shape)


def test_emission_scores_equal_the_loop():
    mu, var = moments(1)
    found = emission_scores(mu, var)
    for n, y in np.ndindex(mu.shape):
        assert found[n, y] == pytest.approx(slow.score(mu[n], var[n], y))
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_transition_scores_equal_the_loop():
    mu_T, var_T = moments(2, (3, 3))
    found = transition_scores(mu_T, var_T)
    for before, y in np.ndindex(mu_T.shape):
        assert found[before, y] == pytest.approx(
            slow.score(mu_T[before], var_T[before], y)
        )
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_without_variance_the_score_is_the_predictive_probability():
    mu, var = moments(4, (4, 2))
    found, wide = emission_scores(mu, 0 * var), emission_scores(mu, 0.01 * var)
    for n, y in np.ndindex(mu.shape):
        assert found[n, y] == pytest.approx(slow.softmax_label(mu[n], y))
        exact = slow.predictive_probability(mu[n], 0.01 * var[n], y)
        assert wide[n, y] == pytest.approx(exact, abs=0.01)
