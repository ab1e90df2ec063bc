r"""How sure the latent values are, from the curvature at the mode.

With whitened features f = Φw and w ~ N(0, I), the diagonal of Laplace's posterior
precision is 1 + h_{dy} with h_{dy} = Σ_n φ_{nd}² p_{ny}(1 − p_{ny}). A token's variance
is Σ_d φ_d² / (1 + h_{dy}): large where its features were seldom or never seen. Columns
of inducing points vanish far from them, and their variance with them; what they do not
carry of the prior variance is the `rest` below, and is added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from tagsift.features import FeatureMatrix
from tagsift.storage.state import Saved, array
from tagsift.typing import BoolArray, FloatArray

__all__ = ["Spread"]


@dataclass(frozen=True)
class Spread:
    """Diagonal posterior precision of the whitened weights."""

    precision: FloatArray  # [D, L], 1 + h; infinite where never a candidate

    saved: ClassVar[Saved] = {"precision": array("P L", least=1, infinite=np.inf)}

    @classmethod
    def at_mode(cls, phi: FeatureMatrix, p: FloatArray, active: BoolArray) -> Spread:
        """Collect the curvature of all training tokens, with marginals p [N, L]."""
        curvature = p * (1.0 - p)  # [N, L]
        h = np.vstack([_squared(block).T @ curvature for block in phi.blocks])  # [D, L]
        return cls(np.where(active, 1.0 + h, np.inf))

    def variance(
        self, phi: FeatureMatrix, rest: FloatArray | None = None
    ) -> FloatArray:
        """Variance of every latent value, [M, L]; no column carries the `rest` [M]."""
        total = np.zeros((phi.n_tokens, self.precision.shape[1]))  # [M, L]
        if rest is not None:
            total += np.where(np.isfinite(self.precision[0]), rest[:, None], 0.0)
        column = 0
        for block in phi.blocks:
            width = block.shape[1]
            total += _squared(block) @ (1.0 / self.precision[column : column + width])
            column += width
        return total

    def difference_variance(
        self, phi: FeatureMatrix, rest: FloatArray | None = None
    ) -> FloatArray:
        """Variance of f_y − mean_y f, labels taken as independent, [M, L]."""
        v = self.variance(phi, rest)  # [M, L]
        n = max(int(np.isfinite(self.precision[0]).sum()), 1)
        shared = v.sum(axis=1, keepdims=True) / n**2  # [M, 1]
        known = np.isfinite(self.precision[0])  # [L]
        return np.where(known, v * (1.0 - 2.0 / n) + shared, 0.0)  # [M, L]


def _squared(block: Any) -> Any:
    """Elementwise square, sparse or dense."""
    return block.multiply(block).tocsr() if sp.issparse(block) else block * block
