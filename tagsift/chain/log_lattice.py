"""Forward–backward in the log domain: slow, and safe for any potentials.

The tested twin of `tagsift.chain.lattice`, and what it falls back to.
"""

from __future__ import annotations

import numpy as np

from tagsift.backend import asarray, logsumexp, namespace
from tagsift.chain.potentials import Potentials
from tagsift.typing import Array

__all__ = ["log_marginals"]


def _log_forward(potentials: Potentials) -> tuple[Array, Array]:
    """Log-sums of all beginnings that end in a label, packed, and of sentences."""
    W, T, layout = potentials.W, potentials.T, potentials.layout
    xp = namespace(W)
    log_alpha = xp.asarray(W, copy=True)  # [N, L]
    for lo, hi, before in layout.steps_after_first:
        previous = log_alpha[before : before + hi - lo]  # [S_t, L]
        log_alpha[lo:hi] += logsumexp(previous[:, :, None] + T, axis=1)  # [S_t, L]
    last = asarray(layout.last_tokens, like=W)  # [S']
    return log_alpha, logsumexp(xp.take(log_alpha, last, axis=0), axis=1)


def _log_backward(potentials: Potentials) -> Array:
    """Log-sums over all ends of a sentence that follow a label, packed, [N, L]."""
    W, T, layout = potentials.W, potentials.T, potentials.layout
    log_beta = namespace(W).zeros_like(W)  # [N, L]
    for lo, hi, before in reversed(layout.steps_after_first):
        onward = W[lo:hi] + log_beta[lo:hi]  # [S_t, L]
        log_beta[before : before + hi - lo] = logsumexp(
            onward[:, None, :] + T, axis=2
        )  # [S_t, L]
    return log_beta


def log_marginals(potentials: Potentials) -> tuple[Array, Array, Array]:
    """Log-normalisers, packed marginals and summed pairs, all by logsumexp.

    A sentence that no label sequence satisfies has log-normaliser −inf and marginals 0.
    """
    W, T, layout = potentials.W, potentials.T, potentials.layout
    xp = namespace(W)
    log_alpha, log_z = _log_forward(potentials)  # [N, L], [S']
    log_beta = _log_backward(potentials)  # [N, L]
    # Again the log-normaliser, with the rounding of every token: for scores of 1e16
    # the two differ by whole numbers, and probabilities would exceed 1.
    through = log_alpha + log_beta  # [N, L]
    total = logsumexp(through, axis=1)  # [N]
    shift = xp.where(total > -np.inf, total, xp.zeros_like(total))[:, None]  # [N, 1]
    onward = W + (log_beta - shift)  # [N, L]
    pairs = xp.zeros_like(T)  # [L, L]
    for lo, hi, before in layout.steps_after_first:
        here = log_alpha[before : before + hi - lo]  # [S_t, L]
        joint = here[:, :, None] + T + onward[lo:hi, None, :]  # [S_t, L, L]
        together = xp.exp(xp.clip(joint, max=0.0))  # [S_t, L, L]
        if potentials.weights is not None:
            together = potentials.weights[: hi - lo, None, None] * together
        pairs += xp.sum(together, axis=0)  # [L, L]
    return log_z, xp.exp(through - shift), pairs
