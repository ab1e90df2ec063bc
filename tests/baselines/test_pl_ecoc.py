"""PL-ECOC: the code, the performance matrix and the decoding, against loops."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC

from tagsift.baselines import PLECOC
from tagsift.baselines.pl_ecoc import (
    code_length,
    code_losses,
    draw_code,
    performance,
)


def sets(seed=0, n=200, q=5, share=0.3):
    rng = np.random.default_rng(seed)
    mask = rng.random((n, q)) < share
    mask[np.arange(n), rng.integers(q, size=n)] = True
    return mask[~mask.all(axis=1)]


def sides(mask, column):
    plus = [i for i, row in enumerate(mask) if all(column[row] > 0)]
    minus = [i for i, row in enumerate(mask) if all(column[row] < 0)]
    return plus, minus


@pytest.mark.parametrize(("q", "length"), [(3, 16), (9, 32), (20, 44)])
def test_code_length(q: int, length: int):
    assert code_length(q) == length


def test_accepted_columns_keep_the_rules():
    mask = sets()
    code, share = draw_code(mask, 24, np.random.default_rng(0))
    assert code.shape == (5, 24)
    assert share == 0.1
    for column in code.T:
        plus, minus = sides(mask, column)
        assert len(plus) >= 5
        assert len(minus) >= 5
        assert len(plus) + len(minus) >= len(mask) / 10


@pytest.mark.parametrize("n_exact", [2, 3, 12])
def test_scarce_tokens_relax_the_rules_but_no_side_is_empty(n_exact: int):
    pairs = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool)
    exact = np.eye(3, dtype=bool)[np.arange(n_exact) % 3]
    mask = np.vstack([np.tile(pairs, (400, 1)), exact])
    code, share = draw_code(mask, 16, np.random.default_rng(1))
    assert code.shape[1] > 0
    assert share <= 0.1
    for column in code.T:
        plus, minus = sides(mask, column)
        assert plus
        assert minus


def test_performance_and_losses_equal_loops():
    rng = np.random.default_rng(3)
    mask = sets(4, n=40)
    code = 2 * rng.integers(2, size=(5, 7)) - 1
    outputs = rng.normal(size=(len(mask), 7))
    H = np.array(
        [
            [np.mean(np.sign(outputs[mask[:, j], c]) == code[j, c]) for c in range(7)]
            for j in range(5)
        ]
    )
    H /= H.sum(axis=1, keepdims=True)
    weights = performance(outputs, code, mask)
    np.testing.assert_allclose(weights, H)
    expected = [
        [sum(H[j] * np.exp(-row * code[j])) for j in range(5)] for row in outputs
    ]
    np.testing.assert_allclose(code_losses(outputs, code, weights), expected)


def test_a_label_that_no_column_serves_gets_equal_weights():
    code = np.array([[1, 1], [-1, -1]])
    mask = np.array([[True, False], [False, True]])
    weights = performance(np.full((2, 2), -1.0), code, mask)
    np.testing.assert_allclose(weights, 0.5)


def test_margins_are_those_of_the_support_vector_machines():
    rng = np.random.default_rng(6)
    X, mask = rng.normal(size=(150, 4)), sets(7, n=150, q=3)[:150]
    X = X[: len(mask)]
    model = PLECOC(C=2.0, scale="none").fit_flat(X, mask)
    for c, column in enumerate(model.code_.T):
        plus, minus = sides(mask, column)
        rows = np.sort([*plus, *minus])
        y = np.where(np.isin(rows, plus), 1, -1)
        svm = SVC(C=2.0, gamma=1 / 4).fit(X[rows], y)
        np.testing.assert_allclose(
            model.machines_.outputs(X)[:, c], svm.decision_function(X), atol=2e-2
        )


def test_two_processes_give_the_same_model():
    rng = np.random.default_rng(8)
    mask = sets(9, n=80)
    X = sp.csr_matrix((rng.random((len(mask), 30)) < 0.2).astype(float))
    one = PLECOC().fit_flat(X, mask)
    two = PLECOC(n_jobs=2).fit_flat(X, mask)
    np.testing.assert_array_equal(one.machines_.outputs(X), two.machines_.outputs(X))
