"""Each check fails on an estimator that breaks just what it looks at."""

from __future__ import annotations

import pickle
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
from tagsift.storage.state import Saved, array, whole, word

MODULES = (common, inputs, partial, persistence)
ALL_CHECKS = {name for module in MODULES for name in module.__all__}
FACTS = WordCounts.method
BROKEN: dict[str, type[WordCounts]] = {}


def breaks(check: str):
    """Register a class that must fail `check`; its other checks are skipped."""

    def register(kind: type[WordCounts]) -> type[WordCounts]:
        assert check in ALL_CHECKS
        kind._check_skips = {name: "not of interest" for name in ALL_CHECKS - {check}}
        BROKEN[check] = kind
        return kind

    return register


# Common ----------------------------------------------------------------------------


@breaks("check_method_facts")
class Nameless(WordCounts):
    method: ClassVar[Method] = replace(FACTS, title="")


@breaks("check_fit_returns_self")
class FitReturnsNothing(WordCounts):
    def fit(self, X, y):
        super().fit(X, y)


@breaks("check_predict_shapes")
class PredictsTuples(WordCounts):
    def predict(self, X):
        return [tuple(labels) for labels in super().predict(X)]


@breaks("check_default_label_order")
class SortsBackwards(WordCounts):
    def fit(self, X, y):
        super().fit(X, y)
        self.classes_ = self.classes_[::-1]
        return self


@breaks("check_labels_setting")
class IgnoresLabels(WordCounts):
    def fit(self, X, y):
        super().fit(X, y)
        self.classes_ = tuple(sorted(self.classes_))
        return self


@breaks("check_unused_label")
class PredictsTheUnused(WordCounts):
    def _predict(self, features):
        return np.full(features.n_tokens, int(self.prior_.argmin()))


@breaks("check_repeatable")
class Dices(WordCounts):
    def _fit(self, train):
        recovered = super()._fit(train)
        self.counts_ = self.counts_ * (1 + 1e-12 * np.random.default_rng().random())
        return recovered


@breaks("check_refit_forgets")
class Remembers(WordCounts):
    def _fit(self, train):
        self.n_fits_ = getattr(self, "n_fits_", 0) + 1
        return super()._fit(train)

    saved: ClassVar[Saved] = {"n_fits_": array("", "int")}


@breaks("check_input_is_not_modified")
class WritesIntoX(WordCounts):
    def fit(self, X, y):
        super().fit(X, y)
        X[0][0] = X[0][1]
        return self


@breaks("check_sentence_order")
class TrustsTheFirst(WordCounts):
    def _fit(self, train):
        super()._fit(train.take_sequences([0]))
        return Transduction(train.mask.argmax(axis=1))


@breaks("check_renamed_labels")
class ReadsNames(WordCounts):
    def _predict(self, features):
        k = self.classes_.index("B-VP") if "B-VP" in self.classes_ else 0
        return np.full(features.n_tokens, k)


@breaks("check_sentences_are_independent")
class CountsSentences(WordCounts):
    def _predict(self, features):
        return np.full(features.n_tokens, int(features.n_sequences > 1))


@breaks("check_learns_separable_data")
class LearnsNothing(WordCounts):
    def _predict(self, features):
        return np.zeros(features.n_tokens, dtype=np.int64)


@breaks("check_score")
class ScoresInPercent(WordCounts):
    def score(self, X, y):
        return 100 * super().score(X, y)


@breaks("check_settings")
class ChangesSettings(WordCounts):
    def fit(self, X, y):
        super().fit(X, y)
        self.labels = self.classes_
        return self


# Inputs ----------------------------------------------------------------------------


@breaks("check_empty_sentences")
class DropsEmpty(WordCounts):
    def predict(self, X):
        return [labels for labels in super().predict(X) if labels]


@breaks("check_feature_matrix")
class NeedsWords(WordCounts):
    def _predict(self, features):
        known = super()._predict(features)
        return known if self.vectorizer_ is not None else np.zeros_like(known)


