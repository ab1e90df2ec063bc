"""Readings R1–R12: one place where each is pinned, with the numbers that show why."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tagsift.chain.viterbi import neighbour_factor, transition_factor
from tagsift.data import allowed_transitions
from tagsift.features.distances import squared_distances
from tagsift.gp.kernels import RBF
from tagsift.sgppsl.expectations import Jensen
from tagsift.sgppsl.hyperparameters import HeldOut
from tagsift.sgppsl.labels import (
    Settings,
    build_likelihood,
    confidence,
    literal_confidence,
)
from tagsift.sgppsl.likelihoods import Piecewise
from tagsift.sgppsl.predictive import Decoding, dense_moments
from tagsift.sgppsl.solver import Problem, ascend, start
from tests.reference import decoding, gradients, posterior
from tests.reference import pieces as slow_pieces
from tests.reference.problems import Small, small


def test_r1_printed_confidences_are_added_constants():
    problem = small(1)
    rng = np.random.default_rng(1)
    labels = problem.labels()
    f, f_T = rng.normal(size=problem.mask.shape), rng.normal(size=(3, 3))
    pairs = np.full((len(f), 3, 3), 0.5)
    values = []
    for C in (labels.uniform(), np.where(problem.mask, 0.1, 0.0)):
        printed = slow_pieces.log_likelihood(
            f, f_T, problem.mask, problem.offsets, C, pairs
        )
        values.append(printed - np.log(C[problem.mask]).sum())
    assert values[0] == pytest.approx(values[1])  # what is left does not know C
    fixed, _ = problem.problem()
    state = start(fixed, labels.uniform(), 3)
    sure = np.zeros(problem.mask.shape)
    sure[np.arange(len(sure)), problem.mask.argmax(axis=1)] = 1.0
    for weighting, same in (("literal", True), ("confidence", False)):
        ends = [
            ascend(
                fixed,
                build_likelihood(Settings(weighting=weighting), state.q, labels, C),
                state,
            )[0].q
            for C in (labels.uniform(), sure)
        ]
        assert np.array_equal(ends[0].mu, ends[1].mu) == same
        assert np.array_equal(ends[0].var, ends[1].var) == same


def test_r2_the_printed_form_is_not_a_softmax():
    mu, var = np.array([[1.0, 0.0]]), np.array([[0.4, 2.0]])
    evidence = np.zeros((1, 2))
    a, b = math.exp(1.0 + 0.2), math.exp(0.0 + 1.0)
    np.testing.assert_allclose(
        confidence(mu, var, evidence), [[a / (a + b), b / (a + b)]]
    )
    a, b = math.exp(1.0) + 0.2, math.exp(0.0) + 1.0
    np.testing.assert_allclose(
        literal_confidence(mu, var, evidence), [[a / (a + b), b / (a + b)]]
    )


def test_r3_the_printed_gradient_is_twice_the_slope():
    problem = small(2)
    theta = problem.kernel.theta[0]
    D = squared_distances(problem.X, problem.X)
    rng = np.random.default_rng(2)
    mu = rng.normal(size=len(D))
    K = np.exp(-theta * D)
    V = posterior.site_covariance(K, rng.gamma(1.0, size=len(D)))
    slope = gradients.central_difference(
        lambda t: -posterior.kl(mu, V, np.exp(-t[0] * D)), np.array([theta])
    )[0]
    printed = gradients.printed_gradient_theta(K, -D * K, mu, V)
    assert printed == pytest.approx(2.0 * slope, rel=1e-5)
    assert gradients.gradient_theta(K, -D * K, mu, V) == pytest.approx(slope, rel=1e-5)


def test_r4_the_variance_of_a_new_token_starts_at_its_prior():
    problem = small(3)
    far = squared_distances(problem.X, problem.X[:2] + 1e3)
    shape = problem.mask.shape
    covariance, _ = problem.distances().covariance(problem.kernel)
    factors = covariance.factor(np.ones(shape))
    _, var = dense_moments(
        problem.kernel, far, np.ones(shape), factors.cholesky, factors.root
    )
    np.testing.assert_allclose(var, np.broadcast_to(problem.kernel.amplitude, (2, 3)))


def test_r5_the_printed_floor_is_the_largest_value_there_is():
    mask, C = np.array([[True, False]]), np.array([[1.0, 0.0]])
    nearest = np.array([[0]])
    assert neighbour_factor(nearest, C, mask, floor="literal")[0, 1] == 1.0
    assert neighbour_factor(nearest, C, mask, floor="uniform")[0, 1] == 0.5


def test_r6_one_row_per_candidate_is_singular_and_one_per_token_is_the_same_model():
    problem = small(4)
    token, _ = np.nonzero(problem.mask)
    rows = problem.X[token]  # the paper's N·m·l rows
    K = problem.kernel.gram(squared_distances(rows, rows), 0)
    assert np.linalg.matrix_rank(K) == len(problem.X) < len(rows)
    # A piece per candidate, or one row with the summed weight: the same P.
    q = problem.piecewise()
    rng = np.random.default_rng(4)
    U, T = rng.normal(size=problem.mask.shape), np.zeros((3, 3))
    once = q.restricted(U, T).value - q.free(U, T).value
    repeated = sum(
        q.weights[n, y] * math.log(slow_pieces.unary_probability(U[n], y))
        for n, y in zip(*np.nonzero(problem.mask), strict=True)
    ) - q.pair_weights.sum() * math.log(3.0)
    assert once == pytest.approx(repeated)


def test_r7_unseen_transitions_are_zero_and_not_banned():
    found = transition_factor(np.zeros((2, 2)), np.zeros((2, 2)))
    np.testing.assert_array_equal(found, 0.0)


def test_r8_the_bound_prefers_smaller_amplitudes_than_held_out_sets():
    # A line cut in two: the truth is smooth and certain, so the amplitude is large.
    x = np.linspace(0, 4, 30)[:, None]
    mask = np.stack([x[:, 0] > 2, x[:, 0] <= 2], axis=1)
    problem = Small(x, mask, np.array([0, 30]), RBF(np.full(2, 0.5), np.ones(2)))
    weights, grid = mask.astype(float), [1.0, 4.0, 16.0, 64.0, 256.0]
    by_bound, by_sets = [], []
    held_out = HeldOut(
        problem.distances(),
        problem.labels(),
        squared_distances(x, x + 0.05),
        problem.evidence,
        problem.offsets,
        Settings(),
        Jensen(),
    )
    for amplitude in grid:
        kernel = replace(problem.kernel, amplitude=np.full(2, amplitude))
        covariance, _ = problem.distances().covariance(kernel)
        fixed = Problem(covariance, Jensen())
        likelihood = Piecewise(weights, np.zeros((2, 2)))
        state = start(fixed, weights, 2)
        by_bound.append(
            ascend(fixed, likelihood, state, n_mean=20, n_variance=20)[1][-1]
        )
        by_sets.append(held_out.score(kernel).sum())
    assert grid[int(np.argmax(by_bound))] < grid[int(np.argmax(by_sets))]


def test_r9_inducing_points_at_all_tokens_are_the_exact_posterior():
    problem = small(9)
    exact = problem.fit(tol=1e-9)[2].state.q
    every = problem.fit(points=np.arange(len(problem.X)), tol=1e-9)[2].state.q
    few = problem.fit(points=np.arange(3), tol=1e-9)[2].state.q
    np.testing.assert_allclose(every.mu, exact.mu, atol=1e-5)
    np.testing.assert_allclose(every.var, exact.var, atol=1e-5)
    assert np.abs(few.mu - exact.mu).max() > 0.01


def test_r10_weights_of_labels_multiply_the_exponentials():
    mu, var = np.array([[1.0, 0.0]]), np.array([[0.4, 2.0]])
    evidence = np.log([[0.5, 1.0]])
    a, b = 0.5 * math.exp(1.0 + 0.2), math.exp(0.0 + 1.0)
    found = confidence(mu, var, evidence)
    np.testing.assert_allclose(found, [[a / (a + b), b / (a + b)]])
    a, b = 0.5 * (math.exp(1.0) + 0.2), math.exp(0.0) + 1.0
    found = literal_confidence(mu, var, evidence)
    np.testing.assert_allclose(found, [[a / (a + b), b / (a + b)]])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scheme", ["plain", "iob2"])
def test_r11_logarithms_of_the_weighted_scores(weighted, scheme):
    # All sequences, scored as in (31) by logarithms; what the scheme bans left out.
    rng, names = np.random.default_rng(11), ["B-X", "I-X", "O"]
    allowed = allowed_transitions(names, scheme)
    follows, first, _ = allowed
    for _ in range(20):
        S, tau = rng.dirichlet(np.ones(3), size=(2, 4))
        S_T, prior = rng.dirichlet(np.ones(3), size=3), rng.dirichlet(np.ones(3))
        known = Decoding(prior, np.ones(3, dtype=bool), S_T, None)
        about = (tau if weighted else None, allowed)
        found = known.best_log(S, S_T, np.array([0, 4]), *about)
        unary = np.log(S * np.maximum(tau, 1e-3) if weighted else S) - np.log(prior)
        unary[0, ~first] = -1e3
        pair = np.where(follows, (0.5 if weighted else 1.0) * np.log(S_T), -1e3)
        expected = decoding.best_path(unary, pair, np.ones((4, 3)), np.ones((3, 3)))
        assert tuple(found) == expected


@pytest.mark.parametrize("scheme", ["iob2", "plain"])
def test_r12_what_is_recovered_is_the_best_sequence_of_candidates(scheme):
    rng, names = np.random.default_rng(12), ["B-X", "I-X", "O"]
    allowed = allowed_transitions(names, scheme) if scheme == "iob2" else None
    differs = 0
    for _ in range(20):
        mask = rng.random((4, 3)) < 0.6
        mask[np.arange(4), rng.integers(3, size=4)] = True
        C = rng.dirichlet(np.ones(3), size=4) * mask
        S_T, prior = rng.dirichlet(np.ones(3), size=3), rng.dirichlet(np.ones(3))
        known = Decoding(prior, np.ones(3, dtype=bool), S_T, None)
        found = known.recover(C, mask, S_T, np.array([0, 4]), allowed)
        unary = np.where(mask, np.log(C + 1e-300) - 0.6 * np.log(prior), -1e3)
        pair = 0.6 * np.log(S_T)
        if allowed is not None:  # at a cost: the sets may leave no other way
            unary[0] -= 10.0 * ~allowed[1]
            pair = pair - 10.0 * ~allowed[0]
        expected = decoding.best_path(unary, pair, np.ones((4, 3)), np.ones((3, 3)))
        assert tuple(found) == expected
        differs += tuple(C.argmax(axis=1)) != expected
    assert differs
