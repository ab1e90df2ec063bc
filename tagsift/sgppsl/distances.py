"""Squared distances between tokens, formed once for many hyperparameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tagsift.backend import namespace
from tagsift.features.distances import squared_distances
from tagsift.gp.inducing import whiten
from tagsift.gp.kernels import RBF
from tagsift.sgppsl.gradients import theta_gradient
from tagsift.sgppsl.likelihoods import Likelihood
from tagsift.sgppsl.posterior import Covariance, Dense, Inducing
from tagsift.sgppsl.solver import Problem, State, evaluate
from tagsift.typing import Array, FloatArray, IntArray

__all__ = ["Distances"]


@dataclass(frozen=True)
class Distances:
    """Squared distances of the tokens that carry the posterior.

    Parameters
    ----------
    ZN : array of shape (M, n_tokens)
        From the tokens that carry the posterior to all.
    ZZ : array of shape (M, M), or None
        Between inducing points; None where every token carries the posterior.
    """

    ZN: Array
    ZZ: Array | None = None

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
        """Covariances under `kernel`, and the inducing factors (none when dense).

        Equal θ are computed once.
        """
        owners = [
            next(k for k in range(y + 1) if kernel.shares_width(k, y))
            for y in range(kernel.n_labels)
        ]  # [L]
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

    def gradient(
        self,
        problem: Problem,
        kernel: RBF,
        roots: list[Array],
        likelihood: Likelihood,
        state: State,
    ) -> tuple[FloatArray, FloatArray]:
        """Equation (20) at the end of an ascent, in log θ and in log σ², [L] each.

        Hyperparameters are learnt through inducing points always; all tokens may be.
        """
        covariance = problem.covariance
        if not isinstance(covariance, Inducing) or self.ZZ is None:
            raise TypeError(f"no gradient for {type(covariance).__name__}")
        _, expected = evaluate(problem, likelihood, state)
        return theta_gradient(
            covariance, kernel, roots, self.ZZ, self.ZN, state, expected
        )