@breaks("check_kinds_of_candidates")
class TakesTheFirst(WordCounts):
    def fit(self, X, y):
        first = [[e[0] if isinstance(e, list) else e for e in labels] for labels in y]
        return super().fit(X, first)


@breaks("check_kinds_of_tokens")
class NeedsTemplates(WordCounts):
    def _fit(self, train):
        if "word" not in train.features.names:
            raise InputError("words are needed.")
        return super()._fit(train)


@breaks("check_long_sentence")
class Cuts(WordCounts):
    def predict(self, X):
        return [labels[:100] for labels in super().predict(X)]


@breaks("check_masks")
class NamesNumbers(WordCounts):
    def fit(self, X, y):
        super().fit(X, y)
        self.classes_ = tuple(map(str, self.classes_))
        return self


@breaks("check_one_token")
class NeedsTwoTokens(WordCounts):
    def _fit(self, train):
        if train.n_tokens < 2:
            raise ZeroDivisionError("division by zero")
        return super()._fit(train)


@breaks("check_one_token_sentences")
class NeedsPairs(WordCounts):
    def _fit(self, train):
        pairs = int((train.features.lengths - 1).sum())
        self.prior_weight_ = 1 // pairs
        return super()._fit(train)


@breaks("check_single_label")
class NeedsTwoLabels(WordCounts):
    def _fit(self, train):
        self.other_ = 1 // (train.n_labels - 1)
        return super()._fit(train)


@breaks("check_unseen_words")
class LosesUnseen(WordCounts):
    def predict(self, X):
        return [
            [k for k, word in zip(labels, words, strict=True) if word.islower()]
            for labels, words in zip(super().predict(X), X, strict=True)
        ]


# Partial labels --------------------------------------------------------------------


@breaks("check_recovered")
class RecoversAnything(WordCounts):
    def _fit(self, train):
        super()._fit(train)
        return Transduction((train.mask.argmax(axis=1) + 1) % train.n_labels)


@breaks("check_all_exact")
class RecoversPredictions(WordCounts):
    def _fit(self, train):
        super()._fit(train)
        return Transduction(np.zeros(train.n_tokens, dtype=np.int64))


@breaks("check_confidences")
class ConfidentOutside(WordCounts):
    def _fit(self, train):
        even = np.full(train.mask.shape, 1 / train.n_labels)
        return super()._fit(train)._replace(confidences=even)


@breaks("check_full_sets")
class NeedsExactTokens(WordCounts):
    def _fit(self, train):
        recovered = super()._fit(train)
        if not train.exact.any():
            self.prior_ = self.prior_ * np.nan
        return recovered


@breaks("check_recover")
class RecoversTheFirst(WordCounts):
    def _restricted(self, features, evidence):
        return np.zeros(len(evidence), dtype=np.int64), None


@breaks("check_refuses_candidates")
class GuessesQuietly(WordCounts):
    method: ClassVar[Method] = replace(FACTS, exact_only=True)

    def fit(self, X, y):
        one = [[min(e) if isinstance(e, set) else e for e in labels] for labels in y]
        return super().fit(X, one)


# Probabilities ---------------------------------------------------------------------


@breaks("check_marginals")
class MarginalsSumToTwo(WordCounts):
    def _marginals(self, features):
        return 2 * super()._marginals(features)


@breaks("check_marginal_columns")
class ColumnsBackwards(WordCounts):
    def _marginals(self, features):
        return super()._marginals(features)[:, ::-1]


@breaks("check_marginals_of_full_sets")
class NaNWithoutLabels(NeedsExactTokens):
    pass


@breaks("check_marginals_of_single_label")
class HalfSure(WordCounts):
    def _marginals(self, features):
        marginals = super()._marginals(features)
        return marginals * 0.5 if marginals.shape[1] == 1 else marginals


