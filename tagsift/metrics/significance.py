"""Whether one method is better than another over many settings.

Two methods: the Wilcoxon signed-rank test. Many methods: mean ranks, the Friedman test,
and Nemenyi's critical difference, as in Demšar (Journal of Machine Learning Research 7,
2006). Zero differences are split between the two signs, as he advises. Scores are
arrays ``[n_settings, n_methods]``; rank 1 is the best.
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
    "Friedman",
    "Ranking",
    "Wilcoxon",
    "critical_difference",
    "friedman",
    "holm",
    "mean_ranks",
    "ranking",
    "wilcoxon",
]


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
class Friedman:
    """Result of a Friedman test, with the correction of Iman and Davenport.

    Parameters
    ----------
    chi_square, p_value : float
        Friedman's statistic and its p-value.
    f_statistic, f_p_value : float
        Iman and Davenport's less conservative version.
    """

    chi_square: float
    p_value: float
    f_statistic: float
    f_p_value: float


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


def _table(scores: npt.ArrayLike, at_least: int) -> FloatArray:
    """Check a table of scores."""
    table = np.asarray(scores, dtype=np.float64)  # [S, m]
    if table.ndim != 2 or not len(table) or table.shape[1] < at_least:
        raise InputError(
            "Expected a table of scores with one row per setting and one column for "
            f"each of at least {at_least} methods; got shape {table.shape}."
        )
    if not np.isfinite(table).all():
        row = int(np.argmin(np.isfinite(table).all(axis=1)))
        raise InputError(
            f"Row {row} (counted from 0) of the scores is not finite; leave out "
            "settings in which a method has no score."
        )
    return table


def _ranks(table: FloatArray, higher_is_better: bool) -> FloatArray:
    signed = -table if higher_is_better else table  # [S, m]
    return np.asarray(stats.rankdata(signed, axis=1), dtype=np.float64)  # [S, m]


def mean_ranks(scores: npt.ArrayLike, *, higher_is_better: bool = True) -> FloatArray:
    """Mean rank of every method over settings; 1 is best, ties share their ranks.

    Parameters
    ----------
    scores : array of shape (n_settings, n_methods)
        Scores.
    higher_is_better : bool
        False for errors and losses.

    Returns
    -------
    ndarray of shape (n_methods,)
        Mean ranks, which sum to n_methods · (n_methods + 1) / 2.

    Examples
    --------
    >>> mean_ranks([[0.9, 0.8, 0.7], [0.9, 0.9, 0.1]]).tolist()
    [1.25, 1.75, 3.0]
    """
    ranks = _ranks(_table(scores, 1), higher_is_better)  # [S, m]
    means: FloatArray = np.mean(ranks, axis=0)  # [m]
    return means


def friedman(scores: npt.ArrayLike, *, higher_is_better: bool = True) -> Friedman:
    """Test whether all methods rank alike over the settings.

    Parameters
    ----------
    scores : array of shape (n_settings, n_methods)
        Scores of at least three methods.
    higher_is_better : bool
        False for errors and losses; the test is the same, the ranks turn round.

    Returns
    -------
    Friedman
        Friedman's statistic, corrected for ties, and Iman and Davenport's.
    """
    ranks = _ranks(_table(scores, 3), higher_is_better)  # [S, m]
    n, m = ranks.shape
    spread = ((ranks - (m + 1) / 2) ** 2).sum()  # []
    if spread == 0.0:
        return Friedman(0.0, 1.0, 0.0, 1.0)
    deviations = ranks.sum(axis=0) - n * (m + 1) / 2  # [m]
    chi_square = float((m - 1) * (deviations**2).sum() / spread)
    rest = n * (m - 1) - chi_square
    if rest <= 1e-12 * chi_square:
        f_statistic, f_p_value = float("inf"), 0.0
    else:
        f_statistic = (n - 1) * chi_square / rest
        f_p_value = (
            float(stats.f.sf(f_statistic, m - 1, (m - 1) * (n - 1))) if n > 1 else 1.0
        )
    return Friedman(
        chi_square, float(stats.chi2.sf(chi_square, m - 1)), f_statistic, f_p_value
    )


def critical_difference(
    n_methods: int, n_settings: int, *, alpha: float = 0.05
) -> float:
    r"""Nemenyi's critical difference of mean ranks.

    Parameters
    ----------
    n_methods, n_settings : int
        Size of the table of scores.
    alpha : float
        Level of significance.

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
    if n_methods < 2 or n_settings < 1 or not 0.0 < alpha < 1.0:
        raise InputError(
            "The critical difference needs at least two methods, one setting and a "
            f"level between 0 and 1; got {n_methods} methods, {n_settings} settings "
            f"and alpha={alpha!r}."
        )
    quantile = stats.studentized_range.ppf(1.0 - alpha, n_methods, np.inf)
    return float(
        quantile / np.sqrt(2.0) * np.sqrt(n_methods * (n_methods + 1) / 6 / n_settings)
    )


def ranking(
    scores: npt.ArrayLike,
    methods: Sequence[str],
    *,
    alpha: float = 0.05,
    higher_is_better: bool = True,
) -> Ranking:
    """Rank methods over settings and group those that cannot be told apart.

    Parameters
    ----------
    scores : array of shape (n_settings, n_methods)
        Scores.
    methods : sequence of str
        Names of the columns.
    alpha : float
        Level of significance.
    higher_is_better : bool
        False for errors and losses.

    Returns
    -------
    Ranking
        Everything a critical-difference diagram shows.
    """
    table = _table(scores, 2)  # [S, m]
    if len(methods) != table.shape[1]:
        raise InputError(
            f"There are {table.shape[1]} columns of scores and {len(methods)} names of "
            "methods; give one name per column."
        )
    ranks = np.mean(_ranks(table, higher_is_better), axis=0)  # [m]
    order = np.argsort(ranks, kind="stable")  # [m]
    names = [methods[i] for i in order]
    sorted_ranks = ranks[order]  # [m]
    difference = critical_difference(table.shape[1], len(table), alpha=alpha)
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
        alpha=alpha,
    )
