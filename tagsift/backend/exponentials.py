"""Sums and shares of exponentials that neither overflow nor vanish."""

from __future__ import annotations

import numpy as np

from tagsift.backend.arrays import is_torch, namespace
from tagsift.typing import Array

__all__ = ["exp_inplace", "log_softmax_parts", "logsumexp", "softmax"]


def logsumexp(x: Array, axis: int = -1, keepdims: bool = False) -> Array:
    """Logarithm of the sum of exponentials along an axis; −inf where all are −inf."""
    xp, shift = namespace(x), _shift(x, axis)  # […, 1]
    with np.errstate(divide="ignore"):
        total = xp.log(xp.sum(xp.exp(x - shift), axis=axis, keepdims=True)) + shift
    return total if keepdims else xp.squeeze(total, axis=axis)


def softmax(x: Array, axis: int = -1) -> Array:
    """Exponentials along an axis divided by their sum; zeros where all are −inf."""
    xp, shift = namespace(x), _shift(x, axis)  # […, 1]
    e = xp.exp(x - shift)  # […]
    total = xp.sum(e, axis=axis, keepdims=True)  # […, 1]
    return e / xp.where(total > 0, total, xp.ones_like(total))  # […]


def _shift(x: Array, axis: int) -> Array:
    """Largest value along an axis, 0 where all are −inf: what keeps sums finite."""
    xp = namespace(x)
    top = xp.max(x, axis=axis, keepdims=True)  # […, 1]
    return xp.where(xp.isfinite(top), top, xp.zeros_like(top))  # […, 1]


def log_softmax_parts(x: Array) -> tuple[Array, Array]:
    """Logsumexp and softmax of rows that are finite somewhere, from one pass."""
    xp = namespace(x)
    top = xp.max(x, axis=-1, keepdims=True)  # [N, 1]
    shares = exp_inplace(x - top)  # [N, L]
    sums = xp.sum(shares, axis=-1, keepdims=True)  # [N, 1]
    shares /= sums
    return (top + xp.log(sums))[..., 0], shares


def exp_inplace(x: Array) -> Array:
    """Overwrite an array with its exponential, and return it."""
    return x.exp_() if is_torch(x) else np.exp(x, out=x)
