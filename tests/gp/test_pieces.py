"""Equation (1): the pieces are those of the loop, and their product too."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.gp.likelihoods import log_piece_probability
from tagsift.gp.pieces import neighbours, pieces
from tests.reference import confidence as slow_confidence
from tests.reference import pieces as slow
from tests.reference.problems import random_moments, small


def test_neighbours_skip_first_tokens_and_empty_sentences():
    assert neighbours(np.array([0, 2, 2, 5, 6])).tolist() == [1, 3, 4]
    assert neighbours(np.array([0])).tolist() == []
    assert neighbours(np.array([0, 0, 1])).tolist() == []


@pytest.mark.parametrize("seed", range(5))
def test_pieces_are_those_of_the_loop(seed):
    problem = small(seed)
    found = pieces(problem.mask, problem.offsets)
    expected = slow.candidate_pieces(problem.mask, problem.offsets)
    unary = [(n, y) for kind, n, *rest in expected if kind == "unary" for y in rest]
    assert list(zip(found.token, found.label, strict=True)) == unary
    pairs = [(n, *rest) for kind, n, *rest in expected if kind == "transition"]
    assert (
        list(zip(found.right, found.left_label, found.right_label, strict=True))
        == pairs
    )
    assert found.count == len(expected)


def test_equal_candidate_counts_give_the_count_of_the_paper():
    length, size = 5, 3
    found = pieces(np.ones((length, size), bool), np.array([0, length]))
    assert found.count == size * length + size**2 * (length - 1)


@pytest.mark.parametrize("seed", range(3))
def test_log_likelihood_equals_the_loop(seed):
    problem = small(seed)
    q = random_moments(problem, seed)
    C = slow_confidence.confidence(q.mu, q.var, problem.mask)
    C_pairs = slow_confidence.pair_confidence(
        q.mu_T, q.var_T, problem.mask, problem.offsets
    )
    found = pieces(problem.mask, problem.offsets)
    chosen = C_pairs[found.right, found.left_label, found.right_label]
    value = found.log_likelihood(
        log_piece_probability(q.mu), log_piece_probability(q.mu_T), C, chosen
    )
    expected = slow.log_likelihood(
        q.mu, q.mu_T, problem.mask, problem.offsets, C, C_pairs
    )
    assert value == pytest.approx(expected, rel=1e-12)
