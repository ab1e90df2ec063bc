"""Equations (18)–(20) against inverses and central differences."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.gp.kernels import RBF
from tagsift.sgppsl.carriers import Distances
from tagsift.sgppsl.expectations import Jensen, Moments
from tagsift.sgppsl.hyperparameters import theta_gradient
from tagsift.sgppsl.solver import Problem, ascend, start
from tests.reference import gradients as slow
from tests.reference import posterior, prior
from tests.reference.problems import small


def settle(problem, likelihood, kernel, points=None):
    """The maximised bound at other hyperparameters, and all that led to it."""
    distances = problem.distances(points)
    covariance, roots = distances.covariance(kernel)
    fixed = Problem(covariance, Jensen())
    state = start(fixed, likelihood.weights, problem.n_labels)
    for _ in range(20):
        state, bounds = ascend(
            fixed, likelihood, state, n_mean=10, n_variance=5, tol=1e-14
        )
        if bounds[-1] - bounds[0] < 1e-13:
            break
    return bounds[-1], fixed, roots, distances, state


def moved(kernel, log_theta, log_amplitude):
    return RBF(
        kernel.theta * np.exp(log_theta), kernel.amplitude * np.exp(log_amplitude)
    )


@pytest.mark.parametrize("points", [np.arange(12), np.array([0, 3, 5, 8, 10])], ids=str)
def test_hyperparameter_gradients_are_slopes_of_the_maximised_bound(points):
    problem = small(1)
    likelihood, kernel = problem.piecewise(), problem.kernel
    _, fixed, roots, distances, state = settle(problem, likelihood, kernel, points)
    d_theta, d_amplitude = theta_gradient(
        distances, fixed, kernel, roots, likelihood, state
    )
    none = np.zeros(problem.n_labels)
    slope = slow.central_difference(
        lambda t: settle(problem, likelihood, moved(kernel, t, none), points)[0],
        np.zeros_like(kernel.theta),
        step=1e-4,
    )
    np.testing.assert_allclose(d_theta, slope, atol=2e-6)
    slope = slow.central_difference(
        lambda a: settle(problem, likelihood, moved(kernel, 0.0, a), points)[0],
        none,
        step=1e-4,
    )
    np.testing.assert_allclose(d_amplitude, slope, atol=2e-6)


def test_theta_gradient_equals_the_inverses_and_half_of_what_is_printed():
    # Reading R3, at the optimum with every token an inducing point.
    problem = small(2)
    kernel, likelihood = problem.kernel, problem.piecewise()
    points = np.arange(len(problem.X))
    _, fixed, roots, distances, state = settle(problem, likelihood, kernel, points)
    d_theta, d_amplitude = theta_gradient(
        distances, fixed, kernel, roots, likelihood, state
    )
    for y in range(problem.n_labels):
        K = kernel.gram(distances.ZN, y)
        V, mu = posterior.site_covariance(K, state.lam[:, y]), state.q.mu[:, y]
        dK = -distances.ZN * K * kernel.theta[y]  # in log θ
        true = slow.gradient_theta(K, dK, mu, V)
        assert d_theta[y] == pytest.approx(true, abs=1e-5)
        printed = slow.printed_gradient_theta(K, dK, mu, V)
        assert printed == pytest.approx(2.0 * d_theta[y], abs=2e-5)
        # The true one is the slope of −KL at fixed (μ, V).
        slope = slow.central_difference(
            lambda t, mu=mu, V=V, y=y: (
                -posterior.kl(
                    mu,
                    V,
                    prior.gram(
                        problem.X,
                        problem.X,
                        kernel.theta[y] * np.exp(t[0]),
                        kernel.amplitude[y],
                    ),
                )
            ),
            np.zeros(1),
        )
        assert true == pytest.approx(slope[0], rel=1e-5)
        grown = slow.gradient_theta(K, K, mu, V)
        assert d_amplitude[y] == pytest.approx(grown, abs=1e-5)


def test_mean_and_variance_gradients():
    problem = small(3, lengths=(3, 2))
    likelihood = problem.piecewise()
    rng = np.random.default_rng(3)
    shape = problem.mask.shape
    K = problem.kernel.gram(problem.distances().ZN, 0)
    V = posterior.site_covariance(K, rng.gamma(1.0, size=len(K)))
    mu = rng.normal(size=shape)
    var = rng.gamma(1.0, size=shape)
    var[:, 0] = V.diagonal()
    square = np.zeros((problem.n_labels, problem.n_labels))

    def bound(mean, covariance):
        means, variances = mu.copy(), var.copy()
        means[:, 0], variances[:, 0] = mean, covariance.diagonal()
        expected = Jensen()(likelihood, Moments(means, variances, square, square))
        return expected.value - posterior.kl(mean, covariance, K)

    expected = Jensen()(likelihood, Moments(mu, var, square, square))
    d_mean = slow.gradient_mean(K, mu[:, 0], expected.gradient[:, 0])
    slope = slow.central_difference(lambda m: bound(m, V), mu[:, 0])
    np.testing.assert_allclose(d_mean, slope, atol=1e-6)
    dP = -0.5 * expected.precision[:, 0]
    d_var = slow.gradient_variance(K, V, dP)
    for i in range(len(K)):
        for j in range(i + 1):
            unit = np.zeros_like(V)
            unit[i, j] = unit[j, i] = 1.0
            slope = slow.central_difference(
                lambda t, unit=unit: bound(mu[:, 0], V + t[0] * unit),
                np.zeros(1),
                step=1e-6,
            )
            # Both mirrored entries move, so off the diagonal the slope counts twice.
            assert np.sum(d_var * unit) == pytest.approx(slope[0], abs=2e-5)


def test_unknown_covariances_are_refused():
    problem = small(4)
    fixed, _ = problem.problem()
    odd = Problem(object(), fixed.expectation)
    with pytest.raises(TypeError, match="no gradient for object"):
        theta_gradient(
            Distances(None), odd, problem.kernel, [], problem.piecewise(), None
        )
