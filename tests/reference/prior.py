"""Equations (4)–(6), entry by entry."""

from __future__ import annotations

import math

import numpy as np


def kernel(x, z, theta, amplitude=1.0):
    """Equation (4), times the amplitude that the paper fixes at 1."""
    square = sum((a - b) ** 2 for a, b in zip(x, z, strict=True))
    return amplitude * math.exp(-theta * square)


def gram(X, Z, theta, amplitude=1.0):
    """Equation (4) for all pairs of rows."""
    return np.array([[kernel(x, z, theta, amplitude) for z in Z] for x in X])


def transition_gram(n_labels):
    """Equation (5): 1 where both labels of two pairs agree."""
    pairs = [(y, after) for y in range(n_labels) for after in range(n_labels)]
    return np.array([[float(a == b) for b in pairs] for a in pairs])


def prior_covariance(X, thetas, amplitudes):
    """Equation (6): one block per label, and one for the transitions."""
    blocks = [gram(X, X, t, a) for t, a in zip(thetas, amplitudes, strict=True)]
    blocks.append(transition_gram(len(thetas)))
    size = sum(len(block) for block in blocks)
    K = np.zeros((size, size))
    begin = 0
    for block in blocks:
        end = begin + len(block)
        K[begin:end, begin:end] = block
        begin = end
    return K
