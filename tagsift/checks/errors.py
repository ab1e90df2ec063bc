"""Checks of bad input: one clear sentence, and no half-fitted estimator."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tagsift.base import SequenceTagger
from tagsift.checks._sample import expect_error, fitted, fresh, gold, require, sentences
from tagsift.errors import InputError, NotFittedError

__all__ = [
    "check_bad_input",
    "check_bad_settings",
    "check_failed_fit",
    "check_labels_are_complete",
    "check_not_fitted",
    "check_settings_are_constrained",
]


class _Nonsense:
    """A value that no setting can have."""

    def __repr__(self) -> str:
        return "<nonsense>"


def check_not_fitted(estimator: SequenceTagger) -> None:
    """Everything but `fit` asks for a fit first."""
    X, y = sentences(), gold()
    model = fresh(estimator)
    calls: dict[str, Callable[[], Any]] = {
        "predict": lambda: model.predict(X),
        "recover": lambda: model.recover(X, y),
        "score": lambda: model.score(X, y),
    }
    if estimator.method.probabilities:
        calls["predict_marginals"] = lambda: model.predict_marginals(X)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.tagsift"
        calls["save"] = lambda: model.save(path)
        for name, call in calls.items():
            expect_error(
                NotFittedError, call, f"{name} before fit", type(model).__name__, "fit"
            )
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
        model = fresh(estimator)
        expect_error(
            InputError,
            lambda model=model, X=bad_X, y=bad_y: model.fit(X, y),  # type: ignore[misc]
            case,
            *mentions,
        )
    model = fitted(estimator)
    expect_error(
        InputError,
        lambda: model.predict(text),
        "a string for a sentence to predict",
        "sentence 3",
    )
    expect_error(
        InputError,
        lambda: model.score(X, y[:-1]),
        "fewer gold sentences than sentences",
    )


def check_labels_are_complete(estimator: SequenceTagger) -> None:
    """A label outside `labels` is refused, with its place."""
    expect_error(
        InputError,
        lambda: fresh(estimator, labels=["B-NP", "I-NP", "O"]).fit(sentences(), gold()),
        "a label that is not in labels=",
        "B-VP",
        "sentence 0, token 2",
    )


def check_failed_fit(estimator: SequenceTagger) -> None:
    """After a refused fit an estimator is as before: unfitted, or fitted."""
    X, bad = sentences(), gold()[:-1]
    model = fresh(estimator)
    expect_error(InputError, lambda: model.fit(X, bad), "fewer sentences in y")
    expect_error(
        NotFittedError, lambda: model.predict(X), "predict after a refused fit"
    )
    model = fitted(estimator)
    before = model.predict(X)
    expect_error(InputError, lambda: model.fit(X, bad), "fewer sentences in y")
    require(model.predict(X) == before, "a refused fit changed a fitted model.")


def check_bad_settings(estimator: SequenceTagger) -> None:
    """A value that a setting cannot have is refused in `fit`, by name."""
    cases: dict[str, Any] = {
        name: _Nonsense() for name in estimator.get_params(deep=False)
    }
    cases["scheme"] = "iob3"
    for name, value in cases.items():
        model = fresh(estimator, **{name: value})
        expect_error(
            InputError,
            lambda model=model: model.fit(sentences(), gold()),  # type: ignore[misc]
            f"{name}={value!r}",
            name,
        )


def check_settings_are_constrained(estimator: SequenceTagger) -> None:
    """Every setting is declared, with its type and range."""
    free = estimator.get_params(deep=False).keys() - estimator.settings.keys()
    require(not free, f"settings that are not declared with setting(): {free}.")
