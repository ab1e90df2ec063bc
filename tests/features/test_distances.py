"""Inner products, distances and neighbours, against loops and scipy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from tagsift.features import distances as module
from tagsift.features.distances import Reference, nearest, pair_products, row_norms


def matrix(n: int, seed: int, sparse: bool):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, 12)) < 0.3) * rng.normal(size=(n, 12))
    return sp.csr_matrix(X) if sparse else X


def as_array(X) -> np.ndarray:
    return X.toarray() if sp.issparse(X) else X


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("frequent", [0, 10**9])
def test_distances_equal_scipy(sparse: bool, frequent: int, monkeypatch):
    monkeypatch.setattr(module, "_FREQUENT", frequent)
    monkeypatch.setattr(module, "_BLOCK", 40)
    X, Z = matrix(23, 0, sparse), matrix(11, 1, sparse)
    reference = Reference(X)
    expected = cdist(as_array(Z), as_array(X))
    np.testing.assert_allclose(
        np.sqrt(reference.squared_distances(Z)), expected, atol=1e-7
    )
    np.testing.assert_allclose(reference.products(Z), as_array(Z) @ as_array(X).T)
    np.testing.assert_allclose(row_norms(X), (as_array(X) ** 2).sum(axis=1))
    seen = np.concatenate([np.arange(11)[part] for part, _ in reference.blocks(Z)])
    np.testing.assert_array_equal(seen, np.arange(11))


@pytest.mark.parametrize("sparse", [False, True])
def test_pair_products_equal_a_loop(sparse: bool, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 30)
    X = matrix(9, 2, sparse)
    rng = np.random.default_rng(0)
    left, right = rng.integers(9, size=40), rng.integers(9, size=40)
    dense = as_array(X)
    expected = [dense[i] @ dense[j] for i, j in zip(left, right, strict=True)]
    np.testing.assert_allclose(pair_products(X, left, right), expected, atol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("same", [False, True])
def test_neighbours_equal_a_sort(sparse: bool, same: bool, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 60)
    X = matrix(30, 3, sparse)
    Z = X if same else matrix(14, 4, sparse)
    squared = cdist(as_array(Z), as_array(X))
    if same:
        np.fill_diagonal(squared, np.inf)
    expected = np.argsort(squared.round(9), axis=1, kind="stable")[:, :4]
    indices, distances = nearest(Reference(X), Z, 4, same=same)
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_allclose(
        distances, np.take_along_axis(squared, expected, axis=1), atol=1e-6
    )


def test_ties_go_to_the_lower_number_and_duplicates_stay():
    X = np.array([[1.0], [0.0], [0.0], [0.0], [2.0]])
    indices, distances = nearest(Reference(X), X, 2, same=True)
    # Token 2 keeps its duplicates 1 and 3, and loses only itself.
    np.testing.assert_array_equal(indices, [[1, 2], [2, 3], [1, 3], [1, 2], [0, 1]])
    np.testing.assert_array_equal(distances[1:4], 0.0)


def test_fewer_rows_than_neighbours():
    X = np.arange(3.0)[:, None]
    assert nearest(Reference(X), X, 10)[0].shape == (3, 3)
    assert nearest(Reference(X), X, 10, same=True)[0].shape == (3, 2)
    assert nearest(Reference(X[:1]), X[:1], 5, same=True)[0].shape == (1, 0)


def test_a_token_has_the_same_neighbours_alone_and_among_others():
    rng = np.random.default_rng(5)
    X = sp.csr_matrix((rng.random((200, 40)) < 0.1).astype(float))
    reference = Reference(X)
    together, _ = nearest(reference, X, 7)
    for i in range(0, 200, 20):
        np.testing.assert_array_equal(nearest(reference, X[i], 7)[0][0], together[i])
