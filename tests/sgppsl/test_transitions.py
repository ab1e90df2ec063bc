"""Transitions settled by themselves: the same end as with the tokens beside them."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.sgppsl.alternating import settle_transitions
from tagsift.sgppsl.labels import pair_confidence_sums
from tagsift.sgppsl.solver import start
from tests.reference.problems import small


@pytest.mark.parametrize("seed", range(3))
def test_the_end_is_a_fixed_point(seed):
    # μ_T = W − n·p and V_T = 1 / (1 + n·p) at the pair confidences of the end.
    problem = small(seed, lengths=(6, 5, 7))
    fixed, _ = problem.problem()
    labels = problem.labels()
    state = start(fixed, labels.uniform(), problem.n_labels)
    found = settle_transitions(fixed, state, labels.left, labels.right, tol=1e-10)
    q = found.q
    W, _ = pair_confidence_sums(q.mu_T, q.var_T, labels.left, labels.right)
    score = q.mu_T + 0.5 * q.var_T
    p = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    n = W.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(q.mu_T, W - n * p, atol=1e-6)
    np.testing.assert_allclose(q.var_T, 1.0 / (1.0 + n * p), atol=1e-6)


def test_tokens_are_not_touched():
    problem = small(4)
    fixed, _ = problem.problem()
    labels = problem.labels()
    state = start(fixed, labels.uniform(), problem.n_labels)
    found = settle_transitions(fixed, state, labels.left, labels.right, tol=1e-6)
    assert found.beta is state.beta and found.factors is state.factors
    assert found.q.mu is state.q.mu and found.q.var is state.q.var


def test_sentences_of_one_token_have_no_transitions():
    problem = small(5, lengths=(1, 1, 1))
    fixed, _ = problem.problem()
    labels = problem.labels()
    state = start(fixed, labels.uniform(), problem.n_labels)
    found = settle_transitions(fixed, state, labels.left, labels.right, tol=1e-8)
    np.testing.assert_allclose(found.q.mu_T, 0.0, atol=1e-10)
    np.testing.assert_allclose(found.q.var_T, 1.0)
