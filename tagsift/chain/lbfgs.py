"""Limited-memory BFGS, for smooth functions of very many parameters.

The step direction comes from the usual two-loop recursion, the step length from a line
search for the strong Wolfe conditions. Compared with the bounded solver of SciPy, a
step costs only the products of the recursion, which counts where an evaluation is a few
milliseconds and there are hundreds of thousands of parameters. The vectors may be NumPy
arrays or PyTorch tensors; only inner products leave their device.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

import numpy as np

from tagsift.chain.checkpoint import Checkpoint
from tagsift.chain.step import Pair, Step
from tagsift.errors import ConvergenceWarning
from tagsift.progress import progress, warn_user
from tagsift.typing import Array

__all__ = ["Objective", "Step", "lbfgs", "minimise"]

#: Value and gradient of the function to minimise.
Objective = Callable[[Array], tuple[float, Array]]

_DECREASE = 1e-4  # Wolfe: least share of the decrease that the slope promises
_FLATNESS = 0.9  # Wolfe: most that may be left of the slope
_MAX_TRIALS = 20  # points of one line search
#: Past steps that shape the curvature.
_MEMORY = 10


def minimise(
    objective: Objective,
    x: Array,
    *,
    max_iter: int,
    tol: float,
    title: str = "",
    verbose: bool = False,
    warn: bool = False,
    checkpoint: Checkpoint | None = None,
) -> Step:
    """Take steps until one lowers the function by no more than a share of its value.

    With a checkpoint, the steps go on from the one kept there, if there is one.
    """
    last = None if checkpoint is None else checkpoint.read(len(x))
    if last is None or (last.change > tol and last.n_iter < max_iter):
        steps = lbfgs(objective, x, last)
        for last in progress(steps, title, enabled=verbose, total=max_iter):
            ended = last.change <= tol or last.n_iter >= max_iter
            if checkpoint is not None and (ended or not last.n_iter % checkpoint.every):
                checkpoint.write(last)
            if ended:
                break
    if last is None:
        value, gradient = objective(x)
        return Step(x, gradient, value, 0.0, 0)
    if warn and last.n_iter == max_iter and last.change > tol:
        warn_user(
            f"{title} stopped after max_iter={max_iter} steps, the last of which "
            f"changed the objective by {last.change:.1e} of its value. It can be used "
            "as it is; to go on, raise max_iter (on the command line --set "
            f"max_iter={4 * max_iter}); to stop sooner without this, raise "
            f"tol={tol:.1e}.",
            ConvergenceWarning,
        )
    return last


def lbfgs(objective: Objective, x: Array, start: Step | None = None) -> Iterator[Step]:
    """Yield steps until none lowers the function; the caller may stop before.

    They begin at `x`, or go on from an earlier step.
    """
    past: deque[Pair] = deque(maxlen=_MEMORY)
    if start is None:
        value, gradient = objective(x)
        n_iter = 0
    else:
        x, value, gradient, n_iter = start.x, start.value, start.gradient, start.n_iter
        past.extend(start.past)
    while True:
        direction = _direction(gradient, past)  # [P]
        slope = float(gradient @ direction)
        if slope >= 0:
            return
        length = 1.0 if past else 1.0 / float(np.sqrt(float(gradient @ gradient)))
        point = _line_search(objective, x, value, direction, slope, length)
        if point is None:
            if not past:
                return
            past.clear()  # start again from the steepest descent
            continue
        new_x, new_value, new_gradient = point
        s, y = new_x - x, new_gradient - gradient  # [P], [P]
        curvature = float(s @ y)
        if curvature > 1e-12 * float(y @ y):
            past.append((s, y, curvature))
        scale = max(abs(value), abs(new_value), 1.0)
        change = (value - new_value) / scale
        x, value, gradient = new_x, new_value, new_gradient
        n_iter += 1
        yield Step(x, gradient, value, change, n_iter, tuple(past))


def _direction(gradient: Array, past: deque[Pair]) -> Array:
    """Two-loop recursion: minus the approximate inverse Hessian times the gradient."""
    q = -gradient  # [P]
    shares = []
    for s, y, curvature in reversed(past):
        share = float(s @ q) / curvature
        shares.append(share)
        q -= share * y
    if past:
        _, y, curvature = past[-1]
        q *= curvature / float(y @ y)
    for (s, y, curvature), share in zip(past, reversed(shares), strict=True):
        q += (share - float(y @ q) / curvature) * s
    return q


def _line_search(
    objective: Objective,
    x: Array,
    value: float,
    direction: Array,
    slope: float,
    length: float,
) -> tuple[Array, float, Array] | None:
    """Find a point along the direction that meets the strong Wolfe conditions.

    The interval that holds one is grown until it is found, then narrowed by cubic
    interpolation. After the last trial any decrease will do.
    """
    low = (0.0, value, slope)
    high: tuple[float, float, float] | None = None
    best: tuple[Array, float, Array] | None = None
    for _ in range(_MAX_TRIALS):
        point = x + length * direction  # [P]
        new_value, gradient = objective(point)
        new_slope = float(gradient @ direction)
        here = (length, new_value, new_slope)
        enough = new_value <= value + _DECREASE * length * slope
        if enough and (best is None or new_value < best[1]):
            best = (point, new_value, gradient)
        if not enough or new_value >= low[1] and low[0] > 0 or np.isnan(new_value):
            high = here
        elif abs(new_slope) <= -_FLATNESS * slope:
            return point, new_value, gradient
        elif new_slope >= 0:
            high = here
        else:
            low = here
        length = 4 * length if high is None else _between(low, high)
    return best


def _between(
    low: tuple[float, float, float], high: tuple[float, float, float]
) -> float:
    """Minimum of the cubic through two points with slopes, kept off their ends."""
    (a, f_a, g_a), (b, f_b, g_b) = low, high
    width = b - a
    inner = g_a + g_b - 3 * (f_a - f_b) / (a - b)
    radicand = inner * inner - g_a * g_b
    if np.isfinite(radicand) and radicand >= 0:
        root = np.copysign(np.sqrt(radicand), width)
        denominator = g_b - g_a + 2 * root
        if denominator != 0:
            share = 1 - (g_b + root - inner) / denominator
            return a + float(np.clip(share, 0.1, 0.9)) * width
    return a + 0.5 * width
