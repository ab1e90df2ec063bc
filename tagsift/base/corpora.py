"""Corpora as estimators take them: whole, or as scikit-learn takes them apart."""

from __future__ import annotations

from typing import Any

from tagsift.base.settings import Method
from tagsift.data import Corpus, Sentence, split_at
from tagsift.errors import InputError
from tagsift.typing import Label

__all__ = [
    "as_corpus",
    "candidate_table",
    "candidates_of",
    "gold_of",
    "text_and_corpus",
]


def as_corpus(X: Any) -> Corpus | None:
    """A corpus, or one of the sentences of a corpus; None for anything else."""
    if isinstance(X, Corpus):
        return X
    if isinstance(X, list) and X and all(isinstance(one, Sentence) for one in X):
        if any(one.corpus is not X[0].corpus for one in X):
            raise InputError("expected sentences of one corpus, found several.")
        whole: Corpus = X[0].corpus
        return whole.take([one.number for one in X])
    return None


def text_and_corpus(X: Any, y: Any) -> tuple[Any, Corpus | None]:
    """The sentences, and the corpus that says what is known of their labels, if any.

    It stands for X and y, or for y alone where X are features of one's own.
    """
    corpus = as_corpus(X)
    if corpus is None:
        return X, as_corpus(y)
    if y is not None:
        raise InputError("a corpus has its labels with it; leave y out.")
    return corpus.rows, corpus


def candidates_of(
    corpus: Corpus, labels: tuple[Label, ...] | None, method: Method
) -> tuple[list[Any], tuple[Label, ...]]:
    """Masks or weights of the candidates of every sentence, and the labels."""
    table, names = candidate_table(corpus, labels, method)  # [N, L]
    return split_at(table, corpus.bounds), names


def candidate_table(
    corpus: Corpus, labels: tuple[Label, ...] | None, method: Method
) -> tuple[Any, tuple[Label, ...]]:
    """Mask or weights of the candidates of every token, [N, L], and the labels."""
    if corpus.candidate_codes is None and corpus.weights is None:
        if not len(corpus.votes.token):
            raise InputError(
                "expected a corpus with candidates, found neither candidates nor votes "
                "in it; say which column holds the labels."
            )
        remedy = (
            "chooses among the candidates of new sentences; give corpus.union(), or "
            "take VoteTagger, which weighs new votes."
            if method.votes
            else "learns from candidate sets; give corpus.union(), or take a method "
            "for votes such as VoteTagger."
        )
        raise InputError(
            f"expected a corpus with candidates, found the votes of "
            f"{len(corpus.annotators)} annotators: {method.title} {remedy}"
        )
    if labels is not None:
        corpus = corpus.with_labels([str(name) for name in labels])
    weights, codes = corpus.weights, corpus.candidate_codes  # [N, L], [N]
    table = corpus.members[codes] if weights is None else weights  # [N, L]
    return table, corpus.label_set.names


def gold_of(corpus: Corpus) -> list[list[str]] | None:
    """The truth of a corpus, or its labels where all are exact, to score with."""
    if corpus.gold is not None:
        return corpus.gold
    exact = corpus.candidate_codes is not None and not corpus.n_ambiguous
    return corpus.labels if exact and corpus.weights is None else None
