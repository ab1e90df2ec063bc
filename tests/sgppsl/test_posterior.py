"""Equations (12)–(13) and (15): factors and the KL against inverses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagsift.backend import cholesky
from tagsift.features.distances import squared_distances
from tagsift.sgppsl import posterior
from tagsift.sgppsl.posterior import (
    Dense,
    kl_divergence,
    transition_kl,
)
from tests.reference import posterior as slow
from tests.reference import prior
from tests.reference.problems import small


def grams(problem):
    kernel = problem.kernel
    return [
        prior.gram(problem.X, problem.X, kernel.theta[y], kernel.amplitude[y])
        for y in range(kernel.n_labels)
    ]


def dense(problem):
    return problem.distances().covariance(problem.kernel)[0]


def inducing(problem, points):
    return problem.distances(points).covariance(problem.kernel)


def sites(problem, seed=0):
    rng = np.random.default_rng(seed)
    lam = rng.gamma(1.0, size=problem.mask.shape)
    return lam, rng.normal(size=problem.mask.shape)


@pytest.mark.parametrize("seed", range(3))
def test_dense_variances_and_kl_equal_the_inverses(seed):
    problem = small(seed)
    lam, alpha = sites(problem, seed)
    covariance = dense(problem)
    factors = covariance.factor(lam)
    mu = covariance.mean(alpha)
    total = 0.0
    for y, K in enumerate(grams(problem)):
        V = slow.site_covariance(K, lam[:, y])
        np.testing.assert_allclose(factors.var[:, y], V.diagonal(), rtol=1e-8)
        np.testing.assert_allclose(mu[:, y], K @ alpha[:, y], rtol=1e-10)
        total += slow.kl(mu[:, y], V, K)
    found = kl_divergence(factors, covariance.quadratic(alpha, mu))
    assert found == pytest.approx(total, rel=1e-8)


def test_single_precision_costs_next_to_nothing(monkeypatch):
    problem = small(3, lengths=(60, 60), amplitude=100.0)
    lam = 10.0 ** np.random.default_rng(3).uniform(-6, 0, problem.mask.shape)
    lam[0] = 0.0  # a site of no weight
    double = dense(problem).factor(lam)
    monkeypatch.setattr(posterior, "SINGLE", 10)
    single = dense(problem).factor(lam)
    assert single.cholesky[0].dtype == np.float32
    # What a score μ + ½v gets wrong matters as much as its label is likely.
    wrong = np.abs(single.var - double.var)
    assert (lam * wrong).max() < 2e-4 and (wrong / double.var).max() < 0.02
    assert single.kl == pytest.approx(double.kl, rel=1e-4)


def test_dense_direction_is_newtons():
    problem = small(4)
    lam, r = sites(problem, 4)
    covariance = dense(problem)
    found = covariance.precondition(covariance.factor(lam), r)
    for y, K in enumerate(grams(problem)):
        V = slow.site_covariance(K, lam[:, y])
        # μ moves by V times the gradient in μ, so α = K⁻¹μ by K⁻¹ V r.
        np.testing.assert_allclose(found[:, y], np.linalg.inv(K) @ V @ r[:, y])


@pytest.mark.parametrize("seed", range(3))
def test_inducing_variances_and_kl_equal_the_inverses(seed):
    problem = small(seed)
    points = np.array([0, 2, 5, 7, 11])
    lam, _ = sites(problem, seed)
    covariance, roots = inducing(problem, points)
    factors = covariance.factor(lam)
    m = np.random.default_rng(seed).normal(size=(len(points), problem.n_labels))
    mu = covariance.mean(m)
    total = 0.0
    X, kernel = problem.X, problem.kernel
    for y in range(problem.n_labels):
        theta, amplitude = kernel.theta[y], kernel.amplitude[y]
        K_ZZ = prior.gram(X[points], X[points], theta, amplitude)
        K_ZN = prior.gram(X[points], X, theta, amplitude)
        project = np.linalg.inv(K_ZZ) @ K_ZN  # [M, N]
        S = np.linalg.inv(
            np.linalg.inv(K_ZZ) + project @ np.diag(lam[:, y]) @ project.T
        )
        prior_left = amplitude - np.sum(K_ZN * project, axis=0)
        expected = prior_left + np.sum(project * (S @ project), axis=0)
        np.testing.assert_allclose(factors.var[:, y], expected, rtol=1e-8)
        mean_Z = amplitude**0.5 * np.asarray(roots[y]) @ m[:, y]
        np.testing.assert_allclose(mu[:, y], project.T @ mean_Z, rtol=1e-8)
        total += slow.kl(mean_Z, S, K_ZZ)
    found = kl_divergence(factors, covariance.quadratic(m, mu))
    assert found == pytest.approx(total, rel=1e-8)


def test_inducing_direction_is_newtons():
    problem = small(5)
    points = np.array([1, 4, 9])
    lam, g = sites(problem, 5)
    covariance, _ = inducing(problem, points)
    factors = covariance.factor(lam)
    m = np.ones((3, problem.n_labels))
    r = covariance.gradient(m, g)
    found = covariance.precondition(factors, r)
    for y in range(problem.n_labels):
        A = covariance.amplitude[y] ** 0.5 * covariance.A[y]
        np.testing.assert_allclose(r[:, y], A @ g[:, y] - m[:, y])
        Lam = np.eye(3) + A @ np.diag(lam[:, y]) @ A.T
        np.testing.assert_allclose(found[:, y], np.linalg.solve(Lam, r[:, y]))


def test_kl_is_zero_where_q_is_the_prior():
    problem = small(6)
    none = np.zeros(problem.mask.shape)
    for covariance in (dense(problem), inducing(problem, np.arange(5))[0]):
        factors = covariance.factor(none)
        assert kl_divergence(factors, 0.0) == 0.0
        amplitude = np.broadcast_to(problem.kernel.amplitude, none.shape)
        np.testing.assert_allclose(factors.var, amplitude)
    assert transition_kl(np.zeros((3, 3)), np.ones((3, 3))) == 0.0


@settings(max_examples=40, derandomize=True)
@given(st.integers(0, 10_000), st.sampled_from([1e-3, 1.0, 1e3]))
def test_kl_is_never_negative(seed, amplitude):
    problem = small(seed, amplitude=amplitude)
    rng = np.random.default_rng(seed)
    lam = rng.gamma(0.3, size=problem.mask.shape)
    for covariance in (dense(problem), inducing(problem, np.arange(5))[0]):
        assert kl_divergence(covariance.factor(lam), 0.0) >= -1e-9
    square = (3, 3)
    mu_T, var_T = rng.normal(size=square), rng.gamma(1.0, size=square) + 1e-6
    assert transition_kl(mu_T, var_T) >= 0.0


def test_transition_kl_equals_the_dense_formula():
    rng = np.random.default_rng(0)
    mu_T, var_T = rng.normal(size=(3, 3)), rng.gamma(1.0, size=(3, 3))
    expected = slow.kl(mu_T.ravel(), np.diag(var_T.ravel()), np.eye(9))
    assert transition_kl(mu_T, var_T) == pytest.approx(expected)


def test_labels_with_one_width_share_their_matrix():
    problem = small(7)
    kernel = replace(problem.kernel, theta=np.array([0.3, 0.4, 0.3]))
    covariance, _ = problem.distances().covariance(kernel)
    assert covariance.grams[0] is covariance.grams[2]
    assert covariance.grams[0] is not covariance.grams[1]
    points = np.arange(len(problem.X))
    whitened, roots = problem.distances(points).covariance(kernel)
    assert whitened.A[0] is whitened.A[2] and roots[0] is roots[2]
    lam, alpha = sites(problem)
    apart = Dense([g.copy() for g in covariance.grams], covariance.amplitude)
    np.testing.assert_allclose(covariance.mean(alpha), apart.mean(alpha), rtol=1e-12)
    np.testing.assert_array_equal(covariance.factor(lam).var, apart.factor(lam).var)


def test_any_memory_layout_gives_the_same_factor():
    problem = small(8)
    lam, _ = sites(problem)
    covariance = dense(problem)
    turned = Dense(
        [np.asfortranarray(g) for g in covariance.grams], covariance.amplitude
    )
    np.testing.assert_allclose(
        turned.factor(lam).var, covariance.factor(lam).var, rtol=1e-12
    )


def test_the_jitter_of_the_inducing_points_is_kept():
    problem = small(9)
    points = np.array([0, 1, 1])
    covariance, _ = inducing(problem, points)
    K = problem.kernel.unit_gram(
        squared_distances(problem.X[points], problem.X[points]), 0
    )
    assert cholesky(K)[1] <= covariance.jitter
    assert 0.0 < covariance.jitter < 1e-8
    assert inducing(problem, np.array([0, 1]))[0].jitter == 0.0
