"""Choosing settings on held-out sequences, without a look at hidden labels."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from tagsift.base import TrainingSet
from tagsift.base.training_set import hold_out
from tagsift.baselines import CRF, PartialCRF
from tagsift.baselines._tuning import tune
from tagsift.baselines.word_counts import WordCounts
from tagsift.features import FeatureMatrix
from tagsift.metrics import span_scores

GRID = {"l2": (0.01, 1.0, 100.0)}


def training_set(n_sequences, share_exact, *, seed=0, scheme="plain"):
    """Noisy indicators of the truth; the rest of the sequences has two candidates."""
    rng = np.random.default_rng(seed)
    names = ("B", "I", "O")
    lengths = rng.integers(0, 7, size=n_sequences)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    N = int(offsets[-1])
    truth = rng.integers(0, 3, size=N)
    X = rng.random((N, 40)) < 0.15
    X[np.arange(N), truth] |= rng.random(N) < 0.6
    mask = np.eye(3, dtype=bool)[truth]
    for s in range(int(share_exact * n_sequences), n_sequences):
        rows = np.arange(offsets[s], offsets[s + 1])
        mask[rows, rng.integers(0, 3, size=len(rows))] = True
    features = FeatureMatrix(("x",), (sp.csr_matrix(X.astype(float)),), offsets)
    return TrainingSet(features, mask, names, scheme, seed)


def parts(train):
    return tuple(train.take_sequences(numbers) for numbers in hold_out(train))


def test_hold_out_is_no_draw_that_chose_the_exact_sequences():
    # Sequences made exact by a shuffle with the same seed must not all be held out.
    n = 200
    offsets = np.arange(n + 1)
    features = FeatureMatrix(("x",), (np.zeros((n, 1)),), offsets)
    mask = np.ones((n, 2), dtype=bool)
    mask[np.random.default_rng(0).permutation(n)[:40], 1] = False
    train = TrainingSet(features, mask, ("a", "b"), "plain", 0)
    kept, held = parts(train)
    assert held.features.n_sequences == 40
    assert 2 <= held.exact_sequences.sum() <= 16


@pytest.mark.parametrize("scheme", ["plain", "iob1"])
def test_enough_exact_sequences_are_judged_by_f1(scheme):
    train = training_set(250, 0.9, scheme=scheme)
    tuning = tune(PartialCRF(), train, GRID)
    assert tuning.criterion == "f1"
    assert tuning.n_exact >= 30
    assert [trial.settings["l2"] for trial in tuning.trials] == [1.0, 0.01, 100.0]
    best = max((trial.score, trial.candidate_share) for trial in tuning.trials)
    chosen = next(t for t in tuning.trials if t.settings == tuning.settings)
    assert (chosen.score, chosen.candidate_share) == best
    # One trial by hand, through the public interface.
    kept, held = parts(train)
    model = PartialCRF(l2=0.01, labels=train.classes, scheme=scheme)
    model.fit(
        kept.features,
        [kept.mask[lo:hi] for lo, hi in itertools.pairwise(kept.offsets)],
    )
    predicted = model.predict(held.features)
    exact = np.flatnonzero(held.exact_sequences)
    gold = [
        [train.classes[k] for k in piece.argmax(axis=1)]
        for piece in held.features.split(held.mask)
    ]
    answers = [predicted[s] for s in exact]
    truth = [gold[s] for s in exact]
    if scheme == "plain":
        pairs = [
            a == b
            for left, right in zip(truth, answers, strict=True)
            for a, b in zip(left, right, strict=True)
        ]
        expected = np.mean(pairs)
    else:
        expected = span_scores(truth, answers, scheme=scheme).f1
    assert np.isclose(tuning.trials[1].score, expected)


def test_few_exact_sequences_are_judged_by_likelihood():
    train = training_set(100, 0.1)
    tuning = tune(PartialCRF(), train, GRID)
    assert tuning.criterion == "likelihood"
    assert tuning.n_exact < 30
    kept, held = parts(train)
    model = PartialCRF(l2=100.0, labels=train.classes)
    model.fit(
        kept.features,
        [kept.mask[lo:hi] for lo, hi in itertools.pairwise(kept.offsets)],
    )
    assert np.isclose(tuning.trials[2].score, model._log_likelihood(held))
    best = max(trial.score for trial in tuning.trials)
    chosen = next(t for t in tuning.trials if t.settings == tuning.settings)
    assert chosen.score == best


def test_methods_without_likelihood_keep_their_defaults():
    train = training_set(60, 0.1)
    tuning = tune(WordCounts(random_state=7), train, {"random_state": [1, 2, 7]})
    assert tuning.settings == {"random_state": 7}
    assert tuning.criterion == "defaults"
    assert tuning.trials == ()


def test_ties_keep_the_given_setting():
    train = training_set(200, 1.0)
    tuning = tune(WordCounts(random_state=7), train, {"random_state": [1, 2, 7]})
    assert tuning.criterion == "f1"
    assert tuning.settings == {"random_state": 7}
    assert len(tuning.trials) == 3


def test_too_little_to_hold_anything_out():
    train = training_set(50, 0.5).take_sequences([2])
    assert tune(PartialCRF(), train, GRID).criterion == "defaults"


@pytest.mark.parametrize("kind", [PartialCRF, CRF])
def test_the_tuned_estimator_uses_what_it_chose(kind):
    train = training_set(220, 1.0)
    y = [train.mask[lo:hi] for lo, hi in itertools.pairwise(train.offsets)]
    model = kind(tune=True, labels=train.classes).fit(train.features, y)
    assert model.tuning_.criterion == "f1"
    assert len(model.tuning_.trials) == 5
    assert model.l2_ == model.tuning_.settings["l2"]
    assert model.l2 == 1.0
    fixed = kind(l2=model.l2_, labels=train.classes).fit(train.features, y)
    np.testing.assert_array_equal(fixed.weights_.emissions, model.weights_.emissions)
