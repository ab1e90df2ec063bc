"""Checks of what may be given: kinds of tokens and labels, and very small data."""

from __future__ import annotations

import numpy as np

from tagsift.base import SequenceTagger
from tagsift.checks._sample import (
    LABELS,
    UNSEEN,
    arrays,
    fitted,
    fresh,
    require,
    same_state,
    sentences,
    training,
)
from tagsift.features import SequenceVectorizer
from tagsift.typing import Label

__all__ = [
    "check_empty_sentences",
    "check_feature_matrix",
    "check_kinds_of_candidates",
    "check_kinds_of_tokens",
    "check_long_sentence",
    "check_masks",
    "check_one_token",
    "check_one_token_sentences",
    "check_single_label",
    "check_unseen_words",
]


def _require_labels(
    model: SequenceTagger, predicted: list[list[Label]], lengths: list[int], case: str
) -> None:
    require(
        [len(labels) for labels in predicted] == lengths,
        f"{case}: predict must return one label per token.",
    )
    found = {k for labels in predicted for k in labels}
    require(
        found <= set(model.classes_),
        f"{case}: predicted labels are not classes: {found}.",
    )


def check_kinds_of_tokens(estimator: SequenceTagger) -> None:
    """Tokens may be column tuples, feature dicts, or rows of arrays."""
    words, y = training(estimator)
    forms = {
        "tuples": lambda X: [[(w, w[-1:].upper()) for w in s] for s in X],
        "dicts": lambda X: [[{"word": w, "size": float(len(w))} for w in s] for s in X],
        "arrays": arrays,
    }
    for case, form in forms.items():
        model = fresh(estimator).fit(form(words), y)
        for X in (words, UNSEEN):
            _require_labels(model, model.predict(form(X)), list(map(len, X)), case)


def check_feature_matrix(estimator: SequenceTagger) -> None:
    """Features computed once by hand give the same as the sentences themselves."""
    words, y = training(estimator)
    vectorizer = SequenceVectorizer()
    features = vectorizer.fit_transform(words)
    ready = fresh(estimator).fit(features, y)
    usual = fitted(estimator)
    require(
        ready.predict(features) == usual.predict(words)
        and ready.predict(vectorizer.transform(UNSEEN)) == usual.predict(UNSEEN),
        "a FeatureMatrix of the built-in templates must give the same labels as words.",
    )


def check_unseen_words(estimator: SequenceTagger) -> None:
    """Words without any known feature are labelled all the same."""
    model = fitted(estimator)
    _require_labels(
        model, model.predict(UNSEEN), list(map(len, UNSEEN)), "unseen words"
    )


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
        model = fresh(estimator).fit(X, form)
        require(
            model.recovered_ == usual.recovered_ and same_state(model, usual),
            f"candidates given as {case} lead to another model than frozensets.",
        )


def check_masks(estimator: SequenceTagger) -> None:
    """Masks mean the same as sets; without `labels` the classes are numbers."""
    X, y = training(estimator)
    masks = [
        np.array([[k in entry for k in LABELS] for entry in labels]) for labels in y
    ]  # [T, L] each
    usual = fitted(estimator, scheme="plain")
    named = fresh(estimator, labels=LABELS, scheme="plain").fit(X, masks)
    require(named.classes_ == LABELS, "with masks, labels= must name the columns.")
    require(
        named.predict(X) == usual.predict(X) and named.recovered_ == usual.recovered_,
        "masks with labels= must give the same model as sets of labels.",
    )
    model = fresh(estimator, scheme="plain").fit(X, masks)
    require(
        model.classes_ == tuple(range(len(LABELS))),
        f"with masks and no labels=, classes_ must be 0 … L − 1; got {model.classes_}.",
    )
    predicted = model.predict(X)
    require(
        all(type(k) is int for labels in predicted for k in labels),
        "with masks and no labels=, predict must return int.",
    )
    require(
        [[LABELS[int(k)] for k in labels] for labels in predicted] == usual.predict(X),
        "masks without labels= must give the same model as sets of labels.",
    )


def check_single_label(estimator: SequenceTagger) -> None:
    """One label in all the data is learnt, and is the only answer."""
    X = sentences()
    model = fresh(estimator).fit(X, [["O"] * len(words) for words in X])
    require(model.classes_ == ("O",), f"classes_ must be ('O',); got {model.classes_}.")
    for part in (X, UNSEEN):
        require(
            model.predict(part) == [["O"] * len(words) for words in part],
            "with a single label, that label must be predicted everywhere.",
        )


def check_one_token(estimator: SequenceTagger) -> None:
    """One token in all is enough for a fit."""
    kinds: list[frozenset[str]] = [frozenset(["B-NP"])]
    if not estimator.method.exact_only:
        kinds.append(frozenset(["B-NP", "O"]))
    for entry in kinds:
        model = fresh(estimator).fit([["dog"]], [[entry]])
        require(
            [list(map(len, model.recovered_)), model.recovered_[0][0] in entry]
            == [[1], True],
            f"one token with the candidates {sorted(entry)}: recovered "
            f"{model.recovered_}.",
        )
        predicted = model.predict([["dog"], ["cat", "."]])
        _require_labels(model, predicted, [1, 2], "one training token")


def check_one_token_sentences(estimator: SequenceTagger) -> None:
    """Sentences of one token can be learnt from and labelled."""
    words, y = training(estimator)
    X = [[word] for sentence in words for word in sentence]
    model = fresh(estimator).fit(X, [[entry] for labels in y for entry in labels])
    require(
        list(map(len, model.recovered_)) == [1] * len(X),
        "sentences of one token must be recovered as such.",
    )
    _require_labels(model, model.predict(X), [1] * len(X), "sentences of one token")
    # Learnt from longer sentences, asked for single tokens.
    model = fitted(estimator)
    _require_labels(model, model.predict(X), [1] * len(X), "sentences of one token")


def check_empty_sentences(estimator: SequenceTagger) -> None:
    """Empty sentences are welcome in `fit` and `predict`, and come back empty."""
    X, y = training(estimator)
    holes_X = [[], *X[:5], [], [], *X[5:], []]
    holes_y = [[], *y[:5], [], [], *y[5:], []]
    model = fresh(estimator).fit(holes_X, holes_y)
    lengths = list(map(len, holes_X))
    require(
        list(map(len, model.recovered_)) == lengths,
        "recovered_ must have an empty list for an empty training sentence.",
    )
    _require_labels(model, model.predict(holes_X), lengths, "empty sentences")
    filled = [labels for labels in model.predict(holes_X) if labels]
    require(
        filled == model.predict(X),
        "empty sentences change the labels of their neighbours.",
    )
    require(model.predict([]) == [], "predict([]) must return [].")
    require(model.predict([[], []]) == [[], []], "predict([[], []]) must be [[], []].")


def check_long_sentence(estimator: SequenceTagger) -> None:
    """A sentence far longer than any in training is labelled."""
    words = [word for sentence in sentences() for word in sentence] * 6
    model = fitted(estimator)
    _require_labels(model, model.predict([words]), [len(words)], "a long sentence")
