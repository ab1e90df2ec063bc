"""Every estimator by its table name, and the loader of model files.

A method names itself (``method.name``); that it is imported by its package makes it
known here, to the command line, and to the contract tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

from tagsift import annotators, baselines
from tagsift.base import Method, SequenceTagger
from tagsift.chain_gp import ChainGP
from tagsift.cleaned import KIND, cleaned_from
from tagsift.errors import InputError, ModelFileError, TagsiftError
from tagsift.sgppsl import SGPPSL
from tagsift.storage import read_container, strip_prefix
from tagsift.typing import Arrays

__all__ = ["estimator", "load", "load_tagger", "make", "methods", "names"]

#: Table name → class, in the order of tables.
_ESTIMATORS: dict[str, type[SequenceTagger]] = {
    kind.method.name: kind
    for kind in (
        SGPPSL,
        ChainGP,
        *vars(baselines).values(),
        *vars(annotators).values(),
    )
    if isinstance(kind, type) and issubclass(kind, SequenceTagger)
}


def names() -> tuple[str, ...]:
    """Return the table names of all methods."""
    return tuple(_ESTIMATORS)


def estimator(name: str) -> type[SequenceTagger]:
    """Return the class of the method called `name`."""
    try:
        return _ESTIMATORS[name]
    except KeyError:
        raise InputError(
            f"there is no method {name!r}; choose one of {', '.join(names())}."
        ) from None


def make(name: str, **params: Any) -> SequenceTagger:
    """Build the estimator called `name` with the given settings.

    Examples
    --------
    >>> import tagsift
    >>> tagsift.make("word-counts", random_state=1)
    WordCounts(random_state=1)
    """
    return estimator(name)(**params)


def methods() -> list[Method]:
    """Return the facts about every method, in the order of tables."""
    return [kind.method for kind in _ESTIMATORS.values()]


def load(path: str | PathLike[str], *, features: Any = None) -> Any:
    """Load a model or a result that `save` wrote; reads numbers and JSON, runs no code.

    Parameters
    ----------
    path : path-like
        The file.
    features : transformer, optional
        The user's own features, where the model was fitted with such.

    Returns
    -------
    SequenceTagger or Cleaned
        Fitted, with predictions identical to those before saving; or the result of
        `tagsift.clean`, with its corpus, its tagger and all figures.
    """
    meta, arrays = read_container(path)
    is_result = meta.get("kind") == KIND
    try:
        if not is_result:
            return _model(meta, arrays, features)
        header = meta.get("tagger")
        inside = strip_prefix("tagger/", arrays)
        model = _model(header if isinstance(header, dict) else {}, inside, features)
        return cleaned_from(meta, arrays, model)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from error
    except TagsiftError:  # says itself what is missing: an encoder, an extra
        raise
    except (AttributeError, KeyError, TypeError, IndexError, ValueError) as error:
        raise ModelFileError(
            f"{path}: an entry of the file is missing or cannot be used "
            f"({type(error).__name__}: {error}); save it again."
        ) from error


def load_tagger(path: str | PathLike[str], *, features: Any = None) -> SequenceTagger:
    """Load the tagger in a file: a model, or that of a result."""
    content = load(path, features=features)
    tagger: SequenceTagger = getattr(content, "tagger", content)
    return tagger


def _model(meta: Mapping[str, Any], arrays: Arrays, features: Any) -> SequenceTagger:
    name = meta.get("method")
    if not isinstance(name, str) or name not in _ESTIMATORS:
        raise ModelFileError(
            f"holds a model of the method {str(name)[:40]!r}, which this version of "
            "tagsift does not know; install a newer one, or load an estimator of your "
            "own with its from_container."
        )
    return estimator(name).from_container(meta, arrays, features=features)
