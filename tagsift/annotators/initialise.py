"""Where the rounds begin: shares of the votes, who spams, and Dawid and Skene's steps.

Where most annotators are careless, the majority is wrong, and tables counted under it
never recover: they begin with what MACE makes of the votes.
"""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from tagsift.annotators.confusion import confusion_tables, count_votes, vote_evidence
from tagsift.annotators.mace import mace
from tagsift.annotators.vote_table import VoteTable
from tagsift.typing import FloatArray

__all__ = ["first_tables", "vote_shares"]

#: Share of a vote that every label, and once more the label `O`, has at every token.
_LITTLE = 1e-3
#: Steps of expectation–maximisation, and the tokens with votes that they take: with
#: fewer they find tables that explain chance.
_STEPS, _MANY = 2, 5_000


def vote_shares(table: VoteTable) -> FloatArray:
    """Shares of the votes for every label, [N, L]; one where the label is known.

    An annotator who abstains has no share in it. Where all do, the label is `O`.
    """
    shares = table.counts + _LITTLE  # [N, L]
    if table.outside >= 0:
        shares[:, table.outside] += _LITTLE
        silent = table.counts.sum(axis=1) == 0  # [N]
        shares[silent & table.abstains.any(), table.outside] += 1.0
    shares /= shares.sum(axis=1, keepdims=True)
    known = table.exact >= 0  # [N]
    shares[known] = np.eye(table.n_labels)[table.exact[known]]
    return np.asarray(shares)


def first_tables(
    shares: FloatArray,
    table: VoteTable,
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
    only_sources = table.abstains.all()
    if not only_sources:
        shares = mace(table, shares, weights=weights)  # [N, L]
    counts = count_votes(shares, table)  # [A, L, B, L]
    log_pi = confusion_tables(counts, table.abstains, strength)
    if only_sources:
        return log_pi
    if n_steps is None:
        n_steps = _STEPS if table.voted.sum() >= _MANY else 0
    prior = np.log(np.maximum(shares.mean(axis=0), 1e-9))  # [L]
    for _ in range(n_steps):
        e = vote_evidence(log_pi, table, weights)  # [N, L]
        labels = softmax(e + prior + table.pinned, axis=1)  # [N, L]
        people = ~table.abstains  # [A]
        counts[people] = count_votes(labels, table)[people]
        log_pi = confusion_tables(counts, table.abstains, strength)
    return log_pi
