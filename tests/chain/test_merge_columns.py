"""Merged columns: the same scores, the same norm, fewer columns."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tagsift.chain.merge_columns import merge_columns


@settings(max_examples=50, derandomize=True)
@given(st.integers(0, 10_000))
def test_scores_and_norms_stay(seed):
    rng = np.random.default_rng(seed)
    distinct = (rng.random((6, 5)) < 0.4) * rng.integers(1, 3, size=(6, 5))
    X = distinct[:, rng.integers(0, 5, size=12)].astype(float)
    merged, rows = merge_columns(sp.csr_matrix(X))
    filled = X[:, X.any(axis=0)]
    assert merged.n_groups == len({tuple(column) for column in filled.T})
    weights = rng.normal(size=(merged.n_groups, 3))
    full = merged.expand(weights)
    assert full.shape == (12, 3)
    np.testing.assert_allclose(rows @ weights, X @ full, atol=1e-12)
    np.testing.assert_allclose((weights**2).sum(), (full**2).sum())


def test_empty_columns_get_zero_weights_and_the_input_stays():
    X = sp.csr_matrix(np.array([[0.0, 1, 0, 1], [0, 1, 0, 1]]))
    X.data[0] = 0.0
    merged, rows = merge_columns(X)
    assert merged.group.tolist() == [-1, 0, -1, 1]
    assert X.nnz == 4
    np.testing.assert_array_equal(merged.expand(np.ones((2, 1)))[[0, 2]], 0)


def test_equal_sums_alone_do_not_merge(monkeypatch):
    class Constant:
        def random(self, shape):
            return np.ones(shape)

    monkeypatch.setattr(np.random, "default_rng", lambda seed: Constant())
    merged, rows = merge_columns(sp.csr_matrix(np.eye(3)))
    assert merged.n_groups == 3
    np.testing.assert_array_equal(rows.toarray(), np.eye(3))
