"""All label sequences of short sentences, with their scores: the twin of every lattice.

A loop over every sequence, so only sentences of a few tokens and labels.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class Sums(NamedTuple):
    """What the sequences of all sentences say."""

    log_z: np.ndarray  # [S]  0 for an empty sentence, −inf where nothing is allowed
    marginals: np.ndarray  # [N, L]
    pairs: np.ndarray  # [L, L]  expected transitions, of all sentences


def sequences(
    U, T, *, start=None, end=None, mask=None, allowed=None
) -> Iterator[tuple[tuple[int, ...], float]]:
    """The label sequences of one sentence that are allowed, each with its score."""
    for labels in itertools.product(range(U.shape[1]), repeat=len(U)):
        pairs = list(itertools.pairwise(labels))
        if mask is not None and not all(mask[t, y] for t, y in enumerate(labels)):
            continue
        if allowed is not None:
            between, first, last = allowed
            inside = first[labels[0]] and last[labels[-1]]
            if not (inside and all(between[pair] for pair in pairs)):
                continue
        score = sum(U[t, y] for t, y in enumerate(labels)) + sum(T[p] for p in pairs)
        score += 0.0 if start is None else start[labels[0]]
        yield labels, score + (0.0 if end is None else end[labels[-1]])


def sums(U, T, offsets, *, mask=None, evidence=None, **options) -> Sums:
    """Normalisers and expectations over all sequences of stacked sentences."""
    U = U if evidence is None else U + evidence
    log_z = np.zeros(len(offsets) - 1)
    marginals, pairs = np.zeros(U.shape), np.zeros(T.shape)
    for s, (lo, hi) in enumerate(itertools.pairwise(offsets)):
        if lo == hi:
            continue
        own = None if mask is None else mask[lo:hi]
        every = list(sequences(U[lo:hi], T, mask=own, **options))
        scores = [score for _, score in every]
        log_z[s] = np.logaddexp.reduce(scores) if scores else -np.inf
        if log_z[s] == -np.inf:
            continue
        for labels, score in every:
            weight = np.exp(score - log_z[s])
            for t, label in enumerate(labels):
                marginals[lo + t, label] += weight
            for pair in itertools.pairwise(labels):
                pairs[pair] += weight
    return Sums(log_z, marginals, pairs)
