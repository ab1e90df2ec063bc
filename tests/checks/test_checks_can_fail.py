"""Each check fails on an estimator that breaks just what it looks at."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest

from tagsift.base import Method, Transduction
from tagsift.baselines import WordCounts
from tagsift.checks import (
    check_estimator,
    common,
    inputs,
    partial,
    persistence,
    yield_checks,
)
from tagsift.errors import InputError
from tagsift.features.vectorizer_state import write_vectorizer
from tagsift.storage.state import array, whole, word

MODULES = (common, inputs, partial, persistence)
ALL_CHECKS = {name for module in MODULES for name in module.__all__}
FACTS = WordCounts.method

# How to break a tagger: what a method gives is changed, or what it is given.


def gives(name: str, change: Callable[..., Any]) -> dict[str, Any]:
    """What a method gives, changed; `change` takes it, the model and the arguments."""

    def changed(self: WordCounts, *given: Any) -> Any:
        return change(getattr(WordCounts, name)(self, *given), self, *given)

    return {name: changed}


def after(name: str, change: Callable[..., Any]) -> dict[str, Any]:
    """The method as it is, and then something that it must not do."""

    def changed(found: Any, self: WordCounts, *given: Any) -> Any:
        change(self, *given)
        return found

    return gives(name, changed)


def predicts(label: Callable[..., Any]) -> dict[str, Any]:
    """The number of a label, or of all, whatever the features are."""
    return {"_predict": lambda self, X: np.zeros(X.n_tokens, int) + label(self, X)}


def learns_from(y: Callable[[Any], Any]) -> dict[str, Any]:
    """Every entry of y as something else."""
    return {
        "fit": lambda self, X, given: WordCounts.fit(
            self, X, [[y(entry) for entry in labels] for labels in given]
        )
    }


def recovers(labels: Callable[..., Any]) -> dict[str, Any]:
    return gives("_fit", lambda _, self, train: Transduction(labels(train)))


def sets(name: str, value: Callable[..., Any], on: str = "_fit") -> dict[str, Any]:
    """An attribute that gets another value at the end of a method."""
    return after(on, lambda self, *given: setattr(self, name, value(self, *given)))


def stops(error: Exception, when: Callable[..., Any]) -> dict[str, Any]:
    def fit(self: WordCounts, train: Any) -> Any:
        if when(train):
            raise error
        return WordCounts._fit(self, train)

    return {"_fit": fit}


def noisy(marginals: Any, *_: Any) -> Any:
    draws = np.random.default_rng().dirichlet(np.ones(marginals.shape[1]))
    return 0.999 * marginals + 0.001 * draws


def without_words(found: Any, self: WordCounts, *_: Any) -> Any:
    return found if self.vectorizer_ is not None else np.zeros_like(found)


def lower_case(found: Any, self: WordCounts, X: Any) -> Any:
    pairs = (zip(*both, strict=True) for both in zip(found, X, strict=True))
    return [[label for label, word in pair if word.islower()] for pair in pairs]


def only_words(self: WordCounts, path: Any) -> None:
    write_vectorizer(self.vectorizer_)
    WordCounts.save(self, path)


class FreeSetting(WordCounts):
    def __init__(self, *, depth=1, features=None, labels=None, scheme="auto",
                 random_state=0, verbose=0):  # fmt: skip
        known = locals()
        names = ("features", "labels", "scheme", "random_state", "verbose")
        super().__init__(**{name: known[name] for name in names})
        self.depth = depth


#: The check that must fail → what is broken.
BREAKS: dict[str, dict[str, Any]] = {
    # Common
    "check_method_facts": {"method": replace(FACTS, title="")},
    "check_fit_returns_self": gives("fit", lambda *_: None),
    "check_predict_shapes": gives("predict", lambda found, *_: [*map(tuple, found)]),
    "check_default_label_order": sets(
        "classes_", lambda m, *_: m.classes_[::-1], "fit"
    ),
    "check_labels_setting": sets(
        "classes_", lambda model, *_: tuple(sorted(model.classes_)), "fit"
    ),
    "check_unused_label": predicts(lambda model, _: int(model.prior_.argmin())),
    "check_repeatable": sets(
        "counts_",
        lambda m, _: m.counts_ * (1 + 1e-12 * np.random.default_rng().random()),
    ),
    "check_refit_forgets": {
        "saved": {"n_fits_": array("", "int")},
        **sets("n_fits_", lambda model, _: getattr(model, "n_fits_", 0) + 1),
    },
    "check_input_is_not_modified": after(
        "fit", lambda _, X, y: X[0].__setitem__(0, X[0][1])
    ),
    "check_sentence_order": {
        "_fit": lambda self, train: (
            WordCounts._fit(self, train.take_sequences([0])),
            Transduction(train.mask.argmax(axis=1)),
        )[1]
    },
    "check_renamed_labels": predicts(
        lambda m, _: m.classes_.index("B-VP") if "B-VP" in m.classes_ else 0
    ),
    "check_sentences_are_independent": predicts(lambda _, X: X.n_sequences > 1),
    "check_learns_separable_data": predicts(lambda *_: 0),
    "check_score": gives("score", lambda found, *_: 100 * found),
    "check_settings": sets("labels", lambda model, *_: model.classes_, "fit"),
    # Inputs
    "check_empty_sentences": gives(
        "predict", lambda found, *_: [k for k in found if k]
    ),
    "check_feature_matrix": gives("_predict", without_words),
    "check_kinds_of_candidates": learns_from(
        lambda entry: entry[0] if isinstance(entry, list) else entry
    ),
    "check_kinds_of_tokens": stops(
        InputError("words are needed."),
        lambda train: "word" not in train.features.names,
    ),
    "check_long_sentence": gives("predict", lambda found, *_: [k[:100] for k in found]),
    "check_masks": sets("classes_", lambda m, *_: tuple(map(str, m.classes_)), "fit"),
    "check_one_token": stops(ZeroDivisionError(), lambda train: train.n_tokens < 2),
    "check_one_token_sentences": stops(
        ZeroDivisionError(), lambda train: (train.features.lengths < 2).all()
    ),
    "check_single_label": stops(ZeroDivisionError(), lambda train: train.n_labels < 2),
    "check_unseen_words": gives("predict", lower_case),
    # Partial labels
    "check_recovered": recovers(
        lambda train: (train.mask.argmax(axis=1) + 1) % train.n_labels
    ),
    "check_all_exact": recovers(lambda train: np.zeros(train.n_tokens, int)),
    "check_confidences": gives(
        "_fit",
        lambda found, _, train: found._replace(
            confidences=np.full(train.mask.shape, 1 / train.n_labels)
        ),
    ),
    "check_full_sets": sets(
        "prior_", lambda m, train: m.prior_ * (1.0 if train.exact.any() else np.nan)
    ),
    "check_recover": {
        "_restricted": lambda self, features, evidence: (
            np.zeros(len(evidence), dtype=np.int64),
            None,
        )
    },
    "check_refuses_candidates": {
        "method": replace(FACTS, exact_only=True),
        **learns_from(lambda entry: min(entry) if isinstance(entry, set) else entry),
    },
    # Probabilities
    "check_marginals": gives("_marginals", lambda found, *_: 2 * found),
    "check_marginal_columns": gives("_marginals", lambda found, *_: found[:, ::-1]),
    "check_marginals_of_full_sets": sets(
        "prior_", lambda m, train: m.prior_ * (1.0 if train.exact.any() else np.nan)
    ),
    "check_marginals_of_single_label": gives(
        "_marginals", lambda p, *_: p * 0.5 if p.shape[1] == 1 else p
    ),
    "check_marginals_repeatable": gives("_marginals", noisy),
    "check_no_marginals": {
        "method": replace(FACTS, probabilities=False),
        "predict_proba": lambda self, X: [np.zeros((len(words), 4)) for words in X],
    },
    # Structure
    "check_sees_neighbours": {"method": replace(FACTS, structured=True)},
    "check_ignores_neighbours": predicts(
        lambda model, X: np.arange(X.n_tokens) % len(model.classes_)
    ),
    # Files
    "check_save_load": sets("prior_", lambda model: model.prior_[::-1], "_restored"),
    "check_save_load_ready_features": {"save": only_words},
    "check_saved_again": {
        "saved": {"n_iter_": whole()},
        **sets("n_iter_", lambda *_: 2),
        **sets("n_iter_", lambda _: 0, "_restored"),
    },
    "check_file_holds_no_code": {
        "saved": {"hidden_": word()},
        **sets("hidden_", lambda *_: pickle.dumps(1).hex()),
        **after("_restored", lambda m: pickle.loads(bytes.fromhex(m.hidden_))),
    },
    "check_pickle": sets("hook_", lambda *_: lambda: None),
    # Errors
    "check_not_fitted": {
        "predict": lambda self, X: (
            WordCounts.predict(self, X)
            if hasattr(self, "classes_")
            else [[] for _ in X]
        )
    },
    "check_bad_input": learns_from(lambda entry: entry or {"O"}),
    "check_labels_are_complete": {
        "fit": lambda self, X, y: WordCounts.fit(self.set_params(labels=None), X, y)
    },
    "check_failed_fit": {
        "fit": lambda self, X, y: (
            setattr(self, "classes_", ()) or WordCounts.fit(self, X, y)
        )
    },
    "check_bad_settings": {"check_settings": lambda self: None},
}
BROKEN: dict[str, type[WordCounts]] = {
    name: type(f"Broken_{name}", (WordCounts,), {"__annotations__": {}, **parts})
    for name, parts in BREAKS.items()
} | {"check_settings_are_constrained": FreeSetting}
for check, kind in BROKEN.items():
    kind._check_skips = {name: "not of interest" for name in ALL_CHECKS - {check}}
#: A lambda has no name that another process knows, nor has a class that is made here.
for kind in BROKEN.values():
    globals().setdefault(kind.__name__, kind)


def test_every_check_has_an_estimator_that_breaks_it():
    assert BROKEN.keys() == ALL_CHECKS


@pytest.mark.parametrize("check", sorted(ALL_CHECKS))
def test_check_fails(check: str):
    estimator = BROKEN[check]()
    assert [found.__name__ for found in yield_checks(estimator)] == [check]
    title = f"^{type(estimator).__name__}, {check}: (?!stopped by (Type|Value)Error)"
    with pytest.raises(AssertionError, match=title):
        check_estimator(estimator)


@pytest.mark.parametrize("check", ["check_pickle", "check_save_load"])
def test_an_intact_estimator_passes(check: str):
    check_estimator(WordCounts())
    getattr(persistence, check)(BROKEN["check_score"]())  # which is broken elsewhere


def test_the_estimator_given_is_left_alone():
    estimator = WordCounts(labels=("O",), random_state=5)
    list(yield_checks(estimator))
    with pytest.raises(AssertionError):  # its labels= lacks those of the sample
        check_estimator(estimator)
    assert estimator.get_params()["labels"] == ("O",)
    assert not hasattr(estimator, "classes_")


@pytest.mark.parametrize("exact_only", [False, True])
@pytest.mark.parametrize("probabilities", [False, True])
@pytest.mark.parametrize("is_structured", [False, True])
def test_the_facts_choose_the_checks(exact_only, probabilities, is_structured):
    class Variant(WordCounts):
        method: ClassVar[Method] = replace(
            FACTS,
            exact_only=exact_only,
            probabilities=probabilities,
            structured=is_structured,
        )

    found = {check.__name__ for check in yield_checks(Variant())}
    assert ("check_refuses_candidates" in found) == exact_only
    assert ("check_full_sets" in found) == (not exact_only)
    assert ("check_marginals" in found) == probabilities
    assert ("check_no_marginals" in found) == (not probabilities)
    assert ("check_sees_neighbours" in found) == is_structured
    assert ("check_ignores_neighbours" in found) == (not is_structured)


def test_a_setting_that_needs_a_word_is_passed_on():
    class Slow(WordCounts):
        _check_params: ClassVar[dict[str, Any]] = {"verbose": False}

        def _fit(self, train):
            assert self.verbose is False
            return super()._fit(train)

    common.check_fit_returns_self(Slow(verbose=2))
