r"""Alternating optimisation of confidences and posterior: the loop of section III-D.

1. Fixed (μ, V): the confidences C by Equation (17), for tokens and for pairs.
2. Fixed C: coordinate ascent on (μ, V), `tagsift.sgppsl.solver`.

With the chain likelihood step 1 happens inside the likelihood at every call, so the
loop only ascends. The bound is comparable from step to step at fixed C only; across
outer steps it is recorded, and the loop stops when both it and the confidences have
settled. With the pieces, transitions are settled first, being independent of the
tokens, and where the next outer step begins is extrapolated from the last ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tagsift.backend import asarray, namespace, to_numpy
from tagsift.chain.layout import ChainLayout, neighbours
from tagsift.chain.potentials import log_evidence
from tagsift.sgppsl.acceleration import Anderson
from tagsift.sgppsl.confidence import (
    confidence,
    literal_confidence,
    pair_confidence_sums,
    pair_weight_sums,
)
from tagsift.sgppsl.expectations import Expected
from tagsift.sgppsl.likelihoods import Chain, Likelihood, Piecewise
from tagsift.sgppsl.solver import Problem, State, ascend, evaluate, start
from tagsift.sgppsl.transitions import settle_transitions
from tagsift.typing import Array, BoolArray, FloatArray, IntArray

__all__ = [
    "Labels",
    "OuterStep",
    "Settings",
    "Solution",
    "alternate",
    "build_likelihood",
]

#: Share of change in the site precisions above which the variances are refreshed.
_STALE = 0.05
#: The same while a token still moves more than the share `_CALM` of its confidence.
_OUTDATED, _CALM = 2.0, 0.002


@dataclass(frozen=True)
class Settings:
    """How labels speak to the latent values.

    Parameters
    ----------
    weighting : {"confidence", "literal"}
        Reading R1: confidences weight the terms of the bound, or not at all.
    measure : {"softmax", "literal"}
        Reading R2: Equation (17) in the form of (27), or as printed.
    likelihood : {"piecewise", "chain"}
        Factor-as-piece, or whole sentences.
    """

    weighting: str = "confidence"
    measure: str = "softmax"
    likelihood: str = "piecewise"


@dataclass(frozen=True)
class Labels:
    """What is known of the labels, in the forms the loop needs.

    Parameters
    ----------
    evidence : array of shape (n_tokens, n_labels)
        Log weights of the labels, on the device of the fit; 0 and −inf for candidate
        sets.
    weights : array of shape (n_tokens, n_labels)
        Their exponentials, at most 1.
    left, right : arrays of shape (n_pairs, n_labels)
        Weights of neighbouring tokens.
    layout : ChainLayout
        Packed order, for the chain likelihood.
    """

    evidence: Array
    weights: Array
    left: Array
    right: Array
    layout: ChainLayout

    @classmethod
    def build(
        cls,
        known: BoolArray | FloatArray,
        offsets: IntArray,
        device: Any = "cpu",
    ) -> Labels:
        """Prepare the log evidence, or the candidate sets, of stacked tokens."""
        second = neighbours(offsets)  # [P]
        evidence = log_evidence(known)  # [N, L]
        weights = np.exp(evidence - evidence.max(axis=1, keepdims=True))  # [N, L]
        return cls(
            asarray(evidence, device=device),
            asarray(weights, device=device),
            asarray(weights[second - 1], device=device),
            asarray(weights[second], device=device),
            ChainLayout.from_offsets(offsets),
        )

    @property
    def n_labels(self) -> int:
        """Number of labels, L."""
        return int(self.weights.shape[1])

    def uniform(self) -> Array:
        """Equal confidence for all candidates of a token, or their weights, [N, L]."""
        weights = self.weights  # [N, L]
        return weights / namespace(weights).sum(weights, axis=1)[:, None]  # [N, L]


@dataclass(frozen=True)
class OuterStep:
    """One row of the history.

    Parameters
    ----------
    bound : float
        The bound at the end of the step, at that step's confidences.
    change : float
        Largest change of any confidence in the step.
    mean_confidence : float
        Mean confidence of the most confident candidate.
    refreshed : bool
        Whether the variances were refreshed; in the first step by its start.
    watched : ndarray of shape (n_watched, n_labels)
        Confidences of the watched tokens.
    """

    bound: float
    change: float
    mean_confidence: float
    refreshed: bool
    watched: FloatArray


@dataclass(frozen=True)
class Solution:
    """Where the alternation ended.

    Parameters
    ----------
    state : State
        Coefficients, precisions, factors and moments.
    confidences : array of shape (n_tokens, n_labels)
        Equation (17) at the end.
    pair_sums, pair_counts : arrays of shape (n_labels, n_labels)
        Transition confidences and how many pairs they come from.
    history : list of OuterStep
        One row per outer step.
    converged : bool
        Whether bound and confidences settled.
    """

    state: State
    confidences: Array
    pair_sums: Array
    pair_counts: Array
    converged: bool
    history: list[OuterStep] = field(default_factory=list)


def _measure(settings: Settings, state: State, labels: Labels) -> Array:
    """Equation (17) by the reading asked for, [N, L]."""
    if settings.measure == "literal":
        return literal_confidence(state.q.mu, state.q.var, labels.evidence)
    return confidence(state.q.mu, state.q.var, labels.evidence)


def build_likelihood(
    settings: Settings, state: State, labels: Labels, C: Array
) -> Likelihood:
    """Build the likelihood of the next ascent."""
    if settings.likelihood == "chain":
        return Chain(labels.layout, labels.evidence)
    if settings.weighting == "literal":
        sums = pair_weight_sums(labels.left, labels.right)  # [L, L]
        return Piecewise(labels.weights, sums)
    sums, _ = pair_confidence_sums(
        state.q.mu_T, state.q.var_T, labels.left, labels.right
    )
    return Piecewise(C, sums)


def alternate(
    problem: Problem,
    labels: Labels,
    settings: Settings,
    *,
    state: State | None = None,
    max_iter: int = 50,
    n_mean: int | None = None,
    tol: float = 1e-4,
    watch: IntArray | None = None,
    on_step: Any = None,
) -> Solution:
    """Run the alternation until bound and confidences settle.

    Parameters
    ----------
    problem : Problem
        Covariances and expectation.
    labels : Labels
        Candidate sets.
    settings : Settings
        Readings and likelihood.
    state : State, optional
        A warm start; by default μ = 0.
    max_iter : int
        Most outer steps.
    n_mean : int, optional
        Mean steps per outer step, on either side of a variance step; by default 1 where
        the outer steps are accelerated, else 2.
    tol : float
        Relative change of the bound per outer step, and a tenth of the mean share of
        confidence that a token moves, below which the loop stops. It stops with
        variances that belong to its means: the last step refreshes them.
    watch : ndarray of int, optional
        Tokens whose confidences are recorded at every step (Figure 5).
    on_step : callable, optional
        Called with every `OuterStep`, for progress bars.

    Returns
    -------
    Solution
        The end point, with its history.
    """
    chosen = np.zeros(0, dtype=np.int64) if watch is None else watch  # [W]
    if state is None:
        state = start(problem, _first_weights(settings, labels), labels.n_labels)
    pieces = settings.likelihood == "piecewise" and settings.weighting == "confidence"
    if pieces:
        state = settle_transitions(
            problem, state, labels.left, labels.right, tol=100 * tol
        )
    C = _measure(settings, state, labels)  # [N, L]
    history: list[OuterStep] = []
    converged, last = False, -np.inf
    due, limit = False, _STALE  # the start has fresh variances, the last step gets them
    # Where confidences answer to variances that the bound ignores, haste overshoots.
    fast = pieces and problem.expectation.uses_variance
    patience = _OUTDATED if fast else _STALE
    anderson, ahead, calm = Anderson(), state, True
    for _ in range(max_iter):
        if ahead is not state:
            state, C = ahead, _measure(settings, ahead, labels)
        likelihood = build_likelihood(settings, state, labels, C)
        opening = evaluate(problem, likelihood, state)
        stale = due or _staleness(opening[1], state) > (limit if calm else patience)
        before = (state.beta, state.q.mu)
        state, bounds = ascend(
            problem,
            likelihood,
            state,
            n_mean=n_mean or (1 if fast else 2),
            n_variance=int(stale),
            opening=opening,
        )
        fresh = _current_confidences(settings, problem, likelihood, state, labels)
        xp = namespace(fresh)
        change = float(xp.max(xp.abs(fresh - C)))
        shift = float(xp.sum(xp.abs(fresh - C))) / (2.0 * max(len(fresh), 1))
        C = fresh
        step = OuterStep(
            bounds[-1],
            change,
            float(xp.mean(xp.max(C, axis=1))),
            stale or not history,
            to_numpy(C[chosen]) if len(chosen) else np.zeros((0, labels.n_labels)),
        )
        history.append(step)
        if on_step is not None:
            on_step(step)
        moved = abs(bounds[-1] - last) / (1.0 + abs(bounds[-1]))
        last = bounds[-1]
        # Accelerated steps leave less to gain than a last refresh adds.
        rest = tol * (10.0 if due and fast else 1.0)
        settled = moved < rest and shift < 10 * tol and len(history) > 2
        converged = settled and stale
        if converged:
            break
        due, calm = settled, shift < _CALM
        limit = 0.1 * limit if settled else limit
        ahead = state
        if stale:
            anderson.forget()
        elif fast and not settled:
            beta, mu = anderson(before, (state.beta, state.q.mu))
            ahead = replace(state, beta=beta, q=replace(state.q, mu=mu))
    sums, counts = pair_confidence_sums(
        state.q.mu_T, state.q.var_T, labels.left, labels.right
    )
    return Solution(state, C, sums, counts, converged, history)


def _first_weights(settings: Settings, labels: Labels) -> Array:
    if settings.weighting == "literal" and settings.likelihood == "piecewise":
        return labels.weights
    return labels.uniform()


def _current_confidences(
    settings: Settings,
    problem: Problem,
    likelihood: Likelihood,
    state: State,
    labels: Labels,
) -> Array:
    """Confidences after the ascent: (17), or the chain's restricted marginals."""
    if settings.likelihood == "chain":
        return evaluate(problem, likelihood, state)[1].weights
    return _measure(settings, state, labels)


def _staleness(expected: Expected, state: State) -> float:
    """Mean change that the site precisions ask for, relative to their mean."""
    xp = namespace(state.lam)
    asked = float(xp.mean(xp.abs(expected.precision - state.lam)))
    present = float(xp.mean(state.lam))
    return asked / present if present > 0 else float(asked > 0)
