"""How far annotators agree in pairs, span by span."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from tagsift.annotators.agreement import (
    encode_votes,
    fleiss_kappa,
    krippendorff_alpha,
    pairwise_agreement,
)
from tagsift.data import VoteCorpus, spans
from tagsift.typing import IntArray

__all__ = ["Agreement", "Pair", "corpus_agreement"]


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
