"""Scorers of partial labels, for `cross_val_score` and `GridSearchCV`.

Held-out sentences with candidate sets have no truth to score with. They still tell
models apart: by how likely the sets are under the marginals, and by how many
predictions fall inside them. Where the truth is known, a corpus has it with it, or it
comes as metadata (``gold``), so that no fit sees it.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED

from tagsift.base.corpora import gold_of, text_and_corpus
from tagsift.base.inputs import (
    read_candidates,
    read_evidence,
    read_gold,
    read_sample_weight,
)
from tagsift.base.settings import Declared, setting
from tagsift.data import Corpus
from tagsift.errors import InputError
from tagsift.metrics import CLIP, equal_labels, resolve_scheme, span_scores
from tagsift.typing import BoolArray, FloatArray, IntArray, Label

__all__ = ["Scorer", "tagger_in"]


class Scorer(Declared, BaseEstimator):
    """Scorer of sequence taggers; give it as ``scoring=`` to scikit-learn.

    Parameters
    ----------
    measure : {"likelihood", "inside", "span_f1", "accuracy"}
        What is measured on held-out sentences, the larger the better:

        - ``"likelihood"``: mean over tokens of the log-probability that the label is in
          the candidate set, log Σ p(y | x) over the y in it; labels with weights count
          by them, the largest of a token as 1. Needs marginals.
        - ``"inside"``: share of tokens whose predicted label is in their set.
        - ``"span_f1"``: span F1 against the truth.
        - ``"accuracy"``: share of tokens whose predicted label is the truth.

    Notes
    -----
    Tokens whose set is full (None, say) tell nothing and are left out of the first two.
    A label that the fit has not seen has probability 0, and a set without any label
    known counts as a probability of 1e-15. Votes are scored as the sets of labels that
    were voted. The truth of the last two is the metadata ``gold``, which scikit-learn
    hands out where routing is enabled and the scorer asks for it; without it the gold
    of a corpus, or the labels where all are exact. `sample_weight`, one number a
    sentence, is asked for likewise.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> import tagsift
    >>> partial = tagsift.corrupt(tagsift.bundled("chunk")[:30], cl=2, p=0.3)
    >>> model = tagsift.make("word-counts")
    >>> X, y = partial.rows, partial.candidates
    >>> found = cross_val_score(model, X, y, scoring=tagsift.Scorer("inside"), cv=3)
    >>> bool((found > 0.6).all())
    True
    """

    __metadata_request__score: ClassVar[dict[str, str]] = {"estimator": UNUSED}
    positional: ClassVar[tuple[str, ...]] = ("measure",)

    measure: Literal["likelihood", "inside", "span_f1", "accuracy"] = setting(
        "likelihood"
    )

    def __call__(self, estimator: Any, X: Any, y: Any = None, **metadata: Any) -> float:
        """Score a fitted estimator, as scikit-learn does."""
        return self.score(estimator, X, y, **metadata)

    def score(
        self,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        gold: Any = None,
        sample_weight: Any = None,
    ) -> float:
        """Score a fitted estimator.

        Parameters
        ----------
        estimator : SequenceTagger, or a pipeline or search that ends in one
            Fitted.
        X, y : Corpus, or lists of sentences
            As in `SequenceTagger.fit`; of a corpus, candidates or votes.
        gold : list of sentences of labels, optional
            The truth, for ``"span_f1"`` and ``"accuracy"``.
        sample_weight : array of shape (n_sentences,), optional
            How much every sentence counts.

        Returns
        -------
        float
        """
        self.check_settings()
        X, corpus = text_and_corpus(X, y)
        labelled = y if corpus is None else corpus
        if labelled is None:
            raise InputError("there is nothing to score with; give y, or a corpus.")
        weights = read_sample_weight(sample_weight, len(labelled))  # [S]
        if self.measure in ("likelihood", "inside"):
            return self._of_sets(estimator, X, labelled, weights)
        if gold is None:
            gold = labelled if corpus is None else gold_of(corpus)
        if gold is None:
            raise InputError(
                f"expected a corpus with its truth to score by {self.measure!r}, found "
                "none; say which column is gold when it is read, give gold=, or take "
                "Scorer('inside')."
            )
        truth, predicted = read_gold(gold), estimator.predict(X)
        if self.measure == "span_f1":
            return _span_f1(truth, predicted, tagger_in(estimator).scheme_, weights)
        right = equal_labels(truth, predicted)  # [N]
        return _mean(right, list(map(len, truth)), weights)

    def _of_sets(
        self, estimator: Any, X: Any, y: Any, weights: FloatArray | None
    ) -> float:
        lengths = np.array([len(sentence) for sentence in y], dtype=np.int64)  # [S]
        classes = tuple(estimator.classes_)
        sets = _weights_of(y, lengths, classes)  # [N, L]
        full = (sets == 1.0).all(axis=1)  # [N]
        if self.measure == "likelihood":
            marginals = np.concatenate(estimator.predict_proba(X))  # [N, L]
            scores = np.log(np.clip((sets * marginals).sum(axis=1), CLIP, 1.0))  # [N]
        else:
            place = {name: k for k, name in enumerate(classes)}
            chosen = [place[n] for labels in estimator.predict(X) for n in labels]
            scores = sets[np.arange(len(sets)), chosen]  # [N]
        if full.all():
            raise InputError(
                f"there is nothing to score by {self.measure!r}; every candidate set "
                "holds all labels."
            )
        return _mean(scores, lengths, weights, ~full)


def tagger_in(estimator: Any) -> Any:
    """The tagger at the end of a pipeline or inside a search of scikit-learn."""
    while not hasattr(estimator, "scheme_"):
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        else:
            raise InputError(
                "expected a fitted tagger, or a pipeline or search that ends in one, "
                f"found {type(estimator).__name__}."
            )
    return estimator


def _weights_of(y: Any, lengths: IntArray, classes: tuple[Label, ...]) -> FloatArray:
    """What y says of the labels of a fit, 1 at most and for all where nothing, [N, L].

    Labels that the fit does not know are columns of no weight.
    """
    if isinstance(y, Corpus):
        soft = y.weights  # [N, L']
        if soft is None:
            corpus = y if y.candidate_codes is not None else y.union()
            table: Any = corpus.members[corpus.candidate_codes]  # [N, L']
        else:
            table = soft / soft.max(axis=1, keepdims=True)  # [N, L']
        full = (table == 1.0).all(axis=1)  # [N]
        return _of_classes(table, y.label_set.names, classes, full)
    if any(isinstance(piece, np.ndarray) and piece.ndim == 2 for piece in y):
        mask, _ = read_candidates(y, lengths, classes)  # [N, L]
        evidence = read_evidence(y, mask)  # [N, L]
        return mask.astype(float) if evidence is None else np.exp(evidence)
    try:
        mask, names = read_candidates(y, lengths)
    except InputError:
        mask, names = read_candidates(y, lengths, classes)  # no label at all
    unlabelled = np.array([entry is None for sentence in y for entry in sentence])
    return _of_classes(mask, names, classes, unlabelled)


def _of_classes(
    table: BoolArray | FloatArray,
    names: tuple[Label, ...],
    classes: tuple[Label, ...],
    unlabelled: BoolArray,
) -> FloatArray:
    """Columns `names` of a table [N, L'] as columns `classes`, [N, L]."""
    place = {name: k for k, name in enumerate(names)}
    sets = np.zeros((len(table), len(classes)))  # [N, L]
    for k, name in enumerate(classes):
        if name in place:
            sets[:, k] = table[:, place[name]]
    sets[unlabelled] = 1.0
    return sets


def _mean(
    values: Any, lengths: Any, weights: FloatArray | None, kept: Any = None
) -> float:
    """Mean over tokens [N], those of a sentence counting by its weight."""
    if weights is None:
        weights = np.ones(len(lengths))  # [S]
    per_token = np.repeat(weights, lengths)  # [N]
    if kept is not None:
        per_token = per_token * kept  # [N]
    if not per_token.any():
        raise InputError("there is nothing to score; no token counts.")
    return float((per_token * values).sum() / per_token.sum())


def _span_f1(
    gold: Any, predicted: Any, scheme: str, weights: FloatArray | None
) -> float:
    if weights is None:
        return float(span_scores(gold, predicted, scheme=scheme).f1)
    scheme = resolve_scheme(gold, scheme)
    right = both = 0.0
    for weight, *pair in zip(weights, gold, predicted, strict=True):
        if pair[0]:
            tally = span_scores(*([side] for side in pair), scheme=scheme).micro
            right += weight * tally.n_correct
            both += weight * (tally.n_gold + tally.n_predicted)
    return 2 * right / both if both else 0.0
