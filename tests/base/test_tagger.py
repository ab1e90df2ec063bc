"""The estimator base: features, schemes, seeds, refits, scores and scikit-learn."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest

from tagsift.base import Method, SequenceTagger, TrainingSet, Transduction, setting
from tagsift.baselines import WordCounts
from tagsift.errors import (
    InputError,
    NotFittedError,
    NotSupportedError,
    ScaleWarning,
)
from tagsift.features import FeatureMatrix, SequenceVectorizer

X = [["a", "dog", "runs"], ["the", "cat"], ["a", "cat", "runs"], ["the", "dog"]]
Y = [["D", "N", "V"], ["D", "N"], ["D", "N", "V"], ["D", "N"]]


class Recorder(SequenceTagger):
    """Keeps what `_fit` was given, and predicts the first label."""

    method: ClassVar[Method] = Method(
        name="recorder",
        title="Recorder",
        family="test",
        disambiguation="none",
        structured=False,
    )
    rate: float = setting(0.5, least=0, most=1)

    def _fit(self, train: TrainingSet):
        self.train_ = train
        return Transduction(train.mask.argmax(axis=1))

    def _predict(self, features: FeatureMatrix):
        return np.zeros(features.n_tokens, dtype=np.int64)


# What a subclass sees --------------------------------------------------------------


def test_fit_sees_checked_arrays():
    train = (
        Recorder(random_state=9)
        .fit([["a"], [], ["b", "c"]], [["P"], [], ["Q", {"P", "Q"}]])
        .train_
    )
    assert train.mask.tolist() == [[True, False], [False, True], [True, True]]
    assert train.classes == ("P", "Q")
    assert train.offsets.tolist() == [0, 1, 1, 3]
    assert (train.n_tokens, train.n_labels, train.seed) == (3, 2, 9)
    assert train.exact.tolist() == [True, True, False]
    assert train.exact_sequences.tolist() == [True, False, False]
    assert train.layout.n_tokens == 3


def test_sentences_of_a_training_set_can_be_chosen():
    train = Recorder().fit(X, Y).train_
    part = train.take_sequences([3, 0])
    assert part.offsets.tolist() == [0, 2, 5]
    np.testing.assert_array_equal(part.mask, train.mask[[8, 9, 0, 1, 2]])
    np.testing.assert_array_equal(
        part.features.stacked().toarray(),
        train.features.stacked().toarray()[[8, 9, 0, 1, 2]],
    )
    assert train.take_sequences([]).n_tokens == 0


@pytest.mark.parametrize("unwritten", ["_fit", "_predict", "_marginals"])
def test_what_a_subclass_must_write(unwritten: str):
    class Bare(SequenceTagger):
        method = Recorder.method

    with pytest.raises(NotSupportedError, match=f"Bare does not define {unwritten}"):
        getattr(Bare(), unwritten)(None)


# Seeds -----------------------------------------------------------------------------


def test_an_integer_is_the_seed_and_none_another_every_time():
    for seed in (7, np.int64(7)):
        assert Recorder(random_state=seed).fit(X, Y).train_.seed == 7
    model = Recorder(random_state=None)
    assert model.fit(X, Y).train_.seed != model.fit(X, Y).train_.seed


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_generators_are_repeatable_and_move_on(make: Any):
    seeds = [Recorder(random_state=make(1)).fit(X, Y).train_.seed for _ in range(2)]
    assert seeds[0] == seeds[1]
    model = Recorder(random_state=make(1))
    assert model.fit(X, Y).train_.seed != model.fit(X, Y).train_.seed


# Settings --------------------------------------------------------------------------


# Schemes ---------------------------------------------------------------------------


def scheme_of(y: list[list[Any]], **params: Any) -> str:
    words = [["w"] * len(sentence) for sentence in y]
    return Recorder(**params).fit(words, y).scheme_


@pytest.mark.parametrize(
    ("y", "scheme"),
    [
        ([["B-X", "I-X", "O"]], "iob2"),
        ([["I-X", "I-X", "O", "I-X", "B-X"]], "iob1"),
        ([["I", "B", "O", "I", "O", "I"]], "iob1"),
        ([["S-X", "O", "B-X", "E-X"]], "iobes"),
        ([["DT", "NN", "O"]], "plain"),
        ([["S", "NP", "VP"]], "plain"),
        ([[0, 1, 2]], "plain"),
        ([["O", "O"]], "iob2"),
        # An exact sentence without chunks decides nothing, and then the names do.
        ([["O", "O"], [{"B-X", "I-X"}, "O"]], "iob2"),
        ([["O", "O"], [{"DT", "NN"}, "O"]], "plain"),
        ([["O", "O"], [{"S-X", "O"}, "O"]], "iobes"),
        ([[{"I-X", "O"}, "O"]], "iob1"),
    ],
)
def test_the_scheme_of_exact_labels(y: list[list[Any]], scheme: str):
    assert scheme_of(y) == scheme
    assert scheme_of(y, scheme="plain") == "plain"


def test_the_scheme_never_comes_from_corrupted_sentences():
    # The ambiguous sentences look like IOB1 whichever candidate is read first; the
    # exact sentence says IOB2.
    corrupted = [["O", "I-X", {"I-X", "O"}, "O", "I-X", "O", "I-X"]] * 20
    assert scheme_of([*corrupted, ["O", "B-X", "I-X"]]) == "iob2"
    assert scheme_of([*corrupted, ["O", "I-X", "B-X"]]) == "iob1"


# Features --------------------------------------------------------------------------


def lengths_and_capitals(sentence: list[str]) -> list[dict[str, Any]]:
    return [{"length": float(len(w)), "capital": w[:1].isupper()} for w in sentence]


class Lengths:
    """A transformer of someone else: no scikit-learn, arrays out."""

    def __init__(self, fault: str = "") -> None:
        self.fault = fault

    def fit(self, sentences: list[list[str]]) -> None:
        self.longest = max(len(word) for words in sentences for word in words)

    def transform(self, sentences: list[list[str]]) -> Any:
        pieces = [
            np.array(
                [[len(word), self.longest] for word in words], dtype=float
            ).reshape(-1, 2)
            for words in sentences
        ]
        match self.fault:
            case "short":
                return pieces[:-1]
            case "flat":
                return [piece[:, 0] for piece in pieces]
            case "widths":
                return [piece[:, : 1 + s % 2] for s, piece in enumerate(pieces)]
            case "scalar":
                return [0.0 for _ in pieces]
            case "matrix":
                return FeatureMatrix(("a",), (np.zeros((1, 1)),), np.array([0, 1]))
        return pieces


def test_features_may_be_a_function():
    model = Recorder(features=lengths_and_capitals).fit(X, Y)
    assert model.train_.features.names == ("dict",)
    assert model.predict([["Zoo"]]) == [["D"]]


def test_features_may_be_a_vectorizer_which_is_not_touched():
    given = SequenceVectorizer(templates=("lower",))
    model = Recorder(features=given).fit(X, Y)
    assert model.train_.features.names == ("lower",)
    assert model.vectorizer_ is not given
    assert not hasattr(given, "kind_")


def test_features_may_be_any_transformer():
    given = Lengths()
    model = Recorder(features=given).fit([*X, []], [*Y, []])
    assert model.train_.features.stacked().shape == (10, 2)
    assert not hasattr(given, "longest")
    assert model.predict([[], ["zoo"]]) == [[], ["D"]]
    assert model.predict([[]]) == [[]]


@pytest.mark.parametrize(
    ("features", "sentence"),
    [
        (SequenceVectorizer, r"is the class SequenceVectorizer; give an"),
        ("word", "features must be None, a function .* got str"),
    ],
)
def test_what_is_no_transformer_is_refused(features: Any, sentence: str):
    with pytest.raises(InputError, match=sentence):
        Recorder(features=features).fit(X, Y)


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("short", "must return one array .* got 3 pieces for 4 sentences"),
        ("scalar", "must return one array"),
        ("flat", "arrays .* of one width; got shapes"),
        ("widths", "arrays .* of one width; got shapes"),
        ("matrix", "FeatureMatrix of 1 sentences and 1 tokens for 4 sentences and 10"),
    ],
)
def test_faults_of_a_transformer_are_named(fault: str, sentence: str):
    with pytest.raises(InputError, match=sentence):
        Recorder(features=Lengths(fault)).fit(X, Y)


def test_ready_features_of_another_width_are_refused():
    model = Recorder().fit([np.zeros((3, 4))], [["A", "B", "A"]])
    wrong = FeatureMatrix(("array",), (np.zeros((2, 5)),), np.array([0, 2]))
    with pytest.raises(InputError, match="have 5 columns .*, those of the fit had 4"):
        model.predict(wrong)


def test_words_after_ready_features_are_refused():
    features = SequenceVectorizer().fit_transform(X)
    model = Recorder().fit(features, Y)
    with pytest.raises(
        InputError, match="give a FeatureMatrix, or load the model with"
    ):
        model.predict(X)


def test_ready_features_without_a_token_are_refused():
    features = FeatureMatrix(("a",), (np.zeros((0, 2)),), np.array([0, 0]))
    with pytest.raises(InputError, match="nothing to learn from"):
        Recorder().fit(features, [[]])


# Fitting again ---------------------------------------------------------------------


def test_a_fit_that_stops_half_way_leaves_no_fitted_estimator():
    class Stops(Recorder):
        def _fit(self, train):
            if train.n_labels > 3:
                raise KeyboardInterrupt
            return super()._fit(train)

    model = Stops().fit(X, Y)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:1], [[{"P", "Q", "R", "S"}, "P", "P"]])
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_confidences_do_not_outlive_their_fit():
    class Sometimes(WordCounts):
        def _fit(self, train):
            found = super()._fit(train)
            return found._replace(confidences=None) if train.exact.all() else found

    model = Sometimes().fit(X, [["D", {"D", "N"}, "V"], *Y[1:]])
    assert hasattr(model, "confidences_")
    model.fit(X, Y)
    assert not hasattr(model, "confidences_")


def test_exact_methods_name_the_first_ambiguous_token():
    class Exact(Recorder):
        method: ClassVar[Method] = Method(
            name="exact",
            title="Exact",
            family="test",
            disambiguation="none",
            structured=False,
            exact_only=True,
        )

    assert Exact().fit(X, Y).transduction_ == Y
    with pytest.raises(InputError) as caught:
        Exact().fit(X, [*Y[:3], ["D", {"D", "N", "V"}]])
    assert str(caught.value) == (
        "Exact needs exact labels; sentence 3, token 1 has 3 candidates. Use a method "
        "for partial labels, such as 'partial-crf'."
    )


# Recovering and scoring ------------------------------------------------------------


def test_recover_without_probabilities_prefers_the_prediction():
    model = Recorder().fit(X, Y)  # predicts D everywhere
    labels, confidences = model.recover(
        [["x", "y", "z"]], [[{"D", "N"}, {"N", "V"}, "V"]]
    )
    assert labels == [["D", "N", "V"]]
    assert confidences is None


def test_recover_renormalises_the_marginals():
    model = WordCounts().fit(X, Y)
    (marginals,) = model.predict_proba([["runs"]])
    labels, (confidences,) = model.recover([["runs"]], [[{"D", "N"}]])
    kept = marginals[0, :2] / marginals[0, :2].sum()
    np.testing.assert_allclose(confidences[0], [*kept, 0.0])
    assert labels == [[("D", "N")[int(kept.argmax())]]]


def test_recover_is_uniform_where_no_candidate_has_any_weight():
    model = WordCounts(labels=["D", "N", "V", "W", "Z"]).fit(X, Y)
    labels, (confidences,) = model.recover([["runs"]], [[{"W", "Z"}]])
    assert confidences.tolist() == [[0.0, 0.0, 0.0, 0.5, 0.5]]
    assert labels == [["W"]]


def test_the_score_is_accuracy_for_plain_tags():
    model = Recorder().fit(X, Y)
    # D everywhere; four of the ten labels are D.
    assert model.score(X, Y) == pytest.approx(0.4)
    assert model.score(X, [[{k} for k in labels] for labels in Y]) == pytest.approx(0.4)


def test_the_score_is_span_f1_for_chunks():
    class Fixed(Recorder):
        def _predict(self, features):
            return np.array([self.classes_.index(k) for k in ["B-X", "O", "B-X"]])

    gold = [["B-X", "I-X", "B-X"]]
    model = Fixed().fit([["a", "b", "c"]], [["B-X", "I-X", "O"]])
    # Gold spans 0:2 and 2:3, predicted 0:1 and 2:3, one right: P = R = F1 = 1/2.
    assert model.score([["a", "b", "c"]], gold) == pytest.approx(0.5)


def test_scores_need_gold_of_the_same_length():
    model = Recorder().fit(X, Y)
    with pytest.raises(InputError, match="sentences"):
        model.score(X, Y[:2])
    with pytest.raises(InputError, match="Sentence 0"):
        model.score(X, [Y[0][:1], *Y[1:]])
    with pytest.raises(InputError, match="expected one gold label"):
        model.score(X[:1], [["D", ("D", "N"), "V"]])


# scikit-learn ----------------------------------------------------------------------


# Cost -------------------------------------------------------------------------------


def test_many_labels_are_said_to_take_long_before_the_fit(monkeypatch):
    slow = replace(Recorder.method, many_labels=2, cost="passes · N L²")
    monkeypatch.setattr(Recorder, "method", slow)
    words, labels = [["a", "b", "c"]], [["X", "Y", "Z"]]
    with pytest.warns(ScaleWarning, match=r"3 labels takes minutes .*passes · N L²"):
        Recorder().fit(words, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Recorder().fit(words, [["X", "Y", "X"]])
