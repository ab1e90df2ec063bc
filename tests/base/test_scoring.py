"""Scorers of partial labels, alone and in scikit-learn's model selection."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline

import tagsift
from tagsift import Scorer
from tagsift.data.stacking import split_at
from tagsift.errors import InputError, NotSupportedError
from tagsift.metrics import span_scores
from tests.reference.annotators import simulated

CORPUS = tagsift.bundled("chunk")[:36]
PARTIAL = tagsift.corrupt(CORPUS, cl=3, p=0.3, random_state=0)
X, Y, GOLD = PARTIAL.rows, PARTIAL.candidates, PARTIAL.gold
WEIGHTS = np.random.default_rng(0).random(len(X))


@pytest.fixture(scope="module")
def model():
    return tagsift.make("partial-crf", random_state=0).fit(X[:24], Y[:24])


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def slow_likelihood(model, X, y, weights=None) -> float:
    """Token by token, from the marginals of one sentence at a time."""
    total = counted = 0.0
    for s, (sentence, entries) in enumerate(zip(X, y, strict=True)):
        (table,) = model.predict_proba([sentence])
        for row, entry in zip(table, entries, strict=True):
            if entry is None or set(entry) >= set(model.classes_):
                continue
            weight = 1.0 if weights is None else weights[s]
            chance = sum(row[k] for k, n in enumerate(model.classes_) if n in entry)
            total += weight * math.log(max(chance, 1e-15))
            counted += weight
    return total / counted


@pytest.mark.parametrize("weights", [None, WEIGHTS[24:]])
def test_likelihood_is_that_of_the_slow_twin(model, weights):
    y = [list(sentence) for sentence in Y[24:]]
    y[0][0], y[1][0] = None, set(model.classes_)
    y[2][0], y[3][0] = {"B-NEW"}, {"B-NEW", "B-NP"}  # labels that the fit has not seen
    found = Scorer().score(model, X[24:], y, sample_weight=weights)
    assert found == pytest.approx(slow_likelihood(model, X[24:], y, weights))


def test_inside_counts_predictions_that_are_candidates(model):
    predicted = model.predict(X[24:])
    y = [[{label} for label in labels] for labels in predicted]
    assert Scorer("inside")(model, X[24:], y) == 1.0
    y[0][0] = {"B-NEW"}
    y[0][1] = None  # says nothing, and is not counted
    n = sum(map(len, y)) - 1
    assert Scorer("inside")(model, X[24:], y) == pytest.approx(1 - 1 / n)


def test_masks_and_soft_labels_are_those_of_the_sets(model):
    classes = model.classes_
    masks = [np.array([[c in names for c in classes] for names in s]) for s in Y[24:]]
    for measure in ("likelihood", "inside"):
        scorer = Scorer(measure)
        sets = scorer(model, X[24:], Y[24:])
        assert scorer(model, X[24:], masks) == pytest.approx(sets)
        assert scorer(model, X[24:], [3.0 * m for m in masks]) == pytest.approx(sets)
    soft = [np.where(mask, 1.0, 0.25) for mask in masks]
    table = np.concatenate(model.predict_proba(X[24:]))
    said = np.concatenate(soft)
    informed = ~np.concatenate(masks).all(axis=1)
    expected = np.log((table * said).sum(axis=1))[informed].mean()
    assert Scorer()(model, X[24:], soft) == pytest.approx(expected)


def test_truth_is_gold_or_exact_labels(model):
    predicted = model.predict(X[24:])
    expected = span_scores(GOLD[24:], predicted, scheme=model.scheme_).f1
    scorer = Scorer("span_f1")
    assert scorer(model, X[24:], Y[24:], gold=GOLD[24:]) == expected
    assert scorer(model, X[24:], GOLD[24:]) == expected
    assert model.score(X[24:], GOLD[24:]) == expected
    right = [
        a == b
        for sides in zip(GOLD[24:], predicted, strict=True)
        for a, b in zip(*sides, strict=True)
    ]
    accuracy = Scorer("accuracy")(model, X[24:], Y[24:], gold=GOLD[24:])
    assert accuracy == pytest.approx(np.mean(right))
    with pytest.raises(InputError, match="tagsift.Scorer"):
        scorer(model, X[24:], Y[24:])


def test_the_score_of_sets_is_the_share_inside(model):
    inside = Scorer("inside")(model, X[24:], Y[24:])
    assert model.score(X[24:], Y[24:]) == inside < 1
    unlabelled = [[None for _ in sentence] for sentence in Y[25:]]
    assert model.score(X[24:], [Y[24], *unlabelled]) == Scorer("inside")(
        model, X[24:25], Y[24:25]
    )
    assert not np.isnan(cross_val_score(model, X, Y, cv=3)).any()


@pytest.mark.parametrize("measure", ["likelihood", "inside", "span_f1", "accuracy"])
def test_a_weight_is_a_number_of_copies(model, measure):
    scorer, counts = Scorer(measure), [0, 1, 2, 1, 0, 3, 1, 1, 2, 1, 1, 1]
    part = range(24, 36)
    weighted = scorer(
        model, X[24:], Y[24:], gold=GOLD[24:], sample_weight=np.array(counts)
    )
    which = [s for s, n in zip(part, counts, strict=True) for _ in range(n)]
    copies = ([side[s] for s in which] for side in (X, Y, GOLD))
    X_, y_, gold = copies
    assert weighted == pytest.approx(scorer(model, X_, y_, gold=gold))


def test_scorers_refuse_what_says_nothing(model):
    nothing = [[None] * len(sentence) for sentence in X[24:]]
    for measure in ("likelihood", "inside"):
        with pytest.raises(InputError, match="nothing to score"):
            Scorer(measure)(model, X[24:], nothing)
    with pytest.raises(InputError, match="'measure' parameter"):
        Scorer("f1")(model, X[24:], Y[24:])
    margin = tagsift.make("pl-svm").fit(X[:5], Y[:5])
    with pytest.raises(NotSupportedError, match="no probabilities"):
        Scorer()(margin, X[24:], Y[24:])


# In scikit-learn ---------------------------------------------------------------


def test_a_grid_is_searched_by_candidate_sets_alone():
    """Too much and too little shrinkage are told from candidate sets, as by gold."""
    search = GridSearchCV(
        tagsift.make("partial-crf"),
        {"l2": [0.3, 300.0]},
        scoring={"sets": Scorer(), "inside": Scorer("inside")},
        refit="sets",
        cv=3,
        error_score="raise",
    ).fit(X, Y)
    assert search.best_params_ == {"l2": 0.3}
    assert search.predict(X[:1])[0]
    assert search.score(X, Y) < 0


def test_gold_is_routed_to_the_scorer_and_no_fit_sees_it(routing):
    scorer = Scorer("span_f1").set_score_request(gold=True)
    model = tagsift.make("partial-crf")
    found = cross_validate(
        model,
        X,
        Y,
        scoring=scorer,
        cv=3,
        params={"gold": GOLD},
        return_estimator=True,
        return_indices=True,
        error_score="raise",
    )
    tests = found["indices"]["test"]
    for part, score, test in zip(
        found["estimator"], found["test_score"], tests, strict=True
    ):
        truth = [GOLD[s] for s in test]
        assert score == part.score([X[s] for s in test], truth) > 0.5


def test_weights_are_routed_to_fit_and_scorer(routing):
    model = tagsift.make("partial-crf").set_fit_request(sample_weight=True)
    scorer = Scorer("span_f1").set_score_request(gold=True, sample_weight=True)
    plain = Scorer().set_score_request(gold=False, sample_weight=False)
    weights = WEIGHTS.copy()
    weights[:12] = 1e-9
    search = GridSearchCV(
        model,
        {"l2": [1.0]},
        scoring={"f1": scorer, "sets": plain},
        refit="f1",
        cv=[(np.arange(24), np.arange(24, 36))],
        error_score="raise",
    ).fit(X, Y, gold=GOLD, sample_weight=weights)
    alone = clone(model).fit(X[12:24], Y[12:24], sample_weight=weights[12:24])
    alone_f1 = scorer(alone, X[24:], Y[24:], gold=GOLD[24:], sample_weight=weights[24:])
    assert search.cv_results_["mean_test_f1"][0] == pytest.approx(alone_f1, abs=0.03)
    naive = tagsift.make("word-counts").set_fit_request(sample_weight=True)
    scorer = Scorer("inside").set_score_request(sample_weight=False)
    given = {"params": {"sample_weight": WEIGHTS}, "error_score": "raise"}
    with pytest.raises(NotSupportedError, match="no weights"):
        cross_val_score(naive, X, Y, scoring=scorer, cv=3, **given)


def test_votes_are_cut_and_joined(routing):
    votes = simulated(CORPUS)
    exact, tagger = votes.with_exact(GOLD), tagsift.VoteTagger(rounds=1, folds=2)
    scorer = Scorer("span_f1").set_score_request(gold=True)
    more = {"scoring": scorer, "cv": 2, "params": {"gold": GOLD}}
    found, told = (
        cross_val_score(tagger, one.rows, list(one), error_score="raise", **more)
        for one in (votes, exact)
    )
    assert (found > 0.5).all()
    assert told.mean() >= found.mean()
    with pytest.raises(InputError, match="one corpus"):
        tagger.fit([votes[0], exact[1]])


def test_votes_are_scored_by_the_labels_that_were_voted():
    votes, tagger = simulated(CORPUS), tagsift.VoteTagger(rounds=1, folds=2)
    for scoring in (None, Scorer()):
        found = cross_val_score(
            tagger, votes.rows, list(votes), scoring=scoring, cv=2, error_score="raise"
        )
        assert np.isfinite(found).all()


MEASURES = ("likelihood", "inside", "span_f1", "accuracy")


@pytest.mark.parametrize("measure", MEASURES)
def test_a_corpus_is_scored_as_its_lists(model, measure):
    corpus = tagsift.data.corpus.Corpus.from_lists(X, Y, gold=GOLD)
    scorer, part = Scorer(measure), corpus[24:]
    expected = scorer(model, X[24:], Y[24:], gold=GOLD[24:])
    assert scorer(model, part) == scorer(model, list(part)) == expected
    assert scorer(model, part.rows, part) == expected
    assert scorer(model, part, gold=part.gold) == expected
    weights = np.where(part.members, 1.0, 0.5)[part.candidate_codes]  # [N, L]
    soft = replace(part, weights=weights)
    assert model.classes_ == part.label_set.names
    lists = split_at(weights, part.bounds)
    expected = scorer(model, part.rows, lists, gold=part.gold)
    assert scorer(model, soft) == pytest.approx(expected)


def test_the_score_of_a_corpus_is_by_its_truth(model):
    corpus = tagsift.data.corpus.Corpus.from_lists(X, Y, gold=GOLD)[24:]
    assert model.score(corpus) == model.score(corpus.rows, corpus.gold)
    blind = replace(corpus, truth=None)
    assert model.score(blind) == model.score(X[24:], Y[24:])
    with pytest.raises(InputError, match="a corpus with its truth"):
        Scorer("span_f1")(model, blind)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_pipeline_is_scored_as_the_tagger_alone(measure):
    corpus = tagsift.data.corpus.Corpus.from_lists(X, Y, gold=GOLD)
    tagger = tagsift.make("partial-crf")
    pipeline = make_pipeline(tagsift.SequenceVectorizer(), tagger)
    by = {"scoring": Scorer(measure), "cv": 2, "error_score": "raise"}
    alone = cross_val_score(tagger, corpus, **by)
    piped = cross_val_score(pipeline, corpus.rows, list(corpus), **by)
    np.testing.assert_allclose(piped, alone)
    search = GridSearchCV(pipeline, {"partialcrf__l2": [0.3, 300.0]}, **by)
    search.fit(corpus.rows, list(corpus))
    assert search.best_params_ == {"partialcrf__l2": 0.3}
    assert np.isfinite(search.score(corpus.rows, list(corpus)))
    with pytest.raises(InputError, match="as y where X are features"):
        pipeline.fit(corpus)


def test_weights_follow_the_labels_of_a_corpus():
    """The labels in another order: columns of weights change places with them."""
    corpus = tagsift.data.corpus.Corpus.from_lists(X, Y, gold=GOLD)
    soft = replace(
        corpus, weights=np.where(corpus.members, 1.0, 0.3)[corpus.candidate_codes]
    )
    names = list(corpus.label_set)[::-1]
    model = tagsift.make("partial-crf").fit(soft)
    turned = tagsift.make("partial-crf", labels=names).fit(soft)
    for scorer in map(Scorer, MEASURES):
        assert scorer(turned, soft) == pytest.approx(scorer(model, soft), abs=1e-4)
    assert (turned.recover(soft)[0], turned.classes_) == (
        model.recover(soft)[0],
        tuple(names),
    )


def test_votes_where_candidates_are_due_name_the_remedy():
    votes = simulated(CORPUS)[:8]
    fitted = tagsift.make("naive").fit(votes.union())
    with pytest.raises(InputError, match="found the votes of .*learns from candidate"):
        fitted.recover(votes)
    assert fitted.recover(votes.union())[0]


def test_who_has_counted_counts_again():
    votes = simulated(CORPUS)[:8]
    fitted = tagsift.MajorityVote().fit(votes)
    assert fitted.recover(votes)[0] == fitted.transduction_ == votes.majority().labels
