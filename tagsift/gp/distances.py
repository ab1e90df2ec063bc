"""Squared distances of all feature groups, formed once for many hyperparameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tagsift.gp.gradients import dense_gradient, inducing_gradient
from tagsift.gp.inducing import dense_covariance, inducing_covariance
from tagsift.gp.kernels import RBF, squared_distances
from tagsift.gp.likelihoods import Likelihood
from tagsift.gp.posterior import Dense, Inducing
from tagsift.gp.solver import Problem, State, evaluate
from tagsift.typing import Array, FloatArray, IntArray

__all__ = ["Distances"]


@dataclass(frozen=True)
class Distances:
    """Squared distances of every feature group; formed once.

    Parameters
    ----------
    NN : list of arrays of shape (n_tokens, n_tokens), or None
        For the dense posterior.
    ZZ, ZN : lists of arrays of shapes (M, M) and (M, N), or None
        For the inducing one.
    """

    NN: list[Array] | None = None
    ZZ: list[Array] | None = None
    ZN: list[Array] | None = None

    @classmethod
    def of(
        cls, groups: list[Any], points: IntArray | None, device: Any = "cpu"
    ) -> Distances:
        """Measure the tokens of `groups`, against `points` where they are given."""
        if points is None:
            return cls(NN=[squared_distances(g, g, device=device) for g in groups])
        return cls(
            ZZ=[squared_distances(g[points], g[points], device=device) for g in groups],
            ZN=[squared_distances(g[points], g, device=device) for g in groups],
        )

    def covariance(self, kernel: RBF) -> tuple[Any, list[Array]]:
        """Covariances under `kernel`, and the inducing factors (none when dense)."""
        if self.NN is not None:
            return dense_covariance(kernel, self.NN), []
        return inducing_covariance(kernel, self.ZZ or [], self.ZN or [])

    def gradient(
        self,
        problem: Problem,
        kernel: RBF,
        roots: list[Array],
        likelihood: Likelihood,
        state: State,
    ) -> tuple[FloatArray, FloatArray]:
        """Equation (20) at the end of an ascent: in log θ [L, G] and log σ² [L]."""
        covariance = problem.covariance
        if isinstance(covariance, Dense):
            return dense_gradient(
                covariance, kernel, self.NN or [], state.beta, state.factors
            )
        if not isinstance(covariance, Inducing):
            raise TypeError(f"no gradient for {type(covariance).__name__}")
        _, expected = evaluate(problem, likelihood, state)
        return inducing_gradient(
            covariance,
            kernel,
            roots,
            self.ZZ or [],
            self.ZN or [],
            state.beta,
            state.factors,
            expected.gradient,
            expected.precision,
        )
