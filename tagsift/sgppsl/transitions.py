"""The transition block by itself: with pieces it is independent of the tokens.

The pieces of Equation (3) separate unary from transition factors, so the pair
confidences and (μ_T, V_T) follow each other without asking for a single token. Their
loop is cheap, and slow to converge where most pairs are ambiguous; run to its end
before the tokens are looked at, it does not hold them up.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tagsift.backend import asarray, namespace
from tagsift.sgppsl.acceleration import Anderson
from tagsift.sgppsl.confidence import pair_confidence_sums
from tagsift.sgppsl.likelihoods import Piecewise
from tagsift.sgppsl.posterior import Inducing
from tagsift.sgppsl.solver import Problem, State, ascend, start
from tagsift.typing import Array

__all__ = ["settle_transitions"]


def settle_transitions(
    problem: Problem,
    state: State,
    left: Array,
    right: Array,
    *,
    tol: float,
    max_iter: int = 200,
) -> State:
    """Alternate pair confidences and transition moments until the means settle."""
    xp = namespace(left)
    n_labels = int(left.shape[1])
    nobody = asarray(np.zeros((1, n_labels)), like=left)  # [1, L]
    # One token of no weight and no covariance.
    A, norms = [nobody[:, :1]] * n_labels, [nobody[0, :1]] * n_labels  # [1, 1], [1]
    alone = replace(problem, covariance=Inducing(A, norms, [1.0] * n_labels))
    q = start(alone, nobody, n_labels)
    q = replace(q, q=replace(q.q, mu_T=state.q.mu_T, var_T=state.q.var_T))
    anderson = Anderson()
    for _ in range(max_iter):
        before = (xp.log(q.q.var_T), q.q.mu_T)  # [L, L], [L, L]
        sums, _ = pair_confidence_sums(q.q.mu_T, q.q.var_T, left, right)
        q, _ = ascend(alone, Piecewise(nobody, sums), q, n_mean=2, n_variance=1)
        after = (xp.log(q.q.var_T), q.q.mu_T)  # [L, L], [L, L]
        if float(xp.max(xp.abs(after[1] - before[1]))) < tol:
            break
        log_var, mu_T = anderson(before, after)
        q = replace(q, q=replace(q.q, mu_T=mu_T, var_T=xp.exp(log_var)))
    return replace(state, q=replace(state.q, mu_T=q.q.mu_T, var_T=q.q.var_T))
