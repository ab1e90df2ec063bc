"""How far annotators agree: token by token, and in pairs span by span.

Votes on tokens are one integer per token and annotator, from 0 to the number of labels
less one, and −1 where an annotator did not label the token; labels are names without
order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from tagsift.data import VoteCorpus, spans
from tagsift.errors import InputError
from tagsift.typing import FloatArray, IntArray, Label

__all__ = [
    "Agreement",
    "Pair",
    "PairwiseAgreement",
    "checked_votes",
    "corpus_agreement",
    "encode_votes",
    "fleiss_kappa",
    "krippendorff_alpha",
    "one_hot",
    "pairwise_agreement",
    "vote_counts",
]


def encode_votes(
    votes: Sequence[Sequence[Sequence[Label | frozenset[str] | None]]],
    labels: Sequence[Label],
) -> IntArray:
    """Stack the votes of all sentences as label indices, [N, A].

    A missing vote is −1, and so is a set of labels: its annotator could not decide.
    """
    place: dict[Any, int] = {name: k for k, name in enumerate(labels)}
    place[None] = -1
    try:
        rows = [
            [-1 if isinstance(vote, frozenset) else place[vote] for vote in token]
            for sentence in votes
            for token in sentence
        ]
    except KeyError as error:
        raise InputError(
            f"the vote {error.args[0]!r} is not among the {len(labels)} labels; name "
            "it in the label set or correct it."
        ) from None
    if len({len(row) for row in rows}) > 1:
        raise InputError("every token needs one vote (or None) per annotator.")
    return np.array(rows, dtype=np.int64).reshape(len(rows), -1)  # [N, A]


def checked_votes(votes: IntArray, n_labels: int) -> IntArray:
    """Check what every function here takes."""
    array = np.asarray(votes)  # [N, A]
    if array.ndim != 2 or array.dtype.kind not in "iu" or array.size == 0:
        raise InputError(
            "votes must be an integer array of shape (n_tokens, n_annotators) with "
            f"something in it; got {array.dtype} of shape {array.shape}."
        )
    if n_labels < 1:
        raise InputError("votes need a label to be for; the label set is empty.")
    if array.min() < -1 or array.max() >= n_labels:
        raise InputError(
            f"votes must lie between −1 (missing) and {n_labels - 1}; got values from "
            f"{array.min()} to {array.max()}."
        )
    return array.astype(np.int64)


def vote_counts(votes: IntArray, n_labels: int) -> FloatArray:
    """Number of votes for every label at every token, [N, L]."""
    array = checked_votes(votes, n_labels)
    columns = [(array == label).sum(axis=1) for label in range(n_labels)]  # [N] each
    return np.stack(columns, axis=1).astype(float)


def one_hot(votes: IntArray, n_labels: int) -> csr_matrix:
    """Votes as a sparse 0/1 matrix with one column per annotator and label."""
    token, annotator = np.nonzero(votes >= 0)  # [V], [V]
    column = annotator * n_labels + votes[token, annotator]  # [V]
    shape = (len(votes), votes.shape[1] * n_labels)
    return csr_matrix((np.ones(len(token)), (token, column)), shape=shape)  # [N, A·L]


@dataclass(frozen=True)
class PairwiseAgreement:
    """Agreement of every pair of annotators."""

    shared: IntArray  # [A, A]  tokens that both labelled
    share: FloatArray  # [A, A]  those with the same label; NaN where there are none
    kappa: FloatArray  # [A, A]  Cohen's κ; NaN where it is not defined

    @property
    def mean_share(self) -> float:
        """Share of equal labels over all pairs of votes for the same token."""
        above = np.triu_indices(len(self.shared), k=1)
        shared = self.shared[above]  # [P]
        if not shared.sum():
            return float("nan")
        equal = np.nan_to_num(self.share[above]) * shared  # [P]
        return float(equal.sum() / shared.sum())


def pairwise_agreement(votes: IntArray, n_labels: int) -> PairwiseAgreement:
    """Share of equal labels and Cohen's κ for every pair of annotators.

    κ takes off what two annotators with the same habits would reach by chance.
    """
    array = checked_votes(votes, n_labels)
    n_annotators = array.shape[1]
    hot = one_hot(array, n_labels)  # [N, A·L]
    pairs = (hot.T @ hot).tocoo()  # [A·L, A·L]  of two annotators' labels
    (a, k), (b, other) = (np.divmod(side, n_labels) for side in (pairs.row, pairs.col))
    shared, equal = np.zeros((2, n_annotators, n_annotators))  # [A, A], [A, A]
    mine = np.zeros((n_annotators, n_annotators, n_labels))  # [A, A, L]  a's, with b
    np.add.at(shared, (a, b), pairs.data)
    np.add.at(equal, (a, b), np.where(k == other, pairs.data, 0.0))
    np.add.at(mine, (a, b, k), pairs.data)
    chance = np.einsum("abk,bak->ab", mine, mine)  # [A, A]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = equal / shared  # [A, A]
        by_chance = chance / shared**2  # [A, A]
        kappa = (share - by_chance) / (1.0 - by_chance)  # [A, A]
    kappa[~np.isfinite(kappa)] = np.nan
    return PairwiseAgreement(shared.astype(np.int64), share, kappa)


def _counts_of_pairs(votes: IntArray, n_labels: int) -> FloatArray:
    """Votes for every label, at the tokens with at least two votes, [N', L]."""
    counts = vote_counts(votes, n_labels)  # [N, L]
    return np.asarray(counts[counts.sum(axis=1) >= 2])


def fleiss_kappa(votes: IntArray, n_labels: int) -> float:
    """Fleiss' κ, the mean over the tokens with at least two votes; NaN if undefined."""
    counts = _counts_of_pairs(votes, n_labels)  # [N', L]
    if not len(counts):
        return float("nan")
    total = counts.sum(axis=1)  # [N']
    agreed = (counts * (counts - 1)).sum(axis=1) / (total * (total - 1))  # [N']
    share = counts.sum(axis=0) / counts.sum()  # [L]
    chance = float((share**2).sum())
    if chance >= 1.0:
        return float("nan")
    return float((agreed.mean() - chance) / (1.0 - chance))


def krippendorff_alpha(votes: IntArray, n_labels: int) -> float:
    """Krippendorff's α for nominal labels and missing votes; NaN where undefined."""
    counts = _counts_of_pairs(votes, n_labels)  # [N', L]
    if not len(counts):
        return float("nan")
    total = counts.sum(axis=1)  # [N']
    differing = (total**2 - (counts**2).sum(axis=1)) / (total - 1)  # [N']
    margins = counts.sum(axis=0)  # [L]
    size = margins.sum()
    expected = size**2 - (margins**2).sum()
    if expected == 0.0:
        return float("nan")
    return float(1.0 - (size - 1.0) * differing.sum() / expected)


@dataclass(frozen=True)
class Pair:
    """Two annotators who labelled some of the same tokens."""

    first: str
    second: str
    shared: int  # tokens that both labelled
    agreement: float  # share of equal labels among them
    kappa: float  # Cohen's κ
    span_f1: float  # over sentences that both labelled; NaN where neither has a span


@dataclass(frozen=True)
class Agreement:
    """Agreement figures of a corpus; NaN where one is not defined."""

    tokens: int
    votes_per_token: float  # labels given per token
    pairwise_agreement: float  # share of equal labels over all pairs of votes
    fleiss_kappa: float  # agreement beyond chance, as is the next
    krippendorff_alpha: float
    pairwise_span_f1: float  # over all pairs of annotators of the same sentence
    pairs: tuple[Pair, ...]  # all that share a token

    def as_dict(self) -> dict[str, Any]:
        """Everything as dicts, lists and numbers."""
        return asdict(self)


def corpus_agreement(corpus: VoteCorpus) -> Agreement:
    """Compute the agreement figures of a corpus.

    Annotators who abstain have not labelled a token of which they say `O`.
    """
    labels = list(corpus.label_set)
    votes = encode_votes(corpus.votes, labels)  # [N, A]
    if "O" in labels:
        quiet = np.array([name in corpus.abstaining for name in corpus.annotators])
        votes[(votes == labels.index("O")) & quiet] = -1
    pairs = pairwise_agreement(votes, len(labels))
    hits, given = _span_counts(corpus)  # [A, A], [A, A]
    with np.errstate(invalid="ignore", divide="ignore"):
        f1 = 2 * hits / given  # [A, A]
    names = corpus.annotators
    above = np.triu_indices(len(names), k=1)
    total = given[above].sum()
    return Agreement(
        tokens=len(votes),
        votes_per_token=float((votes >= 0).sum() / max(len(votes), 1)),
        pairwise_agreement=pairs.mean_share,
        fleiss_kappa=fleiss_kappa(votes, len(labels)),
        krippendorff_alpha=krippendorff_alpha(votes, len(labels)),
        pairwise_span_f1=float(2 * hits[above].sum() / total) if total else np.nan,
        pairs=tuple(
            Pair(
                names[a],
                names[b],
                int(pairs.shared[a, b]),
                float(pairs.share[a, b]),
                float(pairs.kappa[a, b]),
                float(f1[a, b]),
            )
            for a, b in zip(*(half.tolist() for half in above), strict=True)
            if pairs.shared[a, b]
        ),
    )


def _span_counts(corpus: VoteCorpus) -> tuple[IntArray, IntArray]:
    """Spans that two annotators have in common, and both numbers added, [A, A]."""
    n_annotators = len(corpus.annotators)
    hits = np.zeros((n_annotators, n_annotators), dtype=np.int64)  # [A, A]
    given = np.zeros_like(hits)  # [A, A]
    for sentence in corpus.votes:
        found = {}
        for a, column in enumerate(zip(*sentence, strict=True)):
            if any(vote is not None for vote in column):
                tags = [vote if isinstance(vote, str) else "O" for vote in column]
                found[a] = set(spans(tags, corpus.scheme))
        for a, b in combinations(found, 2):
            hits[a, b] += len(found[a] & found[b])
            given[a, b] += len(found[a]) + len(found[b])
    return hits, given
