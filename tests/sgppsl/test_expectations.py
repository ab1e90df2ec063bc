"""Equations (14), (16), (21): bounds are bounds, slopes are slopes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tagsift.sgppsl.expectations import (
    Expected,
    Jensen,
    Laplace,
    Sampled,
    Tilted,
    expectation,
)
from tests.reference import expectation as slow
from tests.reference.gradients import central_difference
from tests.reference.posterior import gauss_hermite
from tests.reference.problems import random_moments, small

WAYS = ("jensen", "tilted", "sampled", "laplace")


def likelihood_of(problem, name):
    return getattr(problem, name)()


def log_likelihood(likelihood):
    def value(U, T):
        return likelihood.restricted(U, T).value - likelihood.free(U, T).value

    return value


def test_names():
    kinds = (Jensen, Tilted, Sampled, Laplace)
    for name, kind in zip(WAYS, kinds, strict=True):
        assert isinstance(expectation(name), kind)
    assert expectation("sampled", 7) == Sampled(seed=7)


@pytest.mark.parametrize("seed", range(3))
def test_jensen_equals_the_loop(seed):
    problem = small(seed)
    q = random_moments(problem, seed)
    likelihood = problem.piecewise()
    expected = slow.jensen_sum(
        q.mu, q.var, q.mu_T, q.var_T, likelihood.weights, likelihood.pair_weights
    )
    assert Jensen()(likelihood, q).value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["piecewise", "chain"])
@pytest.mark.parametrize("spread", [0.3, 4.0])
def test_jensen_and_tilted_are_below_the_expectation(name, spread):
    # Unary latents independent over tokens, transitions at a point.
    problem = small(1, lengths=(3, 2))
    q = random_moments(problem, 1, spread, var_T=0.0)
    likelihood = likelihood_of(problem, name)
    mean, error = slow.sampled_value(
        log_likelihood(likelihood), q.mu, q.var, q.mu_T, 400, 0
    )
    jensen, tilted = (way(likelihood, q).value for way in (Jensen(), Tilted()))
    assert jensen <= tilted <= mean + 4 * error


@pytest.mark.parametrize("name", ["piecewise", "chain"])
@pytest.mark.parametrize("way", WAYS)
def test_all_agree_without_variance(name, way):
    problem = small(2)
    q = random_moments(problem, 2)
    likelihood = likelihood_of(problem, name)
    exact = log_likelihood(likelihood)(q.mu, q.mu_T)
    for size in (1e-2, 1e-4, 0.0):
        shrunk = replace(q, var=size * q.var, var_T=size * q.var_T)
        value = expectation(way)(likelihood, shrunk).value
        assert abs(value - exact) <= 20 * size**0.5 + 1e-9
    assert value == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("name", ["piecewise", "chain"])
def test_sampled_agrees_with_many_draws(name):
    problem = small(3, lengths=(3, 2))
    q = random_moments(problem, 3, spread=2.0, var_T=0.0)
    likelihood = likelihood_of(problem, name)
    mean, error = slow.sampled_value(
        log_likelihood(likelihood), q.mu, q.var, q.mu_T, 600, 1
    )
    found = Sampled(n_samples=600, seed=2)(likelihood, q)
    assert found.value == pytest.approx(mean, abs=6 * error)
    assert Sampled(seed=5)(likelihood, q).value == Sampled(seed=5)(likelihood, q).value


@pytest.mark.parametrize("name", ["piecewise", "chain"])
@pytest.mark.parametrize("way", WAYS)
def test_gradients_in_the_means_are_slopes(name, way):
    problem = small(4, lengths=(3, 2))
    q = random_moments(problem, 4, spread=5.0)
    likelihood = likelihood_of(problem, name)
    take = Tilted(n_rounds=40) if way == "tilted" else expectation(way)
    found: Expected = take(likelihood, q)
    slope = central_difference(
        lambda mu: take(likelihood, replace(q, mu=mu)).value, q.mu
    )
    np.testing.assert_allclose(found.gradient, slope, atol=1e-6)
    slope_T = central_difference(
        lambda mu_T: take(likelihood, replace(q, mu_T=mu_T)).value, q.mu_T
    )
    np.testing.assert_allclose(found.gradient_T, slope_T, atol=1e-6)


@pytest.mark.parametrize("name", ["piecewise", "chain"])
@pytest.mark.parametrize("way", ["jensen", "tilted"])
def test_precisions_are_slopes_in_the_variances(name, way):
    problem = small(5, lengths=(3, 2))
    q = random_moments(problem, 5, spread=5.0)
    likelihood = likelihood_of(problem, name)
    take = Tilted(n_rounds=40) if way == "tilted" else expectation(way)
    found = take(likelihood, q)
    slope = central_difference(
        lambda var: take(likelihood, replace(q, var=var)).value, q.var
    )
    np.testing.assert_allclose(found.precision, -2.0 * slope, atol=1e-6)
    slope_T = central_difference(
        lambda var_T: take(likelihood, replace(q, var_T=var_T)).value, q.var_T
    )
    np.testing.assert_allclose(found.precision_T, -2.0 * slope_T, atol=1e-6)


def test_sampled_precision_is_the_slope_of_the_expectation():
    # d E[g(f)] / dV = ½ E[g''(f)]; the expectation here by quadrature.
    problem = small(6, lengths=(1,), n_labels=2)
    q = random_moments(problem, 6, spread=3.0, var_T=0.0)
    likelihood = problem.piecewise()

    def exact(var):
        f, mass = gauss_hermite(q.mu[0], np.diag(var[0]), 24)
        values = [log_likelihood(likelihood)(point[None], q.mu_T) for point in f]
        return float(mass @ values)

    found = Sampled(n_samples=2000, seed=0)(likelihood, q)
    assert found.value == pytest.approx(exact(q.var), abs=0.05)
    slope = central_difference(exact, q.var, step=1e-4)
    np.testing.assert_allclose(found.precision, -2.0 * slope, atol=0.01)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["piecewise", "chain"])
def test_precisions_are_never_negative(name, way):
    for seed in range(5):
        problem = small(seed)
        q = random_moments(problem, seed, spread=10.0)
        found = expectation(way)(likelihood_of(problem, name), q)
        assert (np.asarray(found.precision) >= 0).all()
        assert (np.asarray(found.precision_T) >= 0).all()
        np.testing.assert_allclose(np.asarray(found.weights).sum(axis=1), 1.0)


def test_tilted_never_loses_to_jensen_at_large_variance():
    problem = small(7)
    likelihood = problem.piecewise()
    for spread in (1.0, 20.0, 1000.0):
        q = random_moments(problem, 7, spread)
        assert Tilted()(likelihood, q).value >= Jensen()(likelihood, q).value
