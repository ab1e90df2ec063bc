"""A fitted structured Gaussian process: what prediction and a model file need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from tagsift.backend import asarray, to_numpy
from tagsift.features.distances import squared_distances
from tagsift.gp.kernels import RBF
from tagsift.sgppsl.predictive import dense_moments, inducing_moments
from tagsift.storage.items import damaged
from tagsift.storage.state import Saved, array, listed, matrix, part
from tagsift.typing import Array, FloatArray

__all__ = ["FittedGP"]

#: New tokens whose covariances with the old ones are formed at a time.
_BLOCK = 2048


@dataclass(frozen=True)
class FittedGP:
    """Posterior of the unary and transition latents, ready for Equations (22)–(24).

    Its M points are the inducing points, or all training tokens when dense.
    """

    kernel: RBF
    points: Any  # [M, D], csr or dense
    beta: Array  # [M, L], coefficients of the means
    lowers: Sequence[Array]  # L × [M, M], Cholesky factors of the posterior
    roots: Sequence[Array]  # L × [M, M], of the inducing correlations; none when dense
    root: Array | None  # [M, L], √λ of the training tokens; only when dense
    mu_T: FloatArray  # [L, L]
    var_T: FloatArray  # [L, L]

    saved: ClassVar[Saved] = {
        "kernel": part(RBF),
        "points": matrix("M D", training=True),
        "beta": array("M L"),
        "lowers": listed("L", array("M M", triangular=True)),
        "roots": listed("R", array("M M", triangular=True)),
        "root": array("M L", least=0, optional=True),
        "mu_T": array("L L"),
        "var_T": array("L L", least=0),
    }

    @property
    def dense(self) -> bool:
        """Whether every training token carries the posterior."""
        return self.root is not None

    def moments(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Predictive means and variances at new tokens, Equations (23)–(24)."""
        shape = (X.shape[0], self.kernel.n_labels)
        mu, var = np.zeros(shape), np.zeros(shape)  # [N*, L]
        kernel, beta, lowers = self.kernel, self.beta, self.lowers
        for lo in range(0, X.shape[0], _BLOCK):
            rows = slice(lo, lo + _BLOCK)
            distances = squared_distances(self.points, X[rows], like=beta)  # [M, B]
            if self.root is not None:
                found = dense_moments(kernel, distances, beta, lowers, self.root)
            else:
                found = inducing_moments(kernel, distances, self.roots, beta, lowers)
            mu[rows], var[rows] = to_numpy(found[0]), to_numpy(found[1])
        return mu, var

    def on(self, device: Any) -> FittedGP:
        """Return the same posterior, living on `device`; shared factors stay shared."""
        moved: dict[int, Array] = {}

        def move(x: Array) -> Array:
            if id(x) not in moved:
                moved[id(x)] = asarray(x, device=device)
            return moved[id(x)]

        return replace(
            self,
            beta=move(self.beta),
            lowers=[move(lower) for lower in self.lowers],
            roots=[move(root) for root in self.roots],
            root=None if self.root is None else move(self.root),
        )

    def check_saved(self) -> None:
        """Ask that a posterior from a file has one factor per label, or is dense."""
        if len(self.roots) != (0 if self.dense else self.kernel.n_labels):
            raise damaged("there is not one factor of the inducing points per label")
