"""Euclidean projection onto the simplex over the candidates of every token.

Used for the pseudo-labels of SURE, and for confidences and graph weights of PL-AGGD.
"""

from __future__ import annotations

import numpy as np

from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["CandidateSimplex", "project_simplex"]


class CandidateSimplex:
    """The rows ``p ≥ 0``, ``Σ p = 1``, zero outside the candidate set.

    Candidates are gathered into as many columns as the largest set has, so that a
    projection sorts short rows even where there are many labels; tokens with a single
    candidate are never sorted.
    """

    def __init__(self, mask: BoolArray) -> None:
        self.mask = np.asarray(mask, dtype=bool)  # [N, L]
        sizes = self.mask.sum(axis=1)  # [N]
        self._exact: IntArray = np.flatnonzero(sizes == 1)  # [N₁]
        self._label: IntArray = self.mask[self._exact].argmax(axis=1)  # [N₁]
        self._open: IntArray = np.flatnonzero(sizes > 1)  # [N₂]
        width = int(sizes.max(initial=1))
        order = np.argsort(~self.mask[self._open], axis=1, kind="stable")  # [N₂, L]
        self._columns: IntArray = order[:, :width]  # [N₂, C]
        self._padding: BoolArray = np.arange(width) >= sizes[self._open, None]

    def project(self, V: FloatArray) -> FloatArray:
        """Nearest point of the simplex over candidates for every row, [N, L]."""
        P = np.zeros_like(V, dtype=float)  # [N, L]
        P[self._exact, self._label] = 1.0  # [N₁]
        rows = self._open[:, None]  # [N₂, 1]
        inner = np.where(self._padding, -np.inf, V[rows, self._columns])  # [N₂, C]
        P[rows, self._columns] = project_simplex(inner)  # [N₂, C]
        return P

    def uniform(self) -> FloatArray:
        """Equal shares for the candidates of every token, [N, L]."""
        return np.asarray(self.mask / self.mask.sum(axis=1, keepdims=True))  # [N, L]


def project_simplex(V: FloatArray) -> FloatArray:
    """Nearest point of the simplex for every row [N, C]; −∞ marks what must be zero."""
    if V.size == 0:
        return np.zeros_like(V)
    u = -np.sort(-V, axis=1)  # [N, C]  descending
    total = np.cumsum(u, axis=1) - 1.0  # [N, C]
    count = np.arange(1, V.shape[1] + 1)  # [C]
    rho = np.maximum((u * count > total).sum(axis=1), 1)  # [N]
    theta = total[np.arange(len(V)), rho - 1] / rho  # [N]
    return np.asarray(np.maximum(V - theta[:, None], 0.0))  # [N, C]
