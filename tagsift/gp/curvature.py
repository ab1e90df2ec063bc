r"""Laplace's approximation of a chain: curvature at the mode, and how it moves.

With the marginals p on all label sequences and w on those the candidates allow, the
curvature of log Z − log Z_S that enters the determinant is, token by token,

.. math:: W_n = \rho_n (\mathrm{diag}(p_n) - p_n p_n^T), \quad
          \rho_n = 1 - \frac{1 - |w_n|^2}{1 - |p_n|^2},

clipped at 0: ρ is the share of the curvature that the candidates reveal (all of it for
an exact label, nothing where w = p; the trace of W is right). Rows of transitions are
taken alike, and curvature between tokens is left out. What moves when scores change is
exact: the Jacobian of the marginals is symmetric, and one directional difference of a
lattice is a product with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import get_lapack_funcs

from tagsift.backend import cholesky, inverse_triangular
from tagsift.chain.lattice import forward_backward
from tagsift.chain.layout import ChainLayout
from tagsift.typing import FloatArray, IntArray

__all__ = ["ChainPoint", "Counts", "Determinants", "conjugate_gradient"]

#: Curvature times prior variance below which a token does not count.
_NEGLIGIBLE = 3e-2
#: Smallest probability in a factor.
_SMALLEST = 1e-8
#: Size of the differences that stand for derivatives, in units of a score.
_DIFFERENCE = 1e-4


@dataclass(frozen=True)
class Counts:
    """Something that every unary score and every transition has."""

    unary: FloatArray  # [N, A]
    pairs: FloatArray  # [A, A]

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.unary + other.unary, self.pairs + other.pairs)

    def __rmul__(self, factor: float) -> Counts:
        return Counts(factor * self.unary, factor * self.pairs)

    def __sub__(self, other: Counts) -> Counts:
        return Counts(self.unary - other.unary, self.pairs - other.pairs)


@dataclass(frozen=True)
class ChainPoint:
    """The two lattices at one point of the score space."""

    U: FloatArray  # [N, A], in stacked order, start scores included
    T: FloatArray  # [A, A]
    layout: ChainLayout
    evidence: FloatArray  # [N, A], log evidence of every label

    @cached_property
    def free(self) -> Counts:
        """Expected counts on all label sequences."""
        return self._counts(self.U, self.T, None)

    @cached_property
    def restricted(self) -> Counts:
        """Expected counts with the evidence."""
        return self._counts(self.U, self.T, self.evidence)

    def _counts(self, U: FloatArray, T: FloatArray, evidence: Any) -> Counts:
        lattice = forward_backward(U, T, self.layout, evidence=evidence)
        return Counts(lattice.marginals, lattice.pairs)

    @property
    def gradient(self) -> Counts:
        """Derivative of log Z_S − log Z: what the candidates ask for, less what is."""
        return self.restricted - self.free

    def first(self, unary: FloatArray) -> FloatArray:
        """Rows of the first tokens of all sentences, [S', A]."""
        return np.asarray(unary[self.layout.order[: self.layout.n_sentences]])

    def moved(self, direction: Counts, *, restricted: bool) -> Counts:
        """Jacobian of the expected counts times a direction."""
        size = max(np.abs(direction.unary).max(), np.abs(direction.pairs).max(), 1e-300)
        step = _DIFFERENCE / float(size)
        evidence = self.evidence if restricted else None
        dU, dT = step * direction.unary, step * direction.pairs  # [N, A], [A, A]
        ahead = self._counts(self.U + dU, self.T + dT, evidence)
        behind = self._counts(self.U - dU, self.T - dT, evidence)
        return 0.5 / step * (ahead - behind)


@dataclass(frozen=True)
class Determinants:
    """Log-determinants of Laplace's approximation, and their derivatives."""

    value: float  # −½ log|I + KW| of tokens, and likewise of transitions and starts
    by_free: Counts  # derivatives in the expected counts of the two lattices
    by_restricted: Counts
    by_kernel: FloatArray | float = 0.0  # [N, N], at fixed curvature
    by_variance: float = 0.0  # in the logarithm of the transitions' variance, likewise

    @classmethod
    def of(
        cls, K: FloatArray, variance: float, point: ChainPoint, weight: float = 1.0
    ) -> Determinants:
        """Evaluate at the mode, with prior covariance K for all labels."""
        unary = _unary(K, point)
        start = _starts(variance, point)
        rows = _transitions(variance, point)
        return cls(
            weight * (unary.value + start.value + rows.value),
            weight * (unary.by_free + start.by_free + rows.by_free),
            weight * (unary.by_restricted + start.by_restricted + rows.by_restricted),
            weight * unary.by_kernel,
            weight * (start.by_variance + rows.by_variance),
        )

    def by_scores(self, point: ChainPoint) -> Counts:
        """Derivative in the scores: through the counts of both lattices."""
        return point.moved(self.by_free, restricted=False) + point.moved(
            self.by_restricted, restricted=True
        )


def _share(p: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """ρ and the spreads 1 − |p|², 1 − |w|² of every row, [N] each."""
    spread_p = np.maximum(1.0 - (p * p).sum(axis=1), 1e-12)  # [N]
    spread_w = np.maximum(1.0 - (w * w).sum(axis=1), 0.0)  # [N]
    return np.maximum(1.0 - spread_w / spread_p, 0.0), spread_p, spread_w


def _through_counts(
    p: FloatArray, w: FloatArray, diagonal: FloatArray, product: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Derivatives of −½ Σ tr(V_n W_n) in p and w, from diag(V_n) and V_n p_n."""
    rho, spread_p, spread_w = _share(p, w)
    known = rho > 0  # [N]
    trace = (p * (diagonal - product)).sum(axis=1)  # [N]
    by_rho_p = np.where(known, trace * spread_w / spread_p**2, 0.0)[:, None]  # [N, 1]
    by_rho_w = np.where(known, trace / spread_p, 0.0)[:, None]  # [N, 1]
    by_p = -0.5 * rho[:, None] * (diagonal - 2.0 * product) + by_rho_p * p  # [N, A]
    return by_p, -by_rho_w * w


def _unary(K: FloatArray, point: ChainPoint) -> Determinants:
    """The determinant of all unary latents: labels coupled, K shared by them.

    log|I + KW| = Σ_y log|B_y| + log|Σ_y E_y| − Σ_n log ρ_n with D_y = diag(ρ p_y),
    B = I + √D K √D and E = √D B⁻¹ √D, as for the multinomial GP classifier. Tokens and
    labels of next to no curvature are left out.
    """
    p, w = point.free.unary, point.restricted.unary  # [N, A]
    rho, spread_p, _ = _share(p, w)  # [N]
    rows = np.flatnonzero(rho * spread_p * K.diagonal() > _NEGLIGIBLE)  # [n]
    by_kernel = np.zeros_like(K)  # [N, N]
    by_free = Counts(np.zeros_like(p), np.zeros_like(point.T))
    by_restricted = Counts(np.zeros_like(p), np.zeros_like(point.T))
    if len(rows) == 0:
        return Determinants(0.0, by_free, by_restricted, by_kernel)
    inside = np.ix_(rows, rows)
    kept, K = p[rows], K[inside]  # [n, A], [n, n]
    d = rho[rows, None] * kept  # [n, A]
    d = np.where(d * K.diagonal()[:, None] > 0.1 * _NEGLIGIBLE, d, 0.0)  # [n, A]
    value, factors = _factor_labels(K, d)
    total = np.zeros_like(K)  # [n, n]
    for own, E in factors:
        total[np.ix_(own, own)] += E
    L, _ = cholesky(total)  # [n, n]
    value += 2.0 * float(np.log(L.diagonal()).sum())
    value -= float(np.log(d.sum(axis=1)).sum())
    L_inv = inverse_triangular(L).astype(np.float32)  # [n, n]
    K_32 = K.astype(np.float32)  # [n, n], single precision for derivatives
    diagonal = np.tile(K.diagonal()[:, None], (1, d.shape[1]))  # [n, A]
    G = []  # A × [n, n]
    for y, (own, E) in enumerate(factors):
        E_32 = E.astype(np.float32)  # [n_y, n_y]
        half = L_inv[:, own] @ E_32  # [n, n_y]
        total[np.ix_(own, own)] -= half.T @ half
        G.append(half @ K_32[own])
        diagonal[:, y] -= np.einsum("in,in->n", K_32[own], E_32 @ K_32[own])
    diagonal = np.maximum(diagonal, 0.0)  # [n, A]
    mean = np.zeros_like(K_32)  # [n, n]
    for g, p_y in zip(G, kept.T, strict=True):
        mean += g * p_y.astype(np.float32)
    product = diagonal * kept  # [n, A]
    for y, g in enumerate(G):
        product[:, y] += np.einsum("in,in->n", g, mean)
        diagonal[:, y] += np.einsum("in,in->n", g, g)
    by_kernel[inside] = -0.5 * total  # now Σ_y E − E (Σ E)⁻¹ E
    by_free.unary[rows], by_restricted.unary[rows] = _through_counts(
        kept, w[rows], diagonal, product
    )
    return Determinants(-0.5 * value, by_free, by_restricted, by_kernel)


def _factor_labels(
    K: FloatArray, d: FloatArray
) -> tuple[float, list[tuple[IntArray, FloatArray]]]:
    """Σ_y log|B_y|, and for every label its tokens and E = √d B⁻¹ √d there."""
    log_det, factors = 0.0, []
    for x in d.T:
        own = np.flatnonzero(x)  # [n_y]
        root = np.sqrt(x[own])  # [n_y]
        B = root[:, None] * K[np.ix_(own, own)] * root  # [n_y, n_y]
        B.reshape(-1)[:: len(own) + 1] += 1.0
        L, _ = cholesky(B, overwrite=True)  # [n_y, n_y]
        log_det += 2.0 * float(np.log(L.diagonal()).sum())
        (potri,) = get_lapack_funcs(("potri",), (L,))
        inverse = potri(L, lower=1, overwrite_c=1)[0] if len(own) else L
        inverse = np.tril(inverse) + np.tril(inverse, -1).T  # [n_y, n_y]
        factors.append((own, root[:, None] * inverse * root))
    return log_det, factors


def _starts(variance: float, point: ChainPoint) -> Determinants:
    """Start scores: the curvatures of all first tokens add up."""
    p, w = point.first(point.free.unary), point.first(point.restricted.unary)  # [S', A]
    rho = _share(p, w)[0]  # [S']
    H = np.diag(rho @ p) - (rho[:, None] * p).T @ p  # [A, A]
    B = np.eye(len(H)) + variance * H  # [A, A]
    V = variance * np.linalg.inv(B)  # [A, A]
    by_p, by_w = _through_counts(p, w, np.tile(np.diag(V), (len(p), 1)), p @ V)
    rows = point.layout.order[: len(p)]  # [S']
    by_free, by_restricted = np.zeros_like(point.U), np.zeros_like(point.U)  # [N, A]
    by_free[rows], by_restricted[rows] = by_p, by_w
    none = np.zeros_like(point.T)  # [A, A]
    return Determinants(
        -0.5 * float(np.linalg.slogdet(B)[1]),
        Counts(by_free, none),
        Counts(by_restricted, none),
        by_variance=-0.5 * float((V * H).sum()),
    )


def _transitions(variance: float, point: ChainPoint) -> Determinants:
    """Rows of transitions: each is used as often as its label has a successor."""
    free, restricted = point.free.pairs, point.restricted.pairs  # [A, A]
    spread_f, slope_f = _row_spread(free)  # [A], [A, A]
    spread_r, slope_r = _row_spread(restricted)
    rho = np.maximum(1.0 - spread_r / spread_f, 0.0)  # [A]
    known = rho > 0  # [A]
    d = np.maximum(rho, 1e-12)[:, None] * np.maximum(free, _SMALLEST)  # [A, A]
    shrink = 1.0 / (1.0 + variance * d)  # [A, A]
    mixed = (d * shrink).sum(axis=1)  # [A]
    sums = d.sum(axis=1)  # [A]
    log_dets = -np.log(shrink).sum(axis=1) + np.log(mixed / sums)  # [A]
    by_d = variance * shrink + shrink**2 / mixed[:, None] - 1.0 / sums[:, None]
    by_d = -0.5 * np.where(known[:, None], by_d, 0.0)  # [A, A]
    by_variance = variance * (
        (d * shrink).sum(axis=1) - (d * shrink) ** 2 @ np.ones(len(d)) / mixed
    )  # [A]
    by_rho = (by_d * free).sum(axis=1)  # [A]
    none = np.zeros_like(point.U)  # [N, A]
    by_free = rho[:, None] * by_d + (by_rho * spread_r / spread_f**2)[:, None] * slope_f
    by_restricted = -(by_rho / spread_f)[:, None] * slope_r  # [A, A]
    return Determinants(
        -0.5 * float(log_dets[known].sum()),
        Counts(none, by_free),
        Counts(none, by_restricted),
        by_variance=-0.5 * float(by_variance[known].sum()),
    )


def _row_spread(pairs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Spread n − |row|² / n of every row with sum n, [A], and its slope, [A, A]."""
    n = np.maximum(pairs.sum(axis=1), 1e-12)  # [A]
    share = pairs / n[:, None]  # [A, A]
    square = (share * share).sum(axis=1)  # [A]
    slope: FloatArray = 1.0 - 2.0 * share + square[:, None]  # [A, A]
    return np.maximum(n * (1.0 - square), 1e-12), slope


def conjugate_gradient(
    product: Callable[[FloatArray], FloatArray],
    b: FloatArray,
    *,
    max_steps: int = 20,
    tol: float = 1e-2,
) -> FloatArray:
    """Solve H x = b by products v → H v, up to `tol` or negative curvature, [P]."""
    x = np.zeros_like(b)  # [P]
    residual, direction = b.copy(), b.copy()  # [P]
    square = first = float(b @ b)
    for _ in range(max_steps):
        if square <= tol * tol * first:
            break
        image = product(direction)  # [P]
        curvature = float(direction @ image)
        if curvature <= 0:
            break
        length = square / curvature
        x += length * direction
        residual -= length * image
        last, square = square, float(residual @ residual)
        direction = residual + (square / last) * direction  # [P]
    return x
