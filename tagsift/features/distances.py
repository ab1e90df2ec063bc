"""Norms, inner products and distances of sparse or dense feature rows.

`squared_distances` makes a whole matrix, on a GPU too. `Reference` works in blocks of
rows, so that memory stays flat: the few frequent columns of sparse features, which make
nearly all the work of a sparse product, are multiplied as a dense matrix, and only the
rare ones as sparse vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagsift.backend import asarray, is_torch, sparse_matmul
from tagsift.typing import Array, FloatArray, IntArray

__all__ = [
    "Reference",
    "mean_distance",
    "median_distance",
    "nearest",
    "pair_products",
    "row_norms",
    "squared_distances",
]

#: Numbers held by one block of rows (32 MB of doubles).
_BLOCK = 4_000_000
#: Numbers held by the dense copy of the frequent columns (256 MB of doubles).
_FREQUENT = 32_000_000
#: Entries above which a second sparse matrix is not spread out on a device (1 GiB).
_SPREAD_OUT = 2**27
#: Rows up to which the mean distance is taken over all pairs.
_ALL_PAIRS = 5_000
#: Random pairs that it is taken over above that.
_PAIRS = 100_000
#: Squared distances are rounded to this fraction of the largest squared length, so that
#: equal distances stay equal whatever the order of summation.
_GRAIN = 1e-12


def row_norms(X: Any) -> FloatArray:
    """Squared length of every row of a sparse or dense matrix, [N]."""
    return _row_products(X, X)


def _row_products(X: Any, Z: Any) -> FloatArray:
    """Inner product of every row of one matrix with that of the other, [N]."""
    if sp.issparse(X):
        return np.asarray(X.multiply(Z).sum(axis=1), dtype=float).ravel()  # [N]
    return np.asarray(np.einsum("nd,nd->n", X, Z))  # [N]


def pair_products(X: Any, left: IntArray, right: IntArray) -> FloatArray:
    """Inner products ``X[left[i]] · X[right[i]]`` of chosen pairs of rows."""
    products = np.empty(len(left))  # [pairs]
    width = X.nnz // max(X.shape[0], 1) + 1 if sp.issparse(X) else X.shape[1]
    step = max(1, _BLOCK // max(int(width), 1))
    for start in range(0, len(left), step):
        part = slice(start, start + step)
        a, b = X[left[part]], X[right[part]]  # [block, D]
        products[part] = _row_products(a, b)  # [block]
    return products


def squared_distances(
    X: Any, Z: Any, *, like: Array | None = None, device: Any = None
) -> Array:
    """Squared Euclidean distance between the rows of two matrices, [A, B].

    Never negative; exactly 0 for equal rows of sparse binary features. Dense rows are
    centred first, so that a large common shift costs no digits.
    """
    wanted = asarray(np.zeros(0), like=like, device=device)
    if is_torch(wanted):
        return _torch_distances(X, Z, wanted)
    if not sp.issparse(X) and not sp.issparse(Z):
        X, Z = _centred(X, Z)  # [A, D], [B, D]
    product = X @ Z.T  # [A, B]
    if sp.issparse(product):
        product = product.toarray()  # [A, B]
    product = np.asarray(product, dtype=np.float64)  # [A, B]
    squares = _expand(product, row_norms(X), row_norms(Z))  # [A, B]
    return np.maximum(squares, 0.0, out=squares)  # [A, B]


def _torch_distances(X: Any, Z: Any, wanted: Array) -> Array:
    """Dense products on the device: sparse ones are slower there, but need no room."""
    a = _dense_tensor(X, wanted)  # [A, D]
    if Z is not X and sp.issparse(Z) and Z.shape[0] * Z.shape[1] > _SPREAD_OUT:
        product = sparse_matmul(Z, a.T.contiguous()).T  # [A, B]
        right = asarray(row_norms(Z), like=wanted)  # [B]
    else:
        b = a if Z is X else _dense_tensor(Z, wanted)  # [B, D]
        if not sp.issparse(X) and not sp.issparse(Z):
            a, b = _centred(a, b)  # [A, D], [B, D]
        product, right = a @ b.T, (b * b).sum(1)  # [A, B], [B]
    return _expand(product, (a * a).sum(1), right).clamp_(min=0.0)  # [A, B]


def _expand(product: Array, left: Array, right: Array) -> Array:
    """‖a‖² + ‖b‖² − 2 a·b, which rounding can leave just below 0, [A, B]."""
    squares = -2.0 * product  # [A, B]
    squares += left[:, None]
    squares += right[None, :]
    return squares


def _dense_tensor(X: Any, wanted: Array) -> Array:
    """Bring a matrix to the device; a sparse one is spread out only there."""
    moved = asarray(X, like=wanted, dtype=np.float64)  # [A, D]
    return moved.to_dense() if sp.issparse(X) else moved


def _centred(X: Array, Z: Array) -> tuple[Array, Array]:
    """Both matrices less the mean row of the second."""
    mean = Z.mean(0)  # [D]
    shifted = Z - mean  # [B, D]
    return (shifted if X is Z else X - mean), shifted


class Reference:
    """Rows to measure distances to."""

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
        rest = (sp.csr_matrix(columns[:, self._rare]) @ self._sparse_T).tocoo()
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
        size = max(1, _BLOCK // max(self.n_rows, 1))
        for start in range(0, Z.shape[0], size):
            part = slice(start, min(start + size, Z.shape[0]))
            yield part, self.squared_distances(Z[part])


def nearest(
    reference: Reference, Z: Any, k: int, *, same: bool = False
) -> tuple[IntArray, FloatArray]:
    """Numbers and distances of the k nearest reference rows of each row of `Z`.

    Nearest first; ties go to the lower number. Where `Z` is the reference itself
    (`same`), a row is no neighbour of itself, though its duplicates are.
    """
    k = min(k, reference.n_rows - int(same))
    indices = np.empty((Z.shape[0], k), dtype=np.int64)  # [M, k]
    distances = np.empty((Z.shape[0], k))  # [M, k]
    if k == 0:
        return indices, distances
    squares = np.concatenate([reference.squares, row_norms(Z)])  # [N+M]
    largest = float(squares.max(initial=0.0))
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


def mean_distance(X: Any, rng: np.random.Generator) -> float:
    """Mean Euclidean distance between two different rows.

    Over all pairs up to 5,000 rows, from 100,000 random pairs above. One where all
    rows are alike, so that it can always serve as a kernel width.
    """
    n = X.shape[0]
    if n < 2:
        return 1.0
    if n <= _ALL_PAIRS:
        reference = Reference(X)
        total = sum(float(np.sqrt(squared).sum()) for _, squared in reference.blocks(X))
        mean = total / (n * (n - 1))
    else:
        left = rng.integers(n, size=_PAIRS)  # [pairs]
        right = (left + rng.integers(1, n, size=_PAIRS)) % n  # [pairs]
        squares = row_norms(X)  # [N]
        squared = squares[left] + squares[right] - 2 * pair_products(X, left, right)
        mean = float(np.sqrt(np.maximum(squared, 0.0)).mean())
    return mean if mean > 1e-6 * np.sqrt(row_norms(X).max()) else 1.0


def median_distance(X: Any, seed: int) -> float:
    """Median squared distance of 2,000 random pairs of rows: the scale of θ at first.

    It is 1 where all rows are equal.
    """
    first, second = np.random.default_rng(seed).integers(X.shape[0], size=(2, 2000))
    squares = row_norms(X[first] - X[second])  # [P]
    positive = squares[squares > 0]
    return float(np.median(positive)) if len(positive) else 1.0
