r"""Derivatives of the bound in the hyperparameters.

Equation (20), which is printed at twice its value (Reading R3); the true one is

.. math::

    \frac{\partial L_l}{\partial \theta_t} = \tfrac12 (K^{-1}\mu)^T
    \frac{\partial K}{\partial \theta_t} (K^{-1}\mu)
    + \tfrac12 tr\Bigl[K^{-1}(VK^{-1} - I) \frac{\partial K}{\partial \theta_t}\Bigr]

at fixed (μ, V). Here (m, S), the whitened moments at the inducing points, are fixed
instead: at the optimum both are the derivative of the maximised bound, and no inverse
of K is needed. The derivatives are in the logarithms of θ and of the amplitude, which
stay positive that way.
"""

from __future__ import annotations

import numpy as np

from tagsift.backend import asarray, cho_solve, namespace, solve_triangular
from tagsift.gp.kernels import RBF
from tagsift.sgppsl.distances import Distances
from tagsift.sgppsl.likelihoods import Likelihood
from tagsift.sgppsl.posterior import Inducing
from tagsift.sgppsl.solver import Problem, State, evaluate
from tagsift.typing import Array, FloatArray

__all__ = ["theta_gradient"]


def theta_gradient(
    distances: Distances,
    problem: Problem,
    kernel: RBF,
    roots: list[Array],
    likelihood: Likelihood,
    state: State,
) -> tuple[FloatArray, FloatArray]:
    """Equation (20) at the end of an ascent, in log θ and in log σ², [L] each.

    It is taken through the inducing points, which all tokens may be, at fixed whitened
    (m, S); `roots` are the Cholesky factors of their correlations. With A = L⁻¹K_ZN the
    derivative in A is m gᵀ + (A − Λ⁻¹A) diag(p); it is carried back to K_ZN and,
    through the Cholesky factor, to K_ZZ.
    """
    covariance, ZZ, ZN = problem.covariance, distances.ZZ, distances.ZN
    if not isinstance(covariance, Inducing):
        raise TypeError(f"no gradient for {type(covariance).__name__}")
    expected = evaluate(problem, likelihood, state).expected
    beta, factors = state.beta, state.factors
    xp = namespace(beta)
    d_theta = np.zeros_like(kernel.theta)  # [L]
    d_amplitude = np.zeros_like(kernel.amplitude)  # [L]
    for y, (A, root) in enumerate(zip(covariance.A, roots, strict=True)):
        scale = covariance.amplitude[y]
        g, p = expected.gradient[:, y], expected.precision[:, y]  # [N]
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
        change = xp.sum(d_KZN * ZN) + xp.sum(d_KZZ * ZZ)  # []
        d_theta[y] = -kernel.theta[y] * float(change)
    return d_theta, d_amplitude


def _cholesky_reverse(L: Array, d_L: Array) -> Array:
    """Carry a derivative in the factor L back to the matrix LLᵀ, [M, M]."""
    xp = namespace(L)
    inner = xp.tril(L.T @ d_L)  # [M, M]
    inner = inner - 0.5 * (inner * asarray(np.eye(L.shape[0]), like=L))  # [M, M]
    left = solve_triangular(L, inner, trans=True)  # [M, M]
    both = solve_triangular(L, left.T, trans=True).T  # [M, M]
    return 0.5 * (both + both.T)  # [M, M]
