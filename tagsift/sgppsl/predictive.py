r"""New tokens: moments of their latent values, scores made of these, and labels.

Equations (22)–(24), Reading R4 (the prior variance of the new token comes first):

.. math::

    \mu_* = K_* K^{-1} \mu, \qquad
    V_* = k_{**} - K_* (K^{-1} - K^{-1} V K^{-1}) K_*^T

The transition latents carry over unchanged. The predictive probability (25) integrates
the softmax (26) over the latent values, which has no closed form; the paper scores
labels (27) and transitions (28) with the softmax of μ + ½V.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from tagsift.backend import (
    asarray,
    is_torch,
    namespace,
    positive_part,
    softmax,
    solve_triangular,
    to_numpy,
)
from tagsift.chain import (
    Allowed,
    ChainLayout,
    neighbour_factor,
    viterbi,
    weighted_viterbi,
)
from tagsift.errors import NotSupportedError
from tagsift.features import Reference, nearest, squared_distances
from tagsift.gp import RBF
from tagsift.sgppsl.posterior import Dense, column_squares
from tagsift.storage import Saved, array, damaged, listed, matrix, part
from tagsift.typing import Array, BoolArray, FloatArray, IntArray

__all__ = [
    "Decoding",
    "FittedGP",
    "Neighbours",
    "dense_moments",
    "emission_scores",
    "inducing_moments",
    "transition_scores",
]

#: New tokens whose covariances with the old ones are formed at a time.
_BLOCK = 2048
_HALF = 0.5  # share of transition scores where logarithms are added (R11)
_LEAST_TAU = 1e-3  # least τ there (R11)
_SHARE = 0.6  # share of transition scores and label prior in what is recovered (R12)
#: Cost of a forbidden transition, since candidates may leave no other way (R12).
_FORBIDDEN = 10.0


@dataclass(frozen=True)
class FittedGP:
    """Posterior of the unary and transition latents, ready for Equations (22)–(24).

    Its M points are the inducing points, or all training tokens when dense. The factors
    of a dense posterior are made from its √λ when they are first asked for: a model
    file would grow by gigabytes.
    """

    kernel: RBF
    points: Any  # [M, D], csr or dense
    beta: Array  # [M, L], coefficients of the means
    lowers: Sequence[Array]  # L × [M, M], factors of Λ; none when dense
    roots: Sequence[Array]  # L × [M, M], of the inducing correlations; none when dense
    root: Array | None  # [M, L], √λ of the training tokens; only when dense
    mu_T: FloatArray  # [L, L]
    var_T: FloatArray  # [L, L]

    saved: ClassVar[Saved] = {
        "kernel": part(RBF),
        "points": matrix("M D", training=True),
        "beta": array("M L"),
        "lowers": listed("R", array("M M", triangular=True)),
        "roots": listed("R", array("M M", triangular=True)),
        "root": array("M L", least=0, optional=True),
        "mu_T": array("L L"),
        "var_T": array("L L", least=0),
    }

    @property
    def dense(self) -> bool:
        """Whether every training token carries the posterior."""
        return self.root is not None

    @cached_property
    def factors(self) -> Sequence[Array]:
        """Cholesky factors of the posterior, L × [M, M]."""
        if self.root is None:
            return self.lowers
        squares = squared_distances(self.points, self.points, like=self.beta)  # [M, M]
        covariance = Dense.of(squares, self.kernel, variances=False)
        return covariance.factor(self.root**2).cholesky

    def moments(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Predictive means and variances at new tokens, Equations (23)–(24)."""
        shape = (X.shape[0], self.kernel.n_labels)
        mu, var = np.zeros(shape), np.zeros(shape)  # [N*, L]
        kernel, beta = self.kernel, self.beta
        for lo in range(0, X.shape[0], _BLOCK):
            rows = slice(lo, lo + _BLOCK)
            distances = squared_distances(self.points, X[rows], like=beta)  # [M, B]
            fitted = kernel, distances, beta, self.factors
            if self.root is not None:
                moments = dense_moments(*fitted, self.root)
            else:
                moments = inducing_moments(*fitted, self.roots)
            mu[rows], var[rows] = to_numpy(moments[0]), to_numpy(moments[1])
        return mu, var

    def on(self, device: Any) -> FittedGP:
        """Return the same posterior, living on `device`; shared factors stay shared."""
        moved: dict[int, Array] = {}

        def move(x: Array) -> Array:
            if id(x) not in moved:
                moved[id(x)] = asarray(x, device=device)
            return moved[id(x)]

        return replace(
            self,
            beta=move(self.beta),
            lowers=[move(lower) for lower in self.lowers],
            roots=[move(root) for root in self.roots],
            root=None if self.root is None else move(self.root),
        )

    def check_saved(self) -> None:
        """Ask that a posterior from a file has one factor per label, or is dense."""
        if len(self.roots) != (0 if self.dense else self.kernel.n_labels):
            raise damaged("there is not one factor of the inducing points per label")


