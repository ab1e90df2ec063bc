"""Votes turned into labels without looking at the text, and a tagger fitted on those.

Majority vote, Dawid–Skene and MACE: what everybody does today, and what `VoteTagger` is
compared with.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import ClassVar

import numpy as np

from tagsift.annotators.ballots import Ballots, ballots_of
from tagsift.annotators.from_votes import Aggregated, TaggerFromVotes
from tagsift.annotators.hidden_labels import dawid_skene
from tagsift.annotators.spammers import mace
from tagsift.annotators.start import vote_shares
from tagsift.base import Method, TrainingSet, setting
from tagsift.data import VoteCorpus
from tagsift.typing import FloatArray

__all__ = [
    "MACE",
    "CountedVotes",
    "DawidSkene",
    "MajorityVote",
    "counted",
    "quick_labels",
]

#: What is true of all methods here.
counted = partial(Method, structured=True, probabilities=True, weighted=True)
#: What the share of ``O`` counts against others: as many votes for both are a tie, and
#: a tie is no reason to see nothing.
_TIE = 0.99


def quick_labels(corpus: VoteCorpus) -> list[list[str]]:
    """Labels of Dawid–Skene, which does not look at the text."""
    names = list(corpus.label_set)
    ballots = ballots_of(corpus, names, [len(row) for row in corpus.rows])
    best = iter(DawidSkene()._posterior(ballots).argmax(axis=1).tolist())
    return [[names[next(best)] for _ in row] for row in corpus.rows]


class CountedVotes(TaggerFromVotes):
    """Labels from votes alone; the chain model is fitted on them."""

    def _posterior(self, ballots: Ballots) -> FloatArray:
        """Probability of every label of every token, [N, L]."""
        raise NotImplementedError

    def _aggregate(self, train: TrainingSet, ballots: Ballots) -> Aggregated:
        confidences = self._posterior(ballots)  # [N, L]
        labels = confidences.argmax(axis=1)  # [N]
        mask = np.zeros_like(train.mask)  # [N, L]
        mask[np.arange(len(labels)), labels] = True
        inner = self._new_estimator()
        inner._fit(replace(train, mask=mask))
        self.estimator_ = inner
        return labels, confidences


class MajorityVote(CountedVotes):
    """Majority vote; ties go to a label other than ``O``, and the first of these.

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

    def _posterior(self, ballots: Ballots) -> FloatArray:
        shares = vote_shares(ballots)  # [N, L]
        if ballots.outside >= 0:
            shares[:, ballots.outside] *= _TIE
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))


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

    def _posterior(self, ballots: Ballots) -> FloatArray:
        first = ballots.members.argmax(axis=1)  # [V], a set counts as its first label
        votes = np.where(ballots.votes < 0, -1, first[ballots.votes])  # [N, A]
        votes[(votes == ballots.outside) & ballots.abstains] = -1
        given = (votes >= 0).sum(axis=1)  # [N]
        heard = given > 0  # [N]
        posterior = vote_shares(ballots)  # [N, L]
        if given.max(initial=0) > 1:  # else there is nothing to judge anybody by
            n_labels, strength = ballots.n_labels, self.strength
            found = dawid_skene(votes[heard], n_labels, strength=strength)
            posterior[heard] = found.posterior
        posterior *= np.exp(ballots.pinned)
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

    def _posterior(self, ballots: Ballots) -> FloatArray:
        return mace(ballots, vote_shares(ballots), self.n_steps)
