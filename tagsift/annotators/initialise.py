"""Where the rounds begin: with who spams, or with the union of the votes.

Where most annotators are careless, the majority is wrong, and tables counted under it
never recover: they are counted under what MACE makes of the votes, and have some steps
of Dawid and Skene's. The union of the votes is what a text alone makes labels of.
"""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from tagsift.annotators.confusion import confusion_tables, count_votes, vote_evidence
from tagsift.annotators.mace import mace
from tagsift.annotators.settings import CONSTANTS
from tagsift.annotators.vote_table import VoteTable
from tagsift.typing import FloatArray

__all__ = ["first_tables", "union_evidence", "vote_shares"]


def vote_shares(table: VoteTable) -> FloatArray:
    """Shares of the votes for every label, [N, L]; one where the label is known.

    An annotator who abstains has no share in it. Where all do, the label is `O`.
    """
    shares = table.counts + CONSTANTS.share  # [N, L]
    if table.outside >= 0:
        shares[:, table.outside] += CONSTANTS.share
        silent = table.counts.sum(axis=1) == 0  # [N]
        shares[silent & table.abstains.any(), table.outside] += 1.0
    shares /= shares.sum(axis=1, keepdims=True)
    exact = table.exact >= 0  # [N]
    shares[exact] = np.eye(table.n_labels)[table.exact[exact]]
    return np.asarray(shares)


def union_evidence(table: VoteTable) -> FloatArray:
    """0 for what anybody said, else −inf, [N, L]; `O` is always there for who abstains.

    A token without votes is free, a label that is known exactly certain.
    """
    free = table.counts > 0  # [N, L]
    if table.outside >= 0 and table.abstains.any():
        free[:, table.outside] = True
    free[~free.any(axis=1)] = True
    exact = table.exact >= 0  # [N]
    return np.where(exact[:, None], table.pinned, np.where(free, 0.0, -np.inf))


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
    that their own tables shaped, they drift. The shares of people become what `mace`
    makes of them, and tables get `n_steps` of expectation–maximisation, by default
    none in a small corpus, where they find tables that explain chance.
    """
    counts = count_votes(shares, table)  # [A, L, B, L]
    if table.abstains.all():
        return confusion_tables(counts, table.abstains, strength)
    people = ~table.abstains  # [A]
    known = mace(table, shares, weights=weights)  # [N, L]
    counts = count_votes(known, table)
    log_pi = confusion_tables(counts, table.abstains, strength)
    if n_steps is None:
        many = table.voted.sum() >= CONSTANTS.steps_tokens
        n_steps = CONSTANTS.steps if many else 0
    prior = np.log(np.maximum(known.mean(axis=0), 1e-9))  # [L]
    for _ in range(n_steps):
        e = vote_evidence(log_pi, table, weights)  # [N, L]
        labels = softmax(e + prior + table.pinned, axis=1)  # [N, L]
        counts[people] = count_votes(labels, table)[people]
        log_pi = confusion_tables(counts, table.abstains, strength)
    return log_pi
