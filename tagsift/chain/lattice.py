"""Sums over all label sequences of a chain: normalisers, marginals, neighbouring pairs.

Forward–backward runs over all sentences at once in the order of
`tagsift.chain.layout`. It works with probabilities that are rescaled at every step, so
a step is one matrix product. Where the exponential of a single score underflows, which
is seen beforehand, or a product on the way, which the marginals of the first token tell
by their sum, the sentence is done again in the log domain, slowly and safely.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tagsift.backend import asarray, exp_inplace, logsumexp, namespace, to_numpy
from tagsift.chain.layout import ChainLayout
from tagsift.chain.potentials import Potentials, row_max
from tagsift.typing import Array, BoolArray

__all__ = ["Lattice", "forward_backward", "log_lattice", "packed_forward_backward"]


@dataclass(frozen=True)
class Lattice:
    """What forward–backward finds; −inf and 0 where no label sequence is allowed."""

    log_z: Array  # [S'], log-normalisers in the order of layout.sentences
    marginals: Array  # [N, L], probability of every label at every token
    pairs: Array  # [L, L], expected number of times that a label follows another


def forward_backward(U: Array, T: Array, layout: ChainLayout, **scores: Any) -> Lattice:
    """Normalisers and marginals of every sentence, scores as in `Potentials.gather`."""
    potentials = Potentials.gather(U, T, layout, **scores)
    packed = packed_forward_backward(potentials)
    return Lattice(packed.log_z, layout.unpack(packed.marginals), packed.pairs)


def packed_forward_backward(potentials: Potentials) -> Lattice:
    """Do the work of `forward_backward` on packed scores; marginals stay packed."""
    xp = namespace(potentials.W)
    lattice, representable = _rescaled(potentials)
    sums = xp.sum(lattice.marginals[: len(representable)], axis=1)  # [S']
    tolerance = 1e5 * float(xp.finfo(sums.dtype).eps)
    ok = to_numpy(xp.abs(sums - 1) < tolerance) & representable  # [S']
    return lattice if ok.all() else _mixed(potentials, ok)


def _smallest(W: Array) -> float:
    """Smallest positive number of full precision."""
    return float(namespace(W).finfo(W.dtype).smallest_normal)


def _rescaled(potentials: Potentials) -> tuple[Lattice, BoolArray]:
    """Forward–backward in probabilities that sum to one, with packed marginals.

    The marginals are NaN, or their sums not one, where a product underflowed. The flags
    that come with them, [S'], say where the exponential of a score did.
    """
    W, T, layout = potentials.W, potentials.T, potentials.layout
    xp, weights, n_sentences = namespace(W), potentials.weights, layout.n_sentences
    top = row_max(W)  # [N]
    eU = exp_inplace(W - top[:, None])  # [N, L]
    peak = row_max(xp.reshape(T, (1, -1)))  # [1]
    eT = xp.exp(T - peak)  # [L, L]
    representable = _representable(potentials, eU, eT)  # [S']
    ones = xp.ones_like(T[0])  # [L]
    alpha = xp.empty_like(W)  # [N, L]
    scale = xp.empty_like(top)  # [N], the sums that are divided out
    pairs = xp.zeros_like(eT)  # [L, L]
    with np.errstate(all="ignore"):
        scale[:n_sentences] = eU[:n_sentences] @ ones
        alpha[:n_sentences] = eU[:n_sentences] / scale[:n_sentences, None]
        for lo, hi, before in layout.steps_after_first:
            step = alpha[before : before + hi - lo] @ eT  # [S_t, L]
            step *= eU[lo:hi]
            scale[lo:hi] = step @ ones  # [S_t]
            step /= scale[lo:hi, None]
            alpha[lo:hi] = step
        log_scale = xp.log(scale) + top  # [N]
        log_scale[n_sentences:] += peak
        onward = eU  # [N, L], from here on eU · beta / scale
        onward /= scale[:, None]
        marginals = alpha  # [N, L], from here on alpha · beta
        for lo, hi, before in reversed(layout.steps_after_first):
            after = onward[lo:hi]  # [S_t, L]
            # Views, so that a product in place is one operation.
            here = marginals[before : before + hi - lo]  # [S_t, L]
            onward_here = onward[before : before + hi - lo]  # [S_t, L]
            beta = after @ eT.T  # [S_t, L]
            counted = after if weights is None else weights[: hi - lo, None] * after
            pairs += here.T @ counted  # [L, L], still alpha here
            here *= beta
            onward_here *= beta
        pairs *= eT
    log_z = _sum_by_sentence(log_scale, layout)  # [S']
    return Lattice(log_z, marginals, pairs), representable


def _representable(potentials: Potentials, eU: Array, eT: Array) -> BoolArray:
    """Whether the exponentials of a sentence's finite scores all are positive, [S']."""
    W, T, layout = potentials.W, potentials.T, potentials.layout
    ok = np.ones(layout.n_sentences, dtype=bool)  # [S']
    if _n_lost(T, eT):
        return ~ok
    if _n_lost(W, eU):
        lost = to_numpy((eU < _smallest(eU)) & (W > -np.inf)).any(axis=1)  # [N]
        ok[layout.token_sentences[lost]] = False
    return ok


def _n_lost(scores: Array, exponentials: Array) -> int:
    """How many finite scores have no exponential of full precision."""
    count = namespace(scores).count_nonzero
    n_positive = count(exponentials >= _smallest(exponentials))
    return int(count(scores > -np.inf)) - int(n_positive)


def _mixed(potentials: Potentials, ok: BoolArray) -> Lattice:
    """Probabilities for the sentences that allow them, the log domain for the rest."""
    W, T, layout = potentials.W, potentials.T, potentials.layout
    xp = namespace(W)
    log_z = xp.empty_like(W[: len(ok), 0])  # [S']
    marginals = xp.empty_like(W)  # [N, L]
    pairs = xp.zeros_like(T)  # [L, L]
    for chosen in (ok, ~ok):
        tokens, sub = layout.take(chosen)
        rows = asarray(tokens, like=W)  # [N']
        sentences = asarray(np.flatnonzero(chosen), like=W)  # [S'']
        weights = potentials.weights
        weights = None if weights is None else weights[sentences]  # [S'']
        part = Potentials(xp.take(W, rows, axis=0), T, sub, weights)
        lattice = _rescaled(part)[0] if chosen is ok else log_lattice(part)
        log_z[sentences] = lattice.log_z
        marginals[rows] = lattice.marginals
        pairs += lattice.pairs
    return Lattice(log_z, marginals, pairs)


def _sum_by_sentence(packed: Array, layout: ChainLayout) -> Array:
    """Sum values of tokens in packed order over every sentence, [S']."""
    xp = namespace(packed)
    total = xp.asarray(packed[: layout.n_sentences], copy=True)  # [S']
    for lo, hi, _ in layout.steps_after_first:
        running = total[: hi - lo]  # [S_t], a view
        running += packed[lo:hi]
    return total


def log_lattice(potentials: Potentials) -> Lattice:
    """Do the work of `packed_forward_backward` by logsumexp: safe for any scores."""
    W, T, layout = potentials.W, potentials.T, potentials.layout
    xp = namespace(W)
    log_alpha = xp.asarray(W, copy=True)  # [N, L], all beginnings that end in a label
    for lo, hi, before in layout.steps_after_first:
        previous = log_alpha[before : before + hi - lo]  # [S_t, L]
        log_alpha[lo:hi] += logsumexp(previous[:, :, None] + T, axis=1)  # [S_t, L]
    last = asarray(layout.last_tokens, like=W)  # [S']
    log_z = logsumexp(xp.take(log_alpha, last, axis=0), axis=1)  # [S']
    log_beta = xp.zeros_like(W)  # [N, L], all ends of a sentence that follow a label
    for lo, hi, before in reversed(layout.steps_after_first):
        after = W[lo:hi] + log_beta[lo:hi]  # [S_t, L]
        ends = logsumexp(after[:, None, :] + T, axis=2)  # [S_t, L]
        log_beta[before : before + hi - lo] = ends
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
    return Lattice(log_z, xp.exp(through - shift), pairs)
