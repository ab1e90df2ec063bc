"""Search for hyperparameters, in their logarithms: with a gradient, or without one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from scipy.optimize import minimize

from tagsift.typing import FloatArray

__all__ = ["climb", "pattern_search"]

Found = TypeVar("Found")
#: Largest logarithm that a pattern search tries, and the smallest step it takes.
_FARTHEST, _FINEST = 8.0, 0.5


def climb(
    function: Callable[[FloatArray], tuple[float, FloatArray, Found]],
    start: FloatArray,
    bounds: Sequence[tuple[float, float]],
    *,
    n_evaluations: int | None = None,
    scale: float = 1.0,
    options: dict[str, Any] | None = None,
) -> Found:
    """Maximise by bounded quasi-Newton steps.

    The function gives a value, its gradient [H], and what to remember of the point,
    which is returned for the best. `scale` is the size of a value whose first step is
    about right, `options` are those of SciPy.
    """
    tried: list[tuple[float, Found]] = []

    def loss(logs: FloatArray) -> tuple[float, FloatArray]:
        if len(tried) == n_evaluations:
            raise _EnoughError
        value, slope, found = function(logs)
        tried.append((value, found))
        return -value / scale, -slope / scale

    with contextlib.suppress(_EnoughError):
        minimize(
            loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
        )
    return max(tried, key=lambda one: one[0])[1]


class _EnoughError(Exception):
    """All evaluations are spent."""


def pattern_search(
    function: Callable[[FloatArray], float],
    free: Sequence[bool],
    *,
    max_trials: int = 16,
    width: float = float(np.log(4.0)),
) -> FloatArray:
    """Maximise without a gradient: steps along the axes, halved when none helps.

    The function takes shifts of the logarithms, and so is the best one returned, [H];
    only those that are `free` are tried.
    """
    seen: dict[tuple[float, ...], float] = {}

    def value(point: tuple[float, ...]) -> float:
        if point not in seen:
            seen[point] = function(np.array(point))
        return seen[point]

    best = (0.0,) * len(free)
    value(best)
    while len(seen) < max_trials and width > _FINEST:
        improved = False
        for axis in np.flatnonzero(free):
            for sign in (1.0, -1.0):
                while len(seen) < max_trials:
                    moved = list(best)
                    moved[axis] = round(moved[axis] + sign * width, 6)
                    point = tuple(moved)
                    too_far = abs(moved[axis]) > _FARTHEST
                    if too_far or value(point) <= value(best):
                        break
                    best, improved = point, True
        if not improved:
            width /= 2.0
    return np.array(best)  # [H]
