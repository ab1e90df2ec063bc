"""Kernel ridge with a free bias, against published closed forms and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform

from tagsift.baselines import SURE
from tagsift.baselines._kernel_ridge import DenseRidge, NystromRidge
from tagsift.errors import ScaleWarning
from tagsift.features import distances
from tagsift.features.distances import mean_distance
from tests.reference.saved_again import saved_again

N, L, RIDGE, SIGMA = 40, 3, 0.05, 2.5


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 6))
    P = rng.dirichlet(np.ones(L), size=N)
    K = np.exp(-(squareform(pdist(X)) ** 2) / (2 * SIGMA**2))
    return X, P, K


def test_dual_weights_sum_to_zero_and_equal_the_closed_form(problem):
    X, P, K = problem
    ridge = DenseRidge(X, RIDGE, SIGMA)
    outputs = ridge.solve(P)
    np.testing.assert_allclose(ridge.weights.sum(axis=0), 0.0, atol=1e-10)
    ones = np.ones((N, N)) / N
    A = np.linalg.solve(K + RIDGE * np.eye(N) - ones @ K, P - ones @ P)
    b = (P.sum(axis=0) - A.T @ K.T @ np.ones(N)) / N
    np.testing.assert_allclose(ridge.weights, A, atol=1e-10)
    np.testing.assert_allclose(ridge.bias, b, atol=1e-10)
    np.testing.assert_allclose(outputs, K @ A + b, atol=1e-10)


def test_it_minimises_the_regularised_error(problem):
    X, P, K = problem
    ridge = DenseRidge(X, RIDGE, SIGMA)
    ridge.solve(P)

    def objective(A, b):
        return np.sum((K @ A + b - P) ** 2) + RIDGE * np.trace(A.T @ K @ A)

    best = objective(ridge.weights, ridge.bias)
    rng = np.random.default_rng(1)
    for _ in range(20):
        A = ridge.weights + 1e-2 * rng.normal(size=(N, L))
        assert objective(A, ridge.bias + 1e-2 * rng.normal(size=L)) > best


@pytest.mark.parametrize("sparse", [False, True])
def test_new_tokens_get_what_training_tokens_get(problem, sparse: bool):
    X, P, _ = problem
    X = sp.csr_matrix(X) if sparse else X
    ridge = DenseRidge(X, RIDGE, SIGMA)
    outputs = ridge.solve(P)
    np.testing.assert_allclose(ridge.expansion().scores(X), outputs, atol=1e-9)
    again = saved_again(ridge.expansion())
    np.testing.assert_array_equal(again.scores(X), ridge.expansion().scores(X))


def test_nystrom_on_all_tokens_is_the_dense_solution(problem):
    X, P, _ = problem
    dense = DenseRidge(X, RIDGE, SIGMA)
    nystrom = NystromRidge(X, RIDGE, SIGMA, np.random.default_rng(0))
    np.testing.assert_allclose(nystrom.solve(P), dense.solve(P), atol=1e-5)
    np.testing.assert_allclose(
        nystrom.expansion().scores(X[:5] + 0.1),
        dense.expansion().scores(X[:5] + 0.1),
        atol=1e-5,
    )


def test_large_data_take_nystrom_and_say_so(problem):
    X, P, _ = problem
    assert isinstance(SURE(max_dense=N)._ridge(X, RIDGE, 0), DenseRidge)
    with pytest.warns(ScaleWarning, match="SURE has 40 tokens, more than max_dense=39"):
        ridge = SURE(max_dense=39)._ridge(X, RIDGE, 0)
    assert isinstance(ridge, NystromRidge)
    assert ridge.solve(P).shape == P.shape


def test_identical_tokens_do_not_break_the_factor():
    X = np.ones((10, 3))
    P = np.eye(2)[np.arange(10) % 2]
    sigma = mean_distance(X, np.random.default_rng(0))
    assert sigma == 1.0
    np.testing.assert_allclose(DenseRidge(X, RIDGE, sigma).solve(P), 0.5, atol=1e-9)
    assert np.isfinite(
        NystromRidge(X, RIDGE, sigma, np.random.default_rng(0)).solve(P)
    ).all()


@pytest.mark.parametrize("sparse", [False, True])
def test_mean_distance(problem, sparse: bool, monkeypatch):
    X = sp.csr_matrix(problem[0]) if sparse else problem[0]
    exact = mean_distance(X, np.random.default_rng(0))
    assert exact == pytest.approx(pdist(problem[0]).mean())
    monkeypatch.setattr(distances, "_ALL_PAIRS", 10)
    assert mean_distance(X, np.random.default_rng(0)) == pytest.approx(exact, rel=0.01)
    assert mean_distance(X[:1], np.random.default_rng(0)) == 1.0
