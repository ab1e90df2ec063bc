"""Equations (4)–(6) against loops; distances in every library."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tagsift.features.distances import median_distance, squared_distances
from tagsift.gp.kernels import RBF
from tests.reference import prior as slow
from tests.reference.problems import small
from tests.tensors import needs_torch, torch

DEVICES = ["cpu", pytest.param("torch", marks=needs_torch)]


def test_gram_equals_the_loop():
    problem = small(1)
    kernel, X = problem.kernel, problem.X
    distances = squared_distances(X, X)
    for y in range(kernel.n_labels):
        expected = slow.gram(X, X, kernel.theta[y], kernel.amplitude[y])
        np.testing.assert_allclose(kernel.gram(distances, y), expected, rtol=1e-10)
        assert np.linalg.eigvalsh(expected).min() > -1e-12


def test_prior_blocks_are_the_block_diagonal_of_the_paper():
    problem = small(2, n_labels=2)
    distances = squared_distances(problem.X, problem.X)
    blocks = [problem.kernel.gram(distances, y) for y in range(2)]
    K = slow.prior_covariance(problem.X, problem.kernel.theta, problem.kernel.amplitude)
    begin = 0
    for block in blocks:
        end = begin + len(block)
        np.testing.assert_allclose(block, K[begin:end, begin:end], atol=1e-10)
        np.testing.assert_allclose(K[begin:end, end:], 0.0)
        begin = end
    # The rest are the transitions: independent, of unit variance.
    np.testing.assert_array_equal(K[begin:, begin:], np.eye(4))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("device", DEVICES)
def test_distances_equal_the_loop(kind, device):
    rng = np.random.default_rng(3)
    X = (rng.random((6, 9)) < 0.4).astype(float)
    Z = np.concatenate([X[:2], (rng.random((3, 9)) < 0.4).astype(float)])
    expected = ((X[:, None] - Z[None]) ** 2).sum(-1)
    where = torch.device("cpu") if device == "torch" else "cpu"
    if kind == "sparse":
        X, Z = sp.csr_matrix(X), sp.csr_matrix(Z)
    found = np.asarray(squared_distances(X, Z, device=where))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    if kind == "sparse":
        np.testing.assert_array_equal(found, expected)  # whole numbers stay whole


@pytest.mark.parametrize("device", DEVICES)
def test_distances_survive_a_large_common_shift(device):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(5, 3))
    where = torch.device("cpu") if device == "torch" else "cpu"
    shifted = np.asarray(squared_distances(X + 1e6, X + 1e6, device=where))
    expected = ((X[:, None] - X[None]) ** 2).sum(-1)
    np.testing.assert_allclose(shifted, expected, atol=1e-7)


def test_the_diagonal_is_the_prior_variance():
    X = np.random.default_rng(5).normal(size=(8, 20)) * 100
    kernel = RBF(np.array([0.5]), np.array([7.0]))
    K = kernel.gram(squared_distances(X, X), 0)
    np.testing.assert_allclose(K.diagonal(), 7.0, rtol=1e-6)


def test_median_distance():
    X = np.array([[0.0], [2.0]])
    assert median_distance(X, 0) == pytest.approx(4.0)
    assert median_distance(sp.csr_matrix(X), 0) == pytest.approx(4.0)
    assert median_distance(np.ones((5, 2)), 0) == 1.0
    assert median_distance(np.ones((1, 2)), 0) == 1.0
