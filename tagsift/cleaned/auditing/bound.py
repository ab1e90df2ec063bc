r"""Bounds of a share that hold at every moment of a growing sample.

The share is R = Y / X, wrong ones among all, each a sum over sentences of which a
growing number has been looked at. With r the share that is tested,

.. math:: u_s = y_s - r x_s - \beta c_s, \qquad \sum_s u_s = 0 \text{ at } r = R,

where the control c is what the model expects of y − R x, with the sum 0. After t − 1
looks, the t-th gives :math:`Z_t = \sum_{i<t} u_i + u_t Q_t / w_t`, with the weights w
of `drawing` and their sum Q over what is left (Des Raj 1956): its mean is 0 whatever
came before. Weighted by :math:`1/Q_t^2`, the partial sums M are a martingale with the
clock :math:`\tau_t = \sum 1/Q_i^2`, and by Ville's inequality a normal martingale ends
above the line :math:`c(\tau) \sqrt V` at any moment with a chance of at most α, where

.. math:: c(\tau) = \sqrt{\tfrac12 \log \tfrac1\alpha}
          \left(\sqrt{\tau^* / \tau} + \sqrt{\tau / \tau^*}\right)

is lowest at τ*, the clock of the number of looks that was planned. The bounds are
the r at which M(r) meets the line: roots of a quadratic equation, as Fieller's. Sums of
errors are skewed to the right, and what was not seen makes their variance look small;
so V of the upper bound holds one sentence more, with :math:`1 + \sqrt{\bar x}` errors,
and c is stretched by the first term of Cornish and Fisher's expansion,
:math:`1 + \gamma c / 3 \sqrt n`, where the skewness γ works against the bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tagsift.cleaned.auditing.drawing import DESIGN, Design
from tagsift.typing import FloatArray

__all__ = ["Bounds", "Looks", "bounds", "increments"]


@dataclass(frozen=True)
class Looks:
    """What every look brought, in the order of the draw; see `increments`."""

    errors: FloatArray  # [..., n]
    size: FloatArray  # [..., n]
    control: FloatArray  # [..., n]
    clock: FloatArray  # [..., n]
    planned: FloatArray  # [...]  the clock at the planned end
    mean_size: float  # of a sentence, as far as one knows


@dataclass(frozen=True)
class Bounds:
    """A share after every look, and between what it lies."""

    value: FloatArray  # [..., n]
    low: FloatArray  # [..., n]
    high: FloatArray  # [..., n]


def increments(
    drawn: FloatArray, weights: FloatArray, total: float, settled: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Estimates of a sum over all sentences, one a look, and the clock.

    Parameters
    ----------
    drawn, weights : ndarray of shape (..., n)
        Values and weights of the sentences in the order of the draw.
    total : float
        The sum of the weights before the first look.
    settled : float
        The sum of the values of what needs no look.

    Returns
    -------
    increments, clock : ndarray of shape (..., n)
        The first with the weights 1 / Q², Q in units of `total`.
    """
    before = np.cumsum(weights, axis=-1) - weights  # [..., n]
    left = np.maximum(total - before, weights) / total  # [..., n]
    past = np.cumsum(drawn, axis=-1) - drawn + settled  # [..., n]
    estimates = past + drawn * left * total / weights  # [..., n]
    return estimates / left**2, np.cumsum(left**-2, axis=-1)


def bounds(looks: Looks, alpha: float, design: Design = DESIGN) -> Bounds:
    """The share after every look, with one-sided bounds, each with the error `alpha`.

    Each of the two holds at all looks from the least number on with a chance of
    1 − alpha; before, they are 0 and 1.
    """
    y, x, z = looks.errors, looks.size, looks.control  # [..., n] each
    n = np.arange(1, y.shape[-1] + 1)  # [n]
    sum_y, sum_x, sum_z = (np.cumsum(part, axis=-1) for part in (y, x, z))
    yy, xx, zz, xy, yz, xz = (
        np.cumsum(one * other, axis=-1)
        for one, other in ((y, y), (x, x), (z, z), (x, y), (y, z), (x, z))
    )  # [..., n] each
    with np.errstate(divide="ignore", invalid="ignore"):
        # The coefficient of the model, drawn towards 1, at the share under 1.
        some = sum_x > 0  # [..., n]
        start = np.where(some, (sum_y - sum_z) / sum_x, 0.0)
        prior = design.prior_looks * zz / n
        beta = np.where(zz > 0, (yz - start * xz + prior) / (zz + prior), 0.0)
        beta = np.clip(beta, 0.0, design.most_control)
        value = np.where(some, (sum_y - beta * sum_z) / sum_x, 0.0)
        left = y - beta * z - value * x  # [..., n]
        mean = sum_x / n
        pseudo = mean * (1 + np.sqrt(looks.mean_size)) / looks.mean_size
        second = np.cumsum(left**2, axis=-1) + pseudo**2
        third = np.cumsum(left**3, axis=-1) + pseudo**3
        skewness = np.sqrt(n) * third / second**1.5
        tau = looks.clock / np.asarray(looks.planned)[..., None]
        line = np.sqrt(np.log(1 / alpha) / 2) * (np.sqrt(tau) + 1 / np.sqrt(tau))
        freedom = n / np.maximum(n - 2, 1)
        # (r Σx − k)² = c² (v₀ − 2 r v₁ + r² v₂), k = Σy − β Σz
        k = sum_y - beta * sum_z
        v0 = (yy - 2 * beta * yz + beta**2 * zz) * freedom
        v1, v2 = (xy - beta * xz) * freedom, xx * freedom
        ends = []
        for side in (-1, 1):
            stretch = 1 + np.maximum(side * skewness, 0) * line / (3 * np.sqrt(n))
            c2 = (line * stretch) ** 2
            v = v0 + pseudo**2 if side > 0 else v0
            a, b = sum_x**2 - c2 * v2, k * sum_x - c2 * v1
            root = np.sqrt(np.maximum(b**2 - a * (k**2 - c2 * v), 0))
            ends.append(np.where(a > 0, (b + side * root) / a, (1 + side) / 2))
    early = (n < design.least_looks) | ~some
    low = np.where(early, 0.0, np.clip(ends[0], 0.0, 1.0))
    high = np.where(early, 1.0, np.clip(ends[1], 0.0, 1.0))
    return Bounds(np.clip(value, 0.0, 1.0), low, high)
