"""Equation (29) and τ(y, y') against loops; readings R5 and R7."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tagsift.chain.viterbi import neighbour_factor, transition_factor
from tagsift.features.distances import Reference, nearest
from tests.reference import confidence as slow_confidence
from tests.reference import decoding as slow


@settings(max_examples=40, derandomize=True)
@given(st.integers(0, 10_000), st.booleans(), st.integers(1, 12))
def test_neighbours_equal_the_loop(seed, sparse, wanted):
    rng = np.random.default_rng(seed)
    # Binary features: many ties, and exact distances.
    X, new = rng.integers(2, size=(9, 5)) * 1.0, rng.integers(2, size=(4, 5)) * 1.0
    expected = [slow.nearest(x, X, wanted) for x in new]
    if sparse:
        X, new = sp.csr_matrix(X), sp.csr_matrix(new)
    assert nearest(Reference(X), new, wanted)[0].tolist() == expected


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


def test_the_floor_is_below_the_likely_truth():
    # Reading R5: as printed, labels nobody saw get 1, the largest value there is.
    mask = np.array([[True, True, False, False]] * 3)
    C = np.array([[0.9, 0.1, 0.0, 0.0]] * 3)
    neighbours = np.array([[0, 1, 2]])
    (printed,) = neighbour_factor(neighbours, C, mask, floor="literal")
    np.testing.assert_allclose(printed, [0.9, 0.1, 1.0, 1.0])
    (read,) = neighbour_factor(neighbours, C, mask, floor="uniform")
    np.testing.assert_allclose(read, [0.9, 0.1, 0.25, 0.25])


def test_transition_factor_equals_the_loop():
    mask, _ = training(1, n=9, n_labels=3)
    offsets = np.array([0, 4, 4, 5, 9])
    rng = np.random.default_rng(1)
    mu_T, var_T = rng.normal(size=(3, 3)), rng.random((3, 3))
    C = slow_confidence.pair_confidence(mu_T, var_T, mask, offsets)
    counts = (C > 0).sum(axis=0).astype(float)
    found = transition_factor(C.sum(axis=0), counts)
    np.testing.assert_allclose(found, slow.transition_factor(C, mask, offsets))


def test_unseen_transitions_get_zero_as_printed():
    # Reading R7.
    sums, counts = np.array([[0.5, 0.0], [1.5, 2.0]]), np.array([[1, 0], [3, 2]])
    found = transition_factor(sums, counts.astype(float))
    np.testing.assert_allclose(found, [[0.5, 0.0], [0.5, 1.0]])
