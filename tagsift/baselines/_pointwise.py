"""What the token-wise rivals share: tokens labelled one by one from their features.

No sentence boundary and no neighbouring label is seen; any context must be inside the
features. A subclass fits scaled features and candidate masks of stacked tokens, and
returns a score for every label of every token.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from tagsift.base import TrainingSet, Transduction
from tagsift.baselines._scaled import ScaledTagger
from tagsift.errors import InputError, NotSupportedError
from tagsift.features import FeatureMatrix, beside, checked, one_sequence
from tagsift.storage import Saved, array, word
from tagsift.threads import blas_threads
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "CandidateSimplex",
    "LinearTokenTagger",
    "TokenTagger",
    "append_one",
    "best_candidate",
    "project_simplex",
    "telling_tokens",
]


def best_candidate(scores: FloatArray, mask: BoolArray) -> IntArray:
    """Candidate with the highest score of every token; ties go to the lowest index."""
    inside = np.where(mask, np.maximum(scores, -np.finfo(float).max), -np.inf)
    return np.asarray(inside.argmax(axis=1), dtype=np.int64)  # [N]


class TokenTagger(ScaledTagger):
    """Base class of the token-wise rivals; `WKNN` explains what all of them share."""

    saved: ClassVar[Saved] = {"variant_": word()}
    #: Whether what `_fit_tokens` returns are chances of the candidates.
    _scores_are_confidences: ClassVar[bool] = False

    # What a subclass writes ----------------------------------------------------

    def _fit_tokens(self, X: Any, mask: BoolArray, seed: int) -> FloatArray:
        """Fit, and return what ranks the candidates of the training tokens, [N, L]."""
        raise NotSupportedError(f"{type(self).__name__} does not define _fit_tokens.")

    def _token_scores(self, X: Any) -> FloatArray:
        """Return a score for every label of every new token, [M, L]."""
        raise NotSupportedError(f"{type(self).__name__} does not define _token_scores.")

    # Plain partial-label data --------------------------------------------------

    @blas_threads()
    def fit_flat(self, X: Any, mask: Any) -> Self:
        """Learn from plain instances, without sentences.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_instances, n_features)
            One row per instance.
        mask : array of shape (n_instances, n_labels)
            1 (or True) where a label is a candidate.

        Returns
        -------
        self
        """
        instances = one_sequence(X)
        candidates = mask.toarray() if sp.issparse(mask) else np.asarray(mask)
        if candidates.ndim != 2 or len(candidates) != instances.n_tokens:
            raise InputError(
                "mask must have one row per instance and one column per label; X has "
                f"{instances.n_tokens} rows, and mask the shape {candidates.shape}."
            )
        return self.fit(instances, [candidates])

    @blas_threads()
    def predict_flat(self, X: Any) -> IntArray:
        """Label plain instances.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_instances, n_features)
            One row per instance.

        Returns
        -------
        labels : ndarray of shape (n_instances,)
            Column numbers of the mask.
        """
        self._check_fitted()
        instances = one_sequence(X)
        if not instances.n_tokens:
            return np.empty(0, dtype=np.int64)
        return self._predict(checked(instances))

    # What the base class asks for ----------------------------------------------

    def _fit(self, train: TrainingSet) -> Transduction:
        self.variant_ = ""
        X = self._learn_scale(train)  # [N, D]
        scores = self._fit_tokens(X, train.mask, train.seed)  # [N, L]
        confidences = scores if self._scores_are_confidences else None
        return Transduction(best_candidate(scores, train.mask), confidences)

    def _decode(self, features: FeatureMatrix, mask: BoolArray) -> IntArray:
        scores = self._token_scores(self.scaler_.transform(features))  # [M, L]
        return best_candidate(np.where(self.seen_, scores, -np.inf), mask)  # [M]


class LinearTokenTagger(TokenTagger):
    """A token-wise rival whose scores are linear in the features."""

    saved: ClassVar[Saved] = {"weights_": array("D+1 L")}

    def _token_scores(self, X: Any) -> FloatArray:
        return np.asarray(X @ self.weights_[:-1] + self.weights_[-1])  # [M, L]


def telling_tokens(X: Any, mask: BoolArray) -> tuple[Any, BoolArray]:
    """Leave out the tokens whose candidate set is the whole label set."""
    telling = np.flatnonzero(~mask.all(axis=1))  # [N']
    return X[telling], mask[telling]  # [N', D], [N', L]


def append_one(X: Any) -> Any:
    """Put a column of ones after the features, for the bias, [N, D + 1]."""
    return beside(X, np.ones((X.shape[0], 1)))


class CandidateSimplex:
    """The rows ``p ≥ 0``, ``Σ p = 1``, zero outside the candidate set.

    Candidates are gathered into as many columns as the largest set has: short rows to
    sort even where there are many labels.
    """

    def __init__(self, mask: BoolArray) -> None:
        self.mask = np.asarray(mask, dtype=bool)  # [N, L]
        sizes = self.mask.sum(axis=1)  # [N]
        self._exact: IntArray = np.flatnonzero(sizes == 1)  # [N₁]
        self._label: IntArray = self.mask[self._exact].argmax(axis=1)  # [N₁]
        self._open: IntArray = np.flatnonzero(sizes > 1)  # [N₂]
        width = int(sizes.max(initial=1))
        order = np.argsort(~self.mask[self._open], axis=1, kind="stable")  # [N₂, L]
        self._columns: IntArray = order[:, :width]  # [N₂, C]
        self._padding: BoolArray = np.arange(width) >= sizes[self._open, None]

    def project(self, V: FloatArray) -> FloatArray:
        """Nearest point of the simplex over candidates for every row, [N, L]."""
        P = np.zeros_like(V, dtype=float)  # [N, L]
        P[self._exact, self._label] = 1.0  # [N₁]
        rows = self._open[:, None]  # [N₂, 1]
        inner = np.where(self._padding, -np.inf, V[rows, self._columns])  # [N₂, C]
        P[rows, self._columns] = project_simplex(inner)  # [N₂, C]
        return P

    def uniform(self) -> FloatArray:
        """Equal shares for the candidates of every token, [N, L]."""
        return np.asarray(self.mask / self.mask.sum(axis=1, keepdims=True))  # [N, L]


def project_simplex(V: FloatArray) -> FloatArray:
    """Nearest point of the simplex for every row [N, C]; −∞ marks what must be zero."""
    if V.size == 0:
        return np.zeros_like(V)
    u = -np.sort(-V, axis=1)  # [N, C]  descending
    total = np.cumsum(u, axis=1) - 1.0  # [N, C]
    count = np.arange(1, V.shape[1] + 1)  # [C]
    rho = np.maximum((u * count > total).sum(axis=1), 1)  # [N]
    theta = total[np.arange(len(V)), rho - 1] / rho  # [N]
    return np.asarray(np.maximum(V - theta[:, None], 0.0))  # [N, C]
