"""From a corpus to the result: by a fit, or with a model that is fitted already."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import clone

from tagsift.annotators import VoteTable, VoteTagger, quick_labels
from tagsift.annotators.counting import majority_labels, majority_shares
from tagsift.annotators.from_votes import TaggerFromVotes, votes_of
from tagsift.base import SequenceTagger
from tagsift.chain_gp import ChainGP
from tagsift.cleaned.cleaned import Cleaned
from tagsift.data import LabelSet
from tagsift.data.corpus import Corpus
from tagsift.errors import InputError
from tagsift.metrics import label_indices
from tagsift.typing import FloatArray, RandomState

__all__ = [
    "clean",
    "cleaned_by",
    "counted",
    "quick",
    "tagged",
    "transduced",
    "unlabelled",
]


def clean(
    corpus: Corpus,
    model: SequenceTagger | None = None,
    *,
    random_state: RandomState = 0,
    verbose: int = 0,
) -> Cleaned:
    """Find the likely true label of every token.

    Parameters
    ----------
    corpus : Corpus
        With votes, or with candidates.
    model : SequenceTagger, optional
        What finds them; by default `VoteTagger` for votes and `ChainGP` for candidates.
        One that is fitted is used as it is, else a copy is fitted. A method for
        candidates learns from the union of the votes; for one for votes, labels that
        are all exact are those of one annotator, who may err.
    random_state, verbose
        Of the default model.

    Returns
    -------
    Cleaned
    """
    are_votes = len(corpus.votes.token) > 0
    if model is None:
        kind: Any = VoteTagger if are_votes else ChainGP
        model = kind(random_state=random_state, verbose=verbose)
    if hasattr(model, "classes_"):
        by_votes = are_votes and isinstance(model, TaggerFromVotes)
        source = corpus if by_votes else _candidates(corpus)
        return cleaned_by(corpus, model, *model.recover(source), fitted_to_it=False)
    model = clone(model)
    if isinstance(model, TaggerFromVotes):
        _, corpus = votes_of(corpus, None, model.method.title)
        model.fit(corpus)
    else:
        model.fit(_candidates(corpus))
    return transduced(corpus, model)


def transduced(corpus: Corpus, model: SequenceTagger) -> Cleaned:
    """The result of a model that was fitted to this corpus."""
    confidences = getattr(model, "confidences_", None)
    if confidences is None and model.method.probabilities:
        _, confidences = model.recover(_candidates(corpus))
    return cleaned_by(corpus, model, model.transduction_, confidences)


def _candidates(corpus: Corpus) -> Corpus:
    return corpus if corpus.candidate_codes is not None else corpus.union()


def cleaned_by(
    corpus: Corpus,
    model: SequenceTagger,
    labels: Any,
    confidences: list[FloatArray] | None,
    classes: Iterable[str] = (),
    *,
    fitted_to_it: bool = True,
) -> Cleaned:
    """The result of labels and confidences of a fitted model, sentence by sentence.

    Its labels are those of the model, and `classes` after them: they have no chance.
    """
    own = [str(name) for name in model.classes_]
    names = tuple(dict.fromkeys((*own, *classes)))
    table = None
    if confidences is not None:
        width = len(own)
        stacked = np.concatenate([np.zeros((0, width)), *confidences])  # [N, L']
        table = np.pad(stacked, ((0, 0), (0, len(names) - width)))  # [N, L]
    codes = label_indices(
        [[str(name) for name in row] for row in labels], names, name="labels"
    )
    every = dict.fromkeys((*names, *corpus.label_set))
    corpus = corpus.with_labels(every)
    return Cleaned(corpus, model, names, codes, table, fitted_to_it)


def counted(corpus: Corpus, classes: Iterable[str] = ()) -> Cleaned:
    """What counting alone says, without any fit: shares of the votes or candidates.

    Its labels are those of the corpus, and `classes` after them.
    """
    names = tuple(dict.fromkeys((*corpus.label_set, *classes)))
    corpus = corpus.with_labels(names)
    if len(corpus.votes.token):
        table = VoteTable(corpus)
        codes, shares = majority_labels(table), majority_shares(table)  # [N], [N, L]
    else:
        shares = _candidate_shares(corpus)  # [N, L]
        codes = shares.argmax(axis=1)  # [N]
    return Cleaned(corpus, None, names, codes, shares, fitted_to_it=False)


def quick(corpus: Corpus) -> Cleaned:
    """What Dawid–Skene says, without any text: enough to judge annotators by."""
    names = tuple(corpus.label_set)
    codes = label_indices(quick_labels(corpus), names, name="labels")
    return Cleaned(corpus, None, names, codes, fitted_to_it=False)


def unlabelled(corpus: Corpus, names: Iterable[str], scheme: str) -> Corpus:
    """The text of a corpus, of which every label of `names` may be right.

    What is exact in it is the truth.
    """
    truth, codes = corpus.truth, corpus.candidate_codes
    if truth is None and codes is not None and not corpus.n_ambiguous:
        truth = tuple(corpus.label_set.names[k] for k in codes.tolist())
    every = LabelSet(tuple(dict.fromkeys((*names, *corpus.label_set))))
    several = len(every) > 1
    return Corpus(
        columns=corpus.columns,
        bounds=corpus.bounds,
        label_set=every,
        scheme=scheme,
        sets=(every.full,) * several,
        candidate_codes=np.full(corpus.n_tokens, len(every) * several),
        truth=truth,
        sources=corpus.sources,
    )


def tagged(corpus: Corpus, model: SequenceTagger) -> Cleaned:
    """What a fitted model reads in text; labels of the corpus are the truth, if any."""
    text = unlabelled(corpus, map(str, model.classes_), model.scheme_)
    labels = model.predict(corpus.rows)
    sure = model.predict_proba(corpus.rows) if model.method.probabilities else None
    return cleaned_by(text, model, labels, sure, fitted_to_it=False)


def _candidate_shares(corpus: Corpus) -> FloatArray:
    """Candidates, the more frequent labels a little ahead, [N, L]."""
    if corpus.candidate_codes is None:
        raise InputError("expected votes or candidates to count, found none.")
    mask = corpus.members[corpus.candidate_codes]  # [N, L]
    shares = mask / mask.sum(axis=1, keepdims=True)  # [N, L]
    shares *= 1 + 1e-6 * shares.sum(axis=0) / max(len(mask), 1)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
