r"""Anderson's acceleration of a fixed-point iteration.

Confidences and posterior follow each other like the two halves of an EM algorithm, and
converge as slowly. With residuals r_k = F(x_k) − x_k, the next point is

.. math:: x_{k+1} = F(x_k) - \sum_j \gamma_j (F(x_{j+1}) - F(x_j)), \qquad
          \gamma = \arg\min |r_k - \sum_j \gamma_j (r_{j+1} - r_j)|
"""

from __future__ import annotations

from collections import deque

import numpy as np

from tagsift.backend import namespace
from tagsift.typing import Array, FloatArray

__all__ = ["Anderson"]

#: Growth of the residual after which the past is forgotten.
_WORSE = 1.0
#: Share of the largest eigenvalue below which a direction counts as known already.
_RANK = 1e-10


class Anderson:
    """Extrapolate from the last steps of an iteration."""

    def __init__(self, depth: int = 5) -> None:
        self._steps: deque[tuple[tuple[Array, ...], Array]] = deque(maxlen=depth + 1)
        self._size = np.inf

    def forget(self) -> None:
        """Begin anew: the iteration has changed."""
        self._steps.clear()
        self._size = np.inf

    def __call__(
        self, before: tuple[Array, ...], after: tuple[Array, ...]
    ) -> tuple[Array, ...]:
        """Return where to begin the next step, from what the last was given and made.

        Arrays of a tuple are all moved alike; the last one measures the residual.
        """
        residual = after[-1] - before[-1]  # […]
        size = _dot(residual, residual) ** 0.5
        if size > _WORSE * self._size:
            self._steps.clear()
        self._size = size
        self._steps.append((after, residual))
        if len(self._steps) < 2:
            return after
        steps = list(self._steps)
        turns = [b[1] - a[1] for a, b in zip(steps, steps[1:], strict=False)]
        gamma = _least_squares(turns, residual)  # [J]
        moved = list(after)
        for weight, (a, _), (b, _) in zip(gamma, steps, steps[1:], strict=False):
            for k in range(len(moved)):
                moved[k] = moved[k] - float(weight) * (b[k] - a[k])
        return tuple(moved)


def _least_squares(turns: list[Array], residual: Array) -> FloatArray:
    """Coefficients of the turns that come closest to the residual, [J]."""
    gram = np.array([[_dot(a, b) for b in turns] for a in turns])  # [J, J]
    right = np.array([_dot(a, residual) for a in turns])  # [J]
    values, vectors = np.linalg.eigh(gram)  # [J], [J, J]
    stable = values > _RANK * max(values[-1], 1e-300)  # [J]
    scaled = np.where(stable, (vectors.T @ right) / np.where(stable, values, 1.0), 0.0)
    coefficients: FloatArray = vectors @ scaled  # [J]
    return coefficients


def _dot(a: Array, b: Array) -> float:
    return float(namespace(a).sum(a * b))
