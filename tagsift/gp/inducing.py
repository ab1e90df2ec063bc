"""Where the inducing points stand, and the whitened matrices made from them.

The points are training tokens. A seeded sample of distinct rows is drawn so that every
label is represented, and among them points are taken greedily, each time the one that
explains most of what those already taken leave unexplained.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tagsift.backend import cholesky, solve_triangular
from tagsift.features import squared_distances
from tagsift.typing import Array, FloatArray, IntArray

__all__ = ["choose_points", "whiten"]

_POOL = 2  # rows that compete for every place
_SMALL_POOL = 100  # rows that compete at least
#: Rows of dense features hashed at a time.
_BLOCK = 4096


def choose_points(
    X: Any, shares: FloatArray, theta: float, n_points: int, seed: int
) -> IntArray:
    """Training tokens that serve as inducing points, ascending, at most `n_points`.

    `shares` says how likely every label is by what is known of a token alone: labels
    that are rare get more of the sample than they have of the tokens.
    """
    rng = np.random.default_rng(seed)
    distinct = _distinct_rows(X)  # [U]
    if len(distinct) <= n_points:
        return distinct
    competing = max(_POOL * n_points, _SMALL_POOL)
    pool = _covering_sample(distinct, shares, min(len(distinct), competing), rng)
    K = np.exp(-theta * squared_distances(X[pool], X[pool]))  # [P, P]
    return np.sort(pool[_pivots(K, n_points)])  # [M]


def _distinct_rows(X: Any) -> IntArray:
    """First token of every distinct feature row, [U]."""
    direction = np.random.default_rng(7).standard_normal(X.shape[1])  # [D]
    _, first = np.unique(_projection(X, direction), return_index=True)
    return np.sort(first)  # [U]


def _projection(X: Any, direction: FloatArray) -> FloatArray:
    """Products of the rows with a vector, the same to the bit for equal rows, [N]."""
    if sp.issparse(X):
        return np.asarray(X @ direction, dtype=np.float64)  # [N]
    products = np.empty(len(X))  # [N]
    for lo in range(0, len(X), _BLOCK):
        block = X[lo : lo + _BLOCK] * direction  # [B, D]
        products[lo : lo + _BLOCK] = block.sum(axis=1)  # unlike a BLAS product
    return products


def _covering_sample(
    distinct: IntArray, shares: FloatArray, size: int, rng: np.random.Generator
) -> IntArray:
    """Draw rows so that every label is a likely candidate of some of them, [P]."""
    share = shares[distinct]  # [U, L]
    frequency = share.sum(axis=0)  # [L]
    rarity = share @ np.where(
        frequency > 0, 1.0 / np.sqrt(np.maximum(frequency, 1e-12)), 0.0
    )  # [U]
    chance = rarity / rarity.sum()  # [U]
    return np.sort(rng.choice(distinct, size, replace=False, p=chance))  # [P]


def _pivots(K: FloatArray, n_points: int) -> IntArray:
    """Greedy choice of the columns that explain most of the others, [M].

    With R = K − K_PZ K_ZZ⁻¹ K_ZP what the points chosen so far leave unexplained, each
    turn takes the column i with the largest |R_i|² / R_ii. (The largest R_ii alone
    takes outliers, which explain only themselves.)
    """
    left = K.diagonal().copy()  # [P], the diagonal of R
    squares = np.einsum("ij,ij->i", K, K)  # [P], |R_i|²
    rows = np.empty((n_points, len(K)))  # [M, P]
    chosen = np.empty(n_points, dtype=np.int64)  # [M]
    for k in range(n_points):
        gain = np.where(left > 1e-8, squares / np.maximum(left, 1e-8), -1.0)  # [P]
        gain[chosen[:k]] = -1.0
        pivot = int(gain.argmax())
        if gain[pivot] < 0:
            return chosen[:k]
        chosen[k] = pivot
        row = K[pivot] - rows[:k, pivot] @ rows[:k]  # [P]
        row /= np.sqrt(left[pivot])
        turned = K @ row - (rows[:k] @ row) @ rows[:k]  # [P], R times the row
        squares += row * (row * float(row @ row) - 2.0 * turned)
        left -= row * row
        rows[k] = row
    return chosen


def whiten(K_ZZ: Array, K_ZN: Array) -> tuple[Array, Array, float]:
    """A = chol(K_ZZ)⁻¹ K_ZN, the factor and its jitter; both arrays are overwritten."""
    L, jitter = cholesky(K_ZZ, overwrite=True)  # [M, M]
    return solve_triangular(L, K_ZN, overwrite=True), L, jitter
