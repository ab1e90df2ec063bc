"""Checks of what may be given, and of bad input: one clear sentence, no half fit."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tagsift.base import SequenceTagger
from tagsift.checks._asking import (
    LABELS,
    LONG,
    UNSEEN,
    arrays,
    fit_on,
    fitted,
    fresh,
    gold,
    masks,
    refused,
    require,
    same_state,
    sentences,
    training,
)
from tagsift.errors import InputError, NotFittedError
from tagsift.features import SequenceVectorizer


def _require_labels(model: SequenceTagger, X: Any) -> None:
    """Ask for one known label per token."""
    predicted = model.predict(X)
    same = list(map(len, predicted)) == list(map(len, X))
    require(same, "Other lengths than the sentences.")
    predictions = {k for labels in predicted for k in labels}
    require(predictions <= set(model.classes_), f"No classes: {predictions}.")


def check_kinds_of_tokens(estimator: SequenceTagger) -> None:
    """Tokens may be column tuples, feature dicts, or rows of arrays."""
    words, y = training(estimator)
    forms = (
        lambda X: [[(w, w[-1:].upper()) for w in s] for s in X],
        lambda X: [[{"word": w, "size": float(len(w))} for w in s] for s in X],
        arrays,
    )
    for form in forms:
        model = fit_on(fresh(estimator), form(words), y)
        for X in (words, UNSEEN):
            _require_labels(model, form(X))


def check_feature_matrix(estimator: SequenceTagger) -> None:
    """A `FeatureMatrix` of the built-in templates gives the same labels as words."""
    words, y = training(estimator)
    vectorizer = SequenceVectorizer()
    features = vectorizer.fit_transform(words)
    ready = fit_on(fresh(estimator), features, y)
    usual = fitted(estimator)
    require(ready.predict(features) == usual.predict(words))
    require(ready.predict(vectorizer.transform(UNSEEN)) == usual.predict(UNSEEN))


def check_unseen_words(estimator: SequenceTagger) -> None:
    """Words without any known feature are labelled all the same."""
    _require_labels(fitted(estimator), UNSEEN)


def check_kinds_of_candidates(estimator: SequenceTagger) -> None:
    """Sets, lists and tuples of labels in any order mean the same."""
    X, y = training(estimator)
    usual = fitted(estimator)
    forms = {
        "sets": [[set(entry) for entry in s] for s in y],
        "lists": [[sorted(entry, reverse=True) for entry in s] for s in y],
        "tuples": [[tuple(sorted(entry)) for entry in s] for s in y],
        "labels": [[min(e) if len(e) == 1 else e for e in s] for s in y],
    }
    for case, form in forms.items():
        model = fit_on(fresh(estimator), X, form)
        same = model.transduction_ == usual.transduction_ and same_state(model, usual)
        require(same, f"Another model from {case} than from frozensets.")


def check_masks(estimator: SequenceTagger) -> None:
    """Masks and equal weights mean sets; without `labels` the classes are 0 … L − 1."""
    X, y = training(estimator)
    sets = masks(y)
    usual = fitted(estimator, scheme="plain")
    expected = usual.predict(X)
    named = fit_on(fresh(estimator, labels=LABELS, scheme="plain"), X, sets)
    require(named.classes_ == LABELS, "labels= must name the columns.")
    require(named.predict(X) == expected and named.transduction_ == usual.transduction_)
    model = fit_on(fresh(estimator, scheme="plain"), X, [0.5 * mask for mask in sets])
    numbers = tuple(range(len(LABELS)))
    require(model.classes_ == numbers, f"Without labels=, {model.classes_}.")
    predicted = model.predict(X)
    kinds = {type(k).__name__ for labels in predicted for k in labels}
    require(kinds == {"int"}, f"Without labels=, predictions of types {kinds}.")
    require([[LABELS[int(k)] for k in labels] for labels in predicted] == expected)


def check_single_label(estimator: SequenceTagger) -> None:
    """One label in all the data is learnt, and is the only answer."""
    X, _ = training(estimator)
    model = fit_on(fresh(estimator), X, [["O"] * len(words) for words in X])
    require(model.classes_ == ("O",), f"classes_ is {model.classes_}.")
    for part in (X, UNSEEN):
        require(model.predict(part) == [["O"] * len(words) for words in part])


def check_one_token(estimator: SequenceTagger) -> None:
    """One token in all is enough for a fit, and one of its candidates is recovered."""
    kinds: list[frozenset[str]] = [frozenset(["B-NP"])]
    if not estimator.method.exact_only:
        kinds.append(frozenset(["B-NP", "O"]))
    for entry in kinds:
        model = fit_on(fresh(estimator), [["dog"]], [[entry]])
        ((label,),) = model.transduction_
        require(label in entry, f"Recovered {label!r} for {sorted(entry)}.")
        _require_labels(model, [["dog"], ["cat", "."]])


def check_one_token_sentences(estimator: SequenceTagger) -> None:
    """Sentences of one token can be learnt from and labelled."""
    words, y = training(estimator)
    X = [[word] for sentence in words for word in sentence]
    model = fit_on(fresh(estimator), X, [[entry] for labels in y for entry in labels])
    require(
        list(map(len, model.transduction_)) == [1] * len(X), "transduction_ is cut."
    )
    _require_labels(model, X)
    # Learnt from longer sentences, asked for single tokens.
    _require_labels(fitted(estimator), X)


def check_empty_sentences(estimator: SequenceTagger) -> None:
    """Empty sentences are welcome in `fit` and `predict`, and come back empty."""
    X, y = training(estimator)
    holes_X = [[], *X[:5], [], [], *X[5:], []]
    holes_y = [[], *y[:5], [], [], *y[5:], []]
    model = fit_on(fresh(estimator), holes_X, holes_y)
    same = list(map(len, model.transduction_)) == list(map(len, holes_X))
    require(same, "Not so in transduction_.")
    _require_labels(model, holes_X)
    filled = [labels for labels in model.predict(holes_X) if labels]
    require(filled == model.predict(X), "They change the labels of their neighbours.")
    require(model.predict([]) == [], "predict([]) must return [].")
    require(model.predict([[], []]) == [[], []], "predict([[], []]) must be [[], []].")


def check_long_sentence(estimator: SequenceTagger) -> None:
    """A sentence far longer than any in training is labelled."""
    _require_labels(fitted(estimator), [LONG])


def check_not_fitted(estimator: SequenceTagger) -> None:
    """Everything but `fit` asks for a fit first."""
    X, y = sentences(), gold()
    model = fresh(estimator)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.tagsift"
        calls = {"predict": (X,), "recover": (X, y), "score": (X, y), "save": (path,)}
        if estimator.method.probabilities:
            calls["predict_proba"] = (X,)
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
            fit_on(fresh(estimator), bad_X, bad_y)
    model = fitted(estimator)
    with refused(InputError, "a string for a sentence to predict", "sentence 3"):
        model.predict(text)
    with refused(InputError, "fewer gold sentences than sentences"):
        model.score(X, y[:-1])


def check_labels_are_complete(estimator: SequenceTagger) -> None:
    """A label outside `labels` is refused, with its place."""
    model = fresh(estimator, labels=["B-NP", "I-NP", "O"])
    with refused(InputError, "a missing label", "B-VP", "sentence 0, token 2"):
        fit_on(model, sentences(), gold())


def check_failed_fit(estimator: SequenceTagger) -> None:
    """After a refused fit an estimator is as before: unfitted, or fitted."""
    X, bad = sentences(), gold()[:-1]
    model = fresh(estimator)
    with refused(InputError, "fewer sentences in y"):
        fit_on(model, X, bad)
    with refused(NotFittedError, "predict after a refused fit"):
        model.predict(X)
    model = fitted(estimator)
    before = model.predict(X)
    with refused(InputError, "fewer sentences in y"):
        fit_on(model, X, bad)
    require(model.predict(X) == before, "a refused fit changed a fitted model.")


def check_bad_settings(estimator: SequenceTagger) -> None:
    """A value that a setting cannot have is refused in `fit`, by name."""
    nonsense = dict.fromkeys(estimator.get_params(deep=False), object())
    for name, value in (nonsense | {"scheme": "iob3"}).items():
        model = fresh(estimator, **{name: value})
        with refused(InputError, f"{name}={value!r}", name):
            fit_on(model, sentences(), gold())


def check_settings_are_constrained(estimator: SequenceTagger) -> None:
    """Every setting is declared, with its type and range."""
    free = estimator.get_params(deep=False).keys() - estimator.settings.keys()
    require(not free, f"settings that are not declared with setting(): {free}.")


__all__ = sorted(name for name in dir() if name.startswith("check_"))
