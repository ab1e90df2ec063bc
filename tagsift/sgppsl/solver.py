r"""Coordinate ascent on (μ, V) with θ and the likelihood's weights fixed.

Section III-D, with the fixed-point structure of Equations (18)–(19): setting them to
zero gives V = (K⁻¹ + diag(p))⁻¹ and μ = K(w − p). The mean is cheap and the variance is
dear, so mean steps reuse the factor of the last variance step as their curvature. Every
step is damped until the bound (15) does not fall.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tagsift.backend import asarray, namespace
from tagsift.sgppsl.expectations import Expectation, Expected, Moments
from tagsift.sgppsl.likelihoods import Likelihood
from tagsift.sgppsl.posterior import (
    Covariance,
    Factors,
    kl_divergence,
    lower_bound,
    transition_kl,
)
from tagsift.typing import Array

__all__ = [
    "Problem",
    "State",
    "ascend",
    "carry_over",
    "evaluate",
    "mean_step",
    "start",
    "variance_step",
]

#: Smallest step tried before a coordinate counts as converged.
_SMALLEST_STEP = 1e-3
#: Share of the largest mover's change below which a label's variances are left alone.
_STILL = 0.05


@dataclass(frozen=True)
class Problem:
    """What is held fixed during the ascent."""

    covariance: Covariance  # of the unary latents
    expectation: Expectation  # how the expected log-likelihood is taken


@dataclass(frozen=True)
class State:
    """Where the ascent stands.

    The next variance step begins with the damping of the last one, doubled if that was
    accepted at once.
    """

    beta: Array  # [M, L], coefficients of the means
    lam: Array  # [N, L], site precisions that built the variances
    factors: Factors
    q: Moments
    step: float = 1.0


def start(problem: Problem, weights: Array, n_labels: int) -> State:
    """Begin at μ = 0 with the precisions that equal scores give.

    Of the weights [N, L] of the candidates only the row sums matter here.
    """
    xp = namespace(weights)
    ones = xp.ones_like(weights)  # [N, L]
    lam = xp.sum(weights, axis=1)[:, None] * ones / n_labels  # [N, L]
    factors = problem.covariance.factor(lam)
    beta = asarray(np.zeros((problem.covariance.size, n_labels)), like=weights)
    square = asarray(np.zeros((n_labels, n_labels)), like=weights)  # [L, L]
    q = Moments(0.0 * ones, factors.var, square, square + 1.0)
    return State(beta, lam, factors, q)


def carry_over(problem: Problem, state: State) -> State:
    """Take coefficients and precisions over to other hyperparameters."""
    factors = problem.covariance.factor(state.lam)
    mu = problem.covariance.mean(state.beta)  # [N, L]
    return replace(state, factors=factors, q=replace(state.q, mu=mu, var=factors.var))


def _penalty(problem: Problem, state: State) -> float:
    """KL of q from the prior; without the variances where the value ignores them."""
    quadratic = problem.covariance.quadratic(state.beta, state.q.mu)
    if not problem.expectation.uses_variance:
        xp = namespace(state.q.mu_T)
        pull = float(xp.sum(state.q.mu_T**2))
        return 0.5 * (quadratic + pull)
    return kl_divergence(state.factors, quadratic) + transition_kl(
        state.q.mu_T, state.q.var_T
    )


def evaluate(
    problem: Problem, likelihood: Likelihood, state: State
) -> tuple[float, Expected]:
    """Evaluate the bound (15) and the expectation it came from."""
    expected = problem.expectation(likelihood, state.q)
    return lower_bound(expected.value, _penalty(problem, state)), expected


def mean_step(
    problem: Problem,
    likelihood: Likelihood,
    state: State,
    bound: float,
    expected: Expected,
) -> tuple[State, float, Expected]:
    """One damped Newton step on the means, Equation (18), with the last curvature.

    All stays as it is where no step raises the bound.
    """
    covariance = problem.covariance
    r = covariance.gradient(state.beta, expected.gradient)  # [B, L]
    direction = covariance.precondition(state.factors, r)  # [B, L]
    drift = covariance.mean(direction)  # [N, L]
    direction_T = _transition_direction(state, expected)  # [L, L]
    step = 1.0
    while step >= _SMALLEST_STEP:
        q = replace(
            state.q,
            mu=state.q.mu + step * drift,
            mu_T=state.q.mu_T + step * direction_T,
        )
        trial = replace(state, beta=state.beta + step * direction, q=q)
        value, found = evaluate(problem, likelihood, trial)
        if value >= bound:
            return trial, value, found
        step *= 0.5
    return state, bound, expected


def _transition_direction(state: State, expected: Expected) -> Array:
    """Newton direction of the transition means, row by row.

    The rows of the Hessian are I + diag(p) − p pᵀ / Σp: plain fixed-point steps
    diverge, the counts being in the thousands. A diagonal and one outer product are
    inverted by the formula of Sherman and Morrison.
    """
    xp = namespace(state.q.mu_T)
    p = expected.precision_T  # [L, L]
    slope = expected.gradient_T - state.q.mu_T  # [L, L]
    diagonal = 1.0 + p  # [L, L]
    plain = slope / diagonal  # [L, L]
    # Σp − Σ p² / diagonal, without the difference.
    left = xp.sum(p / diagonal, axis=1)[:, None]  # [L, 1]
    along = xp.sum(p * plain, axis=1)[:, None]  # [L, 1]
    return plain + p / diagonal * (
        along / xp.where(left > 0, left, xp.ones_like(left))
    )  # [L, L]


def variance_step(
    problem: Problem,
    likelihood: Likelihood,
    state: State,
    bound: float,
    expected: Expected,
) -> tuple[State, float, Expected]:
    """One damped step on the variances, Equation (19): λ towards p, V from λ.

    All but the damping stays as it is where no step raises the bound.
    """
    step, longest = state.step, min(1.0, 2.0 * state.step)
    asked = _where_it_matters(state.lam, expected.precision)  # [N, L]
    var_T = 1.0 / (1.0 + expected.precision_T)  # [L, L]
    while step >= _SMALLEST_STEP:
        lam = state.lam + step * (asked - state.lam)  # [N, L]
        factors = problem.covariance.factor(lam, state.factors)
        q = replace(
            state.q,
            var=factors.var,
            var_T=1.0 / ((1.0 - step) / state.q.var_T + step / var_T),
        )
        trial = replace(state, lam=lam, factors=factors, q=q, step=longest)
        value, found = evaluate(problem, likelihood, trial)
        if value >= bound or not problem.expectation.uses_variance:
            return trial, value, found
        step *= 0.5
        longest = step
    return replace(state, step=_SMALLEST_STEP), bound, expected


def _where_it_matters(lam: Array, asked: Array) -> Array:
    """Precisions asked for; those in force for labels that hardly move, [N, L].

    A label whose precisions move by less than a twentieth of the largest mover's would
    cost as much as that one. It keeps its factor until its turn comes.
    """
    xp = namespace(lam)
    moves = xp.sum(xp.abs(asked - lam), axis=0)  # [L]
    return xp.where((moves >= _STILL * xp.max(moves))[None, :], asked, lam)  # [N, L]


def ascend(
    problem: Problem,
    likelihood: Likelihood,
    state: State,
    *,
    n_mean: int = 4,
    n_variance: int = 1,
    tol: float = 1e-6,
    opening: tuple[float, Expected] | None = None,
) -> tuple[State, list[float]]:
    """Alternate mean and variance steps; the bound never falls.

    Up to `n_mean` mean steps come before each variance step and after the last. With
    the state come the bounds at the beginning, which `opening` may hold already, and
    after every step.
    """
    bound, expected = opening or evaluate(problem, likelihood, state)
    bounds = [bound]

    def settled(before: float) -> bool:
        return bound - before <= tol * (1.0 + abs(bound))

    for sweep in range(n_variance + 1):
        begun = bound
        for _ in range(n_mean):
            before = bound
            state, bound, expected = mean_step(
                problem, likelihood, state, bound, expected
            )
            bounds.append(bound)
            if settled(before):
                break
        if sweep == n_variance:
            break
        state, bound, expected = variance_step(
            problem, likelihood, state, bound, expected
        )
        bounds.append(bound)
        if settled(begun):
            break
    return state, bounds
