"""Checks of saved models: the same answers after loading, and no code in the file."""

from __future__ import annotations

import json
import pickle
import struct
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

from tagsift.base import SequenceTagger
from tagsift.checks._asking import (
    UNSEEN,
    fit_on,
    fitted,
    fresh,
    require,
    same_arrays,
    sentences,
    training,
)
from tagsift.features import SequenceVectorizer
from tagsift.storage import read_container


def _through_file(model: SequenceTagger) -> tuple[SequenceTagger, bytes]:
    """Save and load as `tagsift.load` does, also a class that is in no registry."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.tagsift"
        model.save(path)
        return type(model).from_container(*read_container(path)), path.read_bytes()


def _require_same_answers(
    loaded: SequenceTagger, model: SequenceTagger, X: Any, case: str
) -> None:
    require(loaded.predict(X) == model.predict(X), f"{case} predicts other labels.")
    if model.method.probabilities:
        marginals, expected = loaded.predict_proba(X), model.predict_proba(X)
        require(same_arrays(marginals, expected), f"{case} gives other marginals.")


def check_save_load(estimator: SequenceTagger) -> None:
    """A loaded model answers as the saved one did, to the bit."""
    X, y = training(estimator)
    model = fitted(estimator)
    loaded, _ = _through_file(model)
    require(type(loaded) is type(model), "The loaded model is of another class.")
    for name in ("classes_", "scheme_"):
        before, after = getattr(model, name), getattr(loaded, name)
        require(before == after, f"{name} was {before!r} and is now {after!r}.")
    require(repr(loaded) == repr(model), f"Saved as {model!r}, loaded as {loaded!r}.")
    _require_same_answers(loaded, model, [*X, *UNSEEN, []], "the loaded model")
    require(loaded.recover(X, y)[0] == model.recover(X, y)[0], "Other labels.")


def check_save_load_ready_features(estimator: SequenceTagger) -> None:
    """A model fitted on a `FeatureMatrix` can be saved too."""
    words, y = training(estimator)
    features = SequenceVectorizer().fit_transform(words)
    model = fit_on(fresh(estimator), features, y)
    loaded, _ = _through_file(model)
    _require_same_answers(loaded, model, features, "a model loaded for ready features")


def check_saved_again(estimator: SequenceTagger) -> None:
    """Saving twice, and saving what was loaded, gives the same bytes."""
    model = fitted(estimator)
    loaded, contents = _through_file(model)
    require(contents == _through_file(model)[1], "Not when saved twice.")
    require(contents == _through_file(loaded)[1], "Something is lost in loading.")


def check_file_holds_no_code(estimator: SequenceTagger) -> None:
    """The file is safetensors with JSON metadata, and loading unpickles nothing."""
    model = fitted(estimator)

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("loading a model must not unpickle anything.")

    with mock.patch.multiple(pickle, load=refuse, loads=refuse, Unpickler=refuse):
        loaded, contents = _through_file(model)
        loaded.predict(sentences())
    # https://github.com/huggingface/safetensors: length, JSON header, numbers.
    (length,) = struct.unpack("<Q", contents[:8])
    header = json.loads(contents[8 : 8 + length])
    name = json.loads(header.pop("__metadata__")["tagsift"])["method"]
    require(name == estimator.method.name, f"The file names the method {name!r}.")
    kinds = {entry["dtype"] for entry in header.values()}
    numbers = {"BOOL", "U8", "I8", "U16", "I16", "U32", "I32", "U64", "I64"}
    kinds -= numbers | {"F16", "F32", "F64"}
    require(not kinds, f"The file holds more than numbers: {sorted(kinds)}.")
    end = max((entry["data_offsets"][1] for entry in header.values()), default=0)
    require(len(contents) == 8 + length + end, "It holds more than its header says.")


def check_pickle(estimator: SequenceTagger) -> None:
    """A fitted model can be sent to another process."""
    model = fitted(estimator)
    copy = pickle.loads(pickle.dumps(model))
    _require_same_answers(copy, model, [*sentences(), *UNSEEN], "an unpickled model")


__all__ = sorted(name for name in dir() if name.startswith("check_"))
