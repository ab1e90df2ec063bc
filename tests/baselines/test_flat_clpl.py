"""Flat CLPL: the loss by a loop, its gradient by finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import check_grad

from tagsift.baselines.clpl import FlatCLPL, clpl_objective


def data(seed=0, n=30, q=4, d=5):
    rng = np.random.default_rng(seed)
    mask = rng.random((n, q)) < 0.4
    mask[np.arange(n), rng.integers(q, size=n)] = True
    mask[mask.all(axis=1), 0] = False
    return rng.normal(size=(n, d)), mask, rng.normal(size=(d, q)) * 0.5


@pytest.mark.parametrize("sparse", [False, True])
def test_value_equals_a_loop(sparse: bool):
    X, mask, W = data()
    expected = 0.5 * np.sum(W**2)
    for x, allowed in zip(X, mask, strict=True):
        s = x @ W
        expected += 2.0 * max(0, 1 - s[allowed].mean()) ** 2
        expected += 2.0 * sum(max(0, 1 + v) ** 2 for v in s[~allowed])
    value, _ = clpl_objective(W, sp.csr_matrix(X) if sparse else X, mask, 2.0)
    assert value == pytest.approx(expected)


def test_gradient_equals_finite_differences():
    X, mask, W = data(1)

    def value(w):
        return clpl_objective(w.reshape(W.shape), X, mask, 0.7)[0]

    def gradient(w):
        return clpl_objective(w.reshape(W.shape), X, mask, 0.7)[1].ravel()

    scale = np.linalg.norm(gradient(W.ravel()))
    assert check_grad(value, gradient, W.ravel()) < 1e-5 * scale


def test_the_end_point_is_stationary():
    X, mask, _ = data(2)
    model = FlatCLPL(scale="none").fit_flat(X, mask)
    ones = np.hstack([X, np.ones((len(X), 1))])
    _, gradient = clpl_objective(model.weights_, ones, mask, 1.0)
    assert np.abs(gradient).max() < 1e-2


def test_full_sets_are_left_out():
    X, mask, _ = data(3)
    more = np.vstack([X, [[9.0] * 5]])
    full = np.vstack([mask, np.ones((1, 4), dtype=bool)])
    first = FlatCLPL(scale="none").fit_flat(X, mask)
    second = FlatCLPL(scale="none").fit_flat(more, full)
    np.testing.assert_allclose(first.weights_, second.weights_)
