"""Whether one method is better than another over many settings.

Two methods: the Wilcoxon signed-rank test. Many methods: mean ranks and Nemenyi's
critical difference, as in Demšar (Journal of Machine Learning Research 7, 2006). Zero
differences are split between the two signs, as he advises; rank 1 is the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from tagsift.typing import FloatArray

#: Level of significance.
_ALPHA = 0.05


@dataclass(frozen=True)
class Ranking:
    """What a critical-difference diagram shows."""

    methods: tuple[str, ...]  # from best to worst mean rank
    ranks: tuple[float, ...]  # mean ranks, in the same order
    critical_difference: float  # mean ranks further apart differ significantly
    groups: tuple[tuple[str, ...], ...]  # maximal runs without such a difference
    n_settings: int
    alpha: float = _ALPHA


def wilcoxon(gaps: npt.ArrayLike) -> float:
    """Two-sided p-value of the differences of two methods, one for each setting."""
    if not np.any(gaps):
        return 1.0
    return float(stats.wilcoxon(gaps, zero_method="zsplit").pvalue)


def holm(p_values: npt.ArrayLike) -> FloatArray:
    """Adjust several p-values at once by Holm's step-down rule."""
    p = np.asarray(p_values, dtype=np.float64)  # [n]
    order = np.argsort(p, kind="stable")  # [n]
    stepped = p[order] * np.arange(len(p), 0, -1)  # [n]
    adjusted = np.empty_like(p)  # [n]
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted


def critical_difference(n_methods: int, n_settings: int) -> float:
    r"""Nemenyi's critical difference of mean ranks, q_α √(m (m + 1) / 6n).

    q_α is the quantile of the studentised range at infinite degrees of freedom, by √2.
    """
    quantile = stats.studentized_range.ppf(1.0 - _ALPHA, n_methods, np.inf)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / 12 / n_settings))


def ranking(scores: FloatArray, methods: Sequence[str]) -> Ranking:
    """Rank the methods of the columns over the settings of the rows, higher is better.

    Methods that cannot be told apart form groups; ties share their ranks.
    """
    n_settings, n_methods = scores.shape
    ranks = stats.rankdata(-scores, axis=1).mean(axis=0)  # [m]
    order = np.argsort(ranks, kind="stable")  # [m]
    names = tuple(methods[i] for i in order)
    ranks = ranks[order]  # [m]
    difference = critical_difference(n_methods, n_settings)
    ends = np.searchsorted(ranks, ranks + difference, "right")  # [m]
    reach = np.maximum.accumulate(np.concatenate([[0], ends[:-1]]))  # [m]
    return Ranking(
        methods=names,
        ranks=tuple(ranks.tolist()),
        critical_difference=difference,
        groups=tuple(
            names[first:end]
            for first, end in enumerate(ends)
            if end > reach[first] and end - first > 1
        ),
        n_settings=n_settings,
    )
