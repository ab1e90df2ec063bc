"""Every estimator by its table name, and the loader of model files.

Modules are imported only when a method is asked for, so that `import tagsift` and the
command line start quickly.
"""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from typing import Any

from tagsift.base import Method, SequenceTagger
from tagsift.errors import InputError, ModelFileError, TagsiftError
from tagsift.storage import read_container

__all__ = ["estimator", "load", "make", "methods", "names"]

#: Table name → where the class lives, in the order of tables.
_HOMES: dict[str, tuple[str, str]] = {
    "sgppsl": ("tagsift.models.sgppsl", "SGPPSL"),
    "chain-gp": ("tagsift.models.chain_gp", "ChainGP"),
    "naive": ("tagsift.baselines.naive", "Naive"),
    "clpl": ("tagsift.baselines.clpl", "CLPL"),
    "wknn": ("tagsift.baselines.wknn", "WKNN"),
    "pl-ecoc": ("tagsift.baselines.pl_ecoc", "PLECOC"),
    "pl-svm": ("tagsift.baselines.pl_svm", "PLSVM"),
    "cllp": ("tagsift.baselines.cllp", "CLLP"),
    "paloc": ("tagsift.baselines.paloc", "PALOC"),
    "sure": ("tagsift.baselines.sure", "SURE"),
    "pl-aggd": ("tagsift.baselines.pl_aggd", "PLAGGD"),
    "partial-crf": ("tagsift.baselines.partial_crf", "PartialCRF"),
    "crf": ("tagsift.baselines.crf", "CRF"),
    "majority": ("tagsift.models.majority", "Majority"),
}


def names() -> tuple[str, ...]:
    """Return the table names of all methods, without importing any of them."""
    return tuple(_HOMES)


def estimator(name: str) -> type[SequenceTagger]:
    """Return the class of the method called `name`."""
    try:
        module, attribute = _HOMES[name]
    except KeyError:
        raise InputError(
            f"there is no method {name!r}; choose one of {', '.join(_HOMES)}."
        ) from None
    found: type[SequenceTagger] = getattr(import_module(module), attribute)
    return found


def make(name: str, **params: Any) -> SequenceTagger:
    """Build the estimator called `name` with the given settings.

    Examples
    --------
    >>> import tagsift
    >>> tagsift.make("majority", random_state=1)
    Majority(random_state=1)
    """
    return estimator(name)(**params)


def methods() -> list[Method]:
    """Return the facts about every method, in the order of tables."""
    return [estimator(name).method for name in _HOMES]


def load(path: str | PathLike[str], *, features: Any = None) -> SequenceTagger:
    """Load a model that `save` wrote; reads numbers and JSON, never runs code.

    Parameters
    ----------
    path : path-like
        The model file.
    features : transformer, optional
        The user's own features, where the model was fitted with such.

    Returns
    -------
    model : SequenceTagger
        Fitted, with predictions identical to those before saving.
    """
    meta, arrays = read_container(path)
    name = meta.get("method")
    if name not in _HOMES:
        raise ModelFileError(
            f"{path}: holds a model of the method {name!r}, which this version of "
            "tagsift does not know; install a newer one, or load an estimator of your "
            "own with its from_container."
        )
    try:
        return estimator(name).from_container(meta, arrays, features=features)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from error
    except TagsiftError:  # says itself what is missing: an encoder, an extra
        raise
    except (AttributeError, KeyError, TypeError, IndexError, ValueError) as error:
        raise ModelFileError(
            f"{path}: an entry of the model is missing or cannot be used "
            f"({type(error).__name__}: {error}); save the model again."
        ) from error
