"""Equations (14), (16) and (21), and sampling in their place."""

from __future__ import annotations

import math

import numpy as np


def jensen_piece(mu, var, y):
    """Equations (14) and (16): μ(y) − log Σ exp(μ(y') + ½V(y'))."""
    total = sum(math.exp(m + 0.5 * v) for m, v in zip(mu, var, strict=True))
    return mu[y] - math.log(total)


def jensen_sum(mu, var, mu_T, var_T, weights, pair_weights):
    """Equation (21), weighted piece by piece: 1 per candidate is the printed form."""
    total = 0.0
    for n in range(len(mu)):
        for y in range(mu.shape[1]):
            total += weights[n, y] * jensen_piece(mu[n], var[n], y)
    for before in range(len(mu_T)):
        for y in range(len(mu_T)):
            total += pair_weights[before, y] * jensen_piece(
                mu_T[before], var_T[before], y
            )
    return total


def sampled_value(log_likelihood, mu, var, mu_T, n_samples, seed):
    """Mean and standard error of log p over independent unary draws, T at a point."""
    rng = np.random.default_rng(seed)
    values = [
        log_likelihood(mu + np.sqrt(var) * rng.standard_normal(mu.shape), mu_T)
        for _ in range(n_samples)
    ]
    return float(np.mean(values)), float(np.std(values) / math.sqrt(n_samples))
