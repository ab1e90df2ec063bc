"""Feature scaling: rows of sparse, columns of dense features.

Sparse columns are never centred, and a dense column without variance becomes zero.
Where there are both kinds, both get a squared row length of about one, so that neither
drowns the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import scipy.sparse as sp

from tagsift.errors import InputError
from tagsift.features.distances import row_norms
from tagsift.features.matrix import FeatureMatrix
from tagsift.storage import Saved, array, word
from tagsift.typing import FloatArray

__all__ = [
    "FeatureScaler",
    "Scale",
    "beside",
    "one_sequence",
    "scale_features",
]

#: What `scale_features` accepts as `mode`.
Scale = Literal["auto", "dense", "standard", "l2", "none"]


@dataclass(frozen=True)
class FeatureScaler:
    """Scaling learnt on the training part, to be applied to any part."""

    mode: str
    mean: FloatArray  # [D]  0 where a column is not centred
    scale: FloatArray  # [D]  multiplier of every column, sparse ones first

    saved: ClassVar[Saved] = {
        "mode": word(*get_args(Scale)),
        "mean": array("D"),
        "scale": array("D"),
    }

    def transform(self, features: Any) -> Any:
        """Scaled features [N, D], sparse columns first; dense where all columns are."""
        sparse, dense, n_sparse, n_features = _parts(features)
        if n_features != len(self.scale):
            raise InputError(
                f"the scaling was learnt on {len(self.scale)} feature columns but got "
                f"{n_features}; make the features with the vectorizer of the fitted "
                "model."
            )
        if sparse is not None and self.mode == "auto":
            sparse = _unit_rows(sparse)
        if sparse is not None and self.mode == "standard":
            sparse = sp.csr_matrix(sparse @ sp.diags_array(self.scale[:n_sparse]))
        if dense is not None:
            dense = (dense - self.mean[n_sparse:]) * self.scale[n_sparse:]  # [N, D]
        joined = sparse if dense is None else dense
        if sparse is not None and dense is not None:
            joined = beside(sparse, dense)  # [N, D]
        return _unit_rows(joined) if self.mode == "l2" else joined


def scale_features(features: Any, mode: str = "auto") -> tuple[Any, FeatureScaler]:
    """Learn a scaling on training features, and apply it to them.

    ``"auto"``: sparse columns to unit rows, dense columns to mean 0 and variance 1
    (divided by the square root of their number where sparse columns are present).
    ``"dense"``: the same for dense columns, but sparse ones stay as they are (and
    dense rows get the mean length of the sparse ones where both are present).
    ``"standard"``: every column to variance 1; only dense ones are centred.
    ``"l2"``: whole rows to length 1. ``"none"``: as they are.
    """
    if mode not in get_args(Scale):
        raise InputError(
            f"the scaling mode must be one of {get_args(Scale)}, got {mode!r}."
        )
    sparse, dense, n_sparse, n_features = _parts(features)
    mean, scale = np.zeros(n_features), np.ones(n_features)  # [D]
    if dense is not None and mode in ("auto", "dense", "standard"):
        mean[n_sparse:] = dense.mean(axis=0)
        scale[n_sparse:] = _inverse(dense.std(axis=0))
        if mode != "standard" and sparse is not None:
            square = row_norms(sparse).sum() / max(1, sparse.shape[0])
            length = np.sqrt(square) if mode == "dense" else 1.0
            scale[n_sparse:] *= length / np.sqrt(dense.shape[1])
    if sparse is not None and mode == "standard":
        first = np.asarray(sparse.mean(axis=0)).ravel()  # [D]
        second = np.asarray(sparse.multiply(sparse).mean(axis=0)).ravel()  # [D]
        scale[:n_sparse] = _inverse(np.sqrt(np.maximum(second - first**2, 0.0)))
    scaler = FeatureScaler(mode, mean, scale)
    return scaler.transform(features), scaler


def _parts(features: Any) -> tuple[Any, FloatArray | None, int, int]:
    """Sparse and dense columns (or None), and how many are sparse, and in all."""
    if not isinstance(features, FeatureMatrix):
        features = one_sequence(features)
    sparse, dense = (
        None if part is None else part.stacked()
        for part in (features.sparse, features.dense)
    )
    n_sparse = 0 if sparse is None else sparse.shape[1]
    return sparse, dense, n_sparse, features.n_features


def one_sequence(X: Any) -> FeatureMatrix:
    """Plain rows of features, presented as the tokens of one sequence."""
    rows = X if sp.issparse(X) else np.asarray(X)
    if rows.ndim != 2:
        raise InputError(
            "X must be a matrix of numbers, one row per instance; got an array of "
            f"shape {rows.shape} and type {rows.dtype}."
        )
    return FeatureMatrix(("flat",), (rows,), np.array([0, rows.shape[0]]))


def beside(X: Any, columns: FloatArray) -> Any:
    """Dense columns put after sparse or dense features."""
    if sp.issparse(X):
        return sp.hstack([X, sp.csr_matrix(columns)], format="csr")
    return np.hstack([X, columns])


def _unit_rows(matrix: Any) -> Any:
    """Divide every row by its length; zero rows stay zero."""
    inverse = _inverse(np.sqrt(row_norms(matrix)))  # [N]
    if sp.issparse(matrix):
        return sp.csr_matrix(sp.diags_array(inverse) @ matrix)  # [N, D]
    return matrix * inverse[:, None]  # [N, D]


def _inverse(values: FloatArray) -> FloatArray:
    """One over every value, zero where the value is (as good as) zero."""
    tiny = values <= 1e-12 * max(1.0, float(values.max(initial=0.0)))
    return np.where(tiny, 0.0, 1.0 / np.where(tiny, 1.0, values))
