"""Width and amplitude of the RBF process: as given, by held-out sets, or by the bound.

The paper climbs the bound (15) in θ by its gradient (20), in an outer loop around the
confidences (section III-D). That bound prefers amplitudes that are far too small, and
so does Laplace's evidence with a curvature that is uncoupled between labels (Reading
R8). What the model is asked for says more: how likely the candidate sets of sentences
are that it has not seen. The amplitude that all labels share is searched by that; the
bound is climbed in width and amplitude, first those of all labels, then label by label.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from tagsift.backend import (
    asarray,
    cho_solve,
    logsumexp,
    namespace,
    solve_triangular,
    to_numpy,
)
from tagsift.base import TrainingSet, hold_out_last
from tagsift.features import median_distance, squared_distances
from tagsift.gp import RBF, choose_points, maximise
from tagsift.sgppsl.alternating import alternate
from tagsift.sgppsl.carriers import Distances
from tagsift.sgppsl.expectations import Expectation
from tagsift.sgppsl.labels import Labels, Settings, build_likelihood
from tagsift.sgppsl.likelihoods import Likelihood
from tagsift.sgppsl.posterior import Inducing
from tagsift.sgppsl.predictive import dense_moments, inducing_moments
from tagsift.sgppsl.solver import Problem, State, ascend, carry_over, evaluate
from tagsift.typing import Array, FloatArray, IntArray

__all__ = [
    "Freedom",
    "HeldOut",
    "choose_kernel",
    "climb_bound",
    "search_held_out",
    "theta_gradient",
]

_LEARN_TOKENS = 3000  # that the hyperparameters are learnt from
_LEARN_POINTS = 300  # inducing points among them
_START_THETA = 0.3  # θ · median squared distance, where the search starts
_START_AMPLITUDE = 100.0  # and the amplitude
#: Temperatures among which held-out sentences choose.
_TEMPERATURES = 2.0 ** np.arange(-1.0, 3.0, 0.5)
#: How many times the amplitude may be divided by three, or θ that and tripled.
_FARTHEST = 2
#: How far log θ may move from where it begins.
_REACH = 4.0
#: Between what log σ² may lie.
_AMPLITUDES = (float(np.log(1e-2)), float(np.log(1e4)))


@dataclass(frozen=True)
class Freedom:
    """Which hyperparameters are learnt."""

    theta: bool = True
    amplitude: bool = True


def choose_kernel(
    train: TrainingSet,
    device: Any,
    n_points: int | None,
    given: tuple[float | None, float | None],
    way: str,
    settings: Settings,
    expectation: Expectation,
) -> RBF:
    """Hyperparameters of all labels, learnt on a seeded part of the sentences.

    A θ and an amplitude that are given stay. Unless `way` is ``"fixed"``, held-out
    sentences choose the amplitude of all labels (or their θ, where the amplitude is
    given), or the gradient of the paper's bound both, with the readings and the
    expectation of the fit. `n_points` is that of
    `tagsift.sgppsl.carriers.count_carriers`.
    """
    theta, amplitude = given
    free = Freedom(theta is None, amplitude is None)
    theta = theta or _START_THETA / median_distance(
        train.features.stacked(), train.seed
    )
    amplitude = amplitude or _START_AMPLITUDE
    n_labels = train.n_labels
    kernel = RBF(np.full(n_labels, float(theta)), np.full(n_labels, float(amplitude)))
    if way == "fixed" or not (free.theta or free.amplitude):
        return kernel
    part = train.draw(_LEARN_TOKENS, stream=0)
    seen, held = map(part.take_sequences, hold_out_last(part))
    if way == "held-out":
        part = seen
    rows = part.features.stacked()  # [N', D]
    points = None
    if way == "bound" or n_points is not None:
        n_points = min(n_points or _LEARN_POINTS, _LEARN_POINTS)
        points = choose_points(rows, part.shares, float(theta), n_points, train.seed)
    distances = Distances.of(rows, points, device)
    labels = Labels.build(part.log_evidence, part.offsets, device)
    if way == "bound":
        return climb_bound(kernel, distances, labels, settings, expectation, free)[0]
    if held.n_tokens == 0:
        return kernel
    carriers, new = rows if points is None else rows[points], held.features.stacked()
    problem = HeldOut(
        distances,
        labels,
        squared_distances(carriers, new, device=device),
        asarray(held.log_evidence, device=device),
        held.offsets,
        settings,
        expectation,
    )
    return search_held_out(kernel, problem, free)


@dataclass(frozen=True)
class HeldOut:
    """Sentences to fit, and others whose candidate sets are to be foretold."""

    distances: Distances  # of the tokens to fit
    labels: Labels
    new: Array  # [N, M], squared distances from what carries the fit to the others
    evidence: Array  # [M, L], log evidence of these
    offsets: IntArray  # [S + 1], where their sentences begin
    settings: Settings
    expectation: Expectation

    def score(self, kernel: RBF) -> FloatArray:
        """Log-probability of the sets of every sentence, [S].

        That is Σ log Σ_y e(y) S(y, x) over its tokens, with scores (27) of the means
        divided by their best temperature: no label depends on it, and large amplitudes
        are not to be charged for probabilities that are too sure.
        """
        covariance, roots = self.distances.covariance(kernel)
        problem = Problem(covariance, self.expectation)
        solution = alternate(problem, self.labels, self.settings, max_iter=20, tol=1e-3)
        beta, factors = solution.state.beta, solution.state.factors
        fitted = kernel, self.new, beta, factors.cholesky
        if roots:
            mu, _ = inducing_moments(*fitted, roots)  # [M, L]
        else:
            mu, _ = dense_moments(*fitted, factors.root)  # [M, L]
        rival = [self._sets(mu / float(t)) for t in _TEMPERATURES]  # × [S]
        return max(rival, key=np.sum)

    def _sets(self, scores: Array) -> FloatArray:
        """Log-probability of the sets of every sentence by the softmax of scores."""
        sets = logsumexp(scores + self.evidence) - logsumexp(scores)  # [M]
        total = np.concatenate([[0.0], np.cumsum(to_numpy(sets))])  # [M + 1]
        return np.diff(total[self.offsets])  # [S]


def search_held_out(kernel: RBF, problem: HeldOut, free: Freedom) -> RBF:
    """Climb the score by threes in the amplitude, or in θ where that is given.

    One of the two is enough: where θ is small the kernel is σ² − σ²θd, and a constant
    for all tokens says nothing. A step is taken if it gains more than the standard
    error of what it gains over the held-out sentences. The amplitude only falls: with
    a temperature of their own, larger ones say the same and take longer.
    """

    def moved(by: int) -> RBF:
        if free.amplitude:
            return replace(kernel, amplitude=kernel.amplitude * 3.0**by)
        return replace(kernel, theta=kernel.theta * 3.0**by)

    score = cache(lambda by: problem.score(moved(by)))
    best = 0
    for way in (-1,) if free.amplitude else (1, -1):
        while abs(best + way) <= _FARTHEST:
            gain = score(best + way) - score(best)  # [S]
            if gain.sum() <= gain.std() * len(gain) ** 0.5:
                break
            best += way
    return moved(best)


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

    Every round brings the confidences up to date, then takes quasi-Newton steps at
    these. With the kernel comes the bound of the last round.
    """
    origin, (low, high) = np.log(kernel.theta), _AMPLITUDES  # [L]
    state: State | None = None
    for round_ in range(n_rounds):
        problem = Problem(distances.covariance(kernel)[0], expectation)
        if state is not None:
            state = carry_over(problem, state)
        solution = alternate(problem, labels, settings, state=state, max_iter=12)
        state, C = solution.state, solution.confidences
        likelihood = build_likelihood(settings, state.q, labels, C)
        rows = kernel.n_labels if round_ == n_rounds - 1 else 1
        limits = [(t - _REACH, t + _REACH) for t in origin[:rows]]
        limits += [(min(low, a), max(high, a)) for a in np.log(kernel.amplitude[:rows])]
        fixed = distances, expectation, likelihood
        kernel, state, value = _climb_fixed(
            kernel, state, *fixed, free, limits, n_steps
        )
    return kernel, value


