"""Fitted estimators as JSON and arrays, and back; no code is stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.base import clone

from tagsift._version import __version__
from tagsift.features import SequenceVectorizer
from tagsift.storage import add_prefix, strip_prefix

if TYPE_CHECKING:
    from tagsift.base.tagger import SequenceTagger

__all__ = ["pack", "unpack"]

Tagger = TypeVar("Tagger", bound="SequenceTagger")
Arrays = Mapping[str, np.ndarray[Any, Any]]


def pack(
    model: SequenceTagger,
) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """Return all that is needed to rebuild a fitted estimator.

    Returns
    -------
    header : dict
        JSON-able.
    arrays : dict of str to ndarray
        Those of the model, and those of its features.
    """
    meta, learnt = model._state()
    header: dict[str, Any] = {
        "method": model.method.name,
        "version": __version__,
        "params": _settings(model),
        "classes": list(model.classes_),
        "scheme": model.scheme_,
        "n_features_in": model.n_features_in_,
        "vectorizer": None,
        "own_features": model.features is not None,
        "model": _jsonable(meta),
    }
    arrays = {f"model/{name}": np.asarray(array) for name, array in learnt.items()}
    vectorizer = model.vectorizer_
    if isinstance(vectorizer, SequenceVectorizer):
        header["vectorizer"], words = vectorizer.state()
        arrays |= add_prefix("vectorizer/", words)
    elif vectorizer is not None:
        header["vectorizer"] = {"custom": type(vectorizer).__name__}
    return header, arrays


def unpack(
    kind: type[Tagger], meta: Mapping[str, Any], arrays: Arrays, features: Any = None
) -> Tagger:
    """Rebuild a fitted estimator from what `pack` returned.

    Parameters
    ----------
    kind : type
        The class of the estimator.
    meta, arrays : mappings
        The header and the arrays.
    features : transformer or callable, optional
        The user's own features.
    """
    model = kind(**meta["params"])
    model.classes_ = tuple(meta["classes"])
    model.scheme_ = str(meta["scheme"])
    model.n_features_in_ = int(meta["n_features_in"])
    stored = meta["vectorizer"]
    if stored is None:
        model.vectorizer_ = None
    elif "custom" in stored:
        model.features = model.vectorizer_ = features
    else:
        model.vectorizer_ = SequenceVectorizer.from_state(
            stored, strip_prefix("vectorizer/", arrays)
        )
        if stored["function"] and callable(features):
            model.vectorizer_.set_params(templates=features)
        if meta["own_features"]:
            model.features = clone(model.vectorizer_)
    model._restore(meta["model"], strip_prefix("model/", arrays))
    return model


def _settings(model: SequenceTagger) -> dict[str, Any]:
    """Return the settings of an estimator as JSON can hold them."""
    params = model.get_params(deep=False)
    params["features"] = None
    if params["labels"] is not None:
        params["labels"] = list(params["labels"])
    if not isinstance(params["random_state"], (int, np.integer, type(None))):
        params["random_state"] = None
    return {name: _jsonable(value) for name, value in params.items()}


def _jsonable(value: Any) -> Any:
    """Turn NumPy scalars, arrays and tuples into what JSON knows."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {name: _jsonable(item) for name, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_jsonable(item) for item in value]
    return value
