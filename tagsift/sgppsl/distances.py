"""Squared distances between tokens, formed once for many hyperparameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tagsift.backend import namespace
from tagsift.features.distances import squared_distances
from tagsift.gp.inducing import whiten
from tagsift.gp.kernels import RBF
from tagsift.sgppsl.posterior import Covariance, Dense, Inducing
from tagsift.typing import Array, IntArray

__all__ = ["Distances"]


@dataclass(frozen=True)
class Distances:
    """Squared distances of the tokens that carry the posterior."""

    ZN: Array  # [M, N], from them to all tokens
    ZZ: Array | None = None  # [M, M], where they are inducing points

    @classmethod
    def of(cls, X: Any, points: IntArray | None, device: Any = "cpu") -> Distances:
        """Measure the tokens, against `points` where they are given."""
        if points is None:
            return cls(squared_distances(X, X, device=device))
        Z = X[points]  # [M, D]
        return cls(
            squared_distances(Z, X, device=device),
            squared_distances(Z, Z, device=device),
        )

    def covariance(self, kernel: RBF) -> tuple[Covariance, list[Array]]:
        """Covariances, equal θ once, and the inducing factors (none when dense)."""
        widths = kernel.theta.tolist()
        owners = [widths.index(theta) for theta in widths]  # [L]
        amplitude = [float(a) for a in kernel.amplitude]  # [L]
        if self.ZZ is None:
            grams = {y: kernel.unit_gram(self.ZN, y) for y in sorted(set(owners))}
            return Dense([grams[y] for y in owners], amplitude), []
        made = {
            y: whiten(kernel.unit_gram(self.ZZ, y), kernel.unit_gram(self.ZN, y))
            for y in sorted(set(owners))
        }
        norms = {y: namespace(A).sum(A * A, axis=0) for y, (A, _, _) in made.items()}
        covariance = Inducing(
            [made[y][0] for y in owners],
            [norms[y] for y in owners],
            amplitude,
            max(jitter for _, _, jitter in made.values()),
        )
        return covariance, [made[y][1] for y in owners]
