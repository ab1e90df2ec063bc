"""Equations (7)–(13) and (15) with inverses, determinants and grids."""

from __future__ import annotations

import numpy as np


def gaussian_density(f, mean, covariance):
    """Equations (6) and (12): a density at every row of `f`."""
    gap = f - mean
    scale = np.sqrt(np.linalg.det(2 * np.pi * covariance))
    return np.exp(-0.5 * np.sum((gap @ np.linalg.inv(covariance)) * gap, 1)) / scale


def gauss_hermite(mean, covariance, n_points):
    """Points [G, d] and weights [G] that integrate against N(mean, covariance)."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(n_points)
    d = len(mean)
    grid = np.stack(np.meshgrid(*[nodes] * d, indexing="ij"), -1).reshape(-1, d)
    mass = np.ones(1)
    for _ in range(d):
        mass = np.multiply.outer(mass, weights / weights.sum()).reshape(-1)
    return mean + grid @ np.linalg.cholesky(covariance).T, mass


def evidence(likelihood, K, n_points=24):
    """Equation (8): the likelihood of rows of f, integrated against N(0, K)."""
    f, mass = gauss_hermite(np.zeros(len(K)), K, n_points)
    return float(mass @ likelihood(f))


def kl_to_posterior(likelihood, mu, V, K, n_points=24):
    """Equation (9): KL of q from the posterior (7), by quadrature under q."""
    marginal = evidence(likelihood, K, n_points)
    f, mass = gauss_hermite(mu, V, n_points)
    q, prior = gaussian_density(f, mu, V), gaussian_density(f, 0.0 * mu, K)
    posterior = likelihood(f) * prior / marginal  # Equation (7)
    return float(mass @ np.log(q / posterior))


def elbo(log_likelihood, mu, V, K, n_points=24):
    """Equation (11): −KL(q ‖ prior) + E_q[log p(Y | X, f)], by quadrature."""
    f, mass = gauss_hermite(mu, V, n_points)
    return float(mass @ log_likelihood(f)) - kl(mu, V, K)


def kl(mu, V, K):
    """Equation (13), with every inverse and determinant as printed."""
    inverse = np.linalg.inv(K)
    _, log_det = np.linalg.slogdet(np.linalg.inv(V) @ K)
    d = len(mu)
    return 0.5 * float(log_det + np.trace(V @ inverse) - d + mu @ inverse @ mu)


def site_covariance(K, lam):
    """V = (K⁻¹ + diag λ)⁻¹, the form that Equation (19) gives V at its zero."""
    return np.linalg.inv(np.linalg.inv(K) + np.diag(lam))


def bound(P, mus, Vs, Ks):
    """Equation (15): P of Equation (21) minus the KL (13) of every block."""
    return P - sum(kl(mu, V, K) for mu, V, K in zip(mus, Vs, Ks, strict=True))
