"""Feature scaling shared by all baselines (rows of sparse, columns of dense features).

Dense columns are standardised on the training part; a column without variance becomes
zero. Sparse rows (binary token features) are divided by their Euclidean length and
never centred. Where a sentence has both kinds, the sparse part keeps unit rows and the
standardised dense part is divided by the square root of its number of columns, so that
both parts have a squared row length of about one and neither drowns the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagsift.errors import InputError
from tagsift.features.matrix import FeatureMatrix
from tagsift.typing import FloatArray

__all__ = ["SCALE_MODES", "FeatureScaler", "scale_features"]

#: What `scale_features` accepts as `mode`.
SCALE_MODES = frozenset({"auto", "dense", "standard", "l2", "none"})


@dataclass(frozen=True)
class FeatureScaler:
    """Scaling learnt on the training part, to be applied to any part.

    Parameters
    ----------
    mode : {"auto", "dense", "standard", "l2", "none"}
        See `scale_features`.
    n_features : int
        Number of columns seen in training.
    mean, scale : ndarray of shape (n_scaled,)
        Centre and multiplier of the columns that are standardised: the dense ones in
        the modes "auto" and "dense", all in mode "standard", none otherwise.
    """

    mode: str
    n_features: int
    mean: FloatArray
    scale: FloatArray

    def transform(self, features: Any) -> Any:
        """Scale features; csr of shape [N, D], or dense where all columns are dense.

        Parameters
        ----------
        features : FeatureMatrix, csr_matrix or ndarray of shape (n_tokens, n_features)
            Same columns as in training.

        Returns
        -------
        csr_matrix or ndarray of shape (n_tokens, n_features)
            A new matrix; the input is left as it is. Sparse columns stand before dense
            ones.
        """
        sparse, dense = _parts(features)
        found = sum(part.shape[1] for part in (sparse, dense) if part is not None)
        if found != self.n_features:
            raise InputError(
                f"the scaling was learnt on {self.n_features} feature columns but got "
                f"{found}; make the features with the vectorizer of the fitted model."
            )
        if self.mode in ("auto", "dense"):
            if sparse is not None and self.mode == "auto":
                sparse = _unit_rows(sparse)
            if dense is not None:
                dense = (dense - self.mean) * self.scale  # [N, D]
        elif self.mode == "standard":
            n_sparse = 0 if sparse is None else sparse.shape[1]
            if sparse is not None:
                sparse = sparse @ sp.diags_array(self.scale[:n_sparse])
            if dense is not None:
                dense = (dense - self.mean[n_sparse:]) * self.scale[n_sparse:]
        joined = _join(sparse, dense)
        return _unit_rows(joined) if self.mode == "l2" else joined

    def state(self) -> tuple[dict[str, Any], dict[str, FloatArray]]:
        """Settings and arrays from which `from_state` builds an equal scaler."""
        meta = {"mode": self.mode, "n_features": self.n_features}
        return meta, {"mean": self.mean, "scale": self.scale}

    @classmethod
    def from_state(
        cls, meta: dict[str, Any], arrays: dict[str, FloatArray]
    ) -> FeatureScaler:
        """Build the scaler that `state` described."""
        return cls(
            str(meta["mode"]), int(meta["n_features"]), arrays["mean"], arrays["scale"]
        )


def scale_features(features: Any, mode: str = "auto") -> tuple[Any, FeatureScaler]:
    """Learn a scaling on training features and apply it to them.

    Parameters
    ----------
    features : FeatureMatrix, csr_matrix or ndarray of shape (n_tokens, n_features)
        The training part. A `FeatureMatrix` may mix sparse and dense blocks.
    mode : {"auto", "dense", "standard", "l2", "none"}
        ``"auto"``: sparse columns to unit rows, dense columns to mean 0 and variance 1
        (divided by the square root of their number where sparse columns are present).
        ``"dense"``: the same for dense columns, but sparse ones stay as they are (and
        dense rows get the mean length of the sparse ones where both are present).
        ``"standard"``: every column to variance 1; only dense ones are centred.
        ``"l2"``: whole rows to length 1. ``"none"``: as they are.

    Returns
    -------
    matrix : csr_matrix or ndarray of shape (n_tokens, n_features)
        Scaled features.
    scaler : FeatureScaler
        Applies the same scaling to other tokens.
    """
    if mode not in SCALE_MODES:
        raise InputError(
            f"the scaling mode must be one of {sorted(SCALE_MODES)}, got {mode!r}."
        )
    sparse, dense = _parts(features)
    n_features = sum(part.shape[1] for part in (sparse, dense) if part is not None)
    mean = scale = np.zeros(0)
    if mode in ("auto", "dense", "standard") and dense is not None:
        mean, scale = dense.mean(axis=0), _inverse(dense.std(axis=0))  # [D]
        if mode != "standard" and sparse is not None:
            square = sparse.multiply(sparse).sum() / max(1, sparse.shape[0])
            length = np.sqrt(square) if mode == "dense" else 1.0
            scale = scale * length / np.sqrt(dense.shape[1])  # [D]
    if mode == "standard" and sparse is not None:
        first = np.asarray(sparse.mean(axis=0)).ravel()  # [D]
        second = np.asarray(sparse.multiply(sparse).mean(axis=0)).ravel()  # [D]
        spread = np.sqrt(np.maximum(second - first**2, 0.0))  # [D]
        mean = np.concatenate([np.zeros(len(spread)), mean])  # [D]
        scale = np.concatenate([_inverse(spread), scale])  # [D]
    scaler = FeatureScaler(mode, n_features, mean, scale)
    return scaler.transform(features), scaler


def _parts(features: Any) -> tuple[Any, FloatArray | None]:
    """Sparse and dense columns of the features, None where there are none."""
    if isinstance(features, FeatureMatrix):
        sparse, dense = features.sparse, features.dense
        return (
            None if sparse is None else sparse.stacked(),
            None if dense is None else dense.stacked(),
        )
    if sp.issparse(features):
        return sp.csr_matrix(features, dtype=float), None
    return None, np.asarray(features, dtype=float)


def _join(sparse: Any, dense: FloatArray | None) -> Any:
    if sparse is None:
        return dense
    if dense is None:
        return sp.csr_matrix(sparse)
    return sp.hstack([sparse, sp.csr_matrix(dense)], format="csr")


def _unit_rows(matrix: Any) -> Any:
    """Divide every row by its length; zero rows stay zero."""
    if sp.issparse(matrix):
        lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
        return sp.csr_matrix(sp.diags_array(_inverse(lengths)) @ matrix)  # [N, D]
    return matrix * _inverse(np.linalg.norm(matrix, axis=1))[:, None]  # [N, D]


def _inverse(values: FloatArray) -> FloatArray:
    """One over every value, zero where the value is (as good as) zero."""
    tiny = values <= 1e-12 * max(1.0, float(values.max(initial=0.0)))
    return np.where(tiny, 0.0, 1.0 / np.where(tiny, 1.0, values))
