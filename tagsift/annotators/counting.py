"""Votes turned into labels without looking at the text, and a tagger fitted on those.

Majority vote, Dawid–Skene and MACE: what everybody does today, and what `VoteTagger` is
compared with.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import ClassVar

import numpy as np

from tagsift.annotators.dawid_skene import dawid_skene
from tagsift.annotators.from_votes import TaggerFromVotes
from tagsift.annotators.initialise import vote_shares
from tagsift.annotators.mace import mace
from tagsift.annotators.vote_table import VoteTable
from tagsift.base import Method, TrainingSet, Transduction, setting
from tagsift.data.annotators import Votes
from tagsift.data.corpus import Corpus
from tagsift.data.span_table import types_of
from tagsift.data.stacking import split_at
from tagsift.typing import FloatArray, IntArray

__all__ = [
    "MACE",
    "CountedVotes",
    "DawidSkene",
    "MajorityVote",
    "counted",
    "majority_labels",
    "majority_shares",
    "quick_labels",
]

#: What is true of all methods here.
counted = partial(Method, structured=True, probabilities=True, votes=True)


def quick_labels(corpus: Corpus) -> list[list[str]]:
    """Labels of Dawid–Skene, which does not look at the text."""
    names = corpus.label_set.names
    best = DawidSkene()._posterior(VoteTable(corpus)).argmax(axis=1).tolist()
    return split_at([names[k] for k in best], corpus.bounds)


class CountedVotes(TaggerFromVotes):
    """Labels from votes alone; the chain model is fitted on them."""

    def _posterior(self, table: VoteTable) -> FloatArray:
        """Probability of every label of every token, [N, L]."""
        raise NotImplementedError

    def _labels(self, table: VoteTable, confidences: FloatArray) -> IntArray:
        """The labels, by default the surest, [N]."""
        return np.asarray(confidences.argmax(axis=1))

    def _aggregate(self, train: TrainingSet, table: VoteTable) -> Transduction:
        confidences = self._posterior(table)  # [N, L]
        labels = self._labels(table, confidences)  # [N]
        mask = np.zeros_like(train.mask)  # [N, L]
        mask[np.arange(len(labels)), labels] = True
        inner = self._new_estimator()
        inner._fit(replace(train, mask=mask))
        self._take(inner)
        return Transduction(labels, confidences)


class MajorityVote(CountedVotes):
    """Majority vote on types, the bounds apart; see `Corpus.majority`.

    The confidence of a label is the share of the votes for it.

    Parameters
    ----------
    estimator, o_means, features, labels, scheme, random_state, verbose
        As in `TaggerFromVotes`.
    tokenizer, sentences
        As in `TaggerFromVotes`.
    """

    method: ClassVar[Method] = counted(
        name="majority",
        title="Majority vote",
        family="votes counted",
        disambiguation="majority",
        settings="none",
        cost="one pass, and the fit of a chain",
        source="what everybody does",
    )

    def _posterior(self, table: VoteTable) -> FloatArray:
        return majority_shares(table)

    def _labels(self, table: VoteTable, confidences: FloatArray) -> IntArray:
        return majority_labels(table)


def majority_labels(table: VoteTable) -> IntArray:
    """The label that is known, or that of the majority, of every token, [N]."""
    return np.where(table.exact >= 0, table.exact, table.majority.labels)


def majority_shares(table: VoteTable) -> FloatArray:
    """Shares of the votes for every label, the largest for `majority_labels`, [N, L].

    Where bounds that were counted apart give a tag less than another of its type has,
    the two change places.
    """
    shares, labels = vote_shares(table), majority_labels(table)  # [N, L], [N]
    types, of_label = types_of(table.corpus.label_set.names, table.corpus.scheme)
    of_label = of_label % (len(types) + 1)  # [L], the last is outside
    same = of_label == of_label[labels][:, None]  # [N, L]: of the type that won
    rows, most = np.arange(len(labels)), np.where(same, shares, -1.0).argmax(axis=1)
    mine = shares[rows, labels]  # [N]
    shares[rows, labels] = shares[rows, most]
    shares[rows, most] = np.where(most == labels, shares[rows, most], mine)
    return np.asarray(shares)


class DawidSkene(CountedVotes):
    """Dawid–Skene: a confusion matrix per annotator, token by token.

    Parameters
    ----------
    strength : float
        Pseudo-votes of the pooled confusion matrix in each annotator's.
    estimator, o_means, features, labels, scheme, random_state, verbose
        As in `TaggerFromVotes`.
    tokenizer, sentences
        As in `TaggerFromVotes`.
    """

    method: ClassVar[Method] = counted(
        name="dawid-skene",
        title="Dawid–Skene",
        family="annotator model",
        disambiguation="confusion matrices",
        settings="{strength}",
        cost="rounds × votes, and the fit of a chain",
        source="Dawid & Skene, Applied Statistics 28, 1979",
    )

    strength: float = setting(10.0, above=0)

    def _posterior(self, table: VoteTable) -> FloatArray:
        *cast, part = table.spoken  # [E] each
        times = table.sum_by_token(table.corpus.speaks)  # [N]
        posterior = vote_shares(table)  # [N, L]
        if times.max(initial=0) > 1:  # else there is nothing to judge anybody by
            sizes = table.n_tokens, table.n_annotators, table.n_labels
            estimate = dawid_skene(
                Votes(*cast), *sizes, part=part, strength=self.strength
            )
            posterior[times > 0] = estimate.posterior[times > 0]
        posterior *= np.exp(table.pinned)
        return np.asarray(posterior / posterior.sum(axis=1, keepdims=True))


class MACE(CountedVotes):
    """MACE: an annotator knows the label, or spams.

    Parameters
    ----------
    n_steps : int
        Steps of expectation–maximisation.
    estimator, o_means, features, labels, scheme, random_state, verbose
        As in `TaggerFromVotes`.
    tokenizer, sentences
        As in `TaggerFromVotes`.
    """

    method: ClassVar[Method] = counted(
        name="mace",
        title="MACE",
        family="annotator model",
        disambiguation="known or spammed",
        settings="{n_steps}",
        cost="steps × votes, and the fit of a chain",
        source="Hovy, Berg-Kirkpatrick, Vaswani & Hovy, NAACL 2013",
    )

    n_steps: int = setting(50, least=1)

    def _posterior(self, table: VoteTable) -> FloatArray:
        return mace(table, vote_shares(table), self.n_steps)
