"""Checks of bad input: one clear sentence, and no half-fitted estimator."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tagsift.base import SequenceTagger
from tagsift.checks._asking import fitted, fresh, gold, refused, require, sentences
from tagsift.errors import InputError, NotFittedError


def check_not_fitted(estimator: SequenceTagger) -> None:
    """Everything but `fit` asks for a fit first."""
    X, y = sentences(), gold()
    model = fresh(estimator)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.tagsift"
        calls = {"predict": (X,), "recover": (X, y), "score": (X, y), "save": (path,)}
        if estimator.method.probabilities:
            calls["predict_marginals"] = (X,)
        for name, given in calls.items():
            case = f"{name} before fit"
            with refused(NotFittedError, case, type(model).__name__, "fit"):
                getattr(model, name)(*given)
        require(not path.exists(), "saving an unfitted model must leave no file.")


def check_bad_input(estimator: SequenceTagger) -> None:
    """Sentences and labels that break the contract are refused, with the place."""
    X: list[Any] = sentences()
    y: list[Any] = gold()
    text = [*X[:3], "the dog sees a cat"]
    hole = [list(labels) for labels in y]
    hole[1][2] = set()
    odd = [list(labels) for labels in y]
    odd[2][0] = 1.5
    cases: dict[str, tuple[Any, Any, tuple[str, ...]]] = {
        "fewer sentences in y": (X, y[:-1], (str(len(X)), str(len(X) - 1))),
        "fewer labels in a sentence": (X, [y[0][:-1], *y[1:]], ("sentence 0",)),
        "an empty candidate set": (X, hole, ("sentence 1, token 2",)),
        "a number with a point for a label": (X, odd, ("sentence 2, token 0",)),
        "a string for a sentence": (text, y[:4], ("sentence 3",)),
        "one string for all sentences": ("the dog", y, ()),
        "a string for the labels of a sentence": (X[:1], ["OOOOOO"], ("sentence 0",)),
        "no sentence": ([], [], ()),
        "no token": ([[], []], [[], []], ()),
    }
    for case, (bad_X, bad_y, mentions) in cases.items():
        with refused(InputError, case, *mentions):
            fresh(estimator).fit(bad_X, bad_y)
    model = fitted(estimator)
    with refused(InputError, "a string for a sentence to predict", "sentence 3"):
        model.predict(text)
    with refused(InputError, "fewer gold sentences than sentences"):
        model.score(X, y[:-1])


def check_labels_are_complete(estimator: SequenceTagger) -> None:
    """A label outside `labels` is refused, with its place."""
    model = fresh(estimator, labels=["B-NP", "I-NP", "O"])
    with refused(InputError, "a missing label", "B-VP", "sentence 0, token 2"):
        model.fit(sentences(), gold())


def check_failed_fit(estimator: SequenceTagger) -> None:
    """After a refused fit an estimator is as before: unfitted, or fitted."""
    X, bad = sentences(), gold()[:-1]
    model = fresh(estimator)
    with refused(InputError, "fewer sentences in y"):
        model.fit(X, bad)
    with refused(NotFittedError, "predict after a refused fit"):
        model.predict(X)
    model = fitted(estimator)
    before = model.predict(X)
    with refused(InputError, "fewer sentences in y"):
        model.fit(X, bad)
    require(model.predict(X) == before, "a refused fit changed a fitted model.")


def check_bad_settings(estimator: SequenceTagger) -> None:
    """A value that a setting cannot have is refused in `fit`, by name."""
    nonsense = dict.fromkeys(estimator.get_params(deep=False), object())
    for name, value in (nonsense | {"scheme": "iob3"}).items():
        model = fresh(estimator, **{name: value})
        with refused(InputError, f"{name}={value!r}", name):
            model.fit(sentences(), gold())


def check_settings_are_constrained(estimator: SequenceTagger) -> None:
    """Every setting is declared, with its type and range."""
    free = estimator.get_params(deep=False).keys() - estimator.settings.keys()
    require(not free, f"settings that are not declared with setting(): {free}.")


__all__ = sorted(name for name in dir() if name.startswith("check_"))
