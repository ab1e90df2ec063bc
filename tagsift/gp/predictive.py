r"""Moments of the latent values at new tokens.

Equations (22)–(24), Reading R4 (the prior variance of the new token comes first):

.. math::

    \mu_* = K_* K^{-1} \mu, \qquad
    V_* = k_{**} - K_* (K^{-1} - K^{-1} V K^{-1}) K_*^T

The transition latents carry over unchanged. With α = K⁻¹μ and
K⁻¹ − K⁻¹VK⁻¹ = √λ B⁻¹ √λ the dense form needs one triangular solve; the inducing form
whitens the new tokens, A_* = chol(K_ZZ)⁻¹ K_Z*, and reads μ_* = A_*ᵀm and
V_* = k_** − |A_*|² + |L_Λ⁻¹A_*|².
"""

from __future__ import annotations

from collections.abc import Sequence

from tagsift.backend import namespace, solve_triangular
from tagsift.gp.kernels import RBF
from tagsift.typing import Array

__all__ = ["dense_moments", "inducing_moments"]


def dense_moments(
    kernel: RBF,
    distances: list[Array],
    alpha: Array,
    lowers: Sequence[Array],
    root: Array,
    *,
    variances: bool = True,
) -> tuple[Array, Array]:
    """Equations (23) and (24) from the dense posterior.

    Parameters
    ----------
    kernel : RBF
        Hyperparameters.
    distances : list of arrays of shape (n_train, n_new)
        Squared distances of every feature group.
    alpha : array of shape (n_train, n_labels)
        K⁻¹μ.
    lowers : sequence of arrays of shape (n_train, n_train)
        Cholesky factors of B.
    root : array of shape (n_train, n_labels)
        √λ.
    variances : bool
        Whether V_* is wanted; zeros otherwise.

    Returns
    -------
    mu, var : arrays of shape (n_new, n_labels)
        Predictive moments.
    """
    xp = namespace(alpha)
    means, spreads = [], []
    for y in range(kernel.n_labels):
        K = kernel.gram(distances, y)  # [N, M]
        means.append(alpha[:, y] @ K)  # [M]  Eq. (23)
        if variances:
            half = solve_triangular(lowers[y], root[:, y][:, None] * K)  # [N, M]
            var = float(kernel.amplitude[y]) - xp.sum(half * half, axis=0)  # [M]
            spreads.append(xp.where(var > 0, var, xp.zeros_like(var)))  # Eq. (24)
    mu = xp.stack(means, axis=1)  # [M, L]
    return mu, xp.stack(spreads, axis=1) if variances else xp.zeros_like(mu)


def inducing_moments(
    kernel: RBF,
    distances: list[Array],
    roots: Sequence[Array],
    beta: Array,
    lowers: Sequence[Array],
    *,
    variances: bool = True,
) -> tuple[Array, Array]:
    """Equations (23) and (24) through the inducing points.

    Parameters
    ----------
    kernel : RBF
        Hyperparameters.
    distances : list of arrays of shape (n_inducing, n_new)
        Squared distances of every feature group.
    roots : sequence of arrays of shape (n_inducing, n_inducing)
        Cholesky factors of the inducing correlations; equal θ share one.
    beta : array of shape (n_inducing, n_labels)
        Whitened means m.
    lowers : sequence of arrays of shape (n_inducing, n_inducing)
        Cholesky factors of Λ.
    variances : bool
        Whether V_* is wanted; zeros otherwise.

    Returns
    -------
    mu, var : arrays of shape (n_new, n_labels)
        Predictive moments.
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
        if variances:
            half = solve_triangular(lowers[y], A)  # [M, N*]
            var = scale * (1.0 - norms + xp.sum(half * half, axis=0))  # [N*]
            spreads.append(xp.where(var > 0, var, xp.zeros_like(var)))  # Eq. (24)
    mu = xp.stack(means, axis=1)  # [N*, L]
    return mu, xp.stack(spreads, axis=1) if variances else xp.zeros_like(mu)
