"""Fitted estimators as JSON and arrays, and back; no code is stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.base import clone

from tagsift._version import __version__
from tagsift.data import tokenizer_name
from tagsift.errors import InputError, ModelFileError
from tagsift.features import SequenceVectorizer, read_vectorizer, write_vectorizer
from tagsift.progress import stage
from tagsift.storage import (
    Item,
    Saved,
    add_prefix,
    damaged,
    flag,
    read_state,
    refuse,
    strip_prefix,
    word,
    write_state,
)
from tagsift.typing import Arrays

if TYPE_CHECKING:
    from tagsift.base.tagger import SequenceTagger

__all__ = [
    "expected_bytes",
    "learnt",
    "pack",
    "saved_state",
    "say_size",
    "unpack",
    "with_settings",
]

Tagger = TypeVar("Tagger", bound="SequenceTagger")

#: What a header holds beside the method, the settings, the classes and the blocks.
_HEADER: Saved = {
    "version": word(),
    "scheme": word("iob1", "iob2", "iobes", "plain"),
    "own_features": flag(),
}


def saved_state(kind: type[SequenceTagger]) -> dict[str, Item]:
    """Collect what a class and its base classes declare to be saved."""
    table: dict[str, Item] = {}
    for cls in reversed(kind.__mro__):
        table |= vars(cls).get("saved", {})
    return table


def learnt(model: SequenceTagger) -> tuple[dict[str, Any], Arrays]:
    """Return what a fit learnt: JSON-able values, and arrays."""
    return write_state(saved_state(type(model)), model)


def pack(model: SequenceTagger) -> tuple[dict[str, Any], Arrays]:
    meta, numbers = learnt(model)
    header: dict[str, Any] = {
        "method": model.method.name,
        "version": __version__,
        "params": _settings(model),
        "classes": list(model.classes_),
        "scheme": model.scheme_,
        "blocks": [list(block) for block in model.blocks_],
        "vectorizer": None,
        "own_features": model.features is not None,
        "model": meta,
    }
    arrays = add_prefix("model/", numbers)
    vectorizer = model.vectorizer_
    if isinstance(vectorizer, SequenceVectorizer):
        header["vectorizer"], words = write_vectorizer(vectorizer)
        arrays |= add_prefix("vectorizer/", words)
    elif vectorizer is not None:
        header["vectorizer"] = {"custom": type(vectorizer).__name__}
    return header, arrays


def expected_bytes(vectorizer: Any, n_numbers: int) -> int:
    """Size of a model file of so many numbers, and of what its features are."""
    if not isinstance(vectorizer, SequenceVectorizer):
        return 8 * n_numbers
    header, arrays = write_vectorizer(vectorizer)
    words = sum(np.asarray(array).nbytes for array in arrays.values())
    return 8 * n_numbers + words + len(json.dumps(header))


def say_size(
    columns: tuple[tuple[str, int, bool], ...], n_each: int, vectorizer: Any
) -> None:
    """Say before a fit how large its file will be, with so many numbers a feature."""
    n_features = sum(width for _, width, _ in columns)
    size = expected_bytes(vectorizer, n_each * n_features) / 1e6
    stage(f"{n_features:,} features: a model file of about {size:,.1f} MB")


def unpack(
    kind: type[Tagger], meta: Mapping[str, Any], arrays: Arrays, features: Any = None
) -> Tagger:
    """Rebuild a fitted estimator from what `pack` returned, checking all of it."""
    header = read_state(_HEADER, dict(meta), {}, {})
    model = with_settings(kind, meta.get("params"))
    model.classes_ = _read_classes(meta.get("classes"))
    model.scheme_ = header["scheme"]
    model.blocks_ = _read_blocks(meta.get("blocks"))
    _restore_features(model, meta, arrays, features)
    widths = {name: width for name, width, _ in model.blocks_}
    sizes = {"L": len(model.classes_), "D": model.n_features_in_}
    sizes["word"] = widths.get("word", 0)
    inside = strip_prefix("model/", arrays)
    values = read_state(saved_state(kind), meta.get("model"), inside, sizes)
    for name, value in values.items():
        setattr(model, name, value)
    model._restored()
    return model


def with_settings(kind: type[Tagger], params: Any) -> Tagger:
    try:
        model = kind(**params)
        model.check_settings()
    except (TypeError, InputError) as error:
        raise ModelFileError(
            f"the settings cannot be used ({error}); save the model again."
        ) from error
    return model


def _read_classes(found: Any) -> tuple[Any, ...]:
    names = isinstance(found, list) and all(type(name) in (str, int) for name in found)
    if not names or not found or len(set(found)) != len(found):
        refuse("classes", "must be distinct names or numbers, at least one", found)
    return tuple(found)


def _read_blocks(found: Any) -> tuple[tuple[str, int, bool], ...]:
    """Names and widths of the feature groups, and whether they are sparse."""
    for block in found if isinstance(found, list) else [found]:
        kinds = [type(k) for k in block] if isinstance(block, list) else []
        if kinds != [str, int, bool] or not 0 <= block[1] < 2**31:
            refuse("blocks", "must have a name, a width and a kind each", block)
    return tuple(tuple(block) for block in found)


def _restore_features(
    model: SequenceTagger, meta: Mapping[str, Any], arrays: Arrays, features: Any
) -> None:
    stored = meta.get("vectorizer")
    if stored is None:
        model.vectorizer_ = None
        return
    if isinstance(stored, dict) and "custom" in stored:
        model.features = model.vectorizer_ = features
        return
    vectorizer = read_vectorizer(stored, strip_prefix("vectorizer/", arrays))
    if vectorizer.columns != model.blocks_:
        raise damaged("the saved features have other columns than the model")
    model.vectorizer_ = vectorizer
    if stored.get("function") and callable(features):
        model.vectorizer_.set_params(templates=features)
    if meta["own_features"]:
        model.features = clone(model.vectorizer_)


def _settings(model: SequenceTagger) -> dict[str, Any]:
    params = model.get_params(deep=False) | {"features": None}
    if "engine" in params:
        params["engine"] = None
    if params["labels"] is not None:
        params["labels"] = list(params["labels"])
    if params["tokenizer"] is not None:
        params["tokenizer"] = tokenizer_name(params["tokenizer"])
    params["sentences"] = tokenizer_name(params["sentences"])
    if not isinstance(params["random_state"], int | np.integer):
        params["random_state"] = None
    settings: dict[str, Any] = json.loads(json.dumps(params, default=_plain))
    return settings


def _plain(value: Any) -> Any:
    """Turn NumPy scalars, arrays and estimators into what JSON knows."""
    if hasattr(value, "get_params"):
        return {"method": value.method.name, "params": _settings(value)}
    return value.tolist()
