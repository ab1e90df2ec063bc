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
    "Reached",
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
_OWN_STEPS = 10  # most steps towards a token's own fixed point
_SETTLED = 1e-2  # change of log λ at which it has settled
_TINY = 1e-30  # keeps the logarithms of precisions finite
_LEAST = 1e-6  # least of 1 − λv that the variance of a cavity is divided by
#: Share of the largest mover's change below which a label's variances are left alone.
_STILL = 0.05


@dataclass(frozen=True)
class Problem:
    """What is held fixed during the ascent."""

    covariance: Covariance  # of the unary latents
    expectation: Expectation  # how the expected log-likelihood is taken


@dataclass(frozen=True)
class State:
    """Where the ascent stands."""

    beta: Array  # [M, L], coefficients of the means
    lam: Array  # [N, L], site precisions that built the variances
    factors: Factors
    q: Moments
    step: float = 1.0  # damping with which the next variance step begins


@dataclass(frozen=True)
class Reached:
    """A state, its bound (15), and the expectation that this comes from."""

    state: State
    bound: float
    expected: Expected


def start(problem: Problem, weights: Array, n_labels: int) -> State:
    """Begin at μ = 0 with the precisions that equal scores give."""
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
    if problem.expectation.spread == 0:
        xp = namespace(state.q.mu_T)
        pull = float(xp.sum(state.q.mu_T**2))
        return 0.5 * (quadratic + pull)
    return kl_divergence(state.factors, quadratic) + transition_kl(
        state.q.mu_T, state.q.var_T
    )


def evaluate(problem: Problem, likelihood: Likelihood, state: State) -> Reached:
    """Evaluate the bound (15) and the expectation it comes from."""
    expected = problem.expectation(likelihood, state.q)
    bound = lower_bound(expected.value, _penalty(problem, state))
    return Reached(state, bound, expected)


def mean_step(problem: Problem, likelihood: Likelihood, at: Reached) -> Reached:
    """One damped Newton step on the means, Equation (18); none where none helps."""
    covariance, state = problem.covariance, at.state
    r = covariance.gradient(state.beta, at.expected.gradient)  # [M, L]
    direction = covariance.precondition(state.factors, r)  # [M, L]
    drift = covariance.mean(direction)  # [N, L]
    direction_T = _transition_direction(state, at.expected)  # [L, L]
    step = 1.0
    while step >= _SMALLEST_STEP:
        mu, mu_T = state.q.mu + step * drift, state.q.mu_T + step * direction_T
        q = replace(state.q, mu=mu, mu_T=mu_T)
        trial = replace(state, beta=state.beta + step * direction, q=q)
        reached = evaluate(problem, likelihood, trial)
        if reached.bound >= at.bound:
            return reached
        step *= 0.5
    return at


def _transition_direction(state: State, expected: Expected) -> Array:
    """Newton direction of the transition means, row by row.

    The rows of the Hessian are I + diag(p) − p pᵀ / Σp, inverted by Sherman–Morrison.
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


def variance_step(problem: Problem, likelihood: Likelihood, at: Reached) -> Reached:
    """One damped step on the variances, Equation (19): λ towards p, V from λ."""
    state, expected = at.state, at.expected
    step, longest = state.step, min(1.0, 2.0 * state.step)
    asked = expected.precision  # [N, L]
    if problem.expectation.spread > 0:
        asked = _consistent(problem, likelihood, at)  # [N, L]
    asked = _where_it_matters(state.lam, asked)  # [N, L]
    var_T = 1.0 / (1.0 + expected.precision_T)  # [L, L]
    while step >= _SMALLEST_STEP:
        lam = state.lam + step * (asked - state.lam)  # [N, L]
        factors = problem.covariance.factor(lam, state.factors)
        between = 1.0 / ((1.0 - step) / state.q.var_T + step / var_T)  # [L, L]
        q = replace(state.q, var=factors.var, var_T=between)
        trial = replace(state, lam=lam, factors=factors, q=q, step=longest)
        reached = evaluate(problem, likelihood, trial)
        if reached.bound >= at.bound or problem.expectation.spread == 0:
            return reached
        step *= 0.5
        longest = step
    # Nothing raises the bound: all stays as it is but for the damping.
    factors = problem.covariance.factor(state.lam, factors)
    return replace(at, state=replace(state, factors=factors, step=_SMALLEST_STEP))


def _consistent(problem: Problem, likelihood: Likelihood, at: Reached) -> Array:
    """Precisions that agree with the variances which they themselves bring, [N, L].

    A token's variance answers to its own precision most of all: with the rest of the
    posterior as it is, v(λ) = c / (1 + λc), c the variance without the token's own
    site. Newton's steps in log λ solve λ = p(v(λ)); repeating λ ← p would swing.
    """
    xp, q, expected = namespace(at.state.lam), at.state.q, at.expected
    out_of_reach = problem.covariance.out_of_reach  # [N, L]
    lam, v = at.state.lam + _TINY, q.var - out_of_reach  # [N, L]
    rest = 1.0 - lam * v  # [N, L]
    cavity = v / xp.where(rest > _LEAST, rest, _LEAST + 0.0 * rest)  # [N, L]
    for _ in range(_OWN_STEPS):
        move = xp.log(expected.precision + _TINY) - xp.log(lam)  # [N, L]
        lam = lam * xp.exp(move / (1.0 + 0.5 * lam * v * v))  # [N, L]
        if float(xp.max(xp.abs(move))) < _SETTLED:
            break
        v = cavity / (1.0 + lam * cavity)  # [N, L]
        q = replace(q, var=out_of_reach + v)
        expected = problem.expectation(likelihood, q)
    return lam


def _where_it_matters(lam: Array, asked: Array) -> Array:
    """Precisions asked for; those in force for labels that hardly move, [N, L]."""
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
    opening: Reached | None = None,
) -> tuple[State, list[float]]:
    """Alternate mean and variance steps; the bound never falls.

    Up to `n_mean` mean steps come before each variance step and after the last. With
    the state come the bounds at the beginning, which `opening` may hold already, and
    after every step.
    """
    at = opening or evaluate(problem, likelihood, state)
    bounds = [at.bound]

    def settled(before: float) -> bool:
        return at.bound - before <= tol * (1.0 + abs(at.bound))

    for sweep in range(n_variance + 1):
        begun = at.bound
        for _ in range(n_mean):
            before = at.bound
            at = mean_step(problem, likelihood, at)
            bounds.append(at.bound)
            if settled(before):
                break
        if sweep == n_variance:
            break
        at = variance_step(problem, likelihood, at)
        bounds.append(at.bound)
        if settled(begun):
            break
    return at.state, bounds
