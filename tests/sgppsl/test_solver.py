"""The ascent: no step lowers the bound, and it ends where the slopes vanish."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tagsift.sgppsl.likelihoods import Piecewise
from tagsift.sgppsl.solver import (
    _transition_direction,
    ascend,
    evaluate,
    mean_step,
    start,
    variance_step,
)
from tests.reference.gradients import gradient_mean, gradient_variance
from tests.reference.posterior import site_covariance
from tests.reference.problems import small

WAYS = ("jensen", "tilted", "sampled", "laplace")
POINTS = np.array([0, 2, 3, 6, 9, 11])


def likelihood_of(problem, name):
    return getattr(problem, name)()


def climb(problem, name, way, points, **options):
    fixed, _ = problem.problem(way, points)
    likelihood = likelihood_of(problem, name)
    state = start(fixed, problem.labels().uniform(), problem.n_labels)
    state, bounds = ascend(fixed, likelihood, state, **options)
    return fixed, likelihood, state, bounds


@pytest.mark.parametrize("points", [None, POINTS], ids=["dense", "inducing"])
@pytest.mark.parametrize("name", ["piecewise", "chain"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("amplitude", [0.5, 20.0, 500.0])
def test_the_bound_never_falls(points, name, way, amplitude):
    problem = small(1, amplitude=amplitude)
    _, _, state, bounds = climb(problem, name, way, points, n_mean=3, n_variance=4)
    assert np.isfinite(bounds).all()
    assert (np.diff(bounds) >= 0).all()
    assert bounds[-1] > bounds[0]
    for array in (state.beta, state.q.mu, state.q.var, state.q.mu_T, state.q.var_T):
        assert np.isfinite(array).all()
    assert (state.q.var >= 0).all() and (state.q.var_T > 0).all()


@pytest.mark.parametrize("amplitude", [1.0, 20.0])
def test_the_end_is_stationary(amplitude):
    # Equations (18) and (19) with every inverse, at the end of a long ascent.
    problem = small(2, amplitude=amplitude)
    fixed, likelihood, state, _ = climb(
        problem, "piecewise", "jensen", None, n_mean=20, n_variance=60, tol=1e-15
    )
    expected = evaluate(fixed, likelihood, state).expected
    for y in range(problem.n_labels):
        K = problem.kernel.gram(problem.distances().ZN, y)
        V = site_covariance(K, state.lam[:, y])
        slope = gradient_mean(K, state.q.mu[:, y], expected.gradient[:, y])
        np.testing.assert_allclose(slope, 0.0, atol=1e-5)
        slope = gradient_variance(K, V, -0.5 * expected.precision[:, y])
        np.testing.assert_allclose(slope, 0.0, atol=1e-4)
    # μ = K(w − p), V = (K⁻¹ + diag p)⁻¹: the fixed point of model and solver.
    np.testing.assert_allclose(state.beta, expected.gradient, atol=1e-5)
    np.testing.assert_allclose(state.lam, expected.precision, atol=1e-4)
    np.testing.assert_allclose(state.q.mu_T, expected.gradient_T, atol=1e-6)
    np.testing.assert_allclose(
        state.q.var_T, 1.0 / (1.0 + expected.precision_T), atol=1e-6
    )


@pytest.mark.parametrize("points", [None, POINTS], ids=["dense", "inducing"])
@pytest.mark.parametrize("name", ["piecewise", "chain"])
@pytest.mark.parametrize("way", ["laplace", "tilted"])
def test_other_expectations_end_at_a_stationary_mean(points, name, way):
    problem = small(3)
    fixed, likelihood, state, _ = climb(
        problem, name, way, points, n_mean=30, n_variance=20, tol=1e-15
    )
    expected = evaluate(fixed, likelihood, state).expected
    slope = fixed.covariance.gradient(state.beta, expected.gradient)
    np.testing.assert_allclose(slope, 0.0, atol=2e-4)
    slope_T = expected.gradient_T - state.q.mu_T
    np.testing.assert_allclose(slope_T, 0.0, atol=2e-4)


def test_two_starts_reach_one_end():
    # At fixed weights the bound is concave.
    problem = small(4, amplitude=5.0)
    fixed, likelihood, one, bounds = climb(
        problem, "piecewise", "jensen", None, n_mean=20, n_variance=40, tol=1e-14
    )
    far = start(fixed, 30.0 * problem.labels().uniform(), problem.n_labels)
    other, again = ascend(fixed, likelihood, far, n_mean=20, n_variance=40, tol=1e-14)
    assert again[-1] == pytest.approx(bounds[-1], abs=1e-6)
    np.testing.assert_allclose(other.q.mu, one.q.mu, atol=1e-3)


def test_transition_counts_in_the_thousands_converge():
    problem = small(5)
    W = 1000.0 * np.array([[5.0, 1.0, 0.0], [2.0, 3.0, 1.0], [0.0, 0.0, 4.0]])
    likelihood = Piecewise(problem.labels().uniform(), W)
    fixed, _ = problem.problem()
    state = start(fixed, likelihood.weights, 3)
    state, bounds = ascend(
        fixed, likelihood, state, n_mean=30, n_variance=10, tol=1e-14
    )
    assert (np.diff(bounds) >= 0).all()
    expected = evaluate(fixed, likelihood, state).expected
    np.testing.assert_allclose(state.q.mu_T, expected.gradient_T, atol=1e-5)


def test_a_step_that_cannot_help_changes_nothing():
    problem = small(7)
    fixed, likelihood, state, _ = climb(
        problem, "piecewise", "jensen", None, n_mean=30, n_variance=60, tol=1e-15
    )
    best = replace(evaluate(fixed, likelihood, state), bound=np.inf)
    assert mean_step(fixed, likelihood, best) is best
    same = variance_step(fixed, likelihood, best)
    assert same.state.lam is state.lam and same.bound == np.inf
    assert same.state.step < 0.01


def test_the_step_of_the_transitions_solves_its_newton_equation():
    """Row by row, (I + diag p − p pᵀ / Σp) d = slope; a row without counts too."""
    problem = small(2)
    fixed, _ = problem.problem("jensen", None)
    state = start(fixed, problem.labels().uniform(), problem.n_labels)
    expected = evaluate(fixed, problem.piecewise(), state).expected
    counts = np.asarray(expected.precision_T).copy()  # [L, L]
    counts[0] = 0.0
    expected = replace(expected, precision_T=1000.0 * counts)
    direction = _transition_direction(state, expected)  # [L, L]
    slope = expected.gradient_T - state.q.mu_T  # [L, L]
    for p, d, g in zip(expected.precision_T, direction, slope, strict=True):
        hessian = np.eye(len(p)) + np.diag(p) - np.outer(p, p) / (p.sum() or 1.0)
        np.testing.assert_allclose(hessian @ d, g, rtol=1e-9, atol=1e-9)
