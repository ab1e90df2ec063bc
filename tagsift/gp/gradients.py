r"""Derivatives of the bound in the hyperparameters.

Equations (18)–(20). The derivatives in μ (18) and V (19) are the work of
`tagsift.gp.posterior.Covariance.gradient` and of the solver's variance step; their
plain forms stand here too, for reading and for the tests. The derivative in θ is
printed at twice its value (Reading R3); the true one is

.. math::

    \frac{\partial L_l}{\partial \theta_t} = \tfrac12 (K^{-1}\mu)^T
    \frac{\partial K}{\partial \theta_t} (K^{-1}\mu)
    + \tfrac12 tr\Bigl[K^{-1}(VK^{-1} - I) \frac{\partial K}{\partial \theta_t}\Bigr]

and with α = K⁻¹μ and K⁻¹ − K⁻¹VK⁻¹ = √λ B⁻¹ √λ no inverse of K is needed. At the
optimum of (μ, V) it is the derivative of the maximised bound. All derivatives here are
in the logarithms of θ and of the amplitude, which stay positive that way.
"""

from __future__ import annotations

import numpy as np

from tagsift.backend import asarray, cho_solve, namespace, solve_triangular
from tagsift.gp.kernels import RBF
from tagsift.gp.posterior import Dense, Factors, Inducing
from tagsift.typing import Array, FloatArray

__all__ = ["dense_gradient", "inducing_gradient"]


def dense_gradient(
    covariance: Dense,
    kernel: RBF,
    distances: list[Array],
    beta: Array,
    factors: Factors,
) -> tuple[FloatArray, FloatArray]:
    """Equation (20), Reading R3, for every label of a dense posterior.

    Parameters
    ----------
    covariance : Dense
        Correlations and amplitudes.
    kernel : RBF
        Hyperparameters.
    distances : list of arrays of shape (n_tokens, n_tokens)
        Squared distances of every feature group.
    beta : array of shape (n_tokens, n_labels)
        α = K⁻¹μ.
    factors : Factors
        Of B = I + √λ K √λ.

    Returns
    -------
    d_theta : ndarray of shape (n_labels, n_groups)
        Derivatives in log θ.
    d_amplitude : ndarray of shape (n_labels,)
        Derivatives in log σ².
    """
    xp = namespace(beta)
    d_theta = np.zeros_like(kernel.theta)  # [L, G]
    d_amplitude = np.zeros_like(kernel.amplitude)  # [L]
    for y, L in enumerate(factors.cholesky):
        K = covariance.amplitude[y] * covariance.grams[y]  # [N, N]
        alpha = beta[:, y]  # [N]
        root = factors.root[:, y]  # [N]
        eye = asarray(np.eye(K.shape[0]), like=K)  # [N, N]
        R = root[:, None] * cho_solve(L, eye * root[None, :])  # [N, N]
        sensitivity = 0.5 * (alpha[:, None] * alpha[None, :] - R) * K  # [N, N]
        d_amplitude[y] = float(xp.sum(sensitivity))
        for g, distance in enumerate(distances):
            d_theta[y, g] = -kernel.theta[y, g] * float(xp.sum(sensitivity * distance))
    return d_theta, d_amplitude


def inducing_gradient(
    covariance: Inducing,
    kernel: RBF,
    roots: list[Array],
    ZZ: list[Array],
    ZN: list[Array],
    beta: Array,
    factors: Factors,
    gradient: Array,
    precision: Array,
) -> tuple[FloatArray, FloatArray]:
    """Equation (20) through the inducing points, at fixed whitened (m, S).

    With A = L⁻¹K_ZN the derivative in A is m gᵀ + (A − Λ⁻¹A) diag(p); it is carried
    back to K_ZN and, through the Cholesky factor, to K_ZZ.

    Parameters
    ----------
    covariance : Inducing
        Whitened matrices and amplitudes.
    kernel : RBF
        Hyperparameters.
    roots : list of arrays of shape (M, M)
        Cholesky factors of the inducing correlations.
    ZZ, ZN : lists of arrays of shapes (M, M) and (M, N)
        Squared distances of every feature group.
    beta : array of shape (M, n_labels)
        Whitened means m.
    factors : Factors
        Of Λ = I + A diag(λ) Aᵀ.
    gradient, precision : arrays of shape (n_tokens, n_labels)
        ∂P/∂μ and −2 ∂P/∂V.

    Returns
    -------
    d_theta, d_amplitude
        As in `dense_gradient`.
    """
    xp = namespace(beta)
    d_theta = np.zeros_like(kernel.theta)  # [L, G]
    d_amplitude = np.zeros_like(kernel.amplitude)  # [L]
    for y, (A, root) in enumerate(zip(covariance.A, roots, strict=True)):
        scale = covariance.amplitude[y]
        g, p = gradient[:, y], precision[:, y]  # [N]
        mu = scale**0.5 * (beta[:, y] @ A)  # [N]
        d_amplitude[y] = 0.5 * float(xp.sum(g * mu) - xp.sum(p * factors.var[:, y]))
        reduced = cho_solve(factors.cholesky[y], A)  # [M, N]
        d_A = scale * (A - reduced) * p[None, :]  # [M, N]
        d_A += (scale**0.5 * beta[:, y])[:, None] * g[None, :]
        d_KZN = solve_triangular(root, d_A, trans=True)  # [M, N]
        d_root = -xp.tril(d_KZN @ A.T)  # [M, M]
        d_KZZ = _cholesky_reverse(root, d_root)  # [M, M]
        d_KZN *= kernel.unit_gram(ZN, y)
        d_KZZ = d_KZZ * kernel.unit_gram(ZZ, y)  # [M, M]
        for k in range(len(ZN)):
            change = xp.sum(d_KZN * ZN[k]) + xp.sum(d_KZZ * ZZ[k])  # []
            d_theta[y, k] = -kernel.theta[y, k] * float(change)
    return d_theta, d_amplitude


def _cholesky_reverse(L: Array, d_L: Array) -> Array:
    """Carry a derivative in the factor L back to the matrix LLᵀ, [M, M]."""
    xp = namespace(L)
    inner = xp.tril(L.T @ d_L)  # [M, M]
    inner = inner - 0.5 * (inner * asarray(np.eye(L.shape[0]), like=L))  # [M, M]
    left = solve_triangular(L, inner, trans=True)  # [M, M]
    both = solve_triangular(L, left.T, trans=True).T  # [M, M]
    return 0.5 * (both + both.T)  # [M, M]
