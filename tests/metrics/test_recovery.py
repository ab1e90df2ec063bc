"""Recovery of training labels, counted by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tagsift.errors import InputError
from tagsift.metrics import ambiguous_tokens, recovery

GOLD = [["A", "B", "C"], [], ["A", "B"]]
FOUND = [["A", "C", "C"], [], ["B", "B"]]
SETS = [[{"A"}, {"B", "C"}, {"A", "C"}], [], [{"B"}, {"A", "B", "C"}]]


def test_counts_by_hand():
    # Ambiguous: B (missed), C (found), B (found). Exact: A (right), A (set is wrong).
    result = recovery(GOLD, FOUND, SETS)
    assert (result.n_ambiguous, result.n_ambiguous_correct) == (3, 2)
    assert (result.n_tokens, result.n_correct) == (5, 3)
    assert result.ambiguous == pytest.approx(2 / 3)
    assert result.overall == pytest.approx(3 / 5)


def test_masks_lists_and_bare_labels_say_the_same():
    masks = [
        np.array([[["A", "B", "C"][i] in s for i in range(3)] for s in sentence])
        for sentence in SETS
    ]
    masks[1] = np.zeros((0, 3), dtype=bool)
    assert recovery(GOLD, FOUND, masks) == recovery(GOLD, FOUND, SETS)
    rows = [list(mask) for mask in masks]
    assert recovery(GOLD, FOUND, rows) == recovery(GOLD, FOUND, SETS)
    assert ambiguous_tokens([["A", ("A", "B"), ["A", "A"]]]).tolist() == [
        False,
        True,
        False,
    ]


def test_no_ambiguous_token_gives_nan():
    result = recovery([["A"]], [["A"]], [[{"A"}]])
    assert math.isnan(result.ambiguous)
    assert result.overall == 1.0


def test_errors():
    with pytest.raises(InputError, match="Sentence 0, token 1 .* set is empty"):
        recovery([["A", "A"]], [["A", "A"]], [[{"A"}, set()]])
    with pytest.raises(InputError, match="2 gold labels and 1 recovered labels"):
        recovery([["A", "A"]], [["A"]], [[{"A"}, {"A"}]])
    with pytest.raises(InputError, match="1 gold labels and 2 candidate labels"):
        recovery([["A"]], [["A"]], [[{"A"}, {"A"}]])
