"""Kernel ridge regression with a free bias, factored once and solved many times.

Shared by SURE and PL-AGGD, whose targets change from round to round while the kernel
does not. With targets P, kernel K and ridge r the minimiser of
``|K A + 1 b − P|² + r tr(Aᵀ K A)`` is, with M = K + r I and u = M⁻¹ 1,

    b = uᵀ P / (uᵀ 1),   A = M⁻¹ (P − 1 b),   outputs K A + 1 b = P − r A.

Above a size limit the kernel is replaced by its Nyström approximation on a random part
of the training tokens, and the same regression is solved in the primal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.linalg as sl

from tagsift.base import setting
from tagsift.baselines._pointwise import TokenTagger
from tagsift.errors import ScaleWarning
from tagsift.features import Reference, mean_distance
from tagsift.progress import warn_user
from tagsift.storage import Saved, array, matrix, number, part
from tagsift.typing import FloatArray

__all__ = ["DenseRidge", "KernelExpansion", "KernelRidgeTagger", "NystromRidge"]

#: Most tokens of the Nyström basis.
_BASIS = 2_000
#: Most numbers in its features (1.6 GB of doubles).
_FEATURES = 200_000_000


def _rbf_blocks(X: Any, Z: Any, sigma: float) -> Any:
    """Yield slices of the rows of `Z` and ``exp(−|z − x|² / 2σ²)``, [block, N]."""
    for rows, squared in Reference(X).blocks(Z):
        squared *= -0.5 / sigma**2  # [block, N]
        yield rows, np.exp(squared, out=squared)  # [block, N]


def _rbf(X: Any, Z: Any, sigma: float) -> FloatArray:
    """The blocks as one matrix, [M, N]."""
    K = np.empty((Z.shape[0], X.shape[0]))  # [M, N]
    for rows, block in _rbf_blocks(X, Z, sigma):
        K[rows] = block
    return K


@dataclass(frozen=True)
class KernelExpansion:
    """A fitted regression: ``scores(z) = k(z, basis) weights + bias``."""

    basis: Any  # [B, D]  training tokens, or the Nyström part of them
    sigma: float
    weights: FloatArray  # [B, L]
    bias: FloatArray  # [L]

    saved: ClassVar[Saved] = {
        "basis": matrix("B D", training=True),
        "sigma": number(above=0),
        "weights": array("B L"),
        "bias": array("L"),
    }

    def scores(self, Z: Any) -> FloatArray:
        """Outputs of the regression for new tokens, [M, L]."""
        out = np.empty((Z.shape[0], len(self.bias)))  # [M, L]
        for rows, K in _rbf_blocks(self.basis, Z, self.sigma):
            out[rows] = K @ self.weights + self.bias  # [block, L]
        return out


class DenseRidge:
    """Kernel ridge on the whole kernel matrix; memory n² doubles, time n³ / 3."""

    def __init__(self, X: Any, ridge: float, sigma: float) -> None:
        self.X, self.ridge, self.sigma = X, ridge, sigma
        n = X.shape[0]
        M = _rbf(X, X, sigma)  # [N, N]
        M[np.diag_indices(n)] = 1.0 + ridge  # the diagonal of K is 1 exactly
        # The transpose of a C-ordered matrix is factored in place, without a copy.
        self._factor = sl.cho_factor(M.T, overwrite_a=True, check_finite=False)
        self._u = self._apply(np.ones(n))  # [N]

    def _apply(self, B: FloatArray) -> FloatArray:
        return np.asarray(sl.cho_solve(self._factor, B, check_finite=False))  # [N, …]

    def solve(self, P: FloatArray) -> FloatArray:
        """Fit the targets and return the outputs on the training tokens, [N, L]."""
        self.bias = self._u @ P / self._u.sum()  # [L]
        self.weights = self._apply(P - self.bias)  # [N, L]
        return P - self.ridge * self.weights  # [N, L]

    def expansion(self) -> KernelExpansion:
        return KernelExpansion(self.X, self.sigma, self.weights, self.bias)


class NystromRidge:
    """The same regression with the kernel approximated on some training tokens.

    With ``L Lᵀ = k(basis, basis)`` the features ``Z = k(X, basis) L⁻ᵀ`` have Z Zᵀ ≈ K.
    """

    def __init__(
        self, X: Any, ridge: float, sigma: float, rng: np.random.Generator
    ) -> None:
        self.sigma = sigma
        n = X.shape[0]
        size = min(n, _BASIS, max(500, _FEATURES // n))
        self.basis = X[np.sort(rng.choice(n, size=size, replace=False))]  # [B, D]
        K = _rbf(self.basis, self.basis, sigma)  # [B, B]
        K[np.diag_indices(size)] = 1.0 + 1e-8  # duplicates among the chosen tokens
        self._root = np.linalg.cholesky(K)  # [B, B]
        self._Z = np.empty((n, size))  # [N, B]
        for rows, block in _rbf_blocks(self.basis, X, sigma):
            self._Z[rows] = sl.solve_triangular(
                self._root, block.T, lower=True, check_finite=False
            ).T  # [block, B]
        self._centre = self._Z.mean(axis=0)  # [B]
        S = self._Z.T @ self._Z - n * np.outer(self._centre, self._centre)  # [B, B]
        S[np.diag_indices(size)] += ridge
        self._factor = sl.cho_factor(S, lower=True, check_finite=False)

    def solve(self, P: FloatArray) -> FloatArray:
        """Fit the targets and return the outputs on the training tokens, [N, L]."""
        mean = P.mean(axis=0)  # [L]
        right = self._Z.T @ (P - mean)  # [B, L]
        self._w = np.asarray(sl.cho_solve(self._factor, right))  # [B, L]
        self.bias = mean - self._centre @ self._w  # [L]
        return np.asarray(self._Z @ self._w + self.bias)  # [N, L]

    def expansion(self) -> KernelExpansion:
        weights = sl.solve_triangular(self._root, self._w, trans="T", lower=True)
        return KernelExpansion(self.basis, self.sigma, weights, self.bias)


class KernelRidgeTagger(TokenTagger):
    """A token-wise rival that predicts by a kernel regression."""

    saved: ClassVar[Saved] = {"expansion_": part(KernelExpansion)}

    max_dense: int = setting(10_000, least=0)

    def _ridge(self, X: Any, ridge: float, seed: int) -> DenseRidge | NystromRidge:
        """Factor the regression of the training tokens, and note how."""
        rng = np.random.default_rng(seed)
        sigma, n = mean_distance(X, rng), X.shape[0]
        self.variant_ = ""
        if n <= self.max_dense:
            return DenseRidge(X, ridge, sigma)
        self.variant_ = "Nyström kernel"
        approximate = NystromRidge(X, ridge, sigma, rng)
        warn_user(
            f"{self.method.title} has {n} tokens, more than "
            f"max_dense={self.max_dense}: the kernel is replaced by its Nyström "
            f"approximation on {approximate.basis.shape[0]} of them.",
            ScaleWarning,
        )
        return approximate

    def _token_scores(self, X: Any) -> FloatArray:
        expansion: KernelExpansion = self.expansion_
        return expansion.scores(X)  # [M, L]
