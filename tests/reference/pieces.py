"""Equations (1)–(3), one factor at a time."""

from __future__ import annotations

import math


def unary_probability(f, y):
    """Equation (2), unary factor: exp f(y) over the sum of all labels."""
    return math.exp(f[y]) / sum(math.exp(value) for value in f)


def transition_probability(f_T, before, y):
    """Equation (2), transition factor: given the label before."""
    return math.exp(f_T[before][y]) / sum(math.exp(value) for value in f_T[before])


def candidate_pieces(mask, offsets):
    """All pieces of all sentences: ("unary", n, y) and ("transition", n, y', y)."""
    found = []
    for s in range(len(offsets) - 1):
        for n in range(offsets[s], offsets[s + 1]):
            for y in range(mask.shape[1]):
                if mask[n, y]:
                    found.append(("unary", n, y))
            if n == offsets[s]:
                continue
            for before in range(mask.shape[1]):
                for y in range(mask.shape[1]):
                    if mask[n - 1, before] and mask[n, y]:
                        found.append(("transition", n, before, y))
    return found


def log_likelihood(f, f_T, mask, offsets, C, C_pairs):
    """Equations (1) and (3) as printed: Σ log C + log p over all candidate pieces.

    ``C[n, y]`` and ``C_pairs[n, y', y]`` are the confidences.
    """
    total = 0.0
    for kind, n, *labels in candidate_pieces(mask, offsets):
        if kind == "unary":
            (y,) = labels
            total += math.log(C[n, y]) + math.log(unary_probability(f[n], y))
        else:
            before, y = labels
            total += math.log(C_pairs[n, before, y])
            total += math.log(transition_probability(f_T, before, y))
    return total


def weighted_log_likelihood(f, f_T, mask, offsets, C, C_pairs):
    """Reading R1 of Equation (3): Σ C log p over all candidate pieces."""
    total = 0.0
    for kind, n, *labels in candidate_pieces(mask, offsets):
        if kind == "unary":
            (y,) = labels
            total += C[n, y] * math.log(unary_probability(f[n], y))
        else:
            before, y = labels
            total += C_pairs[n, before, y] * math.log(
                transition_probability(f_T, before, y)
            )
    return total
