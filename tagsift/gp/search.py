"""Search for hyperparameters, in their logarithms, with a gradient."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from scipy.optimize import minimize

from tagsift.typing import FloatArray

__all__ = ["maximise"]

Found = TypeVar("Found")


def maximise(
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
        value, slope, state = function(logs)
        tried.append((value, state))
        return -value / scale, -slope / scale

    with contextlib.suppress(_EnoughError):
        minimize(
            loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
        )
    return max(tried, key=lambda one: one[0])[1]


class _EnoughError(Exception):
    """All evaluations are spent."""
