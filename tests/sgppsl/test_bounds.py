"""Equations (7)–(11) and (15): L_l ≤ L ≤ log p(Y|X), by quadrature."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tagsift.sgppsl.expectations import Jensen, Moments, Tilted
from tagsift.sgppsl.likelihoods import Piecewise
from tagsift.sgppsl.solver import Problem, ascend, evaluate, start
from tests.reference import expectation as slow_expectation
from tests.reference import pieces
from tests.reference import posterior as slow
from tests.reference.problems import Small, small

#: Quadrature points per dimension, for the four latent values of two tokens.
POINTS = 14


def two_by_two(seed):
    """Two sentences of one token, two labels: four unary latents, no transitions."""
    problem = small(seed, lengths=(1, 1), n_labels=2, amplitude=2.0, n_features=1)
    return Small(problem.X, problem.mask, problem.offsets, problem.kernel)


def blocks(problem):
    """K, with the latents in the order (label, token)."""
    distances = np.subtract.outer(problem.X[:, 0], problem.X[:, 0]) ** 2
    K = np.zeros((4, 4))
    for y in range(2):
        K[2 * y : 2 * y + 2, 2 * y : 2 * y + 2] = problem.kernel.gram(distances, y)
    return K


def settled(problem, way):
    """The end of an ascent at uniform confidences: state, bound, weights."""
    weights = problem.labels().uniform()
    likelihood = Piecewise(weights, np.zeros((2, 2)))
    covariance, _ = problem.distances().covariance(problem.kernel)
    fixed = Problem(covariance, way)
    state, bounds = ascend(
        fixed, likelihood, start(fixed, weights, 2), n_mean=20, n_variance=20
    )
    return state, bounds[-1], weights


def covariances(problem, state):
    K = blocks(problem)
    V = np.zeros((4, 4))
    for y in range(2):
        part = slice(2 * y, 2 * y + 2)
        V[part, part] = slow.site_covariance(K[part, part], state.lam[:, y])
    return K, V


def log_likelihood(weights):
    """Σ c log p of Reading R1, at latents in the order (label, token)."""

    def value(f):
        by_token = f.reshape(-1, 2, 2).transpose(0, 2, 1)  # [G, token, label]
        total = np.log(np.exp(by_token).sum(axis=2))
        return np.sum(weights * by_token, axis=(1, 2)) - total.sum(axis=1)

    return value


def test_the_likelihood_of_this_file_is_the_loop():
    weights = np.array([[0.5, 0.5], [1.0, 0.0]])
    f = np.array([0.3, -1.0, 2.0, 0.7])  # label 0 at both tokens, then label 1
    by_token = [(0.3, 2.0), (-1.0, 0.7)]
    expected = sum(
        weights[n, y] * math.log(pieces.unary_probability(by_token[n], y))
        for n in range(2)
        for y in range(2)
    )
    assert log_likelihood(weights)(f[None])[0] == pytest.approx(expected)


@pytest.mark.parametrize("way", [Jensen(), Tilted()], ids=["jensen", "tilted"])
@pytest.mark.parametrize("seed", range(2))
def test_sandwich(seed, way):
    problem = two_by_two(seed)
    state, bound, weights = settled(problem, way)
    K, V = covariances(problem, state)
    mu = state.q.mu.T.ravel()
    value = log_likelihood(weights)
    elbo = slow.elbo(value, mu, V, K, POINTS)
    marginal = math.log(slow.evidence(lambda f: np.exp(value(f)), K, POINTS))
    tolerance = 1e-6
    assert bound <= elbo + tolerance
    assert elbo <= marginal + tolerance
    assert bound < marginal  # neither step is free here


def test_evidence_is_bound_plus_divergence():
    # Equation (10): log p(Y|X) = KL(q ‖ posterior) + L(q), for any q.
    problem = two_by_two(3)
    state, _, weights = settled(problem, Jensen())
    K, V = covariances(problem, state)
    mu = state.q.mu.T.ravel() + 0.3
    value = log_likelihood(weights)

    def likelihood(f):
        return np.exp(value(f))

    marginal = math.log(slow.evidence(likelihood, K, POINTS))
    divergence = slow.kl_to_posterior(likelihood, mu, V, K, POINTS)
    assert divergence > 0
    elbo = slow.elbo(value, mu, V, K, POINTS)
    assert elbo + divergence == pytest.approx(marginal, abs=1e-6)


def test_a_better_q_is_closer_to_the_posterior():
    # Equation (9): to raise L is to lower the divergence.
    problem = two_by_two(4)
    state, _, weights = settled(problem, Jensen())
    K, V = covariances(problem, state)
    value = log_likelihood(weights)

    def likelihood(f):
        return np.exp(value(f))

    best = state.q.mu.T.ravel()
    near = slow.kl_to_posterior(likelihood, best, V, K, POINTS)
    far = slow.kl_to_posterior(likelihood, best + 1.0, V, K, POINTS)
    prior = slow.kl_to_posterior(likelihood, 0 * best, K, K, POINTS)
    assert near < far and near < prior


@pytest.mark.parametrize("literal", [False, True])
def test_the_bound_is_equation_15(literal):
    # P of (21) minus the KL (13) of every block, unary and transition.
    problem = small(5)
    likelihood = problem.piecewise()
    if literal:
        likelihood = Piecewise(
            problem.mask.astype(float), (likelihood.pair_weights > 0).astype(float)
        )
    fixed, _ = problem.problem()
    state = start(fixed, likelihood.weights, problem.n_labels)
    state, _ = ascend(fixed, likelihood, state, n_mean=2, n_variance=1)
    q: Moments = state.q
    P = slow_expectation.jensen_sum(
        q.mu, q.var, q.mu_T, q.var_T, likelihood.weights, likelihood.pair_weights
    )
    Ks = [
        problem.kernel.gram(problem.distances().ZN, y) for y in range(problem.n_labels)
    ]
    Vs = [slow.site_covariance(K, state.lam[:, y]) for y, K in enumerate(Ks)]
    mus = [q.mu[:, y] for y in range(problem.n_labels)]
    Ks.append(np.eye(problem.n_labels**2))
    Vs.append(np.diag(q.var_T.ravel()))
    mus.append(q.mu_T.ravel())
    found = evaluate(fixed, likelihood, state).bound
    assert found == pytest.approx(slow.bound(P, mus, Vs, Ks), rel=1e-8)
