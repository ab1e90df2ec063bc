"""Wawa: a vote counts as often as its annotator agrees with the majority.

Worker agreement with aggregate, as annotation platforms compute it.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tagsift.annotators.counting import CountedVotes, counted, majority_labels
from tagsift.annotators.initialise import vote_shares
from tagsift.annotators.vote_table import VoteTable
from tagsift.base import Method
from tagsift.typing import FloatArray

__all__ = ["Wawa"]


class Wawa(CountedVotes):
    """Majority vote in which annotators weigh what they agree with the majority.

    Parameters
    ----------
    estimator, o_means, features, labels, scheme, random_state, verbose
        As in `TaggerFromVotes`.
    tokenizer, sentences
        As in `TaggerFromVotes`.
    """

    method: ClassVar[Method] = counted(
        name="wawa",
        title="Wawa",
        family="votes counted",
        disambiguation="weighted majority",
        settings="none",
        cost="two passes, and the fit of a chain",
        source="worker agreement with aggregate, annotation platforms",
    )

    def _posterior(self, table: VoteTable) -> FloatArray:
        speaks = table.corpus.speaks  # [K]
        token, annotator = table.token[speaks], table.annotator[speaks]  # [K'], [K']
        vote = table.code[speaks]  # [K']
        said = table.members / table.members.sum(axis=1, keepdims=True)  # [V, L]
        agrees = said[vote, majority_labels(table)[token]]  # [K']
        n = table.n_annotators
        votes = np.maximum(np.bincount(annotator, minlength=n), 1)  # [A]
        skill = np.bincount(annotator, agrees, n) / votes  # [A]
        weighted = 1e-9 * vote_shares(table)  # [N, L]
        np.add.at(weighted, token, skill[annotator, None] * said[vote])
        weighted *= np.exp(table.pinned)
        return np.asarray(weighted / weighted.sum(axis=1, keepdims=True))
