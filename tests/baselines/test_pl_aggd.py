"""PL-AGGD: the graph step and the confidence step against general QP solvers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from tagsift.baselines._pointwise import CandidateSimplex
from tagsift.baselines.pl_aggd import (
    confidence_step,
    difference_grams,
    graph_matrix,
    graph_step,
    label_grams,
)
from tagsift.features.distances import Reference, nearest

N, L, K = 30, 3, 5


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 8))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    mask = rng.random((N, L)) < 0.5
    mask[np.arange(N), rng.integers(L, size=N)] = True
    neighbours, _ = nearest(Reference(X), X, K, same=True)
    return X, mask, neighbours, rng


def simplex_qp(objective, gradient, start, groups):
    """Minimise over non-negative variables whose groups each sum to one."""
    A = np.zeros((len(groups), len(start)))
    for row, group in enumerate(groups):
        A[row, group] = 1.0
    return minimize(
        objective,
        start,
        jac=gradient,
        bounds=[(0, 1)] * len(start),
        constraints={"type": "eq", "fun": lambda x: A @ x - 1, "jac": lambda _: A},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    ).x


@pytest.mark.parametrize("sparse", [False, True])
def test_grams_equal_a_loop(problem, sparse: bool):
    X, _, neighbours, _ = problem
    G = difference_grams(sp.csr_matrix(X) if sparse else X, neighbours)
    for i in range(N):
        D = X[i] - X[neighbours[i]]
        np.testing.assert_allclose(G[i], D @ D.T, atol=1e-12)
    np.testing.assert_allclose(label_grams(X, neighbours), G, atol=1e-12)


def test_graph_step_equals_a_qp_solver(problem):
    X, _, neighbours, _ = problem
    G = difference_grams(X, neighbours)
    s = graph_step(G)
    np.testing.assert_allclose(s.sum(axis=1), 1.0)
    assert (s >= 0).all()
    for i in range(N):
        found = simplex_qp(
            lambda x, i=i: x @ G[i] @ x,
            lambda x, i=i: 2 * G[i] @ x,
            np.full(K, 1 / K),
            [np.arange(K)],
        )
        np.testing.assert_allclose(s[i], found, atol=1e-5)
        assert s[i] @ G[i] @ s[i] <= found @ G[i] @ found + 1e-9


def test_no_difference_leaves_equal_weights():
    np.testing.assert_array_equal(graph_step(np.zeros((2, 4, 4))), 0.25)
    assert graph_step(np.zeros((3, 0, 0))).shape == (3, 0)


def test_graph_matrix_has_few_weights_that_sum_to_one(problem):
    X, _, neighbours, _ = problem
    B = graph_matrix(graph_step(difference_grams(X, neighbours)), neighbours)
    S = sp.identity(N) - B
    np.testing.assert_allclose(np.asarray(S.sum(axis=1)).ravel(), 1.0)
    assert ((S.toarray() > 1e-12).sum(axis=1) <= K).all()
    assert not S.diagonal().any()
    alone = graph_matrix(np.zeros((2, 0)), np.zeros((2, 0), dtype=np.int64))
    np.testing.assert_array_equal(alone.toarray(), np.eye(2))


@pytest.mark.parametrize("mu", [0.5, 1.0, 3.0])
def test_confidence_step_equals_a_qp_solver(problem, mu: float):
    X, mask, neighbours, rng = problem
    B = graph_matrix(graph_step(difference_grams(X, neighbours)), neighbours)
    H = rng.normal(size=(N, L))
    simplex = CandidateSimplex(mask)
    F = confidence_step(B, simplex, simplex.uniform(), H, mu)
    np.testing.assert_allclose(F.sum(axis=1), 1.0)
    assert not F[~mask].any()
    D = B.toarray()
    free = np.flatnonzero(mask.ravel())
    place = {position: n for n, position in enumerate(free)}
    groups = [[place[i * L + j] for j in np.flatnonzero(mask[i])] for i in range(N)]

    def full(x):
        out = np.zeros(N * L)
        out[free] = x
        return out.reshape(N, L)

    def objective(x):
        return np.sum((D @ full(x)) ** 2) + np.sum((full(x) - H) ** 2) / mu

    def gradient(x):
        return (2 * D.T @ D @ full(x) + 2 / mu * (full(x) - H)).ravel()[free]

    start = simplex.uniform().ravel()[free]
    found = simplex_qp(objective, gradient, start, groups)
    np.testing.assert_allclose(F, full(found), atol=1e-4)


def test_without_regression_the_graph_alone_decides(problem):
    X, mask, neighbours, _ = problem
    B = graph_matrix(graph_step(difference_grams(X, neighbours)), neighbours)
    simplex = CandidateSimplex(mask)
    start = simplex.uniform()
    F = confidence_step(B, simplex, start)
    assert np.sum((B @ F) ** 2) < np.sum((B @ start) ** 2)
    nothing = CandidateSimplex(np.ones((N, L), dtype=bool))
    np.testing.assert_allclose(
        confidence_step(B, nothing, nothing.uniform()), 1 / L, atol=1e-12
    )
