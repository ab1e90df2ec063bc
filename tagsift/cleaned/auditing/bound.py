r"""Bounds of a share that hold at every moment of a growing sample.

The share is R = Y / X, wrong ones among all, each a sum over sentences of which a
growing number has been looked at. With r the share that is tested,

.. math:: u_s = y_s - r x_s - \beta c_s, \qquad \sum_s u_s = 0 \text{ at } r = R,

where the control c is what the model expects of y − R x, with the sum 0. After t − 1
looks, the t-th gives :math:`Z_t = \sum_{i<t} u_i + u_t Q_t / w_t`, with the weights w
of `drawing` and their sum Q over what is left (Des Raj 1956): its mean is 0 whatever
came before. Weighted by :math:`1/Q_t^2`, the partial sums M are a martingale with the
clock :math:`\tau_t = \sum 1/Q_i^2`, in units of its value at the number of looks that
was planned. A normal martingale with the variance V rises above :math:`c(\tau)
\sqrt V` at any moment with a chance of at most α, by Ville's inequality, where c is the
smaller of a line, with the error 0.9 α, and of a curve for who goes on for long, with
0.1 α (Robbins' normal mixture in the form of Howard et al. 2021):

.. math:: c(\tau) = \sqrt{\tfrac12 \log \tfrac1{0.9 \alpha}}
          \left(\frac1{\sqrt\tau} + \sqrt\tau\right), \qquad
          c(\tau) = \sqrt{2 \left(1 + \frac1\tau\right)
          \log\left(\frac{\sqrt{1 + \tau}}{0.2 \alpha} + 1\right)}.

The bounds are
the r at which M(r) meets the line: roots of a quadratic equation, as Fieller's. Sums of
errors are skewed to the right, and what was not seen makes their variance look small;
so V of the upper bound holds one sentence more, with :math:`1 + \sqrt{\bar x}` errors,
and c is stretched by the first term of Cornish and Fisher's expansion,
:math:`1 + \gamma c / 3 \sqrt n`, where the skewness γ works against the bound; V is
multiplied by :math:`n^2 / ((n - 2) (n - c^2))`, as self-normalised sums ask for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tagsift.cleaned.auditing.drawing import DESIGN, Design
from tagsift.typing import FloatArray

__all__ = ["Bounds", "Looks", "boundary", "bounds", "increments"]


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
    ticks = np.diff(looks.clock, axis=-1, prepend=0.0)  # [..., n]  1 / Q²
    tick_sum, tick_squares = looks.clock, np.cumsum(ticks**2, axis=-1)
    sums = [np.cumsum(part, axis=-1) for part in (y, x, z)]
    sum_y, sum_x, sum_z = sums

    def spread(i: int, j: int) -> FloatArray:
        """What two columns vary together, around the estimates of their sums."""
        one, other = (y, x, z)[i], (y, x, z)[j]
        means = [sums[k] / tick_sum for k in (i, j)]
        crossed = [np.cumsum(ticks * part, axis=-1) for part in (one, other)]
        return np.asarray(
            np.cumsum(one * other, axis=-1)
            - means[0] * crossed[1]
            - means[1] * crossed[0]
            + means[0] * means[1] * tick_squares
        )

    yy, xx, zz = spread(0, 0), spread(1, 1), spread(2, 2)
    xy, yz, xz = spread(0, 1), spread(0, 2), spread(1, 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        # The coefficient of the model is drawn towards 1, where the model is right.
        some = sum_x > 0  # [..., n]
        start = np.where(some, (sum_y - sum_z) / sum_x, 0.0)
        prior = design.prior_looks * np.cumsum(z**2, axis=-1) / n
        fitted = (yz - start * xz + prior) / (zz + prior)
        beta = np.where(prior > 0, np.clip(fitted, 0.0, design.most_control), 0.0)
        k = sum_y - beta * sum_z
        value = np.where(some, k / sum_x, 0.0)
        # One sentence more, with errors that nobody has seen.
        unseen = sum_x / n * (1 + np.sqrt(looks.mean_size)) / looks.mean_size
        left = y - beta * z - value * x
        second = np.cumsum(left**2, axis=-1) + unseen**2
        third = np.cumsum(left**3, axis=-1) + unseen**3
        skewness = np.sqrt(n) * third / second**1.5
        line = boundary(looks.clock / looks.planned[..., None], alpha, design)
        # (r Σx − k)² = c² (v₀ − 2 r v₁ + r² v₂)
        v0, v1, v2 = yy - 2 * beta * yz + beta**2 * zz, xy - beta * xz, xx
        ends = []
        for side in (-1, 1):
            worse = np.maximum(side * skewness, 0)
            c2 = (line * (1 + worse * line / (3 * np.sqrt(n)))) ** 2
            enough = n > np.maximum(c2, 2)
            c2 = c2 * n**2 / np.where(enough, (n - c2) * (n - 2), 1)
            v = v0 + unseen**2 if side > 0 else v0
            a, b = sum_x**2 - c2 * v2, k * sum_x - c2 * v1
            root = np.sqrt(np.maximum(b**2 - a * (k**2 - c2 * v), 0))
            known = some & enough & (a > 0) & (n >= design.least_looks)
            end = np.where(known, (b + side * root) / a, (1 + side) / 2)
            ends.append(np.clip(end, 0.0, 1.0))
    return Bounds(np.clip(value, 0.0, 1.0), *ends)


def boundary(tau: FloatArray, alpha: float, design: Design = DESIGN) -> FloatArray:
    """What a normal martingale exceeds with a chance of `alpha`, in its deviations."""
    first, rest = (1 - design.late_error) * alpha, design.late_error * alpha
    line = np.sqrt(np.log(1 / first) / 2) * (np.sqrt(tau) + 1 / np.sqrt(tau))
    mixture = np.log(np.sqrt(1 + tau) / (2 * rest) + 1)
    return np.asarray(np.minimum(line, np.sqrt(2 * (1 + 1 / tau) * mixture)))
