"""Forward–backward in the log domain: slow, and safe for any potentials.

The tested twin of `tagsift.chain.lattice`, and what it falls back to.
"""

from __future__ import annotations

import numpy as np

from tagsift.backend import asarray, logsumexp, namespace
from tagsift.chain.potentials import Potentials, last_tokens
from tagsift.typing import Array

__all__ = ["log_backward", "log_forward", "log_marginals"]


def log_forward(potentials: Potentials) -> tuple[Array, Array]:
    """Log-sum over all beginnings of a sentence that end in a label.

    Returns
    -------
    log_alpha : array of shape (n_tokens, n_labels)
        In packed order.
    log_z : array of shape (n_sentences,)
        In the order of ``layout.sentences``.
    """
    W, T, layout = potentials.W, potentials.T, potentials.layout
    xp = namespace(W)
    steps, n_sentences = layout.steps, len(layout.sentences)
    log_alpha = xp.empty_like(W)  # [N, L]
    log_alpha[:n_sentences] = W[:n_sentences]
    for t in range(1, layout.max_length):
        lo, hi = int(steps[t]), int(steps[t + 1])
        before = int(steps[t - 1])
        previous = log_alpha[before : before + hi - lo]  # [S_t, L]
        log_alpha[lo:hi] = W[lo:hi] + logsumexp(
            previous[:, :, None] + T[None, :, :], axis=1
        )  # [S_t, L]
    last = asarray(last_tokens(layout), like=W)  # [S']
    return log_alpha, logsumexp(xp.take(log_alpha, last, axis=0), axis=1)


def log_backward(potentials: Potentials) -> Array:
    """Log-sum over all ends of a sentence that follow a label; shape (N, L), packed."""
    W, T, layout = potentials.W, potentials.T, potentials.layout
    xp = namespace(W)
    steps = layout.steps
    log_beta = xp.zeros_like(W)  # [N, L]
    for t in range(layout.max_length - 1, 0, -1):
        lo, hi = int(steps[t]), int(steps[t + 1])
        before = int(steps[t - 1])
        onward = W[lo:hi] + log_beta[lo:hi]  # [S_t, L]
        log_beta[before : before + hi - lo] = logsumexp(
            onward[:, None, :] + T[None, :, :], axis=2
        )  # [S_t, L]
    return log_beta


def log_marginals(potentials: Potentials) -> tuple[Array, Array, Array]:
    """Log-normalisers, packed marginals and summed pairs, all by logsumexp.

    A sentence that no label sequence satisfies has log-normaliser −inf and marginals 0.

    Returns
    -------
    log_z : array of shape (n_sentences,)
        In the order of ``layout.sentences``.
    marginals : array of shape (n_tokens, n_labels)
        In packed order.
    pairs : array of shape (n_labels, n_labels)
        Summed over all neighbouring tokens.
    """
    W, T, layout = potentials.W, potentials.T, potentials.layout
    xp = namespace(W)
    steps = layout.steps
    log_alpha, log_z = log_forward(potentials)  # [N, L], [S']
    log_beta = log_backward(potentials)  # [N, L]
    marginals = xp.empty_like(W)  # [N, L]
    pairs = xp.zeros_like(T)  # [L, L]
    for t in range(layout.max_length):
        lo, hi = int(steps[t]), int(steps[t + 1])
        # Again the log-normaliser, with the rounding of this step: for scores of 1e16
        # the two differ by whole numbers, and probabilities would exceed 1.
        through = log_alpha[lo:hi] + log_beta[lo:hi]  # [S_t, L]
        total = logsumexp(through, axis=1)  # [S_t]
        shift = xp.where(total > -np.inf, total, xp.zeros_like(total))[:, None]
        onward = log_beta[lo:hi] - shift  # [S_t, L]
        marginals[lo:hi] = xp.exp(through - shift)  # [S_t, L]
        if t:
            before = int(steps[t - 1])
            joint = (
                log_alpha[before : before + hi - lo, :, None]
                + T[None, :, :]
                + (W[lo:hi] + onward)[:, None, :]
            )  # [S_t, L, L]
            together = xp.exp(xp.clip(joint, max=0.0))  # [S_t, L, L]
            if potentials.weights is not None:
                together = potentials.weights[: hi - lo, None, None] * together
            pairs += xp.sum(together, axis=0)  # [L, L]
    return log_z, marginals, pairs
