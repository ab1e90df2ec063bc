r"""The best tilt of every token, for the tilted expectation.

For one token with scores s the tilted bound
:math:`\tfrac12\sum_y a_y^2 v_y + \log\sum_y \exp(s_y - a_y v_y)` is smallest where a is
the softmax inside it,

.. math:: a_y = \exp(s_y - a_y v_y - c), \qquad \sum_y a_y = 1

Repeating that line diverges as soon as v is large. It is solved instead as one equation
in the number c: ω = a·v is Wright's function, ω + log ω = s + log v − c, and Σ a(c) is
convex and falls, so that Newton's steps from the left never pass the root.
"""

from __future__ import annotations

from tagsift.backend import namespace
from tagsift.typing import Array

__all__ = ["best_tilt", "wright_omega"]

#: Variances below this count as this: the tilt then changes nothing.
_SMALLEST = 1e-12


def wright_omega(x: Array, n_steps: int = 4) -> Array:
    """Solve ω + log ω = x for ω > 0; four Newton steps reach rounding error."""
    xp = namespace(x)
    low = xp.where(x < 1.0, x, xp.ones_like(x))  # log ω from below, for small ω
    high = xp.where(x > 1.0, x, xp.ones_like(x))
    small = low - xp.log1p(xp.exp(low))  # log ω, a start
    large = high - xp.log(high)  # ω, a start
    for _ in range(n_steps):
        omega = xp.exp(small)
        small = small - (small + omega - low) / (1.0 + omega)
        large = large * (1.0 + high - xp.log(large)) / (1.0 + large)
    return xp.where(x < 1.0, xp.exp(small), large)


def best_tilt(score: Array, var: Array, n_steps: int = 12) -> Array:
    """Tilt of every token: a = softmax(score − a·var), rows sum to 1, [N, L]."""
    xp = namespace(score)
    v = xp.where(var > _SMALLEST, var, _SMALLEST * xp.ones_like(var))  # [N, L]
    shifted = score + xp.log(v)  # [N, L]
    c = xp.max(score - v, axis=1)  # [N]: the largest a is 1 here, so Σ a ≥ 1
    for _ in range(n_steps):
        omega = wright_omega(shifted - c[:, None])  # [N, L]
        excess = xp.sum(omega / v, axis=1) - 1.0  # [N]
        slope = xp.sum(omega / v / (1.0 + omega), axis=1)  # [N]
        c = c + excess / slope  # [N]
        if float(xp.max(xp.abs(excess))) < 1e-12:
            break
    a = wright_omega(shifted - c[:, None]) / v  # [N, L]
    return a / xp.sum(a, axis=1)[:, None]  # [N, L]
