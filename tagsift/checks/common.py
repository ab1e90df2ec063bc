"""Checks of every estimator: shapes, labels, repeatability, settings, neighbours."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.base import clone

from tagsift.base import SequenceTagger
from tagsift.checks._asking import (
    LABELS,
    UNSEEN,
    arrays,
    fit_on,
    fitted,
    fresh,
    gold,
    masks,
    require,
    same_arrays,
    same_state,
    sentences,
    training,
)
from tagsift.features import SequenceVectorizer
from tagsift.metrics import equal_labels
from tagsift.typing import FloatArray

#: The features of the words "a", "b" and "x"; "x" is ambiguous by itself.
_ROWS = np.eye(3)
_X: list[FloatArray] = [_ROWS[[0, 2]], _ROWS[[1, 2]]]
_Y = [["A", "C"], ["B", "D"]]


def check_method_facts(estimator: SequenceTagger) -> None:
    """The facts of the method are filled in; its name is in lower case, in one word."""
    for name in ("name", "title", "family", "disambiguation"):
        require(getattr(estimator.method, name), f"method.{name} is empty.")
    name = estimator.method.name
    require(name == name.lower() and " " not in name, f"Found {name!r}.")


def check_fit_returns_self(estimator: SequenceTagger) -> None:
    """`fit` returns the estimator itself."""
    model = fresh(estimator)
    require(fit_on(model, *training(estimator)) is model)


def check_predict_shapes(estimator: SequenceTagger) -> None:
    """Predictions are lists of lists of known labels (str), one for every token."""
    X, _ = training(estimator)
    predicted = fitted(estimator).predict(X)
    lists = isinstance(predicted, list) and {type(k) for k in predicted} == {list}
    require(lists, "No list of lists.")
    require(list(map(len, predicted)) == list(map(len, X)), "Other lengths.")
    predictions = {k for labels in predicted for k in labels}
    odd = {type(k).__name__ for k in predictions if type(k) is not str}
    require(not odd, f"Labels of the types {sorted(odd)}.")
    require(predictions <= set(LABELS), f"No classes: {predictions - set(LABELS)}.")


def check_default_label_order(estimator: SequenceTagger) -> None:
    """Without `labels`, the classes are the sorted union of the candidates."""
    classes = fitted(estimator).classes_
    require(classes == LABELS, f"Expected {LABELS}, found {classes}.")


def check_labels_setting(estimator: SequenceTagger) -> None:
    """`labels` fixes the classes and their order, and not what is predicted."""
    X, _ = training(estimator)
    model = fitted(estimator, labels=list(LABELS[::-1]))
    require(model.classes_ == LABELS[::-1], f"classes_ is {model.classes_}.")
    _require_agreement(model.predict(X), fitted(estimator).predict(X), least=0.8)


def _require_agreement(found: Any, expected: Any, *, least: float) -> None:
    share = float(equal_labels(found, expected).mean())
    require(share >= least, f"Only {share:.0%} of the tokens agree.")


def check_unused_label(estimator: SequenceTagger) -> None:
    """A label that is in `labels` and never a candidate is never predicted."""
    X, _ = training(estimator)
    for labels in (["A-UNUSED", *LABELS], [*LABELS, "Z-UNUSED"]):
        model = fitted(estimator, labels=labels, scheme="plain")
        predictions = {k for sentence in model.predict([*X, *UNSEEN]) for k in sentence}
        require(predictions <= set(LABELS), f"Predicted {predictions - set(LABELS)}.")


def check_repeatable(estimator: SequenceTagger) -> None:
    """Two fits with the same `random_state` agree to the bit."""
    X, _ = training(estimator)
    for first, second in ((3, 3), (np.random.default_rng(3), np.random.default_rng(3))):
        one = fitted(estimator, random_state=first)
        two = fitted(estimator, random_state=second)
        same = (
            one.predict(X) == two.predict(X) and one.transduction_ == two.transduction_
        )
        require(same, f"Other labels with random_state={first!r}.")
        require(same_state(one, two), f"Other numbers with random_state={first!r}.")


def check_refit_forgets(estimator: SequenceTagger) -> None:
    """A second fit gives what a first one would, whatever was fitted before."""
    X, y = training(estimator)
    model = fit_on(fit_on(fresh(estimator), [["x", "y"]], [["P", "Q"]]), X, y)
    other = fitted(estimator)
    require(model.classes_ == other.classes_ and model.predict(X) == other.predict(X))
    require(same_state(model, other), "It learns other numbers.")


def check_input_is_not_modified(estimator: SequenceTagger) -> None:
    """`fit` and `predict` leave the sentences, the masks and the features as given."""
    words, sets = training(estimator)
    y = [list(map(set, labels)) for labels in sets]
    before = deepcopy((words, y))
    fit_on(fresh(estimator), words, y).predict(words)
    require((words, y) == before, "The sentences or sets have changed.")
    rows, columns = arrays(words), masks(sets)
    stored = deepcopy([*rows, *columns])
    fit_on(fresh(estimator), rows, columns).predict(rows)
    require(same_arrays([*rows, *columns], stored), "The arrays or masks have changed.")
    features = SequenceVectorizer().fit_transform(words)
    stored = [features.stacked().toarray()]
    fit_on(fresh(estimator), features, sets).predict(features)
    same = same_arrays([features.stacked().toarray()], stored)
    require(same, "The FeatureMatrix has changed.")


def check_sentence_order(estimator: SequenceTagger) -> None:
    """The order of the training sentences hardly matters."""
    X, y = training(estimator)
    order = np.random.default_rng(5).permutation(len(X))
    model = fit_on(fresh(estimator), [X[s] for s in order], [y[s] for s in order])
    _require_agreement(model.predict(X), fitted(estimator).predict(X), least=0.9)


def check_renamed_labels(estimator: SequenceTagger) -> None:
    """Other names for the labels, sorted alike, change nothing but the names."""
    X, y = training(estimator)
    names = {k: k.replace("NP", "NQ").replace("VP", "VQ") for k in LABELS}
    renamed = [[frozenset(names[k] for k in entry) for entry in labels] for labels in y]
    model = fit_on(fresh(estimator), X, renamed)
    usual = fitted(estimator).predict(X)
    require(model.predict(X) == [[names[str(k)] for k in labels] for labels in usual])


def check_sentences_are_independent(estimator: SequenceTagger) -> None:
    """A sentence gets the same labels alone and among others."""
    model = fitted(estimator)
    X = [*sentences()[:4], *UNSEEN]
    require(model.predict(X) == [model.predict([words])[0] for words in X])


def check_learns_separable_data(estimator: SequenceTagger) -> None:
    """Exact labels that the words determine are learnt."""
    X, truth = sentences(), gold()
    _require_agreement(fit_on(fresh(estimator), X, truth).predict(X), truth, least=0.9)


def check_score(estimator: SequenceTagger) -> None:
    """`score` is a float between 0 and 1, and 1 for the model's own answers."""
    X, truth = sentences(), gold()
    for scheme in ("auto", "plain"):
        model = fitted(estimator, scheme=scheme)
        value = model.score(X, truth)
        require(isinstance(value, float) and 0.0 <= value <= 1.0, f"Found {value!r}.")
    require(model.score(X, model.predict(X)) == 1.0)


