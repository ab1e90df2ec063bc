"""Model files with a right checksum and wrong contents: refused in one sentence.

Every part of the state of every method is replaced by what it must not be. Whatever the
file then says, loading gives a `ModelFileError`, or a model that answers as models do.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from tagsift import registry
from tagsift.base import SequenceTagger
from tagsift.base.saving import pack
from tagsift.checks._asking import fit_on
from tagsift.errors import ModelFileError, TagsiftError

WORDS = [["the", "dog", "runs"], ["a", "cat"], ["dogs", "run", "fast", "too"]] * 3
LABELS: list[list[Any]] = [["D", "N", "V"], ["D", "N"], ["N", "V", "A", "A"]] * 3
SMALL: dict[str, dict[str, Any]] = {
    "sgppsl": {"theta": 0.3, "amplitude": 2.0, "posterior": "inducing"},
    "pl-svm": {"n_steps": 20},
}


def partial() -> list[list[Any]]:
    return [[{label, "N"} if t else label for t, label in enumerate(s)] for s in LABELS]


def arrays_of(words: list[list[str]]) -> list[np.ndarray]:
    known = sorted({word for sentence in WORDS for word in sentence})
    table = np.random.default_rng(0).normal(size=(len(known), 4))
    return [np.array([table[known.index(w)] for w in s]) for s in words]


@cache
def fitted(name: str, kind: str) -> tuple[SequenceTagger, Any]:
    y = LABELS if name == "crf" else partial()
    X = WORDS if kind == "words" else arrays_of(WORDS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit_on(registry.make(name, **SMALL.get(name, {})), X, y), X


def try_out(name: str, kind: str, header: Any, arrays: Any, case: str) -> None:
    """Load and tag; anything but a good answer or one sentence is a failure."""
    model, X = fitted(name, kind)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            loaded = type(model).from_container(header, arrays)
            predicted = loaded.predict(X)
            if loaded.method.probabilities:
                marginals = np.concatenate(loaded.predict_proba(X))
                assert np.isfinite(marginals).all(), case
        except TagsiftError as error:
            assert "\n" not in str(error), case
            return
        except Exception as error:
            raise AssertionError(f"{case}: {type(error).__name__}: {error}") from error
    assert [len(labels) for labels in predicted] == [len(words) for words in WORDS]


def wrong_arrays(array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Yield what an array must not be."""
    yield "another axis", array[..., None]
    yield "flat", array.reshape(-1) if array.ndim != 1 else array.reshape(1, -1)
    yield "empty", array[:0]
    yield "a row more", np.concatenate([array, array[:1]])
    with np.errstate(invalid="ignore"):  # some are infinite
        other = array.astype("f4" if array.dtype.kind in "iub" else "i8")
    yield "of another kind", other
    if array.dtype.kind == "f":
        for value in (np.nan, np.inf, -np.inf, 1e300, 1e4, -1.0, 0.0):
            yield f"full of {value}", np.full_like(array, value)
    if array.dtype.kind in "iu":
        limits = np.iinfo(array.dtype)
        for value in (limits.min, limits.max, min(10**6, limits.max)):
            yield f"full of {value}", np.full_like(array, value)
        yield "backwards", array[::-1].copy()
    if array.dtype == bool:
        yield "all false", np.zeros_like(array)


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of every value inside JSON."""
    if path:
        yield path
    if isinstance(value, dict | list):
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        for key, entry in entries:
            yield from paths(entry, (*path, key))


def changed(header: Any, path: tuple[Any, ...], value: Any) -> Any:
    new = copy.deepcopy(header)
    inside = new
    for key in path[:-1]:
        inside = inside[key]
    if value is ...:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    return new


WRONG = (..., None, "x", -1, 10**30, 2.5, True, [], {})
#: The method that the parts of a file are tried with that all methods share.
SIMPLEST = "word-counts"
#: Methods that learn something else from dense features.
DIFFERENT = ("sgppsl", "chain-gp", "pl-ecoc", "paloc")
CASES = [(name, kind) for name in registry.names() for kind in ("words", "arrays")]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_no_array_of_a_file_is_trusted(name: str, kind: str):
    header, arrays = pack(fitted(name, kind)[0])
    for key, array in arrays.items():
        if key.startswith("vectorizer/") and name != SIMPLEST:
            continue
        without = {k: a for k, a in arrays.items() if k != key}
        try_out(name, kind, header, without, f"{key} is missing")
        for case, wrong in wrong_arrays(array):
            try_out(name, kind, header, arrays | {key: wrong}, f"{key} is {case}")


@pytest.mark.parametrize(
    ("name", "kind"),
    [case for case in CASES if case[1] == "words" or case[0] in DIFFERENT],
)
def test_no_value_of_a_header_is_trusted(name: str, kind: str):
    header, arrays = pack(fitted(name, kind)[0])
    for path in paths(header):
        if path[0] not in ("model", "params") and name != SIMPLEST:
            continue
        for wrong in WRONG:
            new = changed(header, path, wrong)
            try_out(name, kind, new, arrays, f"{path} is {wrong!r}")


@pytest.mark.parametrize("name", ["wknn", "sure", "pl-aggd", "sgppsl"])
def test_indices_out_of_range_are_refused(name: str):
    header, arrays = pack(fitted(name, "words")[0])
    places = [key for key in arrays if key.endswith("/indices")]
    assert places
    for key in places:
        wrong = arrays[key].copy()
        wrong[-1] = 10**8
        with pytest.raises(ModelFileError, match="must be below"):
            type(fitted(name, "words")[0]).from_container(header, arrays | {key: wrong})


def test_the_fitted_models_are_the_small_ones():
    assert not fitted("sgppsl", "words")[0].gp_.dense
    assert fitted("pl-ecoc", "arrays")[0].machines_.basis is not None
