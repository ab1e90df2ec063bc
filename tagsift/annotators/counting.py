"""Votes turned into labels without looking at the text, and a tagger fitted on those.

Majority vote, Dawid–Skene and MACE: what everybody does today, and what `VoteTagger` is
compared with.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from tagsift.annotators.dawid_skene import dawid_skene
from tagsift.annotators.from_votes import TaggerFromVotes, of_votes
from tagsift.annotators.initialise import vote_shares
from tagsift.annotators.mace import mace
from tagsift.annotators.new_votes import check_known
from tagsift.annotators.vote_table import VoteTable
from tagsift.base import Method, TrainingSet, Transduction, setting
from tagsift.base.corpora import text_and_corpus
from tagsift.data.annotators import Votes
from tagsift.data.corpus import Corpus
from tagsift.data.span_table import types_of
from tagsift.data.stacking import split_at
from tagsift.typing import FloatArray, IntArray, Label

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


#: What only the chain model knows.
_OF_TAGGER = ("estimator_", "vectorizer_", "blocks_")


class CountedVotes(TaggerFromVotes):
    """Labels from votes alone; a chain model is fitted on them when first needed."""

    def fit_tagger(self) -> Self:
        """Fit the chain model now; else the first prediction or file does."""
        self._check_fitted()
        before = dict(self.__dict__)
        if (later := self.__dict__.pop("_later", None)) is not None:
            X, corpus, classes, counted_ = later
            try:
                super()._fit_votes(X, corpus, classes, counted=counted_)
            except BaseException:
                self.__dict__.update(before)
                raise
        return self

    def recover(
        self, X: Any, y: Any = None
    ) -> tuple[list[list[Label]], list[FloatArray] | None]:
        """Labels of new sentences: from their votes alone, where they have any.

        Parameters
        ----------
        X, y : Corpus, or lists of sentences
            With votes; or with candidates, as in `SequenceTagger.recover`.

        Returns
        -------
        labels, confidences
            As in `SequenceTagger.recover`.
        """
        _, corpus = text_and_corpus(X, y)
        if corpus is None or not of_votes(corpus):
            return super().recover(X, y)
        self._check_fitted()
        check_known(corpus, (), self.classes_)
        table = self._table(corpus, self.classes_)
        confidences = self._posterior(table)  # [N, L]
        labels = self._labels(table, confidences)  # [N]
        bounds = table.bounds
        return self._as_labels(labels, bounds), split_at(confidences, bounds)

    def __getattr__(self, name: str) -> Any:
        if name in _OF_TAGGER and "_later" in self.__dict__:
            return vars(self.fit_tagger())[name]
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}"
        )

    def _fit_votes(
        self,
        X: Any,
        corpus: Corpus,
        labels: tuple[Label, ...] | None = None,
        **more: Any,
    ) -> Self:
        table = self._table(corpus, labels)
        confidences = self._posterior(table)  # [N, L]
        best = self._labels(table, confidences)  # [N]
        self._forget()
        self.classes_, self.scheme_ = table.corpus.label_set.names, table.corpus.scheme
        self.transduction_ = self._as_labels(best, table.bounds)
        self.confidences_ = split_at(confidences, table.bounds)
        self._later = X, corpus, self.classes_, Transduction(best, confidences)
        return self if X is corpus.rows else self.fit_tagger()

    def _forget(self) -> None:
        super()._forget()
        for name in (*_OF_TAGGER, "_later"):
            self.__dict__.pop(name, None)

    def _posterior(self, table: VoteTable) -> FloatArray:
        """Probability of every label of every token, [N, L]."""
        raise NotImplementedError

    def _labels(self, table: VoteTable, confidences: FloatArray) -> IntArray:
        """The labels, by default the surest, [N]."""
        return np.asarray(confidences.argmax(axis=1))

    def _aggregate(
        self, train: TrainingSet, table: VoteTable, counted: Transduction | None = None
    ) -> Transduction:
        assert counted is not None and counted.labels is not None
        mask = np.zeros_like(train.mask)  # [N, L]
        mask[np.arange(len(mask)), counted.labels] = True
        inner = self._new_estimator()
        inner._fit(replace(train, mask=mask))
        self._take(inner)
        return counted


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
