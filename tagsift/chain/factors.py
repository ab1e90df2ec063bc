r"""What the training confidences say about a new token and about a transition.

Equation (29), Reading R5:

.. math::

    \tau_i(y) = \begin{cases}
      \frac{1}{K_i} \sum_k c_k(y) & y \in \mathcal{Y}_i \\
      \frac{1}{|\mathcal{Y}|} \frac{1}{K_i} \sum_k \sum_{y'} c_k(y') & \text{otherwise}
    \end{cases}

with the K nearest training tokens k and the set Y_i of their candidate labels. As
printed the second case lacks the division by the number of labels and equals 1, the
largest value there is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["nearest_tokens", "neighbour_factor", "transition_factor"]

#: Rows of new tokens compared with all training tokens at a time.
_BLOCK = 512


def nearest_tokens(
    X_new: Any, X_train: Any, n_neighbours: int, *, exclude_self: bool = False
) -> IntArray:
    """Nearest training tokens of every new token, by Euclidean distance.

    Parameters
    ----------
    X_new, X_train : csr_matrix or ndarray of shapes (M, D) and (N, D)
        Features.
    n_neighbours : int
        How many, Q; all of them where there are fewer.
    exclude_self : bool
        Whether row i of `X_new` is row i of `X_train` and must not count.

    Returns
    -------
    ndarray of int, shape (M, Q)
        Nearest first; equal distances in the order of the training tokens.
    """
    n_train = X_train.shape[0]
    wanted = min(n_neighbours, n_train - int(exclude_self))
    squares = _row_squares(X_train)  # [N]
    transposed = X_train.T.tocsr() if sp.issparse(X_train) else X_train.T  # [D, N]
    found = np.empty((X_new.shape[0], wanted), dtype=np.int64)  # [M, Q]
    for lo in range(0, X_new.shape[0], _BLOCK):
        product = X_new[lo : lo + _BLOCK] @ transposed  # [B, N]
        if sp.issparse(product):
            product = product.toarray()  # [B, N]
        distance = squares[None, :] - 2.0 * product  # [B, N], up to |x|² of the row
        if exclude_self:
            rows = np.arange(len(distance))
            distance[rows, lo + rows] = np.inf
        found[lo : lo + _BLOCK] = _smallest(distance, wanted)
    return found


def _smallest(distance: FloatArray, wanted: int) -> IntArray:
    """Columns of the smallest entries of every row; ties to the lowest column."""
    if wanted == 0:
        return np.empty((len(distance), 0), dtype=np.int64)
    kth = np.partition(distance, wanted - 1, axis=1)[:, wanted - 1]  # [B]
    rows, columns = np.nonzero(distance <= kth[:, None])  # [K], at least Q a row
    nearest_first = np.lexsort((columns, distance[rows, columns], rows))  # [K]
    first = np.searchsorted(rows, np.arange(len(distance)))  # [B]
    places = first[:, None] + np.arange(wanted)[None, :]  # [B, Q]
    chosen: IntArray = columns[nearest_first[places]]  # [B, Q]
    return chosen


def _row_squares(X: Any) -> FloatArray:
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()  # [N]
    squares: FloatArray = np.einsum("ij,ij->i", X, X)  # [N]
    return squares


def neighbour_factor(
    neighbours: IntArray,
    confidences: FloatArray,
    mask: BoolArray,
    *,
    floor: str = "uniform",
) -> FloatArray:
    """Equation (29): confidence of every label at every new token, [M, L].

    Parameters
    ----------
    neighbours : ndarray of int, shape (M, Q)
        Nearest training tokens.
    confidences : ndarray of shape (n_train, n_labels)
        Training confidences, Equation (17).
    mask : ndarray of bool, shape (n_train, n_labels)
        Training candidate sets.
    floor : {"uniform", "literal"}
        The second case with the division by the number of labels (Reading R5), or as
        printed.
    """
    n_labels = confidences.shape[1]
    mean = confidences[neighbours].mean(axis=1)  # [M, L]
    seen = mask[neighbours].any(axis=1)  # [M, L]
    rest = mean.sum(axis=1, keepdims=True)  # [M, 1]
    if floor == "uniform":
        rest = rest / n_labels  # [M, 1]
    factor: FloatArray = np.where(seen, mean, rest)  # [M, L]
    return factor


def transition_factor(sums: FloatArray, counts: FloatArray) -> FloatArray:
    """Mean confidence τ(y, y') of a transition over the pairs that may take it.

    0 for pairs that never occur, as printed (Reading R7).

    Parameters
    ----------
    sums, counts : ndarrays of shape (n_labels, n_labels)
        Summed confidences, and how many neighbouring tokens have the pair among their
        candidates.
    """
    return np.where(counts > 0, sums / np.maximum(counts, 1.0), 0.0)  # [L, L]
