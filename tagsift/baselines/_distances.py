"""Inner products, distances and nearest neighbours of sparse or dense token features.

Everything is worked out in blocks of rows, so that memory stays flat. For sparse
features the few frequent columns, which make nearly all the work of a sparse product,
are multiplied as a dense matrix, and only the rare ones as sparse vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagsift.typing import FloatArray, IntArray

__all__ = ["Reference", "nearest", "pair_products", "row_norms"]

#: Numbers held by one block of rows (32 MB of doubles).
_BLOCK = 4_000_000
#: Numbers held by the dense copy of the frequent columns (256 MB of doubles).
_FREQUENT = 32_000_000
#: Squared distances are rounded to this fraction of the largest squared length, so that
#: equal distances stay equal whatever the order of summation.
_GRAIN = 1e-12


def row_norms(X: Any) -> FloatArray:
    """Squared length of every row of a sparse or dense matrix, [N]."""
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=float).ravel()  # [N]
    return np.asarray(np.einsum("nd,nd->n", X, X))  # [N]


def pair_products(X: Any, left: IntArray, right: IntArray) -> FloatArray:
    """Inner products of chosen pairs of rows.

    Parameters
    ----------
    X : csr_matrix or ndarray of shape (n_tokens, n_features)
        The rows.
    left, right : ndarray of shape (n_pairs,)
        Row numbers.

    Returns
    -------
    products : ndarray of shape (n_pairs,)
        ``X[left[i]] · X[right[i]]``.
    """
    products = np.empty(len(left))  # [pairs]
    width = X.nnz // max(X.shape[0], 1) + 1 if sp.issparse(X) else X.shape[1]
    step = max(1, _BLOCK // max(int(width), 1))
    for start in range(0, len(left), step):
        part = slice(start, start + step)
        a, b = X[left[part]], X[right[part]]  # [block, D]
        if sp.issparse(X):
            products[part] = np.asarray(a.multiply(b).sum(axis=1)).ravel()  # [block]
        else:
            products[part] = np.einsum("nd,nd->n", a, b)  # [block]
    return products


class Reference:
    """Rows to measure distances to.

    Parameters
    ----------
    X : csr_matrix or ndarray of shape (n_tokens, n_features)
        The training tokens, say.
    """

    def __init__(self, X: Any) -> None:
        self.X = X
        self.squares = row_norms(X)  # [N]
        self._frequent: IntArray | None = None
        if sp.issparse(X):
            self._split_columns()

    @property
    def n_rows(self) -> int:
        """Number of rows, N."""
        return int(self.X.shape[0])

    @property
    def block_size(self) -> int:
        """Rows of another matrix to work on at a time."""
        return max(1, _BLOCK // max(self.n_rows, 1))

    def _split_columns(self) -> None:
        counts = np.bincount(self.X.indices, minlength=self.X.shape[1])  # [D]
        most = min(len(counts), _FREQUENT // max(self.n_rows, 1))
        order = np.argsort(-counts, kind="stable")[:most]  # [D₁]
        self._frequent = np.sort(order[counts[order] > self.n_rows / 100])  # [D₁]
        self._rare = np.setdiff1d(np.arange(len(counts)), self._frequent)  # [D₂]
        columns = sp.csc_matrix(self.X)  # [N, D]
        self._dense_T = columns[:, self._frequent].toarray().T  # [D₁, N]
        self._sparse_T = sp.csr_matrix(columns[:, self._rare].T)  # [D₂, N]

    def products(self, Z: Any) -> FloatArray:
        """Inner products of the rows of `Z` with the reference rows, [M, N]."""
        if self._frequent is None:
            return np.asarray(Z @ self.X.T)  # [M, N]
        columns = sp.csc_matrix(Z)  # [M, D]
        out = columns[:, self._frequent].toarray() @ self._dense_T  # [M, N]
        rest = sp.csr_matrix(columns[:, self._rare]) @ self._sparse_T  # [M, N]
        rest = rest.tocoo()
        out[rest.row, rest.col] += rest.data  # [M, N]
        return np.asarray(out)

    def squared_distances(self, Z: Any) -> FloatArray:
        """Squared Euclidean distances of the rows of `Z` to the reference, [M, N]."""
        squared = self.products(Z)  # [M, N]
        squared *= -2.0  # [M, N]
        squared += self.squares  # [M, N]
        squared += row_norms(Z)[:, None]  # [M, N]
        return np.maximum(squared, 0.0, out=squared)  # [M, N]

    def blocks(self, Z: Any) -> Iterator[tuple[slice, FloatArray]]:
        """Yield slices of the rows of `Z` with their squared distances [block, N]."""
        for start in range(0, Z.shape[0], self.block_size):
            part = slice(start, min(start + self.block_size, Z.shape[0]))
            yield part, self.squared_distances(Z[part])


def nearest(
    reference: Reference, Z: Any, k: int, *, same: bool = False
) -> tuple[IntArray, FloatArray]:
    """Find the nearest reference rows of every row of `Z`; ties go to the lower number.

    Parameters
    ----------
    reference : Reference
        The rows to choose from.
    Z : csr_matrix or ndarray of shape (n_new, n_features)
        The rows to find neighbours for.
    k : int
        How many; fewer are returned where there are fewer rows.
    same : bool
        Whether `Z` is the reference itself; a row is then no neighbour of itself
        (removed by its number: duplicates of it stay).

    Returns
    -------
    indices : ndarray of shape (n_new, k)
        Row numbers, nearest first.
    distances : ndarray of shape (n_new, k)
        Euclidean distances.
    """
    k = min(k, reference.n_rows - int(same))
    indices = np.empty((Z.shape[0], k), dtype=np.int64)  # [M, k]
    distances = np.empty((Z.shape[0], k))  # [M, k]
    if k == 0:
        return indices, distances
    largest = max(
        float(reference.squares.max(initial=0.0)),
        float(row_norms(Z).max(initial=0.0)),
    )
    grain = _GRAIN * largest if largest > 0 else 1.0
    for part, squared in reference.blocks(Z):
        grains = np.rint(squared / grain)  # [block, N]
        rows = np.arange(len(grains))  # [block]
        if same:
            grains[rows, part.start + rows] = np.inf
        chosen = _lowest(grains, k)  # [block, k]
        indices[part] = chosen
        distances[part] = np.sqrt(grains[rows[:, None], chosen] * grain)  # [block, k]
    return indices, distances


def _lowest(values: FloatArray, k: int) -> IntArray:
    """Columns of the k lowest values of every row, by value and then by column."""
    rows = np.arange(len(values))[:, None]  # [M, 1]
    chosen = np.argpartition(values, k - 1, axis=1)[:, :k]  # [M, k]
    bound = values[rows, chosen].max(axis=1)  # [M]
    tied = np.flatnonzero((values <= bound[:, None]).sum(axis=1) > k)  # rows
    for i in tied:
        columns = np.flatnonzero(values[i] <= bound[i])
        chosen[i] = columns[np.argsort(values[i, columns], kind="stable")[:k]]
    chosen.sort(axis=1)
    order = np.argsort(values[rows, chosen], axis=1, kind="stable")  # [M, k]
    return np.asarray(chosen[rows, order], dtype=np.int64)  # [M, k]