def dense_moments(
    kernel: RBF, distances: Array, alpha: Array, lowers: Sequence[Array], root: Array
) -> tuple[Array, Array]:
    """Equations (23) and (24) from the dense posterior, [M, L] each.

    From the squared distances [N, M] of training and new tokens, α = K⁻¹μ and √λ, both
    [N, L], and the Cholesky factors of B, inverted on a GPU: K⁻¹ − K⁻¹VK⁻¹ =
    √λ B⁻¹ √λ.
    """
    xp = namespace(alpha)
    means, spreads = [], []
    for y, theta in enumerate(kernel.theta):
        if y == 0 or theta != kernel.theta[y - 1]:
            K = kernel.unit_gram(distances, y)  # [N, M]
        scale, L = float(kernel.amplitude[y]), lowers[y]
        means.append(scale * (alpha[:, y] @ K))  # [M]  Eq. (23)
        side = xp.astype(root[:, y][:, None] * K, L.dtype)  # [N, M]
        if is_torch(L):
            half = L @ side  # [N, M]
        else:
            half = solve_triangular(L, side, overwrite=True)  # [N, M]
        var = scale - scale**2 * column_squares(half)  # [M]
        spreads.append(positive_part(xp.astype(var, alpha.dtype)))  # Eq. (24)
    return xp.stack(means, axis=1), xp.stack(spreads, axis=1)  # [M, L]


def inducing_moments(
    kernel: RBF,
    distances: Array,
    beta: Array,
    lowers: Sequence[Array],
    roots: Sequence[Array],
) -> tuple[Array, Array]:
    """Equations (23) and (24) through the inducing points, [N*, L] each.

    From the squared distances [M, N*] of these and new tokens, whitened means m [M, L],
    the Cholesky factors of Λ, and those of the inducing correlations.
    With A_* = chol(K_ZZ)⁻¹ K_Z*, μ_* = A_*ᵀm and V_* = k_** − |A_*|² + |L_Λ⁻¹A_*|².
    """
    xp = namespace(beta)
    means, spreads = [], []
    last: Array = None
    for y in range(kernel.n_labels):
        if last is None or roots[y] is not last:
            last = roots[y]
            A = solve_triangular(last, kernel.unit_gram(distances, y))  # [M, N*]
            norms = xp.sum(A * A, axis=0)  # [N*]
        scale = float(kernel.amplitude[y])
        means.append(scale**0.5 * (beta[:, y] @ A))  # [N*]  Eq. (23)
        half = solve_triangular(lowers[y], A)  # [M, N*]
        var = scale * (1.0 - norms + xp.sum(half * half, axis=0))  # [N*]
        spreads.append(positive_part(var))  # Eq. (24)
    return xp.stack(means, axis=1), xp.stack(spreads, axis=1)  # [N*, L]


def emission_scores(mu: Array, var: Array) -> Array:
    """Equation (27): score of every label at every token, rows sum to 1, [N, L]."""
    return softmax(mu + 0.5 * var, axis=1)  # [N, L]


def transition_scores(mu_T: Array, var_T: Array) -> Array:
    """Equation (28): score of label y' after y, rows sum to 1, [L, L]."""
    return softmax(mu_T + 0.5 * var_T, axis=1)  # [L, L]


