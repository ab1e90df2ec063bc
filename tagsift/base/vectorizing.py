"""From the `features` setting of an estimator to feature matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from tagsift.data import offsets_of
from tagsift.errors import InputError
from tagsift.features import FeatureMatrix, SequenceVectorizer, checked, read_sentences

__all__ = ["apply_features", "as_matrix", "learn_features", "new_vectorizer"]


def learn_features(features: Any, X: Any) -> tuple[FeatureMatrix, Any]:
    """Learn the features of training sentences, and compute them."""
    if isinstance(X, FeatureMatrix):
        if X.n_tokens == 0:
            raise InputError("nothing to learn from: X has no token.")
        return checked(X), None
    sentences = read_sentences(X)
    if not any(len(sentence) for sentence in sentences):
        raise InputError(
            f"nothing to learn from: X has {len(sentences)} sentences and no token."
        )
    vectorizer = new_vectorizer(features)
    if isinstance(vectorizer, SequenceVectorizer):
        features_of_X = vectorizer.fit_transform(sentences)
    else:
        vectorizer.fit(sentences)
        features_of_X = as_matrix(vectorizer.transform(sentences), sentences)
    return checked(features_of_X), vectorizer


def apply_features(
    vectorizer: Any, X: Any, blocks: tuple[tuple[str, int, bool], ...], name: str
) -> FeatureMatrix:
    """Compute the features of new sentences, and compare them with those of the fit."""
    if isinstance(X, FeatureMatrix):
        features = checked(X)
    else:
        sentences = read_sentences(X)
        if vectorizer is None:
            raise InputError(
                f"this {name} was fitted on ready features or with a transformer of "
                "your own; give a FeatureMatrix, or load the model with features=."
            )
        features = checked(as_matrix(vectorizer.transform(sentences), sentences))
    if features.n_tokens and features.columns != blocks:
        raise InputError(
            f"the features have {features.n_features} columns ("
            f"{_in_words(features.columns)}), those of the fit had "
            f"{sum(width for _, width, _ in blocks)} ({_in_words(blocks)}); compute "
            "both by the same transformer."
        )
    return features


def _in_words(blocks: tuple[tuple[str, int, bool], ...]) -> str:
    kinds = {True: "sparse", False: "dense"}
    return ", ".join(f"{name}: {n} {kinds[sparse]}" for name, n, sparse in blocks)


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
        if transformed.lengths.tolist() == lengths:
            return transformed
        raise InputError(
            "the features transformer returned a FeatureMatrix of "
            f"{transformed.n_sequences} sentences and {transformed.n_tokens} tokens "
            f"for {len(lengths)} sentences and {sum(lengths)} tokens, or cut elsewhere."
        )
    arrays = [np.asarray(piece) for piece in transformed]
    if [len(piece) if piece.ndim else -1 for piece in arrays] != lengths:
        raise InputError(
            "the features transformer must return one array [T, D] per sentence; got "
            f"{len(arrays)} pieces for {len(lengths)} sentences, or other lengths."
        )
    shapes = sorted({piece.shape for piece in arrays if len(piece)})
    widths = {shape[1:] for shape in shapes}
    if len(widths) > 1 or any(len(width) != 1 for width in widths):
        raise InputError(
            "the features transformer must return arrays [T, D] of one width; got "
            f"shapes {shapes}."
        )
    nothing = np.zeros((0, *widths.pop())) if widths else np.zeros((0, 0))  # [0, D]
    stacked = np.vstack([nothing, *(piece for piece in arrays if len(piece))])  # [N, D]
    return FeatureMatrix(("array",), (stacked,), offsets_of(lengths))
