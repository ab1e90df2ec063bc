"""Equations (22)–(24) with inverses."""

from __future__ import annotations

import numpy as np

from tests.reference.prior import gram


def moments(X, X_new, thetas, amplitudes, mus, Vs):
    """Equations (23) and (24), Reading R4, label by label: [M, L] each."""
    mean = np.zeros((len(X_new), len(thetas)))
    var = np.zeros((len(X_new), len(thetas)))
    for y, (theta, amplitude) in enumerate(zip(thetas, amplitudes, strict=True)):
        K, K_star = gram(X, X, theta, amplitude), gram(X_new, X, theta, amplitude)
        inverse = np.linalg.inv(K)
        middle = inverse - inverse @ Vs[y] @ inverse
        mean[:, y] = K_star @ inverse @ mus[y]
        for m, k in enumerate(K_star):
            prior = gram(X_new[m : m + 1], X_new[m : m + 1], theta, amplitude)[0, 0]
            var[m, y] = prior - k @ middle @ k
    return mean, var


def predictive(mean, var, mu_T, V_T):
    """Equation (22): the joint Gaussian of the unary and transition latents."""
    mean_all = np.concatenate([mean.ravel(), np.ravel(mu_T)])
    return mean_all, np.diag(np.concatenate([var.ravel(), np.ravel(V_T)]))
