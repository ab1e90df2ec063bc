"""Where the minimiser stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from tagsift.typing import Array

__all__ = ["Pair", "Step"]

#: A step, the change of the gradient by it, and their product.
Pair: TypeAlias = tuple[Array, Array, float]


@dataclass(frozen=True)
class Step:
    """Where the solver stands."""

    x: Array  # [P]
    gradient: Array  # [P]
    value: float
    change: float  # relative decrease of the function by the last step
    n_iter: int  # steps taken
    past: tuple[Pair, ...] = ()  # the steps that shape the curvature
