"""Whether one method is better than another over many settings.

Two methods: the Wilcoxon signed-rank test. Many methods: mean ranks and Nemenyi's
critical difference, as in Demšar (Journal of Machine Learning Research 7, 2006). Zero
differences are split between the two signs, as he advises. Scores are arrays
``[n_settings, n_methods]``; rank 1 is the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from tagsift.errors import InputError
from tagsift.typing import FloatArray

__all__ = [
    "Ranking",
    "Wilcoxon",
    "critical_difference",
    "holm",
    "ranking",
    "wilcoxon",
]

#: Level of significance.
_ALPHA = 0.05


@dataclass(frozen=True)
class Wilcoxon:
    """Result of a Wilcoxon signed-rank test.

    Parameters
    ----------
    statistic : float
        The smaller sum of signed ranks.
    p_value : float
        Two-sided.
    wins, ties, losses : int
        Settings in which the first method scored higher, equal, lower.
    mean_difference : float
        First minus second.
    """

    statistic: float
    p_value: float
    wins: int
    ties: int
    losses: int
    mean_difference: float


@dataclass(frozen=True)
class Ranking:
    """What a critical-difference diagram shows.

    Parameters
    ----------
    methods : tuple of str
        From best to worst mean rank.
    ranks : tuple of float
        Mean ranks, in the same order.
    critical_difference : float
        Two methods differ significantly when their mean ranks differ by more.
    groups : tuple of tuple of str
        Maximal runs of two or more methods among which nothing is significant.
    n_settings : int
        Settings ranked.
    alpha : float
        Level of significance.
    """

    methods: tuple[str, ...]
    ranks: tuple[float, ...]
    critical_difference: float
    groups: tuple[tuple[str, ...], ...]
    n_settings: int
    alpha: float


def wilcoxon(first: npt.ArrayLike, second: npt.ArrayLike) -> Wilcoxon:
    """Test two methods over the same settings with the Wilcoxon signed-rank test.

    Parameters
    ----------
    first, second : array of shape (n_settings,)
        Scores in the same settings, higher is better.

    Returns
    -------
    Wilcoxon
        Statistic, two-sided p-value, wins, ties and losses.
    """
    a = np.asarray(first, dtype=np.float64)  # [S]
    b = np.asarray(second, dtype=np.float64)  # [S]
    if a.ndim != 1 or a.shape != b.shape or not len(a):
        raise InputError(
            "The two methods need one score each per setting, for at least one "
            f"setting; got shapes {a.shape} and {b.shape}."
        )
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise InputError("Scores must be finite; leave out settings without a score.")
    difference = a - b  # [S]
    if not difference.any():
        return Wilcoxon(0.0, 1.0, 0, len(a), 0, 0.0)
    statistic, p_value = stats.wilcoxon(difference, zero_method="zsplit")
    return Wilcoxon(
        statistic=float(statistic),
        p_value=float(p_value),
        wins=int((difference > 0).sum()),
        ties=int((difference == 0).sum()),
        losses=int((difference < 0).sum()),
        mean_difference=float(difference.mean()),
    )


def holm(p_values: npt.ArrayLike) -> FloatArray:
    """Adjust several p-values at once by Holm's step-down rule.

    Parameters
    ----------
    p_values : array of shape (n_tests,)
        One per test.

    Returns
    -------
    ndarray of shape (n_tests,)
        Adjusted p-values, in the order given.
    """
    p = np.asarray(p_values, dtype=np.float64)  # [n]
    order = np.argsort(p, kind="stable")  # [n]
    stepped = p[order] * np.arange(len(p), 0, -1)  # [n]
    adjusted = np.empty_like(p)  # [n]
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted


def _table(scores: npt.ArrayLike) -> FloatArray:
    """Check a table of scores."""
    table = np.asarray(scores, dtype=np.float64)  # [S, m]
    if table.ndim != 2 or not len(table) or table.shape[1] < 2:
        raise InputError(
            "Expected a table of scores with one row per setting and one column for "
            f"each of at least 2 methods; got shape {table.shape}."
        )
    if not np.isfinite(table).all():
        row = int(np.argmin(np.isfinite(table).all(axis=1)))
        raise InputError(
            f"Row {row} (counted from 0) of the scores is not finite; leave out "
            "settings in which a method has no score."
        )
    return table


def critical_difference(n_methods: int, n_settings: int) -> float:
    r"""Nemenyi's critical difference of mean ranks at the 5 % level.

    Parameters
    ----------
    n_methods, n_settings : int
        Size of the table of scores.

    Returns
    -------
    float
        Two mean ranks further apart than this differ significantly.

    Notes
    -----
    .. math:: CD = q_\alpha \sqrt{m (m + 1) / (6 n)}

    with the quantile of the studentised range at infinite degrees of freedom, divided
    by √2.
    """
    if n_methods < 2 or n_settings < 1:
        raise InputError(
            "The critical difference needs at least two methods and one setting; got "
            f"{n_methods} methods and {n_settings} settings."
        )
    quantile = stats.studentized_range.ppf(1.0 - _ALPHA, n_methods, np.inf)
    return float(
        quantile / np.sqrt(2.0) * np.sqrt(n_methods * (n_methods + 1) / 6 / n_settings)
    )


def ranking(scores: npt.ArrayLike, methods: Sequence[str]) -> Ranking:
    """Rank methods over settings and group those that cannot be told apart.

    Parameters
    ----------
    scores : array of shape (n_settings, n_methods)
        Scores, higher is better; ties share their ranks.
    methods : sequence of str
        Names of the columns.

    Returns
    -------
    Ranking
        Everything a critical-difference diagram shows.
    """
    table = _table(scores)  # [S, m]
    if len(methods) != table.shape[1]:
        raise InputError(
            f"There are {table.shape[1]} columns of scores and {len(methods)} names of "
            "methods; give one name per column."
        )
    ranks = stats.rankdata(-table, axis=1).mean(axis=0)  # [m]
    order = np.argsort(ranks, kind="stable")  # [m]
    names = [methods[i] for i in order]
    sorted_ranks = ranks[order]  # [m]
    difference = critical_difference(table.shape[1], len(table))
    groups: list[tuple[str, ...]] = []
    reach = 0
    for first in range(len(names)):
        last = int(
            np.searchsorted(sorted_ranks, sorted_ranks[first] + difference, "right")
        )
        if last > reach and last - first > 1:
            groups.append(tuple(names[first:last]))
        reach = max(reach, last)
    return Ranking(
        methods=tuple(names),
        ranks=tuple(sorted_ranks.tolist()),
        critical_difference=difference,
        groups=tuple(groups),
        n_settings=len(table),
        alpha=_ALPHA,
    )
