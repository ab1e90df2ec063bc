"""Checks of partial labels, whose recovery is a candidate, and of marginals."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, TypeAlias

import numpy as np

from tagsift.base import SequenceTagger, learnt
from tagsift.checks._asking import (
    LABELS,
    LONG,
    UNSEEN,
    fit_on,
    fitted,
    fresh,
    full_sets,
    gold,
    refused,
    require,
    require_distributions,
    same_arrays,
    same_state,
    sentences,
    training,
)
from tagsift.errors import InputError, NotSupportedError
from tagsift.typing import FloatArray

#: Candidate sets of sentences.
_Sets: TypeAlias = Sequence[Sequence[Collection[Any]]]


def _require_candidates(recovered: list[list[Any]], y: _Sets, name: str) -> None:
    """Ask that every recovered label is one of the token's candidates."""
    require(list(map(len, recovered)) == list(map(len, y)), f"{name}: other lengths.")
    for s, (labels, sets) in enumerate(zip(recovered, y, strict=True)):
        for t, (label, entry) in enumerate(zip(labels, sets, strict=True)):
            place = f"{name}: sentence {s}, token {t}"
            require(label in entry, f"{place}: {label!r}, not of {sorted(entry)}.")


def _require_confidences(
    confidences: Sequence[FloatArray], classes: tuple[Any, ...], y: _Sets, name: str
) -> None:
    """Ask for rows that sum to 1 over the candidates and are 0 elsewhere."""
    require_distributions(confidences, y, len(classes), name)
    for s, (rows, sets) in enumerate(zip(confidences, y, strict=True)):
        mask = np.array([[k in entry for k in classes] for entry in sets], dtype=bool)
        inside = (rows[~mask.reshape(rows.shape)] == 0).all()
        require(inside, f"{name}: sentence {s} gives weight to what is no candidate.")


def check_recovered(estimator: SequenceTagger) -> None:
    """Recovered labels are candidates; those of singletons are as given."""
    _, y = training(estimator)
    model = fitted(estimator)
    recovered = model.transduction_
    lists = isinstance(recovered, list) and {type(labels) for labels in recovered} == {
        list
    }
    require(lists, "transduction_ is no list of lists.")
    _require_candidates(recovered, y, "transduction_")
    kinds = {type(k).__name__ for labels in recovered for k in labels}
    require(
        kinds == {"str"}, f"transduction_ holds {kinds}, not the labels themselves."
    )


def check_all_exact(estimator: SequenceTagger) -> None:
    """Where every label is exact, the labels are recovered as they are."""
    truth = gold()
    require(fit_on(fresh(estimator), sentences(), truth).transduction_ == truth)


def check_confidences(estimator: SequenceTagger) -> None:
    """Confidences of training tokens, where offered, lie on their candidates."""
    _, y = training(estimator)
    model = fitted(estimator)
    confidences = getattr(model, "confidences_", None)
    if confidences is not None:
        _require_confidences(confidences, model.classes_, y, "confidences_")


def check_full_sets(estimator: SequenceTagger) -> None:
    """Data in which no token is labelled at all can be fitted; nothing breaks."""
    X = sentences()
    y = full_sets(X)
    model = fit_on(fresh(estimator), X, y)
    _require_candidates(model.transduction_, y, "transduction_")
    unlabelled = [[None] * len(words) for words in X]
    same = same_state(fit_on(fresh(estimator, labels=LABELS), X, unlabelled), model)
    require(same, "None for the candidates of a token must mean all labels.")
    for part in (X, UNSEEN):
        _require_candidates(model.predict(part), full_sets(part), "predictions")
    for name, array in learnt(model)[1].items():
        numbers = np.asarray(array)
        holes = numbers.dtype.kind == "f" and np.isnan(numbers).any()
        require(not holes, f"The array {name!r} holds NaN.")


def check_recover(estimator: SequenceTagger) -> None:
    """`recover` chooses candidates of new sentences, in whatever order they come."""
    X, y = training(estimator)
    model = fitted(estimator)
    for words, sets in ((X[::-1], y[::-1]), ([[], *X[:2]], [[], *y[:2]])):
        labels, confidences = model.recover(words, sets)
        _require_candidates(labels, sets, "recover")
        if confidences is not None:
            _require_confidences(confidences, model.classes_, sets, "recover")
    require(model.recover([], [])[0] == [], "recover([], []) must recover nothing.")


def check_refuses_candidates(estimator: SequenceTagger) -> None:
    """A method for exact labels says so when it is given candidate sets."""
    y: list[list[Any]] = [list(labels) for labels in gold()]
    y[2][1] = {"I-NP", "O"}
    with refused(InputError, "an ambiguous token", "sentence 2, token 1"):
        fit_on(fresh(estimator), sentences(), y)


def check_marginals(estimator: SequenceTagger) -> None:
    """Marginals are distributions over the classes, for any sentence."""
    model = fitted(estimator)
    cases: dict[str, list[list[str]]] = {
        "training sentences": sentences(),
        "unseen words": UNSEEN,
        "empty sentences": [[], ["dog"], []],
        "no token": [[], []],
        "no sentence": [],
        "a long sentence": [LONG],
    }
    for case, X in cases.items():
        require_distributions(model.predict_proba(X), X, len(LABELS), case)


def check_marginal_columns(estimator: SequenceTagger) -> None:
    """The columns of marginals are in the order of `classes_`."""
    X, truth = sentences(), gold()
    for labels in (LABELS, LABELS[::-1]):
        model = fit_on(fresh(estimator, labels=labels), X, truth)
        columns = {name: k for k, name in enumerate(model.classes_)}
        right = [columns[k] for sentence in truth for k in sentence]
        marginals = np.concatenate(model.predict_proba(X))  # [M, L]
        mean = float(marginals[np.arange(len(right)), right].mean())
        problem = (
            f"The right labels have a mean probability of {mean:.2f} with {labels}."
        )
        require(mean > 1.5 / len(LABELS), problem)


def check_marginals_of_full_sets(estimator: SequenceTagger) -> None:
    """A fit on unlabelled tokens still gives probabilities."""
    X = sentences()
    model = fit_on(fresh(estimator), X, full_sets(X))
    for case, part in (("training sentences", X), ("unseen words", UNSEEN)):
        require_distributions(model.predict_proba(part), part, len(LABELS), case)


def check_marginals_of_single_label(estimator: SequenceTagger) -> None:
    """With one label, its probability is 1."""
    X = sentences()
    model = fit_on(fresh(estimator), X, [["O"] * len(words) for words in X])
    require_distributions(model.predict_proba(UNSEEN), UNSEEN, 1, "one label")


def check_marginals_repeatable(estimator: SequenceTagger) -> None:
    """Marginals are the same to the bit when asked twice, and after a second fit."""
    model = fitted(estimator)
    X = [*sentences(), *UNSEEN]
    first = model.predict_proba(X)
    require(same_arrays(first, model.predict_proba(X)), "Not when asked twice.")
    again = fitted(estimator).predict_proba(X)
    require(same_arrays(first, again), "Not after a second fit.")


def check_no_marginals(estimator: SequenceTagger) -> None:
    """A method without probabilities says so, fitted or not."""
    for model in (fresh(estimator), fitted(estimator)):
        with refused(NotSupportedError, "predict_proba", estimator.method.title):
            model.predict_proba(sentences())


__all__ = sorted(name for name in dir() if name.startswith("check_"))
