"""Where the inducing points stand, and the whitened matrices made from them.

The points are training tokens. A seeded sample of distinct rows is drawn so that every
label is represented, and among them points are taken greedily, each time the one that
explains most of what those already taken leave unexplained.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tagsift.backend import cholesky, namespace, solve_triangular
from tagsift.gp.kernels import RBF, squared_distances
from tagsift.gp.posterior import Dense, Inducing
from tagsift.typing import Array, BoolArray, FloatArray, IntArray

__all__ = ["choose_points", "dense_covariance", "inducing_covariance", "whiten"]

#: Rows that compete for every place, and how many compete at least.
_POOL, _SMALL_POOL = 2, 100
#: Rows of dense features hashed at a time.
_BLOCK = 4096


def choose_points(
    groups: list[Any],
    mask: BoolArray,
    theta: FloatArray,
    n_points: int,
    seed: int,
    *,
    strategy: str = "greedy",
) -> IntArray:
    """Choose training tokens as inducing points.

    Parameters
    ----------
    groups : list of csr_matrix or ndarray of shape (n_tokens, D)
        Feature groups.
    mask : ndarray of bool, shape (n_tokens, n_labels)
        Candidate sets: every label that occurs gets its share of the sample.
    theta : ndarray of shape (n_groups,)
        Inverse widths, one per group.
    n_points : int
        How many points, M.
    seed : int
        Seed of the sample.
    strategy : {"greedy", "uniform"}
        As above, or a uniform draw of distinct rows.

    Returns
    -------
    ndarray of shape (at most n_points,)
        Token numbers, in ascending order, all rows distinct.
    """
    rng = np.random.default_rng(seed)
    distinct = _distinct_rows(groups)  # [U]
    if len(distinct) <= n_points:
        return distinct
    if strategy == "uniform":
        return np.sort(rng.choice(distinct, n_points, replace=False))  # [M]
    competing = max(_POOL * n_points, _SMALL_POOL)
    pool = _covering_sample(distinct, mask, min(len(distinct), competing), rng)
    exponent = np.zeros((len(pool), len(pool)))  # [P, P]
    for g, group in enumerate(groups):
        rows = group[pool]  # [P, D]
        exponent -= theta[g] * squared_distances(rows, rows)  # [P, P]
    return np.sort(pool[_pivots(np.exp(exponent), n_points)])  # [M]


def _distinct_rows(groups: list[Any]) -> IntArray:
    """First token of every distinct feature row, [U]."""
    hashes = np.zeros(groups[0].shape[0])  # [N]
    rng = np.random.default_rng(7)
    for group in groups:
        hashes += _projection(group, rng.standard_normal(group.shape[1]))
    _, first = np.unique(hashes, return_index=True)
    return np.sort(first)  # [U]


def _projection(group: Any, direction: FloatArray) -> FloatArray:
    """Products of the rows with a vector, the same to the bit for equal rows, [N]."""
    if sp.issparse(group):
        return np.asarray(group @ direction, dtype=np.float64)  # [N]
    products = np.empty(len(group))  # [N]
    for lo in range(0, len(group), _BLOCK):
        block = group[lo : lo + _BLOCK] * direction  # [B, D]
        products[lo : lo + _BLOCK] = block.sum(axis=1)  # unlike a BLAS product
    return products


def _covering_sample(
    distinct: IntArray, mask: BoolArray, size: int, rng: np.random.Generator
) -> IntArray:
    """Draw rows so that every label is a likely candidate of some of them, [P]."""
    share = mask[distinct] / mask[distinct].sum(axis=1, keepdims=True)  # [U, L]
    frequency = share.sum(axis=0)  # [L]
    rarity = share @ np.where(
        frequency > 0, 1.0 / np.sqrt(np.maximum(frequency, 1e-12)), 0.0
    )  # [U]
    chance = rarity / rarity.sum()  # [U]
    return np.sort(rng.choice(distinct, size, replace=False, p=chance))  # [P]


def _pivots(K: FloatArray, n_points: int) -> IntArray:
    """Greedy choice of the columns that explain most of the others, [M].

    With R = K − K_PZ K_ZZ⁻¹ K_ZP what the points chosen so far leave unexplained, each
    turn takes the column i with the largest |R_i|² / R_ii, by which the next step
    shrinks R. (The largest R_ii alone, the pivot of a Cholesky factor, takes outliers,
    which explain only themselves.)
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


def whiten(
    kernel: RBF, label: int, ZZ: list[Array], ZN: list[Array]
) -> tuple[Array, Array, float]:
    """A = chol(K_ZZ)⁻¹ K_ZN at unit amplitude, the factor and its jitter.

    Parameters
    ----------
    kernel : RBF
        Hyperparameters.
    label : int
        Whose θ to use.
    ZZ, ZN : lists of arrays of shapes (M, M) and (M, N)
        Squared distances of every group.

    Returns
    -------
    A : array of shape (M, N)
        Whitened covariances.
    L : array of shape (M, M)
        Lower Cholesky factor of the correlations of the inducing points.
    jitter : float
        What had to be added to their unit diagonal; usually 0.
    """
    L, jitter = cholesky(kernel.unit_gram(ZZ, label), overwrite=True)  # [M, M]
    A = solve_triangular(L, kernel.unit_gram(ZN, label), overwrite=True)  # [M, N]
    return A, L, jitter


def _shared(kernel: RBF) -> list[int]:
    """For every label, the first label with the same θ, [L]."""
    owners: list[int] = []
    for y in range(kernel.n_labels):
        owners.append(next(k for k in range(y + 1) if kernel.shares_width(k, y)))
    return owners


def inducing_covariance(
    kernel: RBF, ZZ: list[Array], ZN: list[Array]
) -> tuple[Inducing, list[Array]]:
    """Build the whitened matrices of all labels; equal θ are computed once.

    Returns
    -------
    covariance : Inducing
        For the solver.
    roots : list of arrays of shape (M, M)
        Cholesky factors of the inducing correlations, for prediction.
    """
    made: dict[int, tuple[Array, Array, Array]] = {}
    owners, jitter = _shared(kernel), 0.0
    for y in sorted(set(owners)):
        A, L, added = whiten(kernel, y, ZZ, ZN)
        norms = namespace(A).sum(A * A, axis=0)  # [N]
        made[y] = A, norms, L
        jitter = max(jitter, added)
    return (
        Inducing(
            [made[y][0] for y in owners],
            [made[y][1] for y in owners],
            [float(a) for a in kernel.amplitude],
            jitter,
        ),
        [made[y][2] for y in owners],
    )


def dense_covariance(kernel: RBF, distances: list[Array]) -> Dense:
    """Build the correlation matrices of all labels; equal θ are computed once."""
    owners = _shared(kernel)
    made = {y: kernel.unit_gram(distances, y) for y in sorted(set(owners))}
    return Dense([made[y] for y in owners], [float(a) for a in kernel.amplitude])
