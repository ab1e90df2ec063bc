r"""When to stop: how many wrong labels are left, and what the next looks should find.

Every label that nobody has looked at has a chance p of being wrong (`ranking`). Those
that somebody has looked at tell whether such chances were right. With x = logit p as
it was before the look, the log-odds of an error are taken to be

.. math::

    x + g(x), \qquad g \sim \mathcal{GP}(0, k), \quad
    k(x, x') = s^2 \exp\left(-\frac{(x - x')^2}{2 \ell^2}\right),

so that answers correct chances like those asked about, and say little of far smaller
ones. The posterior of g is Laplace's approximation at places half a unit apart. The
scale s and the length were chosen on simulated annotators and weak sources, s for
candidate sets on sentences kept for that, so that the ranges below hold the number that
is left nine times in ten.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from tagsift.annotators.ranking import SURE
from tagsift.annotators.settings import CONSTANTS
from tagsift.errors import InputError
from tagsift.typing import FloatArray, IntArray

__all__ = ["Outlook", "outlook"]

#: Places at which g is found.
_PLACES = np.arange(-9.5, 9.75, CONSTANTS.places_apart)  # [G]


@dataclass(frozen=True)
class Outlook:
    """What is left to find, and what the next looks should bring."""

    left: float  # wrong labels expected among those that nobody has looked at
    left_range: tuple[float, float]  # where their number is, nine times in ten
    gain: float  # of them, those that the next looks should find
    gain_range: tuple[float, float]  # where that number is, nine times in ten
    looks: int  # how many looks those are
    stated: float  # wrong labels left by the chances as they stand, without answers
    looked: int  # labels looked at
    found: int  # wrong ones among them
    expected: float  # wrong ones that were expected among them


def outlook(
    chances: npt.ArrayLike,
    asked: npt.ArrayLike = (),
    wrong: npt.ArrayLike = (),
    *,
    looks: int = 50,
    scale: float = 0.6,
) -> Outlook:
    """Expect wrong labels, by their chances and by the answers so far.

    Parameters
    ----------
    chances : array of shape (K,)
        Chances of being wrong (`Look.score`) of all that nobody has looked at, in the
        order in which the looks will be.
    asked : array of shape (J,)
        Those of what has been looked at, as they were before the look.
    wrong : boolean array of shape (J,)
        Whether it was wrong.
    looks : int
        How many looks are next.
    scale : float
        How far the log-odds of the chances may be off: 0.6 suits those of votes, 2
        those of candidate sets, where labels are taken to be far surer than they are.

    Returns
    -------
    Outlook

    Examples
    --------
    >>> from tagsift.annotators import outlook
    >>> ahead = outlook([0.5, 0.25, 0.25], looks=1)
    >>> ahead.left, ahead.gain
    (1.0, 0.5)
    >>> outlook([0.5, 0.25, 0.25], [0.5] * 40, [True] * 30 + [False] * 10).left > 1
    True
    """
    told = np.asarray(wrong, dtype=float)  # [J]
    x, seen = _log_odds(chances, "chances"), _log_odds(asked, "asked")  # [K], [J]
    if told.shape != seen.shape:
        raise InputError(
            f"wrong must say of every label in asked whether it was wrong; got "
            f"{told.size} answers for {seen.size} labels."
        )
    if looks < 0:
        raise InputError(f"looks must be 0 or more; got {looks}.")
    if not scale > 0:
        raise InputError(f"scale must be more than 0; got {scale}.")
    g, covariance = _correction(seen, told, scale)  # [G], [G, G]
    left, left_range = _count(x, g, covariance)
    gain, gain_range = _count(x[:looks], g, covariance)
    return Outlook(
        left,
        left_range,
        gain,
        gain_range,
        min(looks, len(x)),
        float(np.sum(chances)),
        len(told),
        int(told.sum()),
        float(np.sum(asked)),
    )


def _log_odds(chances: npt.ArrayLike, name: str) -> FloatArray:
    p = np.asarray(chances, dtype=float)  # [K]
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise InputError(f"{name} must be chances from 0 to 1, in one row.")
    return np.asarray(logit(np.clip(p, SURE, 1 - SURE)))


def _place(x: FloatArray) -> IntArray:
    """The place of g that is nearest to log-odds."""
    return np.asarray(
        np.rint((x - _PLACES[0]) / CONSTANTS.places_apart), dtype=np.int64
    )


def _correction(
    x: FloatArray, wrong: FloatArray, scale: float
) -> tuple[FloatArray, FloatArray]:
    """Mode and covariance of g, given answers, by Newton's steps; [G], [G, G]."""
    apart = (_PLACES[:, None] - _PLACES) / CONSTANTS.outlook_length  # [G, G]
    prior = scale**2 * np.exp(-0.5 * apart**2)  # [G, G]
    precision = np.linalg.inv(prior + 1e-6 * np.eye(len(prior)))  # [G, G]
    place, g = _place(x), np.zeros(len(prior))  # [J], [G]
    for _ in range(50):
        p = expit(x + g[place])  # [J]
        slope = np.bincount(place, wrong - p, len(g)) - precision @ g  # [G]
        curve = precision + np.diag(np.bincount(place, p * (1 - p), len(g)))  # [G, G]
        step = np.linalg.solve(curve, slope)  # [G]
        g = g + step / max(1.0, np.abs(step).max())  # [G]
        if np.abs(step).max() < 1e-8:
            break
    return g, np.linalg.inv(curve)


def _count(
    x: FloatArray, g: FloatArray, covariance: FloatArray
) -> tuple[float, tuple[float, float]]:
    """Expected errors among labels with log-odds x, and a log-normal range."""
    place = _place(x)  # [K]
    p = expit(x + g[place])  # [K]
    own = p * (1 - p)  # [K]
    share = np.bincount(place, own, len(g))  # [G]  derivative by g
    mean = float(p.sum())
    if not mean:
        return 0.0, (0.0, 0.0)
    variance = float(share @ covariance @ share + CONSTANTS.errors_together * own.sum())
    spread = CONSTANTS.nine_in_ten * np.sqrt(np.log1p(variance / mean**2))
    return mean, (float(mean * np.exp(-spread)), float(mean * np.exp(spread)))
