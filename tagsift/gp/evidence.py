r"""Hyperparameters by Laplace's evidence: no cross validation, no confidences.

The value of the paper's bound prefers amplitudes that are far too small (Reading R8),
because Jensen's inequality is loose as soon as the prior variance is large. Laplace's
evidence has no such bias: with :math:`\hat f` the mode and B = I + √λ K √λ its
curvature, λ = p(1 − p),

.. math:: \log p(S | \theta, \sigma^2) \approx \log p(S | \hat f)
          - \tfrac12 \hat f^T K^{-1} \hat f - \tfrac12 \log|B|

Two numbers matter, the width and the amplitude that all labels share. They are found by
a pattern search on a logarithmic grid, each trial warm-started from the last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tagsift.gp.distances import Distances
from tagsift.gp.expectations import Laplace
from tagsift.gp.kernels import RBF
from tagsift.gp.likelihoods import Likelihood
from tagsift.gp.solver import Problem, State, ascend, carry_over, start
from tagsift.typing import Array

__all__ = ["laplace_evidence", "search_kernel"]


def laplace_evidence(
    distances: Distances,
    kernel: RBF,
    likelihood: Likelihood,
    weights: Array,
    state: State | None = None,
    *,
    prior_T: float = 1.0,
) -> tuple[float, State]:
    """Evidence of the candidate sets under `kernel`, and the mode it was taken at.

    Parameters
    ----------
    distances : Distances
        Of the tokens.
    kernel : RBF
        Hyperparameters.
    likelihood : Likelihood
        What the labels say; usually `Separate`.
    weights : array of shape (n_tokens, n_labels)
        Sets the first curvature where there is no `state`.
    state : State, optional
        Warm start.
    prior_T : float
        Prior variance of the transitions.
    """
    covariance, _ = distances.covariance(kernel)
    covariance = replace(covariance, variances=False)  # the mode needs none
    problem = Problem(covariance, Laplace(), prior_T)
    if state is None:
        state = start(problem, weights, weights.shape[1])
    else:
        state = carry_over(problem, state)
    state, bounds = ascend(problem, likelihood, state, n_mean=8, n_variance=3, tol=1e-5)
    return bounds[-1] - 0.5 * state.factors.log_det, state


def search_kernel(
    kernel: RBF,
    distances: Distances,
    likelihood: Likelihood,
    weights: Array,
    *,
    learn_amplitude: bool = True,
    learn_theta: bool = True,
    max_trials: int = 16,
    on_trial: Callable[[float, RBF], None] | None = None,
) -> RBF:
    """Pattern search for the width and the amplitude that all labels share.

    Parameters
    ----------
    kernel : RBF
        Where to begin.
    distances, likelihood, weights
        As in `laplace_evidence`.
    learn_amplitude, learn_theta : bool
        Which of them are free.
    max_trials : int
        Most evaluations of the evidence.
    on_trial : callable, optional
        Called with (evidence, kernel) after every trial.

    Returns
    -------
    RBF
        The best hyperparameters seen.
    """
    axes = [k for k, free in enumerate((learn_amplitude, learn_theta)) if free]
    if not axes:
        return kernel
    seen: dict[tuple[float, float], float] = {}
    state: State | None = None

    def scaled(point: tuple[float, float]) -> RBF:
        return RBF(kernel.theta * np.exp(point[1]), kernel.amplitude * np.exp(point[0]))

    def value(point: tuple[float, float]) -> float:
        nonlocal state
        if point not in seen:
            trial = scaled(point)
            seen[point], state = laplace_evidence(
                distances, trial, likelihood, weights, state
            )
            if on_trial is not None:
                on_trial(seen[point], trial)
        return seen[point]

    best = (0.0, 0.0)
    value(best)
    width = np.log(4.0)
    while len(seen) < max_trials and width > 0.5:
        improved = False
        for axis in axes:
            for sign in (1.0, -1.0):
                while len(seen) < max_trials:
                    moved = list(best)
                    moved[axis] = round(moved[axis] + sign * width, 6)
                    point = (moved[0], moved[1])
                    if abs(moved[axis]) > 8.0 or value(point) <= value(best):
                        break
                    best, improved = point, True
        if not improved:
            width /= 2.0
    return scaled(best)
