"""Equations (18)–(20) with inverses, and central differences to judge them by."""

from __future__ import annotations

import numpy as np


def gradient_mean(K, mu, dP):
    """Equation (18): −K⁻¹μ + ∂P/∂μ."""
    return -np.linalg.inv(K) @ mu + dP


def gradient_variance(K, V, dP):
    """Equation (19): ½(V⁻¹ − K⁻¹) + ∂P/∂V."""
    return 0.5 * (np.linalg.inv(V) - np.linalg.inv(K)) + np.diag(dP)


def printed_gradient_theta(K, dK, mu, V):
    """Equation (20) as printed: twice the derivative."""
    inverse = np.linalg.inv(K)
    alpha = inverse @ mu
    pull = alpha @ dK @ alpha
    return float(pull + np.trace(inverse @ (V @ inverse - np.eye(len(K))) @ dK))


def gradient_theta(K, dK, mu, V):
    """Reading R3 of Equation (20): the derivative of (15) at fixed (μ, V)."""
    return 0.5 * printed_gradient_theta(K, dK, mu, V)


def central_difference(function, x, step=1e-5):
    """Derivative of a function of an array, entry by entry; steps scale with x."""
    x = np.asarray(x, dtype=float)
    slope = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        width = step * max(1.0, abs(x[index]))
        up, down = x.copy(), x.copy()
        up[index] += width
        down[index] -= width
        slope[index] = (function(up) - function(down)) / (2 * width)
    return slope
