r"""The RBF kernel, one per label, and the distances it is made of.

Equation (4):

.. math::

    k(x_i, x_j; \theta_y) = \sigma_y^2 \exp(-\theta_y \|x_i - x_j\|^2)

The paper fixes the amplitude :math:`\sigma_y^2` at 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from tagsift.backend import asarray, is_torch, namespace, sparse_matmul
from tagsift.storage.state import Saved, array
from tagsift.typing import Array, FloatArray

#: Entries above which a second sparse matrix is not spread out on a device (1 GiB).
_SPREAD_OUT = 2**27

__all__ = [
    "RBF",
    "median_distance",
    "squared_distances",
]


@dataclass(frozen=True)
class RBF:
    """Equation (4) for every label: inverse widths and amplitudes.

    Parameters
    ----------
    theta : ndarray of shape (n_labels,)
        Inverse width θ of every label.
    amplitude : ndarray of shape (n_labels,)
        Prior variance σ² of every label's latent values; 1 in the paper.
    """

    theta: FloatArray
    amplitude: FloatArray

    saved: ClassVar[Saved] = {
        "theta": array("L", least=0),
        "amplitude": array("L", least=0),
    }

    @property
    def n_labels(self) -> int:
        """Number of labels, L."""
        return len(self.amplitude)

    def unit_gram(self, distances: Array, label: int) -> Array:
        """Correlations exp(−θd) of one label, in the shape of the distances."""
        theta = float(self.theta[label])
        return namespace(distances).exp(-theta * distances)  # [A, B]

    def gram(self, distances: Array, label: int) -> Array:
        """Covariances of one label: Equation (4) times the amplitude."""
        return float(self.amplitude[label]) * self.unit_gram(distances, label)

    def shares_width(self, label: int, other: int) -> bool:
        """Whether two labels have the same θ, so that they can share a factor."""
        return bool(self.theta[label] == self.theta[other])


def squared_distances(
    X: Any, Z: Any, *, like: Array | None = None, device: Any = None
) -> Array:
    """Squared Euclidean distance between the rows of two matrices.

    Parameters
    ----------
    X, Z : csr_matrix or array of shapes (A, D) and (B, D)
        Sparse inputs stay sparse until the product.
    like, device
        Where the result shall live; NumPy by default.

    Returns
    -------
    array of shape (A, B)
        Never negative; exactly 0 for equal rows of sparse binary features. Dense rows
        are centred first, so that a large common shift costs no digits.
    """
    wanted = asarray(np.zeros(0), like=like, device=device)
    if is_torch(wanted):
        return _torch_distances(X, Z, wanted)
    if not sp.issparse(X) and not sp.issparse(Z):
        X, Z = _centred(X, Z)  # [A, D], [B, D]
    product = X @ Z.T  # [A, B]
    if sp.issparse(product):
        product = product.toarray()  # [A, B]
    squares = -2.0 * np.asarray(product, dtype=np.float64)  # [A, B]
    squares += _row_squares(X)[:, None]
    squares += _row_squares(Z)[None, :]
    return np.maximum(squares, 0.0, out=squares)  # [A, B]


def _torch_distances(X: Any, Z: Any, wanted: Array) -> Array:
    """Dense products on the device: sparse ones are slower there, but need no room."""
    a = _dense_tensor(X, wanted)  # [A, D]
    if Z is not X and sp.issparse(Z) and Z.shape[0] * Z.shape[1] > _SPREAD_OUT:
        product = sparse_matmul(Z, a.T.contiguous())  # [B, A]
        squares = -2.0 * product.T  # [A, B]
        squares += (a * a).sum(1)[:, None]
        squares += asarray(_row_squares(Z), like=wanted)[None, :]
        return squares.clamp_(min=0.0)  # [A, B]
    b = a if Z is X else _dense_tensor(Z, wanted)  # [B, D]
    if not sp.issparse(X) and not sp.issparse(Z):
        a, b = _centred(a, b)  # [A, D], [B, D]
    squares = -2.0 * (a @ b.T)  # [A, B]
    squares += (a * a).sum(1)[:, None]
    squares += (b * b).sum(1)[None, :]
    return squares.clamp_(min=0.0)  # [A, B]


def _dense_tensor(X: Any, wanted: Array) -> Array:
    """Bring a matrix to the device; a sparse one is spread out only there."""
    moved = asarray(X, like=wanted, dtype=np.float64)  # [A, D]
    return moved.to_dense() if sp.issparse(X) else moved


def _centred(X: Array, Z: Array) -> tuple[Array, Array]:
    """Both matrices less the mean row of the second."""
    mean = Z.mean(0)  # [D]
    shifted = Z - mean  # [B, D]
    return (shifted if X is Z else X - mean), shifted


def _row_squares(X: Any) -> FloatArray:
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()  # [A]
    squares: FloatArray = np.einsum("ij,ij->i", X, X)  # [A]
    return squares


def median_distance(X: Any, seed: int, n_pairs: int = 2000) -> float:
    """Median squared distance between random rows: the scale at which θ starts.

    Returns 1 where all rows are equal.
    """
    rng = np.random.default_rng(seed)
    n = X.shape[0]
    first = rng.integers(n, size=n_pairs)  # [P]
    second = rng.integers(n, size=n_pairs)  # [P]
    gap = X[first] - X[second]  # [P, D]
    squares = _row_squares(gap)  # [P]
    positive = squares[squares > 0]
    return float(np.median(positive)) if len(positive) else 1.0
