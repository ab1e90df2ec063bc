"""Equations (25)–(31), loop by loop, and all label sequences listed."""

from __future__ import annotations

import itertools
import math

import numpy as np


def softmax_label(f, y):
    """Equation (26)."""
    return math.exp(f[y]) / sum(math.exp(value) for value in f)


def predictive_probability(mu, var, y, n_points=40):
    """Equation (25) for two labels, by Gauss–Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(n_points)
    weights = weights / weights.sum()
    total = 0.0
    for a, wa in zip(nodes, weights, strict=True):
        for b, wb in zip(nodes, weights, strict=True):
            f = [mu[0] + math.sqrt(var[0]) * a, mu[1] + math.sqrt(var[1]) * b]
            total += wa * wb * softmax_label(f, y)
    return total


def score(mu, var, y):
    """Equation (27), and Equation (28) for one row of the transitions."""
    total = sum(math.exp(m + 0.5 * v) for m, v in zip(mu, var, strict=True))
    return math.exp(mu[y] + 0.5 * var[y]) / total


def nearest(x, X, n_neighbours):
    """Nearest rows, nearest first, ties by number."""
    square = [float(np.sum((x - row) ** 2)) for row in X]
    return sorted(range(len(X)), key=lambda k: (square[k], k))[:n_neighbours]


def neighbour_factor(neighbours, C, mask, literal=False):
    """Equation (29) for one token; Reading R5 unless `literal`."""
    n_labels = C.shape[1]
    tau = np.zeros(n_labels)
    for y in range(n_labels):
        if any(mask[k, y] for k in neighbours):
            tau[y] = sum(C[k, y] for k in neighbours) / len(neighbours)
        else:
            everything = sum(C[k, z] for k in neighbours for z in range(n_labels))
            tau[y] = everything / len(neighbours)
            if not literal:
                tau[y] /= n_labels
    return tau


def transition_factor(C_pairs, mask, offsets):
    """τ(y, y'): mean confidence over the pairs of neighbours that may take (y, y')."""
    n_labels = mask.shape[1]
    tau = np.zeros((n_labels, n_labels))
    for a in range(n_labels):
        for b in range(n_labels):
            found = [
                C_pairs[n, a, b]
                for s in range(len(offsets) - 1)
                for n in range(offsets[s] + 1, offsets[s + 1])
                if mask[n - 1, a] and mask[n, b]
            ]
            tau[a, b] = sum(found) / len(found) if found else 0.0
    return tau


def path_score(labels, S, S_T, tau, tau_T):
    """Sum of the g of Equation (30) along one label sequence."""
    total = tau[0][labels[0]] * S[0][labels[0]]
    for t in range(1, len(labels)):
        before, y = labels[t - 1], labels[t]
        total += tau[t][y] * S[t][y] + tau_T[before][y] * S_T[before][y]
    return total


def best_path(S, S_T, tau, tau_T):
    """What Equation (31) finds, by listing all sequences; ties as in Viterbi."""
    n_labels = len(S_T)
    paths = itertools.product(range(n_labels), repeat=len(S))
    return max(
        paths,
        key=lambda path: (
            round(path_score(path, S, S_T, tau, tau_T), 10),
            tuple(-y for y in path[::-1]),
        ),
    )
