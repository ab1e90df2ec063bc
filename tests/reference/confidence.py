"""Equation (17), token by token and pair by pair.

`mask` may hold weights instead of truth values: each score is multiplied by its weight
(Reading R10).
"""

from __future__ import annotations

import math

import numpy as np


def confidence(mu, var, mask):
    """Equation (17), Reading R2: exp(μ + ½V), shared out among the candidates."""
    C = np.zeros(mu.shape)
    for n in range(len(mu)):
        candidates = [y for y in range(mu.shape[1]) if mask[n, y]]
        score = {
            y: mask[n, y] * math.exp(mu[n, y] + 0.5 * var[n, y]) for y in candidates
        }
        for y in candidates:
            C[n, y] = score[y] / sum(score.values())
    return C


def literal_confidence(mu, var, mask):
    """Equation (17) as printed: exp(μ) + ½V."""
    C = np.zeros(mu.shape)
    for n in range(len(mu)):
        candidates = [y for y in range(mu.shape[1]) if mask[n, y]]
        score = {
            y: mask[n, y] * (math.exp(mu[n, y]) + 0.5 * var[n, y]) for y in candidates
        }
        for y in candidates:
            C[n, y] = score[y] / sum(score.values())
    return C


def pair_confidence(mu_T, var_T, mask, offsets):
    """Equation (17) for every pair of neighbours: [N, L, L], zero at first tokens."""
    n_labels = mask.shape[1]
    C = np.zeros((len(mask), n_labels, n_labels))
    for s in range(len(offsets) - 1):
        for n in range(offsets[s] + 1, offsets[s + 1]):
            pairs = [
                (a, b)
                for a in range(n_labels)
                for b in range(n_labels)
                if mask[n - 1, a] and mask[n, b]
            ]
            score = {
                (a, b): float(mask[n - 1, a])
                * mask[n, b]
                * math.exp(mu_T[a, b] + 0.5 * var_T[a, b])
                for a, b in pairs
            }
            for pair in pairs:
                C[(n, *pair)] = score[pair] / sum(score.values())
    return C
