"""Label sequences drawn from a chain: forward filtering, backward sampling."""

from __future__ import annotations

import numpy as np

from tagsift.backend import asarray, namespace, softmax
from tagsift.chain.lattice import cannot_underflow, rescaled_forward
from tagsift.chain.layout import ChainLayout
from tagsift.chain.log_lattice import log_forward
from tagsift.chain.potentials import Potentials
from tagsift.errors import InputError
from tagsift.typing import Array

__all__ = ["sample"]


def sample(
    U: Array,
    T: Array,
    layout: ChainLayout,
    *,
    n_samples: int = 1,
    random_state: int | np.random.Generator = 0,
    start: Array | None = None,
    end: Array | None = None,
    mask: Array | None = None,
    evidence: Array | None = None,
) -> Array:
    """Draw whole label sequences in proportion to their exponentiated scores.

    Parameters
    ----------
    U, T, layout, start, end, mask, evidence
        As for `tagsift.chain.lattice.forward_backward`.
    n_samples : int
        Sequences drawn per sentence, independently.
    random_state : int or Generator
        Where the randomness comes from; the same draws on either array library.

    Returns
    -------
    array of int, shape (n_samples, n_tokens)
        Label indices in stacked order.
    """
    xp = namespace(U)
    potentials = Potentials.gather(
        U, T, layout, start=start, end=end, mask=mask, evidence=evidence
    )
    if cannot_underflow(potentials):
        alpha, log_z = rescaled_forward(potentials)[:2]  # [N, L], [S']
        with np.errstate(divide="ignore"):
            log_alpha = xp.log(alpha)  # [N, L]
    else:
        log_alpha, log_z = log_forward(potentials)  # [N, L], [S']
    if not bool(xp.all(log_z > -np.inf)):
        bad = int(layout.sentences[int(xp.argmin(log_z))])
        raise InputError(
            f"sentence {bad}: no label sequence is allowed, so none can be drawn; "
            "loosen the mask or the banned transitions."
        )
    rng = np.random.default_rng(random_state)
    noise = asarray(rng.random((n_samples, layout.n_tokens)), like=U)  # [R, N]
    noise = xp.astype(noise, U.dtype)  # [R, N]
    packed = xp.zeros((n_samples, layout.n_tokens), dtype=xp.int64, device=U.device)
    steps = layout.steps.tolist()
    for t in range(layout.max_length - 1, -1, -1):
        lo, hi = steps[t], steps[t + 1]
        weights = xp.zeros_like(packed[:, lo:hi, None], dtype=U.dtype)  # [R, S_t, 1]
        weights = weights + log_alpha[None, lo:hi, :]  # [R, S_t, L]
        if t + 1 < layout.max_length:
            n = steps[t + 2] - hi
            followers = packed[:, hi : hi + n]  # [R, S_{t+1}]
            weights[:, :n] += T.T[followers]  # [R, S_{t+1}, L]
        shares = xp.cumulative_sum(softmax(weights), axis=-1)  # [R, S_t, L]
        below = shares <= noise[:, lo:hi, None] * shares[:, :, -1:]  # [R, S_t, L]
        packed[:, lo:hi] = xp.sum(xp.astype(below, xp.int64), axis=-1)  # [R, S_t]
    stacked = xp.empty_like(packed)  # [R, N]
    stacked[:, asarray(layout.order, like=U)] = packed
    return stacked
