"""Scores of uncertainty and the order they give."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.errors import InputError
from tagsift.metrics.review import (
    doubt,
    entropy,
    rank_sentences,
    rank_tokens,
    vote_disagreement,
)
from tests.reference.annotators import table_of

CONFIDENCES = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [1 / 3, 1 / 3, 1 / 3]])


def test_entropy_by_hand():
    np.testing.assert_allclose(entropy(CONFIDENCES), [0.0, np.log(2), np.log(3)])


def test_doubt_by_hand():
    np.testing.assert_allclose(doubt(CONFIDENCES, np.array([0, 1, 2])), [0, 0.5, 2 / 3])


def test_vote_disagreement_by_hand():
    votes = np.array([[0, 0, 1], [1, -1, 1], [-1, -1, -1]])
    found = vote_disagreement(table_of(votes).corpus, np.array([0, 0, 0]))
    np.testing.assert_allclose(found, [1 / 3, 1.0, 1.0])


def test_ties_stay_in_file_order():
    assert rank_tokens(np.array([0.1, 0.5, 0.5, 0.9])).tolist() == [3, 1, 2, 0]


def test_sentences_by_total():
    scores = np.array([0.2, 0.1, 0.9, 0.05, 0.05])
    ranking = rank_sentences(scores, [2, 0, 1, 2])
    np.testing.assert_allclose(ranking.total, [0.3, 0.0, 0.9, 0.1])
    assert ranking.order.tolist() == [2, 0, 3, 1]
    assert ranking.worst.tolist() == [0, -1, 0, 0]


def test_scores_and_offsets_must_fit():
    with pytest.raises(InputError, match="one score per token"):
        rank_sentences(np.zeros(3), [2])
