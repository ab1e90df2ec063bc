r"""How the expected log-likelihood under q(f) is taken.

Equations (14), (16) and (21), the paper's way:

.. math::

    P = \sum_{a,j} \mu(x_a, y_a^j) - \log\sum_{y'} \exp\bigl(\mu(x_a, y')
        + \tfrac12 V(x_a, y')\bigr) \le E_q[\log p(Y | X, f)]

or restricted(μ) − free(μ + ½V) with the two log-partition functions of a `Likelihood`,
for unary and transition factors, pieces and chain alike. Four ways are offered:

==========  =============================================  ============================
name        free part                                      precision of the sites
==========  =============================================  ============================
jensen      log Z(μ + ½V)                                  p
tilted      ½Σa²V + log Z(μ + ½(1 − 2a)V), a = marginals   a(1 − a)
sampled     average of log Z(μ + √V ε)                     p(1 − p) − w(1 − w), averaged
laplace     log Z(μ)                                       p(1 − p)
==========  =============================================  ============================
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, ClassVar, TypeAlias

import numpy as np

from tagsift.backend import asarray, namespace, positive_part
from tagsift.sgppsl.likelihoods import Likelihood, Partition
from tagsift.typing import Array

__all__ = [
    "Expectation",
    "Expected",
    "Jensen",
    "Laplace",
    "Moments",
    "Sampled",
    "Tilted",
    "best_tilt",
    "expectation",
    "wright_omega",
]

_TINY = 1e-300  # smallest marginal whose logarithm is taken
_SETTLED = 1e-9  # change of a tilt at which it has settled
#: Variances below this count as this: the tilt then changes nothing.
_SMALLEST = 1e-12


@dataclass(frozen=True)
class Moments:
    """Means and variances of all latent values."""

    mu: Array  # [N, L]
    var: Array  # [N, L]
    mu_T: Array  # [L, L]
    var_T: Array  # [L, L]


@dataclass(frozen=True)
class Expected:
    """Expected log-likelihood, its gradient in the means, and site precisions."""

    value: float  # the expectation, its bound, or its approximation
    gradient: Array  # [N, L], derivative in μ
    precision: Array  # [N, L], −2 times the derivative in V, clipped at 0
    gradient_T: Array  # [L, L]
    precision_T: Array  # [L, L]
    weights: Array  # [N, L], label counts that the candidates ask for: confidences

    @classmethod
    def between(
        cls, known: Partition, free: Partition, precision: Array, extra: float = 0.0
    ) -> Expected:
        """Put together what the two partition functions, and an extra value, say."""
        gradient, gradient_T = known.unary - free.unary, known.pairs - free.pairs
        value = known.value - (free.value + extra)
        return cls(value, gradient, precision, gradient_T, free.pairs, known.unary)


@dataclass(frozen=True)
class Jensen:
    """Equations (14), (16) and (21): E[log Z(f)] ≤ log Z(μ + ½V)."""

    spread: ClassVar[float] = 0.5

    def __call__(self, likelihood: Likelihood, q: Moments) -> Expected:
        """Evaluate at the moments `q`."""
        restricted = likelihood.restricted(q.mu, q.mu_T)
        free = likelihood.free(q.mu + 0.5 * q.var, q.mu_T + 0.5 * q.var_T)
        return Expected.between(restricted, free, free.unary)


@dataclass(frozen=True)
class Laplace:
    """The mode: everything at μ; the variances do not enter the value."""

    spread: ClassVar[float] = 0.0

    def __call__(self, likelihood: Likelihood, q: Moments) -> Expected:
        """Evaluate at the moments `q`."""
        restricted = likelihood.restricted(q.mu, q.mu_T)
        free = likelihood.free(q.mu, q.mu_T)
        return Expected.between(restricted, free, free.curvature)


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
    """Tilt of every token: a = softmax(score − a·var), rows sum to 1, [N, L].

    There the tilted bound ½Σa²v + log Σ exp(score − av) is smallest. Repeating the line
    diverges where v is large. With c the normaliser, ω = a·v is Wright's function,
    ω + log ω = score + log v − c, and Σ a(c) is convex and falls, so that Newton's
    steps in c from the left never pass the root.
    """
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


@dataclass(frozen=True)
class Tilted:
    """A tighter closed form: ½Σa²V + log Z(μ + ½(1 − 2a)V), a = the marginals there.

    The search begins with ``a = 0``, which is Jensen, as transitions always are. For
    pieces one round finds the best a of every token; on a chain rounds are repeated,
    each damped until the bound does not get worse.
    """

    n_rounds: int = 8  # of the search for a; any a gives a bound

    spread: ClassVar[float] = 0.5

    def __call__(self, likelihood: Likelihood, q: Moments) -> Expected:
        """Evaluate at the moments `q`."""
        restricted = likelihood.restricted(q.mu, q.mu_T)
        T = q.mu_T + 0.5 * q.var_T  # [L, L]
        a, free = self._tilt(likelihood, q, T)
        precision = positive_part(a * a + (1.0 - 2.0 * a) * free.unary)  # [N, L]
        extra = 0.5 * float(namespace(a).sum(a * a * q.var))
        return Expected.between(restricted, free, precision, extra)

    def _tilt(
        self, likelihood: Likelihood, q: Moments, T: Array
    ) -> tuple[Array, Partition]:
        """Find the tilt, and the free part there."""
        xp = namespace(q.mu)
        top = q.mu + 0.5 * q.var  # [N, L]
        a, score = xp.zeros_like(q.mu), top  # [N, L]
        free = likelihood.free(score, T)
        value, step, best = free.value, 1.0, None
        for _ in range(self.n_rounds):
            if float(xp.max(xp.abs(a - free.unary))) < _SETTLED:
                break
            if best is None:
                p = xp.where(free.unary > _TINY, free.unary, _TINY + 0.0 * a)  # [N, L]
                best = best_tilt(top + (xp.log(p) - score), q.var)  # [N, L]
            trial = a + step * (best - a)  # [N, L]
            there = top - trial * q.var  # [N, L]
            partition = likelihood.free(there, T)
            reached = partition.value + 0.5 * float(xp.sum(trial * trial * q.var))
            if reached <= value:
                a, score, free, value, best = trial, there, partition, reached, None
                step = min(1.0, 1.5 * step)
            else:
                step *= 0.5
        return a, free


@dataclass(frozen=True)
class Sampled:
    """Averages over draws f = μ + √V ε with fixed ε: deterministic given the seed."""

    n_samples: int = 8  # in antithetic pairs
    seed: int = 0

    spread: ClassVar[float] = 0.5

    def __call__(self, likelihood: Likelihood, q: Moments) -> Expected:
        """Evaluate at the moments `q`."""
        xp = namespace(q.mu)
        rng = np.random.default_rng(self.seed)
        scale, scale_T = xp.sqrt(q.var), xp.sqrt(q.var_T)  # [N, L], [L, L]
        totals: list[Any] = []
        for k in range(self.n_samples):
            if k % 2 == 0:
                noise = asarray(rng.standard_normal(q.mu.shape), like=q.mu)  # [N, L]
                noise_T = asarray(rng.standard_normal(q.mu_T.shape), like=q.mu)
            else:
                noise, noise_T = -noise, -noise_T
            U = q.mu + scale * noise  # [N, L]
            T = q.mu_T + scale_T * noise_T  # [L, L]
            restricted, free = likelihood.restricted(U, T), likelihood.free(U, T)
            curvature = free.curvature - restricted.curvature  # [N, L]
            drawn = vars(Expected.between(restricted, free, curvature)).values()
            totals = [a + b for a, b in zip(totals or repeat(0.0), drawn, strict=False)]
        mean = Expected(*(total / self.n_samples for total in totals))
        return replace(mean, precision=positive_part(mean.precision))


#: Moments in; expected log-likelihood and its derivatives out. `spread` is the share of
#: V in a score: at the mode there is none, neither in the value nor in confidences.
Expectation: TypeAlias = Jensen | Laplace | Tilted | Sampled


def expectation(name: str, seed: int = 0) -> Expectation:
    ways: dict[str, Expectation] = {
        "jensen": Jensen(),
        "tilted": Tilted(),
        "sampled": Sampled(seed=seed),
        "laplace": Laplace(),
    }
    return ways[name]
