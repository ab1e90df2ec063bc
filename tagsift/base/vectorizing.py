"""From the `features` setting of an estimator to feature matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from tagsift.data.offsets import offsets_of
from tagsift.errors import InputError
from tagsift.features import FeatureMatrix, SequenceVectorizer

__all__ = ["as_matrix", "new_vectorizer"]


def new_vectorizer(features: Any) -> Any:
    """Build an unfitted transformer from the `features` setting of an estimator."""
    if features is None:
        return SequenceVectorizer()
    if isinstance(features, type):
        raise InputError(
            f"features is the class {features.__name__}; give an object of "
            f"it, such as {features.__name__}()."
        )
    if hasattr(features, "fit") and hasattr(features, "transform"):
        return clone(features, safe=False)
    if callable(features):
        return SequenceVectorizer(templates=features)
    raise InputError(
        "features must be None, a function of a sentence, or a transformer with "
        f"fit and transform; got {type(features).__name__}."
    )


def as_matrix(transformed: Any, sentences: list[Any]) -> FeatureMatrix:
    """Accept a FeatureMatrix or, from a user's transformer, arrays [T, D]."""
    lengths = [len(sentence) for sentence in sentences]
    if isinstance(transformed, FeatureMatrix):
        if transformed.lengths.tolist() != lengths:
            raise InputError(
                "the features transformer returned a FeatureMatrix of "
                f"{transformed.n_sequences} sentences and {transformed.n_tokens} "
                f"tokens for {len(lengths)} sentences and {sum(lengths)} tokens, or "
                "cut elsewhere."
            )
        return transformed
    arrays = [np.asarray(piece) for piece in transformed]
    if [len(piece) if piece.ndim else -1 for piece in arrays] != lengths:
        raise InputError(
            "the features transformer must return one array [T, D] per sentence; got "
            f"{len(arrays)} pieces for {len(lengths)} sentences, or other lengths."
        )
    filled = [piece for piece in arrays if len(piece)]
    shapes = {piece.shape[1:] for piece in filled}
    if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
        raise InputError(
            "the features transformer must return arrays [T, D] of one width; got "
            f"shapes {sorted({piece.shape for piece in filled})}."
        )
    width = shapes.pop()[0] if shapes else 0
    stacked = np.vstack([np.zeros((0, width)), *filled])  # [N, D]
    return FeatureMatrix(("array",), (stacked,), offsets_of(lengths))
