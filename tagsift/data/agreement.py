"""How far annotators agree: token by token, and in pairs span by span.

Computed from the votes that were cast; labels are names without order. A set of labels
says that its annotator could not decide, and is no vote here, nor is the `O` of who
abstains.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tagsift.data.span_table import span_table
from tagsift.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from tagsift.data.corpus import Corpus

__all__ = ["Agreement", "Pair", "agreement"]

_NAN = float("nan")


@dataclass(frozen=True)
class Pair:
    """Two annotators who labelled some of the same tokens."""

    first: str
    second: str
    shared: int  # tokens that both labelled
    agreement: float  # share of equal labels among them
    kappa: float  # Cohen's κ; NaN where it is not defined
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


class _Cast(NamedTuple):
    """Votes for one label each, by token and then by annotator."""

    token: IntArray  # [K]
    annotator: IntArray  # [K]
    label: IntArray  # [K]


def agreement(corpus: Corpus) -> Agreement:
    """Compute the agreement figures of a corpus."""
    n_labels, n_tokens = len(corpus.label_set), corpus.n_tokens
    token, annotator, code = corpus.votes
    heard = corpus.speaks & (code < n_labels)  # [K]
    cast = _Cast(token[heard], annotator[heard], code[heard])
    shared, equal, chance = _pairs(cast, n_tokens, len(corpus.annotators), n_labels)
    hits, given = _spans_in_common(corpus)  # [A, A], [A, A]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = equal / shared  # [A, A]
        by_chance = chance / shared**2  # [A, A]
        kappa = (share - by_chance) / (1.0 - by_chance)  # [A, A]
        f1 = 2 * hits / given  # [A, A]
    kappa[~np.isfinite(kappa)] = _NAN
    above = np.triu_indices(len(shared), k=1)
    names = [one.name for one in corpus.annotators]
    return Agreement(
        tokens=n_tokens,
        votes_per_token=len(cast.token) / max(n_tokens, 1),
        pairwise_agreement=_ratio(equal[above].sum(), shared[above].sum()),
        fleiss_kappa=_fleiss_kappa(cast, n_tokens, n_labels),
        krippendorff_alpha=_krippendorff_alpha(cast, n_tokens, n_labels),
        pairwise_span_f1=_ratio(2 * hits[above].sum(), given[above].sum()),
        pairs=tuple(
            Pair(
                names[a],
                names[b],
                int(shared[a, b]),
                float(share[a, b]),
                float(kappa[a, b]),
                float(f1[a, b]),
            )
            for a, b in zip(*(half.tolist() for half in above), strict=True)
            if shared[a, b]
        ),
    )


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else _NAN


def _pairs(
    cast: _Cast, n_tokens: int, n_annotators: int, n_labels: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Tokens that two share, those with equal labels, and Σ_l n_a(l) n_b(l), [A, A].

    n_a(l) counts the votes of a for l on tokens that b labelled, too.
    """
    column = cast.annotator * n_labels + cast.label  # [K]
    shape = (n_tokens, n_annotators * n_labels)
    hot = sp.csr_matrix((np.ones(len(column)), (cast.token, column)), shape=shape)
    together = (hot.T @ hot).tocoo()  # [A·L, A·L]  of two annotators' labels
    a, k = np.divmod(together.row.astype(np.int64), n_labels)
    b, other = np.divmod(together.col.astype(np.int64), n_labels)
    square = (n_annotators, n_annotators)
    cell = a * n_annotators + b
    size = n_annotators**2
    times = together.data
    shared = np.bincount(cell, times, size).reshape(square)  # [A, A]
    equal = np.bincount(cell, times * (k == other), size).reshape(square)  # [A, A]
    of_pair = sp.coo_matrix((times, (cell, k)), shape=(size, n_labels)).tocsr()
    turned = np.arange(size).reshape(square).T.ravel()  # where (b, a) stands
    chance = np.asarray(of_pair.multiply(of_pair[turned]).sum(axis=1)).reshape(square)
    return shared.astype(float), equal.astype(float), chance


def _counts_of_pairs(cast: _Cast, n_tokens: int, n_labels: int) -> FloatArray:
    """Votes for every label, at the tokens with at least two votes, [N', L]."""
    cell = cast.token * n_labels + cast.label  # [K]
    counts = np.bincount(cell, minlength=n_tokens * n_labels).astype(float)
    counts = counts.reshape(n_tokens, n_labels)  # [N, L]
    return np.asarray(counts[counts.sum(axis=1) >= 2])


def _fleiss_kappa(cast: _Cast, n_tokens: int, n_labels: int) -> float:
    """Fleiss' κ, the mean over the tokens with at least two votes."""
    counts = _counts_of_pairs(cast, n_tokens, n_labels)  # [N', L]
    if not len(counts):
        return _NAN
    total = counts.sum(axis=1)  # [N']
    agreed = (counts * (counts - 1)).sum(axis=1) / (total * (total - 1))  # [N']
    share = counts.sum(axis=0) / counts.sum()  # [L]
    chance = float((share**2).sum())
    return float((agreed.mean() - chance) / (1.0 - chance)) if chance < 1.0 else _NAN


def _krippendorff_alpha(cast: _Cast, n_tokens: int, n_labels: int) -> float:
    """Krippendorff's α for nominal labels and missing votes."""
    counts = _counts_of_pairs(cast, n_tokens, n_labels)  # [N', L]
    if not len(counts):
        return _NAN
    total = counts.sum(axis=1)  # [N']
    differing = (total**2 - (counts**2).sum(axis=1)) / (total - 1)  # [N']
    margins = counts.sum(axis=0)  # [L]
    size = margins.sum()
    expected = size**2 - (margins**2).sum()
    if expected == 0.0:
        return _NAN
    return float(1.0 - (size - 1.0) * differing.sum() / expected)


def _spans_in_common(corpus: Corpus) -> tuple[FloatArray, FloatArray]:
    """Spans that two annotators have in common, and both numbers added, [A, A].

    Of the sentences that both have labelled some of.
    """
    n_annotators, n_tokens = len(corpus.annotators), corpus.n_tokens
    token, annotator, code = corpus.votes
    order = np.lexsort((token, annotator))  # [K]
    token, annotator = token[order], annotator[order]
    code = np.where(code < len(corpus.label_set), code, -1)[order]  # [K]
    first = corpus.previous[order] < 0  # [K]
    table = span_table(code, first, corpus.label_set.names, corpus.scheme)
    key = (token[table.start] * (n_tokens + 1) + token[table.end - 1]) * (
        table.type.max(initial=0) + 1
    ) + table.type  # [P]
    _, span = np.unique(key, return_inverse=True)  # [P]
    owner = annotator[table.start]  # [P]
    marks = _incidence(span, owner, int(span.max(initial=-1)) + 1, n_annotators)
    sentence = np.repeat(np.arange(len(corpus)), corpus.lengths)  # [N]
    there = _incidence(sentence[token], annotator, len(corpus), n_annotators)
    there.data[:] = 1.0
    counts = _incidence(sentence[token[table.start]], owner, len(corpus), n_annotators)
    beside = (counts.T @ there).toarray()  # [A, A]
    return (marks.T @ marks).toarray(), beside + beside.T


def _incidence(row: IntArray, column: IntArray, height: int, width: int) -> Any:
    return sp.csr_matrix((np.ones(len(row)), (row, column)), shape=(height, width))