def _climb_fixed(
    kernel: RBF,
    state: State,
    distances: Distances,
    expectation: Expectation,
    likelihood: Likelihood,
    free: Freedom,
    bounds: list[tuple[float, float]],
    n_steps: int,
) -> tuple[RBF, State, float]:
    """Quasi-Newton steps at fixed confidences; one row of values may serve all labels.

    What is climbed is the bound maximised over (μ, V), from where the last ascent
    ended; `bounds` are those of log θ, then of log σ², [2R].
    """
    rows, n_labels = len(bounds) // 2, kernel.n_labels

    def value(logs: FloatArray) -> tuple[float, FloatArray, Any]:
        nonlocal state
        theta, amplitude = np.exp(logs).reshape(2, rows)  # [R], [R]
        trial = RBF(np.resize(theta, n_labels), np.resize(amplitude, n_labels))
        covariance, roots = distances.covariance(trial)
        problem = Problem(covariance, expectation)
        begun = carry_over(problem, state)
        state, bounds = ascend(
            problem, likelihood, begun, n_mean=6, n_variance=3, tol=1e-6
        )
        slopes = theta_gradient(distances, problem, trial, roots, likelihood, state)
        by_theta, by_amplitude = (
            slope.sum(keepdims=True) if rows == 1 else slope for slope in slopes
        )  # [R], [R]
        slope = [free.theta * by_theta, free.amplitude * by_amplitude]
        return bounds[-1], np.concatenate(slope), (trial, state, bounds[-1])

    begin = np.log([*kernel.theta[:rows], *kernel.amplitude[:rows]])  # [2R]
    options = {"maxiter": n_steps, "maxfun": 2 * n_steps}
    best: tuple[RBF, State, float] = maximise(value, begin, bounds, options=options)
    return best