def check_settings(estimator: SequenceTagger) -> None:
    """`get_params`, `set_params`, `clone` and `repr` work, and `fit` keeps settings."""
    params = estimator.get_params(deep=False)
    for name in (
        "features",
        "labels",
        "scheme",
        "random_state",
        "verbose",
        "tokenizer",
        "sentences",
    ):
        require(name in params, f"The setting {name!r} is missing.")
    for name, value in params.items():
        stored = getattr(estimator, name) is value
        require(stored, f"__init__ does not store the setting {name!r} untouched.")
    copy = clone(estimator)
    require(
        repr(copy) == repr(estimator) and type(estimator).__name__ in repr(copy),
        f"A clone is {copy!r}, the estimator {estimator!r}.",
    )
    changed = copy.set_params(random_state=11)
    set_ = changed is copy and copy.random_state == 11 and "11" in repr(copy)
    require(set_, "set_params does not set, or returns another object.")
    model = fresh(estimator)
    before = dict(model.get_params(deep=False))
    fit_on(model, *training(estimator))
    after = model.get_params(deep=False)
    changes = [name for name, value in before.items() if after[name] is not value]
    require(not changes, f"fit changed the settings {changes}.")
    require(not hasattr(clone(model), "classes_"), "A clone carries what was learnt.")


def _answers(estimator: SequenceTagger) -> list[list[str]]:
    """Labels of "a x" and "b x": only the label before "x" tells C from D."""
    model = fit_on(fresh(estimator), _X * 10, _Y * 10)
    return [[str(k) for k in labels] for labels in model.predict(_X)]


def check_sees_neighbours(estimator: SequenceTagger) -> None:
    """A structured method learns a label that only the label before it tells."""
    answers = _answers(estimator)
    require(answers == _Y, f"Of {_Y} it predicts {answers}.")


def check_ignores_neighbours(estimator: SequenceTagger) -> None:
    """A token-wise method gives tokens with the same features the same label."""
    first, second = _answers(estimator)
    require(first[1] == second[1], f"Found {first[1]!r} and {second[1]!r}.")


__all__ = sorted(name for name in dir() if name.startswith("check_"))
