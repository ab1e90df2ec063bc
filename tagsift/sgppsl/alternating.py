r"""Alternating optimisation of confidences and posterior: the loop of section III-D.

1. Fixed (μ, V): the confidences C by Equation (17), for tokens and for pairs.
2. Fixed C: coordinate ascent on (μ, V), `tagsift.sgppsl.solver`.

With the pieces, transitions are settled first, being independent of the tokens, and
where the next outer step begins is extrapolated from the last ones. With the chain
likelihood step 1 happens inside the likelihood at every call, and the loop begins where
that of the pieces ends: from μ = 0, where all sequences that the candidates allow are
alike, it would hardly move.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tagsift.backend import asarray, namespace, to_numpy
from tagsift.errors import ConvergenceWarning
from tagsift.progress import progress, warn_user
from tagsift.sgppsl.acceleration import Anderson
from tagsift.sgppsl.expectations import Expected
from tagsift.sgppsl.labels import (
    Labels,
    Settings,
    build_likelihood,
    measure,
    pair_confidence_sums,
)
from tagsift.sgppsl.likelihoods import Piecewise
from tagsift.sgppsl.posterior import Inducing
from tagsift.sgppsl.solver import Problem, State, ascend, evaluate, start
from tagsift.typing import Array, FloatArray, IntArray

__all__ = ["OuterStep", "Solution", "alternate", "settle_transitions"]

#: Share of change in the site precisions above which the variances are refreshed.
_STALE = 0.05
#: The same while a token still moves more than the share `_CALM` of its confidence.
_OUTDATED = 2.0
_CALM = 0.002
#: Most steps of the transitions by themselves.
_PAIR_STEPS = 200


@dataclass(frozen=True)
class OuterStep:
    """One row of the history."""

    bound: float  # at the end of the step, with that step's confidences
    change: float  # largest change of any confidence
    mean_confidence: float  # of the most confident candidates
    refreshed: bool  # whether the variances were; in the first step by its start
    watched: FloatArray  # [W, L], confidences of the watched tokens


@dataclass(frozen=True)
class Solution:
    """Where the alternation ended."""

    state: State
    confidences: Array  # [N, L], Equation (17) at the end
    pair_sums: Array  # [L, L], transition confidences
    pair_counts: Array  # [L, L], how many pairs they come from
    converged: bool  # whether bound and confidences settled
    history: list[OuterStep]


def alternate(
    problem: Problem,
    labels: Labels,
    settings: Settings,
    *,
    state: State | None = None,
    max_iter: int = 50,
    tol: float = 1e-4,
    watch: IntArray | None = None,
    verbose: bool = False,
    warn: bool = False,
) -> Solution:
    """Run the alternation, from its own or a warm start, until it settles.

    The loop stops when the relative change of the bound falls below `tol` and the mean
    share of confidence that a token moves below ten times that, with variances that
    belong to its means: the last step refreshes them. The confidences of the tokens to
    `watch` are recorded at every step (Figure 5).
    """
    if settings.likelihood == "chain" and state is None:
        state = alternate(
            problem, labels, settings.in_pieces(), max_iter=max_iter, tol=tol
        ).state
    loop = _Loop(problem, labels, settings, state, tol, watch)
    for _ in progress(range(max_iter), "SGPPSL: outer steps", enabled=verbose):
        loop.step()
        if loop.converged:
            break
    if warn and not loop.converged:
        last = loop.history[-1]
        warn_user(
            f"SGPPSL stopped after max_iter={max_iter} outer steps with the bound at "
            f"{last.bound:.6g} and confidences still moving by {last.change:.2g}; "
            f"raise max_iter or tol={tol:g}.",
            ConvergenceWarning,
        )
    q = loop.state.q
    sums, counts = pair_confidence_sums(q.mu_T, q.var_T, labels.left, labels.right)
    return Solution(loop.state, loop.C, sums, counts, loop.converged, loop.history)


class _Loop:
    """Where the alternation stands, and how it goes on."""

    def __init__(
        self,
        problem: Problem,
        labels: Labels,
        settings: Settings,
        state: State | None,
        tol: float,
        watch: IntArray | None,
    ) -> None:
        self.problem, self.labels, self.settings = problem, labels, settings
        self.tol, self.watch = tol, watch
        if state is None:
            first = labels.weights if settings.literal_pieces else labels.uniform()
            state = start(problem, first, labels.n_labels)
        if settings.weighted_pieces:
            sides = labels.left, labels.right  # [P, L], [P, L]
            state = settle_transitions(problem, state, *sides, tol=100 * tol)
        self.state = self.ahead = state
        self.C = measure(settings, state.q, labels)  # [N, L]
        self.history: list[OuterStep] = []
        self.converged = False
        # The start has fresh variances, and the last step gets them.
        self.due, self.limit, self.calm = False, _STALE, True
        self.fast = settings.weighted_pieces
        self.anderson = Anderson()

    def step(self) -> None:
        """Ascend at the present confidences, then bring these up to date."""
        if self.ahead is not self.state:
            self.state = self.ahead
            self.C = measure(self.settings, self.state.q, self.labels)
        before = self.state
        likelihood = build_likelihood(self.settings, before.q, self.labels, self.C)
        opening = evaluate(self.problem, likelihood, before)
        patience = _OUTDATED if self.fast else _STALE
        limit = self.limit if self.calm else patience
        stale = self.due or _staleness(opening.expected, before) > limit
        self.state, bounds = ascend(
            self.problem,
            likelihood,
            before,
            n_mean=1 if self.fast else 2,
            n_variance=int(stale),
            opening=opening,
        )
        if self.settings.likelihood == "chain":
            end = evaluate(self.problem, likelihood, self.state)
            fresh = end.expected.weights  # [N, L]
        else:
            fresh = measure(self.settings, self.state.q, self.labels)  # [N, L]
        shift = self._record(bounds[-1], fresh, stale)
        self._plan(before, stale, shift)

    def _record(self, bound: float, fresh: Array, stale: bool) -> float:
        """Add a row to the history; return the share of confidence that moved."""
        xp = namespace(fresh)
        moves = xp.abs(fresh - self.C)  # [N, L]
        self.C = fresh
        watched = np.zeros((0, self.labels.n_labels))  # [W, L]
        if self.watch is not None and len(self.watch):
            watched = to_numpy(fresh[self.watch])
        self.history.append(
            OuterStep(
                bound,
                float(xp.max(moves)),
                float(xp.mean(xp.max(fresh, axis=1))),
                stale or not self.history,
                watched,
            )
        )
        return float(xp.sum(moves)) / (2.0 * max(len(fresh), 1))

    def _plan(self, before: State, stale: bool, shift: float) -> None:
        """Decide whether the loop has settled, and where the next step begins."""
        bound = self.history[-1].bound
        last = self.history[-2].bound if len(self.history) > 1 else -np.inf
        moved = abs(bound - last) / (1.0 + abs(bound))
        # Accelerated steps leave less to gain than a last refresh adds.
        rest = self.tol * (10.0 if self.due and self.fast else 1.0)
        settled = moved < rest and shift < 10 * self.tol and len(self.history) > 2
        self.converged = settled and stale
        self.due, self.calm = settled, shift < _CALM
        self.limit = 0.1 * self.limit if settled else self.limit
        self.ahead = self.state
        if stale:
            self.anderson.forget()
        elif self.fast and not settled:
            q = self.state.q
            beta, mu = self.anderson(
                (before.beta, before.q.mu), (self.state.beta, q.mu)
            )
            self.ahead = replace(self.state, beta=beta, q=replace(q, mu=mu))


def _staleness(expected: Expected, state: State) -> float:
    """Mean change that the site precisions ask for, relative to their mean."""
    xp = namespace(state.lam)
    asked = float(xp.mean(xp.abs(expected.precision - state.lam)))
    present = float(xp.mean(state.lam))
    return asked / present if present > 0 else float(asked > 0)


def settle_transitions(
    problem: Problem, state: State, left: Array, right: Array, tol: float
) -> State:
    """Alternate pair confidences and transition moments until the means settle.

    The pieces of Equation (3) separate unary from transition factors, so this asks for
    no token. It is cheap, and slow to converge where most pairs are ambiguous: run to
    its end before the tokens are looked at, it does not hold them up.
    """
    xp = namespace(left)
    n_labels = int(left.shape[1])
    nobody = asarray(np.zeros((1, n_labels)), like=left)  # [1, L]
    # One token of no weight and no covariance.
    A, norms = [nobody[:, :1]] * n_labels, [nobody[0, :1]] * n_labels  # [1, 1], [1]
    alone = replace(problem, covariance=Inducing(A, norms, [1.0] * n_labels))
    q = start(alone, nobody, n_labels)
    q = replace(q, q=replace(q.q, mu_T=state.q.mu_T, var_T=state.q.var_T))
    anderson = Anderson()
    for _ in range(_PAIR_STEPS):
        before = (xp.log(q.q.var_T), q.q.mu_T)  # [L, L], [L, L]
        sums, _ = pair_confidence_sums(q.q.mu_T, q.q.var_T, left, right)
        q, _ = ascend(alone, Piecewise(nobody, sums), q, n_mean=2, n_variance=1)
        after = (xp.log(q.q.var_T), q.q.mu_T)  # [L, L], [L, L]
        if float(xp.max(xp.abs(after[1] - before[1]))) < tol:
            break
        log_var, mu_T = anderson(before, after)
        q = replace(q, q=replace(q.q, mu_T=mu_T, var_T=xp.exp(log_var)))
    return replace(state, q=replace(state.q, mu_T=q.q.mu_T, var_T=q.q.var_T))
