r"""The variational posterior: moments, KL and bound, all labels at once.

Equations (7)–(13) and (15). Bayes' rule (7)–(8) has no closed form here, so
q(f) = N(μ, V) of Equation (12) is brought close to it by (9)–(10): it maximises the
bound (11), L(q) = E_q[log p(Y | X, f)] − KL(q ‖ p(f | X)). At the optimum each label
has V = (K⁻¹ + diag(λ))⁻¹ with one number λ per token. A `Covariance` holds the K of all
labels in a form that turns λ into variances and the KL of Equation (13),

.. math:: KL = \tfrac12 [\log|V^{-1}K| + tr(VK^{-1}) - N + \mu^T K^{-1} \mu]

and coefficients β into means. Two forms, one interface:

========  ===========  ====  ====================  ============================
          β            μ     factor                v
========  ===========  ====  ====================  ============================
dense     α = K⁻¹μ     Kα    B = I + √λ K √λ       k − \|L_B⁻¹ √λ k_n\|²
inducing  m, whitened  Aᵀm   Λ = I + A diag(λ) Aᵀ  k − \|A_n\|² + \|L_Λ⁻¹A_n\|²
========  ===========  ====  ====================  ============================

with A = chol(K_ZZ)⁻¹ K_Zn. Labels with equal θ share their matrix: an amplitude σ² only
scales it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from tagsift.backend import (
    asarray,
    cho_solve,
    cholesky,
    inverse_cholesky,
    inverse_triangular,
    is_torch,
    namespace,
    positive_part,
    solve_triangular,
)
from tagsift.gp import RBF
from tagsift.typing import Array

__all__ = [
    "LARGE",
    "SINGLE",
    "Covariance",
    "Dense",
    "Factors",
    "Inducing",
    "column_squares",
    "kl_divergence",
    "lower_bound",
    "transition_kl",
]


#: Factor, variances [N] and KL of one label.
_Part: TypeAlias = tuple[Array, Array, float]
#: Tokens whose columns are worked on at a time.
_BLOCK = 1024
#: Entries of all exact factors above which a CPU has them in single precision.
SINGLE = 5e8
#: Tokens above which old factors leave before new ones come.
LARGE = 2000
#: λσ² below which a variance is not read off the inverse of B.
_WEAK = 1e-3


@dataclass(frozen=True)
class Factors:
    """What one Cholesky factor per label yields."""

    cholesky: list[Array]  # of B [N, N] for the dense form, of Λ [M, M] for the other;
    # those of B inverted on a GPU, where products are far faster than solving
    root: Array  # [N, L], √λ
    var: Array  # [N, L], posterior variances
    kls: list[float]  # ½[log|V⁻¹K| + tr(VK⁻¹) − N] of Equation (13), by label
    inverted: bool = False  # whether the factors are

    @property
    def kl(self) -> float:
        """The part of Equation (13) that depends on V, summed over the labels."""
        return sum(self.kls)

    def solve(self, columns: Array) -> Array:
        """Solve with the factor of label y for column y."""
        xp = namespace(columns)
        solve = self._products if self.inverted else cho_solve
        solved = [
            solve(L, xp.astype(columns[:, y : y + 1], L.dtype))[:, 0]
            for y, L in enumerate(self.cholesky)
        ]  # L × [·]
        return xp.astype(xp.stack(solved, axis=1), columns.dtype)  # [·, L]

    @staticmethod
    def _products(inverse: Array, column: Array) -> Array:
        return inverse.T @ (inverse @ column)  # [·, 1]


@dataclass(frozen=True)
class Dense:
    """The exact posterior over all training tokens.

    Without `variances`, `factor` gives the Cholesky factors only.
    """

    grams: Sequence[Array]  # L × [N, N], correlations exp(−θd); equal θ share one array
    amplitude: Sequence[float]  # prior variance σ² of every label
    variances: bool = True
    out_of_reach: ClassVar[float] = 0.0  # prior variance that no site can lower

    @classmethod
    def of(cls, distances: Array, kernel: RBF, **about: bool) -> Dense:
        """Correlations of all labels, those of one θ once, and their amplitudes."""
        widths = kernel.theta.tolist()
        grams = {theta: widths.index(theta) for theta in widths}
        made = {theta: kernel.unit_gram(distances, y) for theta, y in grams.items()}
        amplitude = [float(a) for a in kernel.amplitude]  # [L]
        return cls([made[theta] for theta in widths], amplitude, **about)

    @property
    def inverted(self) -> bool:
        """Whether its factors are inverted."""
        return is_torch(self.grams[0])

    @property
    def size(self) -> int:
        """Length of β: one coefficient per token."""
        return int(self.grams[0].shape[0])

    def factor(self, lam: Array, last: Factors | None = None) -> Factors:
        """B = I + √λ K √λ; v = k − |L_B⁻¹ √λ k_n|². Labels as in `last` stay."""
        return _factor(self, self.grams, lam, last)

    def _label(self, y: int, lam: Array, root: Array) -> _Part:
        xp = namespace(lam)
        gram, scale = self.grams[y], self.amplitude[y]
        single = not self.inverted and len(self.grams) * len(gram) ** 2 > SINGLE
        kind = np.float32 if single else gram.dtype
        side = xp.astype(root * scale**0.5, kind)  # [N]
        B = xp.astype(gram, kind, copy=True)  # [N, N]
        B *= side[:, None]
        B *= side[None, :]
        if self.inverted:
            factor = inverse = inverse_cholesky(_plus_identity(B))  # [N, N]
        else:
            factor, _ = cholesky(_plus_identity(B), overwrite=True)  # [N, N]
            inverse = inverse_triangular(factor) if self.variances else None
        if not self.variances:
            return factor, xp.zeros_like(lam), 0.0
        weak = scale * lam < _WEAK  # [N]
        divisor = xp.where(weak, xp.ones_like(lam), lam)  # [N]
        var = (1.0 - column_squares(inverse)) / divisor  # [N]
        half = inverse @ (side[:, None] * xp.astype(gram[:, weak], kind))  # [N, W]
        var[weak] = scale * xp.astype(1.0 - column_squares(half), var.dtype)
        var = positive_part(var)  # [N]
        # tr(VK⁻¹) = N − Σ λ·v
        log_det = -_log_det(inverse)
        return factor, var, 0.5 * (log_det - float(xp.sum(lam * var)))

    def mean(self, beta: Array) -> Array:
        """μ = Kα."""
        return _apply(self.grams, beta, self.amplitude)  # [N, L]

    def gradient(self, beta: Array, g: Array) -> Array:
        """Equation (18) for ∂P/∂μ = g [N, L]: −K⁻¹μ + g = g − α."""
        return g - beta  # [N, L]

    def precondition(self, factors: Factors, r: Array) -> Array:
        """Newton direction for the gradient r: K⁻¹V r = r − √λ B⁻¹ √λ K r."""
        return r - factors.root * factors.solve(factors.root * self.mean(r))  # [N, L]

    def quadratic(self, beta: Array, mu: Array) -> float:
        """μᵀK⁻¹μ = α·μ, summed over the labels."""
        return float(namespace(mu).sum(beta * mu))


@dataclass(frozen=True)
class Inducing:
    """The posterior through M inducing points, whitened."""

    A: Sequence[Array]  # L × [M, N], chol(K_ZZ)⁻¹ K_Zn at unit amplitude; shared too
    norms: Sequence[Array]  # L × [N], squared column norms of A, at most 1
    amplitude: Sequence[float]  # prior variance σ² of every label
    jitter: float = 0.0  # the largest that the unit diagonal of K_ZZ needed
    inverted: ClassVar[bool] = False  # whether its factors are

    @property
    def out_of_reach(self) -> Array:
        """Prior variance σ²(1 − |A_n|²) that no point carries, [N, L]."""
        each = zip(self.amplitude, self.norms, strict=True)
        return namespace(self.norms[0]).stack([s * (1.0 - n) for s, n in each], axis=1)

    @property
    def size(self) -> int:
        """Length of β: one coefficient per inducing point."""
        return int(self.A[0].shape[0])

    def factor(self, lam: Array, last: Factors | None = None) -> Factors:
        """Λ = I + A diag(λ) Aᵀ; v = k − |A_n|² + |L_Λ⁻¹ A_n|²."""
        return _factor(self, self.A, lam, last)

    def _label(self, y: int, lam: Array, root: Array) -> _Part:
        xp = namespace(lam)
        A, scale = self.A[y], self.amplitude[y]
        side = root * scale**0.5  # [N]
        blocks = _blocks(A)
        B: Array = 0.0
        for rows in blocks:
            scaled = A[:, rows] * side[rows][None, :]  # [M, B]
            B = B + scaled @ scaled.T  # [M, M]
        L, _ = cholesky(_plus_identity(B), overwrite=True)  # [M, M]
        squares = [column_squares(solve_triangular(L, A[:, rows])) for rows in blocks]
        reduced = scale * xp.concat(squares)  # [N]
        var = scale * (1.0 - self.norms[y]) + reduced  # [N]
        # tr(VK⁻¹) = N − Σ λ·v, here without the prior's residual
        kl = 0.5 * (_log_det(L) - float(xp.sum(lam * reduced)))
        return L, positive_part(var), kl

    def mean(self, beta: Array) -> Array:
        """μ = Aᵀm."""
        roots = [scale**0.5 for scale in self.amplitude]
        return _apply(self.A, beta, roots, transpose=True)  # [N, L]

    def gradient(self, beta: Array, g: Array) -> Array:
        """Equation (18) in whitened coordinates: A ∂P/∂μ − m."""
        roots = [scale**0.5 for scale in self.amplitude]
        return _apply(self.A, g, roots) - beta  # [M, L]

    def precondition(self, factors: Factors, r: Array) -> Array:
        """Newton direction for the gradient r: Λ⁻¹ r."""
        return factors.solve(r)  # [M, L]

    def quadratic(self, beta: Array, mu: Array) -> float:
        """|m|²."""
        return float(namespace(beta).sum(beta * beta))


#: The prior covariances of all labels, seen through λ [N, L] and β [B, L].
Covariance: TypeAlias = Dense | Inducing


def _factor(
    form: Covariance, matrices: Sequence[Array], lam: Array, last: Factors | None
) -> Factors:
    """Factor label by label; those that equal an earlier one are taken over.

    Of a large problem `last` loses the factors that are replaced.
    """
    xp = namespace(lam)
    root = xp.sqrt(lam)  # [N, L]
    parts: list[_Part] = []
    for y, matrix in enumerate(matrices):
        column = root[:, y]  # [N]
        if last is not None and bool(xp.all(column == last.root[:, y])):
            parts.append((last.cholesky[y], last.var[:, y], last.kls[y]))
        elif (
            y > 0
            and matrix is matrices[y - 1]
            and form.amplitude[y] == form.amplitude[y - 1]
            and bool(xp.all(column == root[:, y - 1]))
        ):
            parts.append(parts[-1])
        else:
            if last is not None and len(lam) > LARGE:
                last.cholesky[y] = None  # its memory is needed
            parts.append(form._label(y, lam[:, y], column))
    lowers, columns, kls = zip(*parts, strict=True)
    var = xp.stack(columns, axis=1)  # [N, L]
    return Factors(list(lowers), root, var, list(kls), form.inverted)


def _blocks(A: Array) -> list[slice]:
    """Columns of A in pieces that stay in the cache; whole on a GPU."""
    width = A.shape[1] if is_torch(A) else _BLOCK
    return [slice(lo, lo + width) for lo in range(0, max(A.shape[1], 1), width)]


def _apply(
    matrices: Sequence[Array],
    columns: Array,
    scales: Sequence[float],
    *,
    transpose: bool = False,
) -> Array:
    """Multiply column y by matrix y and number y; a matrix they share only once."""
    first = matrices[0]
    if all(matrix is first for matrix in matrices):
        products = (first.T if transpose else first) @ columns  # [·, L]
    else:
        each = zip(columns.T, matrices, strict=True)
        products = namespace(columns).stack(
            [(x @ matrix if transpose else matrix @ x) for x, matrix in each], axis=1
        )  # [·, L]
    return products * asarray(np.asarray(scales), like=columns)  # [·, L]


def _plus_identity(B: Array) -> Array:
    each = namespace(B).arange(B.shape[0], device=B.device)  # [N]
    B[each, each] += 1.0
    return B


def column_squares(A: Array) -> Array:
    """Squared norms of the columns, [N]."""
    if is_torch(A):
        return (A * A).sum(0)
    return np.einsum("mn,mn->n", A, A)


def _log_det(L: Array) -> float:
    """log|LLᵀ|."""
    xp = namespace(L)
    return 2.0 * float(xp.sum(xp.log(L.diagonal())))


def kl_divergence(factors: Factors, quadratic: float) -> float:
    """Equation (13), summed over the labels."""
    return factors.kl + 0.5 * quadratic


def transition_kl(mu_T: Array, var_T: Array) -> float:
    """Equation (13) for the transition block, whose prior is Equation (5): K_T = I."""
    xp = namespace(mu_T)
    terms = var_T - 1.0 - xp.log(var_T) + mu_T * mu_T  # [L, L]
    return 0.5 * float(xp.sum(terms))


def lower_bound(expected: float, kl: float) -> float:
    """Equations (11) and (15): expected log-likelihood minus KL."""
    return expected - kl
