"""Annotators who copy each other: found, and counted as one.

Good annotators agree because they are right; copies agree where they are alone with
what they say, too. Two annotators are held to be copies if they say the same wherever
either of them differs from what the others say, and wherever either says something
other than the commonest label.
"""

from __future__ import annotations

import numpy as np

from tagsift.annotators.agreement import vote_counts
from tagsift.annotators.ballots import Ballots
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["copy_groups", "copy_weights"]

#: From how many such tokens on, and from which share of equal votes, two are copies.
_LEAST_TOKENS, _LEAST_SHARE = 20, 0.95


def copy_groups(ballots: Ballots) -> list[tuple[int, ...]]:
    """Groups of annotators who copy each other, by column; each of two or more."""
    n_annotators = ballots.n_annotators
    usual = _usual(ballots)
    group = np.arange(n_annotators)  # [A]
    for a in range(n_annotators):
        for b in range(a + 1, n_annotators):
            if _are_copies(ballots, a, b, usual):
                group[group == group[b]] = group[a]
    found = [np.flatnonzero(group == g) for g in np.unique(group)]
    return [tuple(map(int, members)) for members in found if len(members) > 1]


def copy_weights(ballots: Ballots, groups: list[tuple[int, ...]]) -> FloatArray:
    """How much every annotator counts: a group counts as one annotator, [A]."""
    weights = np.ones(ballots.n_annotators)  # [A]
    for members in groups:
        voted = ballots.votes[:, members] >= 0  # [N, G]
        together = voted.sum(axis=1)  # [N]
        for place, a in enumerate(members):
            mine = voted[:, place]  # [N]
            weights[a] = float((1.0 / together[mine]).mean()) if mine.any() else 1.0
    return weights


def _usual(ballots: Ballots) -> int:
    """The commonest vote: what two annotators say alike without copying."""
    given = ballots.votes[ballots.votes >= 0]  # [K]
    return int(np.bincount(given).argmax()) if len(given) else -1


def _are_copies(ballots: Ballots, a: int, b: int, usual: int) -> bool:
    x, y = ballots.votes[:, a], ballots.votes[:, b]  # [N], [N]
    shared = (x >= 0) & (y >= 0)  # [N]
    spoken = shared & ((x != usual) | (y != usual))  # [N]
    if not _alike(x, y, spoken):
        return False
    if ballots.abstains[[a, b]].any() or ballots.n_annotators == 2:
        return True
    others = _others(ballots, a, b, shared)  # [N]
    apart = shared & (others >= 0) & ((x != others) | (y != others))  # [N]
    alone = shared & (others < 0)  # nobody else to compare with
    if alone[spoken].all():
        return True
    return _alike(x, y, apart)


def _alike(x: IntArray, y: IntArray, where: BoolArray) -> bool:
    n = int(where.sum())
    return n >= _LEAST_TOKENS and float((x[where] == y[where]).mean()) >= _LEAST_SHARE


def _others(ballots: Ballots, a: int, b: int, where: BoolArray) -> IntArray:
    """What most of the others say of a token; −1 where nobody does, [N]."""
    rest = np.delete(ballots.votes, [a, b], axis=1)[where]  # [N', A − 2]
    counts = vote_counts(rest, len(ballots.members))  # [N', V]
    found = np.full(ballots.n_tokens, -1, dtype=np.int64)  # [N]
    found[where] = np.where(counts.any(axis=1), counts.argmax(axis=1), -1)
    return found