@dataclass(frozen=True)
class Neighbours:
    """The training tokens among which Equation (29) finds the nearest."""

    features: Any  # [N, D], csr or dense
    confidences: FloatArray  # [N, L], Equation (17)
    mask: BoolArray  # [N, L], candidate sets

    saved: ClassVar[Saved] = {
        "features": matrix("N D"),
        "confidences": array("N L", least=0, sums=1),
        "mask": array("N L", "bool"),
    }


@dataclass(frozen=True)
class Decoding:
    """What the training data says about new sentences beside the latent values."""

    prior: FloatArray  # [L], mean confidence of every label
    available: BoolArray  # [L], a candidate somewhere; no other label is predicted
    tau_T: FloatArray  # [L, L], mean confidence of every transition
    neighbours: Neighbours | None  # training tokens, where they were kept

    saved: ClassVar[Saved] = {
        "prior": array("L", least=0, sums=1),
        "available": array("L", "bool"),
        "tau_T": array("L L", least=0),
        "neighbours": part(Neighbours, training=True, optional=True),
    }

    def best(
        self,
        emission: FloatArray,
        transition: FloatArray,
        offsets: IntArray,
        tau: FloatArray | None = None,
    ) -> IntArray:
        """Equations (30)–(31) over the scores (27) and (28), [M]; τ = 1 by default."""
        return weighted_viterbi(
            np.where(self.available, emission, -np.inf),
            transition,
            ChainLayout.from_offsets(offsets),
            tau=None if tau is None else np.where(self.available, tau, 1.0),
            tau_T=None if tau is None else self.tau_T,
        )

    def best_log(
        self,
        emission: FloatArray,
        transition: FloatArray,
        offsets: IntArray,
        tau: FloatArray | None = None,
        allowed: Allowed | None = None,
    ) -> IntArray:
        """Maximise Σ log S(y, x) + log S(y', y) − log π(y), [M].

        With τ of (29) it is Σ log τ(y) S(y, x) + ½ log S(y', y) − log π(y), Reading
        R11: what neighbours say is in the features of a token and in τ already.
        """
        unary = _log(emission) - _log(self.prior, 1e-12)  # [M, L]
        pair = _log(transition)  # [L, L]
        if tau is not None:
            unary += _log(tau, _LEAST_TAU)
            pair *= _HALF
        labels: IntArray = viterbi(
            np.where(self.available, unary, -np.inf),
            pair,
            ChainLayout.from_offsets(offsets),
            allowed=allowed,
        )  # [M]
        return labels

    def recover(
        self,
        C: FloatArray,
        mask: BoolArray,
        transition: FloatArray,
        offsets: IntArray,
        allowed: Allowed | None = None,
    ) -> IntArray:
        """Maximise Σ log c(y) + 0.6 [log S(y', y) − log π(y)] within candidates, [M].

        Reading R12; c are the confidences of (17).
        """
        unary = _log(C) - _SHARE * _log(self.prior, 1e-12)  # [M, L]
        pair, first = _SHARE * _log(transition), 0.0 * self.prior  # [L, L], [L]
        if allowed is not None:
            pair = np.where(allowed[0], pair, pair - _FORBIDDEN)  # [L, L]
            first = np.where(allowed[1], first, -_FORBIDDEN)  # [L]
        layout = ChainLayout.from_offsets(offsets)
        unary = np.where(mask, unary, -np.inf)  # [M, L]
        labels: IntArray = viterbi(unary, pair, layout, start=first)  # [M]
        return labels

    def factor(self, X: Any, n_neighbours: int, floor: str) -> FloatArray:
        """Equation (29) for new tokens, [M, L]."""
        neighbours = self.neighbours
        if neighbours is None:
            raise NotSupportedError(
                "this model was saved without its training neighbours, which decoders "
                "with 'weighted' in their names need; set decoder='log' or 'viterbi', "
                "or save it again with neighbours=True."
            )
        nearest_tokens, _ = nearest(
            Reference(neighbours.features), X, n_neighbours
        )  # [M, Q]
        return neighbour_factor(
            nearest_tokens, neighbours.confidences, neighbours.mask, floor=floor
        )


def _log(x: FloatArray, least: float = np.finfo(np.float64).tiny) -> FloatArray:
    """Logarithm of what is not below `least`."""
    logs: FloatArray = np.log(np.maximum(x, least))
    return logs
