"""Which annotators are models, where nobody said so: the text tells.

A model reads what the text model reads, at every token anew. So the text is explained
far worse by its votes if their tables know the vote before than if they do not; with a
person's votes, who goes on with a span, both are nearly the same. That is asked of all
votes together, and only then of everybody's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import entr

from tagsift.annotators.confusion import confusion_tables, count_votes, vote_evidence
from tagsift.annotators.settings import CONSTANTS
from tagsift.annotators.vote_table import VoteTable
from tagsift.annotators.vote_weight import judge_score, preferred_weight
from tagsift.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from tagsift.annotators.rounds import Trail

__all__ = ["context_ratio", "guess_models"]


def guess_models(trail: Trail, table: VoteTable, *, vectors: bool = False) -> BoolArray:
    """Annotators of unknown kind who vote as models do, [A]."""
    guessed = np.zeros(table.n_annotators, dtype=bool)  # [A]
    unknown = [one.kind == "unknown" for one in table.corpus.annotators]
    asked = np.array(unknown, dtype=bool) & ~table.abstains  # [A]
    if table.n_contexts == 1 or not asked.any() or table.n_annotators == 1:
        return guessed
    text, labels = trail.text, trail.labels
    counts = count_votes(np.eye(table.n_labels)[labels], table)  # [A, L, B, L]
    context, plain = (
        confusion_tables(counts, table.abstains, context=share) for share in (1.0, 0.0)
    )
    most = CONSTANTS.model_ratio_vectors if vectors else CONSTANTS.model_ratio
    every = (vote_evidence(pi, table)[table.voted] for pi in (context, plain))
    if context_ratio(text[table.voted], *every) <= most:
        return guessed
    order = np.argsort(table.annotator, kind="stable")  # [K]
    ends = np.searchsorted(table.annotator[order], np.arange(table.n_annotators + 1))
    for a in np.flatnonzero(asked).tolist():
        k = order[ends[a] : ends[a + 1]]  # [K']
        k = k[table.code[k] < table.n_labels]
        if len(k) < CONSTANTS.model_votes:
            continue
        k = k[:: max(len(k) // CONSTANTS.model_votes_most, 1)]
        before, code = table.before[k], table.code[k]  # [K'], [K']
        with_, without = (pi[a][:, before, code].T for pi in (context, plain))
        guessed[a] = context_ratio(text[table.token[k]], with_, without) > most
    return guessed


def context_ratio(text: FloatArray, context: FloatArray, plain: FloatArray) -> float:
    """How many times further the text is from votes with context than without.

    `context` and `plain` are the evidence of the votes with and without the vote
    before, [K, L], each compared by its divergence from the text at its best τ.
    """
    entropy = float(entr(text).sum(axis=1).mean())
    apart, least = (
        -judge_score(text, votes, preferred_weight(text, votes)) - entropy
        for votes in (context, plain)
    )
    return apart / max(least, np.finfo(float).tiny)