def theta_gradient(
    distances: Distances,
    problem: Problem,
    kernel: RBF,
    roots: list[Array],
    likelihood: Likelihood,
    state: State,
) -> tuple[FloatArray, FloatArray]:
    r"""Equation (20) at the end of an ascent, in log θ and in log σ², [L] each.

    It is printed at twice its value (Reading R3). The true one, at fixed (μ, V), is

    .. math:: \tfrac12 (K^{-1}\mu)^T \frac{\partial K}{\partial\theta_t} (K^{-1}\mu)
              + \tfrac12 tr\Bigl[K^{-1}(VK^{-1} - I)
              \frac{\partial K}{\partial\theta_t}\Bigr]

    Here the whitened moments (m, S) at the inducing points, which all tokens may be,
    are fixed instead: at the optimum both are the derivative of the maximised bound,
    and no inverse of K is needed. With A = L⁻¹K_ZN, L from `roots`, the derivative in A
    is m gᵀ + (A − Λ⁻¹A) diag(p); it is carried back to K_ZN and, through L, to K_ZZ.
    """
    covariance, ZZ, ZN = problem.covariance, distances.ZZ, distances.ZN
    if not isinstance(covariance, Inducing):
        raise TypeError(f"no gradient for {type(covariance).__name__}")
    expected = evaluate(problem, likelihood, state).expected
    beta, factors = state.beta, state.factors
    xp = namespace(beta)
    d_theta = np.zeros_like(kernel.theta)  # [L]
    d_amplitude = np.zeros_like(kernel.amplitude)  # [L]
    for y, (A, root) in enumerate(zip(covariance.A, roots, strict=True)):
        scale = covariance.amplitude[y]
        g, p = expected.gradient[:, y], expected.precision[:, y]  # [N]
        mu = scale**0.5 * (beta[:, y] @ A)  # [N]
        d_amplitude[y] = 0.5 * float(xp.sum(g * mu) - xp.sum(p * factors.var[:, y]))
        reduced = cho_solve(factors.cholesky[y], A)  # [M, N]
        d_A = scale * (A - reduced) * p[None, :]  # [M, N]
        d_A += (scale**0.5 * beta[:, y])[:, None] * g[None, :]
        d_KZN = solve_triangular(root, d_A, trans=True)  # [M, N]
        d_root = -xp.tril(d_KZN @ A.T)  # [M, M]
        d_KZZ = _cholesky_reverse(root, d_root)  # [M, M]
        d_KZN *= kernel.unit_gram(ZN, y)
        d_KZZ = d_KZZ * kernel.unit_gram(ZZ, y)  # [M, M]
        change = xp.sum(d_KZN * ZN) + xp.sum(d_KZZ * ZZ)  # []
        d_theta[y] = -kernel.theta[y] * float(change)
    return d_theta, d_amplitude


def _cholesky_reverse(L: Array, d_L: Array) -> Array:
    """Carry a derivative in the factor L back to the matrix LLᵀ, [M, M]."""
    xp = namespace(L)
    inner = xp.tril(L.T @ d_L)  # [M, M]
    inner = inner - 0.5 * (inner * asarray(np.eye(L.shape[0]), like=L))  # [M, M]
    left = solve_triangular(L, inner, trans=True)  # [M, M]
    both = solve_triangular(L, left.T, trans=True).T  # [M, M]
    return 0.5 * (both + both.T)  # [M, M]
