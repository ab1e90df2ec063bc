"""From a corpus to the result: by a fit, or with a model that is fitted already."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from tagsift.annotators import VoteTagger
from tagsift.annotators.from_votes import TaggerFromVotes, votes_of
from tagsift.base import SequenceTagger
from tagsift.chain_gp import ChainGP
from tagsift.cleaned.cleaned import Cleaned
from tagsift.data.corpus import Corpus
from tagsift.metrics import label_indices
from tagsift.typing import FloatArray, RandomState

__all__ = ["clean", "found_by"]


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
        return found_by(corpus, model, *model.recover(source))
    model = clone(model)
    if isinstance(model, TaggerFromVotes):
        _, corpus = votes_of(corpus, None, model.method.title)
        source = corpus
    else:
        source = _candidates(corpus)
    model.fit(source)
    confidences = getattr(model, "confidences_", None)
    if confidences is None and model.method.probabilities:
        _, confidences = model.recover(source)
    return found_by(corpus, model, model.transduction_, confidences)


def _candidates(corpus: Corpus) -> Corpus:
    return corpus if corpus.candidate_codes is not None else corpus.union()


def found_by(
    corpus: Corpus,
    model: SequenceTagger,
    labels: Any,
    confidences: list[FloatArray] | None,
) -> Cleaned:
    """The result of labels and confidences of a fitted model, sentence by sentence."""
    names = [str(name) for name in model.classes_]
    width = len(names)
    table = None
    if confidences is not None:
        table = np.concatenate([np.zeros((0, width)), *confidences])  # [N, L]
    codes = label_indices(
        [[str(name) for name in row] for row in labels], names, name="labels"
    )
    return Cleaned(corpus.with_labels(_both(corpus, names)), model, codes, table)


def _both(corpus: Corpus, names: list[str]) -> list[str]:
    """The labels of a model, then those of the corpus that it does not know."""
    return list(dict.fromkeys((*names, *corpus.label_set)))
