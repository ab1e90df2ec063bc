"""Checks of marginal probabilities, and of methods that have none."""

from __future__ import annotations

import numpy as np

from tagsift.base import SequenceTagger
from tagsift.checks._asking import (
    LABELS,
    LONG,
    UNSEEN,
    fitted,
    fresh,
    full_sets,
    gold,
    refused,
    require,
    require_distributions,
    same_arrays,
    sentences,
)
from tagsift.errors import NotSupportedError


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
        require_distributions(model.predict_marginals(X), X, len(LABELS), case)


def check_marginal_columns(estimator: SequenceTagger) -> None:
    """The columns of marginals are in the order of `classes_`."""
    X, truth = sentences(), gold()
    for labels in (LABELS, LABELS[::-1]):
        model = fresh(estimator, labels=labels).fit(X, truth)
        columns = {name: k for k, name in enumerate(model.classes_)}
        right = [columns[k] for sentence in truth for k in sentence]
        marginals = np.concatenate(model.predict_marginals(X))  # [M, L]
        mean = float(marginals[np.arange(len(right)), right].mean())
        found = f"The right labels have a mean probability of {mean:.2f} with {labels}."
        require(mean > 1.5 / len(LABELS), found)


def check_marginals_of_full_sets(estimator: SequenceTagger) -> None:
    """A fit on unlabelled tokens still gives probabilities."""
    X = sentences()
    model = fresh(estimator).fit(X, full_sets(X))
    for case, part in (("training sentences", X), ("unseen words", UNSEEN)):
        require_distributions(model.predict_marginals(part), part, len(LABELS), case)


def check_marginals_of_single_label(estimator: SequenceTagger) -> None:
    """With one label, its probability is 1."""
    X = sentences()
    model = fresh(estimator).fit(X, [["O"] * len(words) for words in X])
    require_distributions(model.predict_marginals(UNSEEN), UNSEEN, 1, "one label")


def check_marginals_repeatable(estimator: SequenceTagger) -> None:
    """Marginals are the same to the bit when asked twice, and after a second fit."""
    model = fitted(estimator)
    X = [*sentences(), *UNSEEN]
    first = model.predict_marginals(X)
    require(same_arrays(first, model.predict_marginals(X)), "Not when asked twice.")
    again = fitted(estimator).predict_marginals(X)
    require(same_arrays(first, again), "Not after a second fit.")


def check_no_marginals(estimator: SequenceTagger) -> None:
    """A method without probabilities says so, fitted or not."""
    for model in (fresh(estimator), fitted(estimator)):
        with refused(NotSupportedError, "predict_marginals", estimator.method.title):
            model.predict_marginals(sentences())


__all__ = sorted(name for name in dir() if name.startswith("check_"))
