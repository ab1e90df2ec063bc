"""The simplest tagger: the label that most often is a candidate of a word."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from tagsift.base import Method, SequenceTagger, TrainingSet, Transduction
from tagsift.baselines._pointwise import best_candidate
from tagsift.features import FeatureMatrix
from tagsift.storage import Saved, array
from tagsift.typing import FloatArray, IntArray

__all__ = ["WordCounts"]

#: Weight of the overall label frequencies against those of the word itself.
_PRIOR_COUNT = 0.1


class WordCounts(SequenceTagger):
    """Label a word by the candidates it was seen with.

    Each token shares one vote equally among its candidates; a word's votes, smoothed by
    those of all words, are its probabilities. Where the features have no block called
    ``"word"`` (arrays, say), all tokens get the overall frequencies.

    Examples
    --------
    >>> from tagsift.baselines import WordCounts
    >>> model = WordCounts().fit([["a", "dog"]], [[{"D"}, {"D", "N"}]])
    >>> model.predict([["a", "cat"]])
    [['D', 'D']]
    """

    method: ClassVar[Method] = Method(
        name="word-counts",
        title="Word counts",
        family="counts",
        disambiguation="average",
        probabilities=True,
        settings="none",
        cost="one pass",
        source="a floor for the other methods",
    )

    saved: ClassVar[Saved] = {
        "prior_": array("L", least=0, sums=1),
        "counts_": array("word L", least=0),
    }

    def _fit(self, train: TrainingSet) -> Transduction:
        votes = train.mask / train.mask.sum(axis=1, keepdims=True)  # [N, L]
        self.prior_ = votes.mean(axis=0)  # [L]
        self.counts_ = np.asarray(_words(train.features).T @ votes)  # [D, L]
        confidences = np.where(train.mask, self._marginals(train.features), 0.0)
        confidences /= confidences.sum(axis=1, keepdims=True)  # [N, L]
        return Transduction(best_candidate(confidences, train.mask), confidences)

    def _predict(self, features: FeatureMatrix) -> IntArray:
        return np.asarray(self._marginals(features).argmax(axis=1))  # [M]

    def _marginals(self, features: FeatureMatrix) -> FloatArray:
        votes = np.asarray(_words(features) @ self.counts_)  # [M, L]
        votes = votes + _PRIOR_COUNT * self.prior_  # [M, L]
        return np.asarray(votes / votes.sum(axis=1, keepdims=True))  # [M, L]


def _words(features: FeatureMatrix) -> Any:
    """Return the block of word indicators, or one without columns, [N, D]."""
    if "word" in features.names:
        return features.block("word")
    return sp.csr_matrix((features.n_tokens, 0))
