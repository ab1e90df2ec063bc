"""What a person should look at first: tokens and sentences by uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import entr

from tagsift.data import Corpus
from tagsift.errors import InputError
from tagsift.typing import FloatArray, IntArray

__all__ = [
    "SentenceRanking",
    "doubt",
    "entropy",
    "rank_sentences",
    "rank_tokens",
    "vote_disagreement",
]


def entropy(confidences: FloatArray) -> FloatArray:
    """Entropy of the confidences of every token, in nats, [N].

    It is 0 where one label has it all, log L where all are equal. Rows sum to 1; labels
    that are no candidates have 0.
    """
    return np.asarray(entr(np.asarray(confidences)).sum(axis=1))  # [N]


def doubt(confidences: FloatArray, chosen: IntArray) -> FloatArray:
    """One minus the confidence of the chosen label of every token, [N]."""
    rows = np.arange(len(chosen))  # [N]
    return np.clip(1.0 - np.asarray(confidences)[rows, chosen], 0.0, 1.0)  # [N]


def vote_disagreement(corpus: Corpus, codes: IntArray) -> FloatArray:
    """Share of the votes on every token that differ from its label, [N].

    `codes` are the labels, [N]. 1 where nobody voted: nobody supports the label.
    """
    backs = corpus.votes.code == codes[corpus.votes.token]  # [K]
    heard = corpus.speaks | backs  # [K]: who abstains is against nothing
    n, token, backs = corpus.n_tokens, corpus.votes.token[heard], backs[heard]
    cast = np.bincount(token, minlength=n)  # [N]
    backing = np.bincount(token[backs], minlength=n)  # [N]
    return np.asarray(1.0 - backing / np.maximum(cast, 1))  # [N]


def rank_tokens(scores: FloatArray) -> IntArray:
    """Token numbers by falling score; ties in the order of the file, [N]."""
    return np.argsort(-np.asarray(scores), kind="stable")  # [N]


@dataclass(frozen=True)
class SentenceRanking:
    """Sentences by falling total score."""

    order: IntArray  # sentence numbers, the one to look at first in front
    total: FloatArray  # sum of the scores of the tokens, in the order of the file
    worst: IntArray  # place of the token of highest score; −1 in an empty sentence


def rank_sentences(scores: FloatArray, lengths: Sequence[int]) -> SentenceRanking:
    """Rank sentences by the sum of the scores of their tokens.

    With scores that are probabilities of being wrong, the sum is the expected number of
    wrong labels. `lengths` are the numbers of tokens of the sentences.
    """
    ends = np.cumsum(lengths)  # [S]
    if sum(lengths) != len(scores):
        raise InputError(
            f"there are {len(scores)} scores for {sum(lengths)} tokens; give one score "
            "per token."
        )
    pieces = np.split(np.asarray(scores, dtype=float), ends[:-1])  # S × [T]
    total = np.array([piece.sum() for piece in pieces])  # [S]
    worst = np.array([piece.argmax() if len(piece) else -1 for piece in pieces])  # [S]
    return SentenceRanking(rank_tokens(total), total, worst)
