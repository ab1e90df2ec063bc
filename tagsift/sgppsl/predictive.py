r"""Moments of the latent values at new tokens, and the scores made of them.

Equations (22)–(28), Reading R4 (the prior variance of the new token comes first):

.. math::

    \mu_* = K_* K^{-1} \mu, \qquad
    V_* = k_{**} - K_* (K^{-1} - K^{-1} V K^{-1}) K_*^T

The transition latents carry over unchanged. With α = K⁻¹μ and
K⁻¹ − K⁻¹VK⁻¹ = √λ B⁻¹ √λ the dense form needs one triangular solve; the inducing form
whitens the new tokens, A_* = chol(K_ZZ)⁻¹ K_Z*, and reads μ_* = A_*ᵀm and
V_* = k_** − |A_*|² + |L_Λ⁻¹A_*|².

The predictive probability (25) integrates the softmax (26) over the latent values,
which has no closed form; the paper scores labels (27) and transitions (28) with the
softmax of μ + ½V,

.. math::

    S(y, x_i) = \frac{\exp(\mu_i(y) + \tfrac12 V_i(y))}
                     {\sum_{y'} \exp(\mu_i(y') + \tfrac12 V_i(y'))}, \qquad
    S(y, y') = \frac{\exp(\mu_T(y, y') + \tfrac12 V_T(y, y'))}
                    {\sum_{y''} \exp(\mu_T(y, y'') + \tfrac12 V_T(y, y''))}
"""

from __future__ import annotations

from collections.abc import Sequence

from tagsift.backend import namespace, softmax, solve_triangular
from tagsift.gp.kernels import RBF
from tagsift.typing import Array

__all__ = [
    "dense_moments",
    "emission_scores",
    "inducing_moments",
    "transition_scores",
]


def dense_moments(
    kernel: RBF,
    distances: Array,
    alpha: Array,
    lowers: Sequence[Array],
    root: Array,
) -> tuple[Array, Array]:
    """Equations (23) and (24) from the dense posterior, [M, L] each.

    From the squared distances [N, M] of training and new tokens, α = K⁻¹μ and √λ, both
    [N, L], and the Cholesky factors of B.
    """
    xp = namespace(alpha)
    means, spreads = [], []
    for y in range(kernel.n_labels):
        K = kernel.gram(distances, y)  # [N, M]
        means.append(alpha[:, y] @ K)  # [M]  Eq. (23)
        half = solve_triangular(lowers[y], root[:, y][:, None] * K)  # [N, M]
        var = float(kernel.amplitude[y]) - xp.sum(half * half, axis=0)  # [M]
        spreads.append(xp.where(var > 0, var, xp.zeros_like(var)))  # Eq. (24)
    return xp.stack(means, axis=1), xp.stack(spreads, axis=1)  # [M, L]


def inducing_moments(
    kernel: RBF,
    distances: Array,
    roots: Sequence[Array],
    beta: Array,
    lowers: Sequence[Array],
) -> tuple[Array, Array]:
    """Equations (23) and (24) through the inducing points, [N*, L] each.

    From the squared distances [M, N*] of these and new tokens, the Cholesky factors of
    the inducing correlations, whitened means m [M, L], and the Cholesky factors of Λ.
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
        spreads.append(xp.where(var > 0, var, xp.zeros_like(var)))  # Eq. (24)
    return xp.stack(means, axis=1), xp.stack(spreads, axis=1)  # [N*, L]


def emission_scores(mu: Array, var: Array) -> Array:
    """Equation (27): score of every label at every token, rows sum to 1, [N, L]."""
    return softmax(mu + 0.5 * var, axis=1)  # [N, L]


def transition_scores(mu_T: Array, var_T: Array) -> Array:
    """Equation (28): score of label y' after y, rows sum to 1, [L, L]."""
    return softmax(mu_T + 0.5 * var_T, axis=1)  # [L, L]
