"""Hyperparameters by the gradient of the bound, as the paper has it.

The outer loop of section III-D: at fixed confidences the bound, maximised over (μ, V),
is a smooth function of log θ and log σ² with the gradient of Equation (20). It is
climbed by L-BFGS, first with one θ and one amplitude for all labels, then (where asked)
label by label; between rounds the confidences are brought up to date.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from tagsift.gp.alternating import (
    Labels,
    Settings,
    Solution,
    alternate,
    build_likelihood,
)
from tagsift.gp.distances import Distances
from tagsift.gp.expectations import Expectation
from tagsift.gp.kernels import RBF
from tagsift.gp.likelihoods import Likelihood
from tagsift.gp.solver import Problem, State, ascend, carry_over
from tagsift.typing import FloatArray

__all__ = ["Bounds", "learn_kernel"]


@dataclass(frozen=True)
class Bounds:
    """Box in which the logarithms are searched, relative to the start."""

    theta: float = 4.0
    amplitude: tuple[float, float] = (np.log(1e-2), np.log(1e4))


def learn_kernel(
    kernel: RBF,
    distances: Distances,
    labels: Labels,
    settings: Settings,
    expectation: Expectation,
    *,
    learn_amplitude: bool = True,
    learn_theta: bool = True,
    per_label: bool = False,
    n_rounds: int = 4,
    n_steps: int = 6,
    prior_T: float = 1.0,
    on_round: Any = None,
) -> RBF:
    """Climb the bound in θ and the amplitude.

    Parameters
    ----------
    kernel : RBF
        Where to begin.
    distances : Distances
        Of the tokens to learn from.
    labels : Labels
        Their candidate sets.
    settings, expectation
        Readings, likelihood and expectation of the fit.
    learn_amplitude, learn_theta : bool
        Which of them are free.
    per_label : bool
        Whether the last round frees every label's own θ and amplitude.
    n_rounds : int
        Rounds of confidences and L-BFGS.
    n_steps : int
        L-BFGS iterations a round.
    prior_T : float
        Prior variance of the transitions.
    on_round : callable, optional
        Called after every round with (bound, kernel).

    Returns
    -------
    RBF
        The learnt hyperparameters.
    """
    if not (learn_amplitude or learn_theta):
        return kernel
    origin = np.log(kernel.theta)  # [L, G]
    state: State | None = None
    for round_ in range(n_rounds):
        own = per_label and round_ == n_rounds - 1
        covariance, _ = distances.covariance(kernel)
        problem = Problem(covariance, expectation, prior_T)
        if state is not None:
            state = carry_over(problem, state)
        solution = alternate(problem, labels, settings, state=state, max_iter=12)
        climb = _Climb(
            distances, labels, settings, expectation, prior_T, solution, kernel, own
        )
        kernel, state, bound = climb.run(
            origin, Bounds(), n_steps, learn_amplitude, learn_theta
        )
        if on_round is not None:
            on_round(bound, kernel)
    return kernel


class _Climb:
    """One round of L-BFGS at fixed confidences."""

    def __init__(
        self,
        distances: Distances,
        labels: Labels,
        settings: Settings,
        expectation: Expectation,
        prior_T: float,
        solution: Solution,
        kernel: RBF,
        own: bool,
    ) -> None:
        self.distances = distances
        self.expectation = expectation
        self.prior_T = prior_T
        self.likelihood = _frozen(settings, labels, solution)
        self.state = solution.state
        self.kernel = kernel
        self.own = own

    def run(
        self,
        origin: FloatArray,
        box: Bounds,
        n_steps: int,
        learn_amplitude: bool,
        learn_theta: bool,
    ) -> tuple[RBF, State, float]:
        """Climb, and return the best kernel, its state and its bound."""
        n_labels, n_groups = self.kernel.theta.shape
        rows = n_labels if self.own else 1
        theta0 = np.log(self.kernel.theta[:rows])  # [R, G]
        amplitude0 = np.log(self.kernel.amplitude[:rows])  # [R]
        best: list[Any] = [-np.inf, self.kernel, self.state]

        def objective(packed: FloatArray) -> tuple[float, FloatArray]:
            theta = packed[: rows * n_groups].reshape(rows, n_groups)  # [R, G]
            amplitude = packed[rows * n_groups :]  # [R]
            kernel = RBF(
                np.exp(np.broadcast_to(theta, (n_labels, n_groups))).copy(),
                np.exp(np.broadcast_to(amplitude, (n_labels,))).copy(),
            )
            bound, state, d_theta, d_amplitude = self.value(kernel)
            if bound > best[0]:
                best[:] = [bound, kernel, state]
            if not self.own:
                d_theta = d_theta.sum(axis=0, keepdims=True)  # [1, G]
                d_amplitude = d_amplitude.sum(keepdims=True)  # [1]
            slope = np.concatenate(
                [learn_theta * d_theta.ravel(), learn_amplitude * d_amplitude]
            )
            return -bound, -slope

        low, high = box.amplitude
        limits = [(t - box.theta, t + box.theta) for t in origin[:rows].ravel()] + [
            (min(low, a), max(high, a)) for a in amplitude0
        ]
        minimize(
            objective,
            np.concatenate([theta0.ravel(), amplitude0]),
            jac=True,
            method="L-BFGS-B",
            bounds=limits,
            options={"maxiter": n_steps, "maxfun": 2 * n_steps},
        )
        return best[1], best[2], best[0]

    def value(self, kernel: RBF) -> tuple[float, State, FloatArray, FloatArray]:
        """Maximised bound at `kernel`, warm-started, and its gradient."""
        covariance, roots = self.distances.covariance(kernel)
        problem = Problem(covariance, self.expectation, self.prior_T)
        state, bounds = ascend(
            problem,
            self.likelihood,
            carry_over(problem, self.state),
            n_mean=6,
            n_variance=3,
            tol=1e-6,
        )
        self.state = state
        d_theta, d_amplitude = self.distances.gradient(
            problem, kernel, roots, self.likelihood, state
        )
        return bounds[-1], state, d_theta, d_amplitude


def _frozen(settings: Settings, labels: Labels, solution: Solution) -> Likelihood:
    """Build the likelihood at the confidences of `solution`."""
    return build_likelihood(settings, solution.state, labels, solution.confidences)
