"""Scorers of partial labels, for `cross_val_score` and `GridSearchCV`.

Held-out sentences with candidate sets have no truth to score with. They still tell
models apart: by how likely the sets are under the marginals, and by how many
predictions fall inside them. Where the truth is known, it comes as metadata (``gold``),
so that no fit sees it.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED

from tagsift.base.inputs import (
    read_candidates,
    read_evidence,
    read_gold,
    read_sample_weight,
)
from tagsift.base.settings import Declared, setting
from tagsift.errors import InputError
from tagsift.io import VoteCorpus
from tagsift.metrics import span_scores
from tagsift.metrics.calibration import CLIP
from tagsift.metrics.spans import resolve_scheme
from tagsift.typing import FloatArray, IntArray, Label

__all__ = ["Scorer"]


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
    known counts as a probability of 1e-15. The truth of the last two is the metadata
    ``gold``, which scikit-learn hands out where routing is enabled and the scorer asks
    for it; without it, y itself where its labels are exact. `sample_weight`, one number
    a sentence, is asked for likewise. Votes are scored as sets of what was voted.

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

    def __call__(self, estimator: Any, X: Any, y: Any, **metadata: Any) -> float:
        """Score a fitted estimator, as scikit-learn does."""
        return self.score(estimator, X, y, **metadata)

    def score(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        gold: Any = None,
        sample_weight: Any = None,
    ) -> float:
        """Score a fitted estimator.

        Parameters
        ----------
        estimator : SequenceTagger
            Fitted.
        X, y : lists of sentences
            As in `SequenceTagger.fit`.
        gold : list of sentences of labels, optional
            The truth, for ``"span_f1"`` and ``"accuracy"``.
        sample_weight : array of shape (n_sentences,), optional
            How much every sentence counts.

        Returns
        -------
        float
        """
        self.check_settings()
        votes = VoteCorpus.joined(y)
        y = y if votes is None else votes.candidates().candidates
        weights = read_sample_weight(sample_weight, len(y))  # [S]
        if self.measure in ("likelihood", "inside"):
            return self._of_sets(estimator, X, y, weights)
        truth = read_gold(y if gold is None else gold)
        predicted = estimator.predict(X)
        if self.measure == "span_f1":
            return _span_f1(truth, predicted, estimator.scheme_, weights)
        pairs = zip(truth, predicted, strict=True)
        right = [[a == b for a, b in zip(*pair, strict=True)] for pair in pairs]
        return _mean(np.concatenate([[], *right]), list(map(len, right)), weights)

    def _of_sets(
        self, estimator: Any, X: Any, y: Any, weights: FloatArray | None
    ) -> float:
        """Score by candidate sets, or by weights of labels."""
        lengths = np.array([len(sentence) for sentence in y], dtype=np.int64)  # [S]
        known = tuple(estimator.classes_)
        sets, full = _weights_of(y, lengths, known)  # [N, L], [N]
        if self.measure == "likelihood":
            given = np.concatenate(estimator.predict_proba(X))  # [N, L]
            found = np.log(np.clip((sets * given).sum(axis=1), CLIP, 1.0))  # [N]
        else:
            place = {name: k for k, name in enumerate(known)}
            chosen = [place[n] for labels in estimator.predict(X) for n in labels]
            found = sets[np.arange(len(sets)), chosen]  # [N]
        if full.all():
            raise InputError(
                f"there is nothing to score by {self.measure!r}; every candidate set "
                "holds all labels."
            )
        return _mean(found, lengths, weights, ~full)


def _weights_of(
    y: Any, lengths: IntArray, known: tuple[Label, ...]
) -> tuple[FloatArray, Any]:
    """What y says of the known labels, at most 1 [N, L], and whether that is nothing.

    Labels that are not known are columns of no weight.
    """
    masks = any(isinstance(piece, np.ndarray) and piece.ndim == 2 for piece in y)
    if masks:
        mask, _ = read_candidates(y, lengths, known)  # [N, L]
        evidence = read_evidence(y, mask)  # [N, L]
        sets = mask.astype(float) if evidence is None else np.exp(evidence)
        return sets, (sets == 1.0).all(axis=1)  # [N, L], [N]
    try:
        mask, names = read_candidates(y, lengths)
    except InputError:
        mask, names = read_candidates(y, lengths, known)  # no label at all
    unlabelled = [entry is None for sentence in y for entry in sentence]  # [N]
    place = {name: k for k, name in enumerate(names)}
    sets = np.zeros((len(mask), len(known)))  # [N, L]
    for k, name in enumerate(known):
        if name in place:
            sets[:, k] = mask[:, place[name]]
    sets[unlabelled] = 1.0
    return sets, (sets == 1.0).all(axis=1)  # [N, L], [N]


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
    """Span F1 of sentences that count by their weights."""
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
