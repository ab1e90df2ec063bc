"""Where the rounds begin: shares of the votes, who spams, and Dawid and Skene's steps.

Where most annotators are careless, the majority is wrong, and tables counted under it
never recover: they begin with what MACE makes of the votes.
"""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from tagsift.annotators.ballots import Ballots
from tagsift.annotators.spammers import mace
from tagsift.annotators.tables import confusion_tables, count_votes, vote_evidence
from tagsift.typing import FloatArray

__all__ = ["first_tables", "vote_shares"]

#: Share of a vote that every label, and once more the label `O`, has at every token.
_LITTLE = 1e-3
#: Steps of expectation–maximisation, and the tokens with votes that they take: with
#: fewer they find tables that explain chance.
_STEPS, _MANY = 2, 5_000


def vote_shares(ballots: Ballots) -> FloatArray:
    """Shares of the votes for every label, [N, L]; one where the label is known.

    An annotator who abstains has no share in it. Where all do, the label is `O`.
    """
    shares = ballots.counts + _LITTLE  # [N, L]
    if ballots.outside >= 0:
        shares[:, ballots.outside] += _LITTLE
        silent = ballots.counts.sum(axis=1) == 0  # [N]
        shares[silent & ballots.abstains.any(), ballots.outside] += 1.0
    shares /= shares.sum(axis=1, keepdims=True)
    known = ballots.exact >= 0  # [N]
    shares[known] = np.eye(ballots.n_labels)[ballots.exact[known]]
    return np.asarray(shares)


def first_tables(
    shares: FloatArray,
    ballots: Ballots,
    weights: FloatArray | None = None,
    *,
    strength: float = 20.0,
    n_steps: int | None = None,
) -> FloatArray:
    """Tables of the annotators before any text was read, [A, L, B, L].

    Sources that abstain are counted once, under the shares: counted again under labels
    that their own tables shaped, they drift. Where there are people, the shares become
    what `mace` makes of them, and tables get two steps of expectation–maximisation, or
    `n_steps`, but none in a small corpus.
    """
    only_sources = ballots.abstains.all()
    if not only_sources:
        shares = mace(ballots, shares, weights=weights)  # [N, L]
    counts = count_votes(shares, ballots)  # [A, L, B, L]
    log_pi = confusion_tables(counts, ballots.abstains, strength)
    if only_sources:
        return log_pi
    if n_steps is None:
        n_steps = _STEPS if ballots.voted.sum() >= _MANY else 0
    prior = np.log(np.maximum(shares.mean(axis=0), 1e-9))  # [L]
    for _ in range(n_steps):
        e = vote_evidence(log_pi, ballots, weights)  # [N, L]
        labels = softmax(e + prior + ballots.pinned, axis=1)  # [N, L]
        people = ~ballots.abstains  # [A]
        counts[people] = count_votes(labels, ballots)[people]
        log_pi = confusion_tables(counts, ballots.abstains, strength)
    return log_pi