@breaks("check_marginals_repeatable")
class SamplesMarginals(WordCounts):
    def _marginals(self, features):
        marginals = super()._marginals(features)
        draws = np.random.default_rng().dirichlet(np.ones(marginals.shape[1]))
        return 0.999 * marginals + 0.001 * draws


@breaks("check_no_marginals")
class InventsMarginals(WordCounts):
    method: ClassVar[Method] = replace(FACTS, probabilities=False)

    def predict_proba(self, X):
        return [np.zeros((len(words), 4)) for words in X]


# Structure -------------------------------------------------------------------------


@breaks("check_sees_neighbours")
class ClaimsStructure(WordCounts):
    method: ClassVar[Method] = replace(FACTS, structured=True)


@breaks("check_ignores_neighbours")
class HidesStructure(WordCounts):
    def _predict(self, features):
        return np.arange(features.n_tokens) % len(self.classes_)


# Files -----------------------------------------------------------------------------


@breaks("check_save_load")
class LoadsWrongly(WordCounts):
    def _restored(self):
        self.prior_ = self.prior_[::-1]


@breaks("check_save_load_ready_features")
class SavesOnlyWords(WordCounts):
    def save(self, path):
        write_vectorizer(self.vectorizer_)
        super().save(path)


@breaks("check_saved_again")
class LosesOnLoading(WordCounts):
    saved: ClassVar[Saved] = {"n_iter_": whole()}

    def _fit(self, train):
        self.n_iter_ = 2
        return super()._fit(train)

    def _restored(self):
        self.n_iter_ = 0


@breaks("check_file_holds_no_code")
class HidesAPickle(WordCounts):
    saved: ClassVar[Saved] = {"hidden_": word()}

    def _fit(self, train):
        self.hidden_ = pickle.dumps(len(train.mask)).hex()
        return super()._fit(train)

    def _restored(self):
        pickle.loads(bytes.fromhex(self.hidden_))


@breaks("check_pickle")
class HoldsALambda(WordCounts):
    def _fit(self, train):
        self.hook_ = lambda: None
        return super()._fit(train)


# Errors ----------------------------------------------------------------------------


@breaks("check_not_fitted")
class AnswersUnfitted(WordCounts):
    def predict(self, X):
        return super().predict(X) if hasattr(self, "classes_") else [[] for _ in X]


@breaks("check_bad_input")
class FillsHoles(WordCounts):
    def fit(self, X, y):
        filled = [[entry or {"O"} for entry in labels] for labels in y]
        return super().fit(X, filled)


@breaks("check_labels_are_complete")
class AddsLabels(WordCounts):
    def fit(self, X, y):
        self.labels = None
        return super().fit(X, y)


@breaks("check_failed_fit")
class HalfFitted(WordCounts):
    def fit(self, X, y):
        self.classes_ = ()
        return super().fit(X, y)


@breaks("check_bad_settings")
class TakesAnything(WordCounts):
    def check_settings(self):
        pass


@breaks("check_settings_are_constrained")
class FreeSetting(WordCounts):
    def __init__(
        self,
        *,
        depth=1,
        features=None,
        labels=None,
        scheme="auto",
        random_state=0,
        verbose=0,
    ):
        super().__init__(
            features=features,
            labels=labels,
            scheme=scheme,
            random_state=random_state,
            verbose=verbose,
        )
        self.depth = depth


# -----------------------------------------------------------------------------------


def test_every_check_has_an_estimator_that_breaks_it():
    assert BROKEN.keys() == ALL_CHECKS


@pytest.mark.parametrize("check", sorted(ALL_CHECKS))
def test_check_fails(check: str):
    estimator = BROKEN[check]()
    assert [found.__name__ for found in yield_checks(estimator)] == [check]
    title = f"^{type(estimator).__name__}, {check}: (?!stopped by (Type|Value)Error)"
    with pytest.raises(AssertionError, match=title):
        check_estimator(estimator)


def test_an_intact_estimator_passes():
    check_estimator(WordCounts())


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
