"""Equation (1): the pieces of a chain, and that their weights are all there is."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.chain.layout import neighbours
from tagsift.sgppsl.labels import Settings, build_likelihood
from tests.reference import pieces as slow
from tests.reference.problems import small


def test_neighbours_skip_first_tokens_and_empty_sentences():
    assert neighbours(np.array([0, 2, 2, 5, 6])).tolist() == [1, 3, 4]
    assert neighbours(np.array([0])).tolist() == []
    assert neighbours(np.array([0, 0, 1])).tolist() == []


def literal_pairs(labels):
    """Transition pieces of weight 1, summed over all neighbours."""
    return build_likelihood(Settings("literal"), None, labels, None).pair_weights


@pytest.mark.parametrize("seed", range(5))
def test_pieces_are_those_of_the_loop(seed):
    problem = small(seed)
    labels = problem.labels()
    expected = slow.candidate_pieces(problem.mask, problem.offsets)
    unary, pairs = np.zeros(problem.mask.shape), np.zeros((3, 3))
    for kind, n, *which in expected:
        if kind == "unary":
            unary[n, which[0]] += 1
        else:
            pairs[tuple(which)] += 1
    np.testing.assert_array_equal(labels.weights, unary)
    np.testing.assert_array_equal(literal_pairs(labels), pairs)
