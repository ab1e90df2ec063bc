"""Equations (22)–(24) against inverses; what a model file holds comes back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from tagsift.sgppsl import predictive as module
from tagsift.sgppsl.predictive import FittedGP
from tests.reference import posterior
from tests.reference import predictive as slow
from tests.reference.comparing import all_equal
from tests.reference.problems import small
from tests.reference.saved_again import saved_again


@pytest.fixture(scope="module")
def problem():
    return small(1)


def make(problem, points=None, sparse=False):
    _, roots, solution = problem.fit(points=points, tol=1e-6)
    state = solution.state
    rows = problem.X if points is None else problem.X[points]
    gp = FittedGP(
        problem.kernel,
        sp.csr_matrix(rows) if sparse else rows,
        state.beta,
        [] if points is None else state.factors.cholesky,
        roots,
        state.factors.root if points is None else None,
        state.q.mu_T,
        state.q.var_T,
    )
    return gp, state


def new_rows(problem):
    return np.random.default_rng(5).normal(size=(7, problem.X.shape[1]))


@pytest.mark.parametrize("points", [None, "all"])
def test_moments_equal_the_inverses(problem, points):
    gp, state = make(problem, None if points is None else np.arange(len(problem.X)))
    kernel = problem.kernel
    Ks = [kernel.gram(problem.distances().ZN, y) for y in range(problem.n_labels)]
    Vs = [posterior.site_covariance(K, state.lam[:, y]) for y, K in enumerate(Ks)]
    mean, var = slow.moments(
        problem.X,
        new_rows(problem),
        kernel.theta,
        kernel.amplitude,
        state.q.mu.T,
        Vs,
    )
    found, spread = gp.moments(new_rows(problem))
    np.testing.assert_allclose(found, mean, atol=1e-7)
    np.testing.assert_allclose(spread, var, atol=1e-7)
    # Equation (22): unary and transition latents side by side, transitions unchanged.
    joint, covariance = slow.predictive(found, spread, gp.mu_T, gp.var_T)
    np.testing.assert_array_equal(joint[-9:], state.q.mu_T.ravel())
    np.testing.assert_array_equal(covariance.diagonal()[-9:], state.q.var_T.ravel())


def test_at_the_training_tokens_the_moments_are_those_of_the_fit(problem):
    gp, state = make(problem)
    mu, var = gp.moments(problem.X)
    np.testing.assert_allclose(mu, state.q.mu, atol=1e-9)
    np.testing.assert_allclose(var, state.q.var, atol=1e-9)


def test_variances_lie_between_zero_and_the_prior(problem):
    for points in (None, np.arange(6)):
        gp, _ = make(problem, points)
        _, var = gp.moments(new_rows(problem))
        assert (var >= 0).all()
        assert (var <= problem.kernel.amplitude + 1e-9).all()


@pytest.mark.parametrize("points", [None, np.arange(6)], ids=["dense", "inducing"])
def test_blocks_change_nothing(problem, points, monkeypatch):
    gp, _ = make(problem, points)
    mu, var = gp.moments(new_rows(problem))
    monkeypatch.setattr(module, "_BLOCK", 2)
    small_mu, small_var = gp.moments(new_rows(problem))
    np.testing.assert_allclose(small_mu, mu, atol=1e-12)
    np.testing.assert_allclose(small_var, var, atol=1e-12)


@pytest.mark.parametrize("points", [None, np.arange(6)], ids=["dense", "inducing"])
@pytest.mark.parametrize("sparse", [False, True])
def test_state_and_back(problem, points, sparse):
    gp, _ = make(problem, points, sparse)
    assert gp.dense == (points is None)
    again = saved_again(gp)
    assert again.dense == gp.dense
    all_equal(gp.moments(new_rows(problem)), again.moments(new_rows(problem)))


def test_shared_roots_are_stored_once(problem):
    kernel = replace(problem.kernel, theta=np.array([0.3, 0.4, 0.3]))
    problem = type(problem)(problem.X, problem.mask, problem.offsets, kernel)
    gp, _ = make(problem, np.arange(6))
    again = saved_again(gp)
    assert again.roots[0] is again.roots[2]
    assert again.roots[0] is not again.roots[1]
