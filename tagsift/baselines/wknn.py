"""WKNN: the nearest training tokens vote for their candidates."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tagsift.base import Method, setting
from tagsift.baselines._pointwise import TokenTagger
from tagsift.features import Reference, nearest
from tagsift.storage import Saved, array, matrix
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["WKNN", "neighbour_votes"]


def neighbour_votes(
    indices: IntArray, distances: FloatArray, mask: BoolArray
) -> FloatArray:
    """Votes of neighbours, each for all of its candidates, [M, L].

    ``Σ_i w_i [y ∈ S_i]`` with ``w_i = 1 − d_i / Σ_j d_j``; equal weights where all
    distances are zero or there is but one neighbour.
    """
    total = distances.sum(axis=1, keepdims=True)  # [M, 1]
    plain = (total == 0) | (distances.shape[1] == 1)  # [M, 1]
    share = distances / np.where(plain, 1.0, total)  # [M, k]
    weights = np.where(plain, 1.0, 1.0 - share)  # [M, k]
    votes = np.zeros((len(indices), mask.shape[1]))  # [M, L]
    for k in range(indices.shape[1]):
        votes += weights[:, k : k + 1] * mask[indices[:, k]]  # [M, L]
    return votes


class WKNN(TokenTagger):
    """Weighted k-nearest-neighbour vote over candidate sets.

    Each of the k nearest training tokens gives its whole weight to each of its
    candidates. There is nothing to fit: the training tokens are the model. A training
    label is recovered from the neighbours without the token itself, among its own
    candidates.

    Parameters
    ----------
    n_neighbours : int
        Number of neighbours k.
    scale : {"auto", "dense", "standard", "l2", "none"}
        How features are scaled: ``"auto"`` standardises dense columns on the training
        part and divides sparse rows by their length.
    features, labels, scheme, random_state, verbose, tokenizer, sentences
        As in `SequenceTagger`.

    Attributes
    ----------
    variant_ : str
        What was done differently because of the size or kind of the data; empty if
        nothing was.

    Examples
    --------
    >>> from tagsift.baselines import WKNN
    >>> model = WKNN(n_neighbours=1).fit_flat([[0.0], [1.0]], [[1, 0], [0, 1]])
    >>> model.predict_flat([[0.2], [0.9]]).tolist()
    [0, 1]
    """

    method: ClassVar[Method] = Method(
        name="wknn",
        title="WKNN",
        family="weighted k-nearest-neighbour vote",
        disambiguation="average",
        settings="{n_neighbours}",
        cost="nothing to fit; tagging n · d per token",
        source="Hüllermeier & Beringer, Intelligent Data Analysis 2006",
    )
    saved: ClassVar[Saved] = {
        "_X": matrix("N D", training=True),
        "_mask": array("N L", "bool"),
    }

    n_neighbours: int = setting(5, least=1)

    def _fit_tokens(self, X: Any, mask: BoolArray, seed: int) -> FloatArray:
        self._X, self._mask = X, mask
        indices, distances = nearest(Reference(X), X, self.n_neighbours, same=True)
        return neighbour_votes(indices, distances, mask)  # [N, L]

    def _token_scores(self, X: Any) -> FloatArray:
        indices, distances = nearest(Reference(self._X), X, self.n_neighbours)
        return neighbour_votes(indices, distances, self._mask)  # [M, L]
