r"""Width and amplitude of the RBF process: as given, by evidence, or by the bound.

The paper climbs the bound (15) in θ by its gradient (20), in an outer loop around the
confidences (section III-D). The value of that bound prefers amplitudes that are far too
small (Reading R8), because Jensen's inequality is loose as soon as the prior variance
is large. Laplace's evidence has no such bias: with :math:`\hat f` the mode and
B = I + √λ K √λ its curvature, λ = p(1 − p),

.. math:: \log p(S | \theta, \sigma^2) \approx \log p(S | \hat f)
          - \tfrac12 \hat f^T K^{-1} \hat f - \tfrac12 \log|B|

It needs no confidences. Two numbers are searched by it, the width and the amplitude
that all labels share; the bound is climbed first in these two, then label by label.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tagsift.gp.kernels import RBF
from tagsift.gp.search import climb, pattern_search
from tagsift.sgppsl.alternating import alternate
from tagsift.sgppsl.distances import Distances
from tagsift.sgppsl.expectations import Expectation, Laplace
from tagsift.sgppsl.labels import Labels, Settings, build_likelihood
from tagsift.sgppsl.likelihoods import Likelihood
from tagsift.sgppsl.solver import Problem, State, ascend, carry_over, start
from tagsift.typing import Array, FloatArray

__all__ = ["Freedom", "climb_bound", "laplace_evidence", "search_evidence"]

#: How far log θ may move from where it begins, and between what log σ² may lie.
_REACH, _AMPLITUDES = 4.0, (float(np.log(1e-2)), float(np.log(1e4)))


@dataclass(frozen=True)
class Freedom:
    """Which hyperparameters are learnt.

    Parameters
    ----------
    theta, amplitude : bool
        Whether the widths and the prior variances are free.
    """

    theta: bool = True
    amplitude: bool = True


def laplace_evidence(
    distances: Distances,
    kernel: RBF,
    likelihood: Likelihood,
    weights: Array,
    state: State | None = None,
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
    """
    covariance, _ = distances.covariance(kernel)
    covariance = replace(covariance, variances=False)  # the mode needs none
    problem = Problem(covariance, Laplace())
    if state is None:
        state = start(problem, weights, weights.shape[1])
    else:
        state = carry_over(problem, state)
    state, bounds = ascend(problem, likelihood, state, n_mean=8, n_variance=3, tol=1e-5)
    return bounds[-1] - 0.5 * state.factors.log_det, state


def search_evidence(
    kernel: RBF,
    distances: Distances,
    likelihood: Likelihood,
    weights: Array,
    free: Freedom,
    *,
    max_trials: int = 16,
) -> RBF:
    """Pattern search for the width and the amplitude that all labels share.

    Parameters
    ----------
    kernel : RBF
        Where to begin.
    distances, likelihood, weights
        As in `laplace_evidence`.
    free : Freedom
        What is learnt.
    max_trials : int
        Most evaluations of the evidence.
    """
    state: State | None = None

    def shifted(logs: FloatArray) -> RBF:
        amplitude, theta = np.exp(logs)
        return RBF(kernel.theta * theta, kernel.amplitude * amplitude)

    def value(logs: FloatArray) -> float:
        nonlocal state
        evidence, state = laplace_evidence(
            distances, shifted(logs), likelihood, weights, state
        )
        return evidence

    return shifted(
        pattern_search(value, (free.amplitude, free.theta), max_trials=max_trials)
    )


def climb_bound(
    kernel: RBF,
    distances: Distances,
    labels: Labels,
    settings: Settings,
    expectation: Expectation,
    free: Freedom,
    *,
    n_rounds: int = 4,
    n_steps: int = 6,
) -> tuple[RBF, float]:
    """Climb the bound in θ and the amplitude, every label by itself in the last round.

    Parameters
    ----------
    kernel : RBF
        Where to begin.
    distances : Distances
        Of the tokens to learn from.
    labels : Labels
        What is known of their labels.
    settings, expectation
        Readings, likelihood and expectation of the fit.
    free : Freedom
        What is learnt.
    n_rounds : int
        Rounds of confidences and quasi-Newton steps.
    n_steps : int
        Quasi-Newton steps a round.

    Returns
    -------
    kernel : RBF
        The learnt hyperparameters.
    bound : float
        The bound there, at the confidences of the last round.
    """
    origin = np.log(kernel.theta)  # [L]
    state: State | None = None
    for round_ in range(n_rounds):
        problem = Problem(distances.covariance(kernel)[0], expectation)
        if state is not None:
            state = carry_over(problem, state)
        solution = alternate(problem, labels, settings, state=state, max_iter=12)
        likelihood = build_likelihood(
            settings, solution.state.q, labels, solution.confidences
        )
        fixed = _FixedConfidences(distances, expectation, likelihood, solution.state)
        rows = kernel.n_labels if round_ == n_rounds - 1 else 1
        kernel, state, bound = _climb_once(kernel, fixed, free, origin, rows, n_steps)
    return kernel, bound


class _FixedConfidences:
    """The bound, maximised over (μ, V), as a function of the kernel alone."""

    def __init__(
        self,
        distances: Distances,
        expectation: Expectation,
        likelihood: Likelihood,
        state: State,
    ) -> None:
        self.distances, self.expectation = distances, expectation
        self.likelihood, self.state = likelihood, state

    def __call__(self, kernel: RBF) -> tuple[float, FloatArray, FloatArray]:
        """Bound at `kernel` and its derivatives in log θ and log σ², [L] each."""
        covariance, roots = self.distances.covariance(kernel)
        problem = Problem(covariance, self.expectation)
        self.state, bounds = ascend(
            problem,
            self.likelihood,
            carry_over(problem, self.state),
            n_mean=6,
            n_variance=3,
            tol=1e-6,
        )
        slopes = self.distances.gradient(
            problem, kernel, roots, self.likelihood, self.state
        )
        return bounds[-1], *slopes


def _climb_once(
    kernel: RBF,
    bound: _FixedConfidences,
    free: Freedom,
    origin: FloatArray,
    rows: int,
    n_steps: int,
) -> tuple[RBF, State, float]:
    """One round at fixed confidences; one row of hyperparameters serves all labels."""
    n_labels = kernel.n_labels

    def value(logs: FloatArray) -> tuple[float, FloatArray, Any]:
        theta, amplitude = np.exp(logs).reshape(2, rows)  # [R], [R]
        trial = RBF(np.resize(theta, n_labels), np.resize(amplitude, n_labels))
        found, d_theta, d_amplitude = bound(trial)
        if rows == 1:
            d_theta = d_theta.sum(keepdims=True)  # [1]
            d_amplitude = d_amplitude.sum(keepdims=True)  # [1]
        slope = [free.theta * d_theta, free.amplitude * d_amplitude]
        return found, np.concatenate(slope), (trial, bound.state, found)

    first = np.log(kernel.amplitude[:rows])  # [R]
    low, high = _AMPLITUDES
    bounds = [(t - _REACH, t + _REACH) for t in origin[:rows]]
    bounds += [(min(low, a), max(high, a)) for a in first]
    begin = np.concatenate([np.log(kernel.theta[:rows]), first])  # [H]
    options = {"maxiter": n_steps, "maxfun": 2 * n_steps}
    best: tuple[RBF, State, float] = climb(value, begin, bounds, options=options)
    return best
