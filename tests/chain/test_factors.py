"""Equation (29) and τ(y, y') against loops; readings R5 and R7."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.chain.viterbi import neighbour_factor, transition_factor
from tests.reference import confidence as slow_confidence
from tests.reference import decoding as slow


def training(seed, n=8, n_labels=4):
    rng = np.random.default_rng(seed)
    mask = rng.random((n, n_labels)) < 0.35
    mask[np.arange(n), rng.integers(n_labels, size=n)] = True
    mu, var = rng.normal(size=mask.shape), rng.random(mask.shape)
    return mask, slow_confidence.confidence(mu, var, mask)


@pytest.mark.parametrize("floor", ["uniform", "literal"])
@pytest.mark.parametrize("seed", range(4))
def test_neighbour_factor_equals_the_loop(floor, seed):
    mask, C = training(seed)
    neighbours = np.random.default_rng(seed).integers(8, size=(5, 3))
    found = neighbour_factor(neighbours, C, mask, floor=floor)
    for row, chosen in zip(found, neighbours, strict=True):
        expected = slow.neighbour_factor(chosen, C, mask, literal=floor == "literal")
        np.testing.assert_allclose(row, expected)


def test_transition_factor_equals_the_loop():
    mask, _ = training(1, n=9, n_labels=3)
    offsets = np.array([0, 4, 4, 5, 9])
    rng = np.random.default_rng(1)
    mu_T, var_T = rng.normal(size=(3, 3)), rng.random((3, 3))
    C = slow_confidence.pair_confidence(mu_T, var_T, mask, offsets)
    counts = (C > 0).sum(axis=0).astype(float)
    found = transition_factor(C.sum(axis=0), counts)
    np.testing.assert_allclose(found, slow.transition_factor(C, mask, offsets))
