"""Which sentences are looked at, in an order drawn by chance.

A sentence is drawn with a chance in proportion to its *weight* among those that are
left, one after the other (successive sampling). Whenever people stop, what they looked
at is a sample of known chances; and within any part of the corpus it is one of that
part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tagsift.typing import FloatArray, IntArray

__all__ = ["DESIGN", "Design", "drawn_order", "weights_of"]


@dataclass(frozen=True)
class Design:
    """What is fixed before anybody looks; set by ``python -m experiments audit``."""

    even_share: float = 0.4  # of the chances that is the same for all sentences
    least_looks: int = 20  # sentences before which nothing is stated
    late_error: float = 0.1  # of the error, spent on going on long after the plan
    prior_looks: float = 5.0  # that speak for the model as it is, in its coefficient
    most_control: float = 1.5  # the largest coefficient of the model


DESIGN = Design()


def weights_of(variance: FloatArray, design: Design = DESIGN) -> FloatArray:
    r"""Chances of being drawn first, up to a factor, [S].

    .. math:: (1 - u) \frac{\sigma_s}{\bar\sigma} + u,
        \qquad \sigma_s^2 = \sum_{t \in s} p_t (1 - p_t),

    with `variance` the :math:`\sigma_s^2` of the wrong tokens that the model expects,
    and u the even share: what the model is sure of is looked at, too.
    """
    spread = np.sqrt(variance)  # [S]
    mean = spread.mean() if len(spread) else 0.0
    if mean <= 0:
        return np.ones_like(spread)
    return (1 - design.even_share) * spread / mean + design.even_share


def drawn_order(weights: FloatArray, rng: np.random.Generator) -> IntArray:
    """All places with a weight above zero, in the order in which they are drawn.

    The smallest of independent exponential times with rates w is that of place s with
    chance w_s / Σ w, and what is left behaves in the same way.
    """
    open_ = np.flatnonzero(weights > 0)
    times = rng.exponential(size=len(open_)) / weights[open_]
    return np.asarray(open_[np.argsort(times, kind="stable")], dtype=np.int64)
