"""What a model file holds of a fitted `SequenceVectorizer`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tagsift.errors import InputError, ModelFileError
from tagsift.features.dicts import DictFeatures
from tagsift.features.encoder import ContextualEncoder
from tagsift.features.hashing import HashedIndicators
from tagsift.features.indicators import Indicators
from tagsift.features.templates import input_width, parse_templates, template_texts
from tagsift.features.vectorizer import SequenceVectorizer
from tagsift.storage import damaged, state
from tagsift.typing import Arrays

__all__ = ["read_vectorizer", "write_vectorizer"]

_SAVED: dict[str, state.Item] = {
    "kind_": state.word("columns", "dict", "array"),
    "templates": state.texts(distinct=False, optional=True),
    "function": state.flag(),
    "min_count": state.whole(least=1),
    "n_columns_": state.whole(most=10**6),
    "n_columns_in_": state.whole(most=10**6),
    "_indicators": state.part(Indicators, optional=True),
    "_dicts": state.part(DictFeatures, optional=True),
    "_array_width": state.whole(most=2**31),
    "encoder": state.keyed(
        folder=state.word(optional=True),
        layer=state.whole(least=-1000, most=1000),
        pooling=state.word("mean", "first", "last"),
        max_length=state.whole(least=8, optional=True),
        batch_size=state.whole(least=1),
        fingerprint=state.word(),
        optional=True,
    ),
    "encoder_mean_": state.array("vector", optional=True),
    "encoder_scale_": state.number(above=0),
}
#: What is there beside it where features are hashed.
_HASHED: dict[str, state.Item] = {"_hashed": state.part(HashedIndicators)}


def write_vectorizer(vectorizer: SequenceVectorizer) -> tuple[dict[str, Any], Arrays]:
    """Return JSON-able values, and arrays.

    A function of the user is not saved (loading never runs code): a restored vectorizer
    takes what the function returned, until `templates` is set to the function again.
    """
    vectorizer.check_fitted()
    encoder, templates = vectorizer.opened_encoder(), vectorizer._templates()
    if encoder is not None and not isinstance(encoder, ContextualEncoder):
        raise InputError(
            f"only a ContextualEncoder can be saved, found an encoder of type "
            f"{type(encoder).__name__}; give its vectors as arrays [T, D]."
        )
    default = isinstance(vectorizer.templates, str)
    hashed = isinstance(vectorizer._indicators, HashedIndicators)
    made = {
        "_indicators": None if hashed else vectorizer._indicators,
        "_hashed": vectorizer._indicators,
        "templates": None if default else template_texts(templates or ()),
        "function": templates is None,
        "encoder": None if encoder is None else encoder.state(),
    }
    table = _SAVED | _HASHED if hashed else _SAVED
    return state.write_state(table, SimpleNamespace(**vars(vectorizer) | made))


def read_vectorizer(meta: Any, arrays: Arrays) -> SequenceVectorizer:
    """Build a fitted vectorizer from what `write_vectorizer` returned, checking it."""
    hashed = isinstance(meta, dict) and "hashed/n_columns" in meta
    values = state.read_state(_SAVED | _HASHED if hashed else _SAVED, meta, arrays, {})
    if hashed and values["_indicators"] is not None:
        raise damaged("the saved features are counted and hashed at once")
    if hashed:
        values["_indicators"] = values.pop("_hashed")
    given, function = values.pop("templates"), values.pop("function")
    settings = values.pop("encoder")
    try:
        templates = "default" if given is None else parse_templates(given)
    except InputError as error:
        raise ModelFileError(f"{error} Save the model again.") from error
    encoder = None if settings is None else ContextualEncoder.from_state(settings)
    new = SequenceVectorizer(templates, values.pop("min_count"), encoder)
    if hashed:
        new.hashing = values["_indicators"].n_columns
    for name, value in values.items():
        setattr(new, name, value)
    new._width = input_width(None if function else new._templates())
    source = {"columns": new._indicators, "dict": new._dicts, "array": None}[new.kind_]
    if (
        (encoder is None) != (new.encoder_mean_ is None)
        or any(x is not None and x is not source for x in (new._indicators, new._dicts))
        or (new.kind_ == "dict" and source is None)
        or not new.columns
        or new.n_columns_ > new._width
    ):
        raise damaged("the saved settings of the features do not fit together")
    return new
