"""Weights of labels instead of candidate sets, in every method that reads them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tagsift import SGPPSL, ChainGP
from tagsift.baselines import Naive, PartialCRF
from tagsift.errors import InputError, NotSupportedError
from tests.reference.comparing import all_close

METHODS = {
    "chain-gp": lambda: ChainGP(rbf=False, temperature=1.0),
    "partial-crf": lambda: PartialCRF(),
    "sgppsl": lambda: SGPPSL(hyperparameters="fixed"),
    "sgppsl chain": lambda: SGPPSL(hyperparameters="fixed", likelihood="chain"),
}
READERS = pytest.mark.parametrize("name", METHODS)


def data(seed=0, n_sentences=14, n_labels=3):
    """Clusters of features; weights that favour the truth on most tokens."""
    rng = np.random.default_rng(seed)
    centres = 2.0 * np.random.default_rng(99).normal(size=(n_labels, 4))
    X, y, truth = [], [], []
    for length in rng.integers(1, 6, size=n_sentences):
        labels = rng.integers(n_labels, size=length)
        X.append(centres[labels] + 0.4 * rng.normal(size=(length, 4)))
        weights = rng.random((length, n_labels))
        weights[np.arange(length), labels] += 0.8
        y.append(weights)
        truth.append(labels.tolist())
    return X, y, truth


def same(one, other, X, atol=0.0):
    assert one.transduction_ == other.transduction_
    all_close(one.confidences_, other.confidences_, atol=atol)
    all_close(one.predict_proba(X), other.predict_proba(X), atol=atol)


@READERS
def test_weights_of_0_and_1_are_candidate_sets(name):
    X, y, _ = data(1)
    masks = [weights > weights.mean() for weights in y]
    for mask in masks:
        mask[~mask.any(axis=1)] = True
    hard = METHODS[name]().fit(X, masks)
    same(METHODS[name]().fit(X, [1.0 * mask for mask in masks]), hard, X)
    same(METHODS[name]().fit(X, [0.3 * mask for mask in masks]), hard, X)


@READERS
def test_rows_count_up_to_a_factor(name):
    X, y, _ = data(2)
    rng = np.random.default_rng(0)
    scaled = [weights * rng.uniform(0.1, 9, (len(weights), 1)) for weights in y]
    same(METHODS[name]().fit(X, y), METHODS[name]().fit(X, scaled), X, atol=1e-4)


@READERS
def test_soft_labels_teach_and_their_weights_count(name):
    X, y, truth = data(3, n_sentences=30)
    model = METHODS[name]().fit(X, y)
    recovered = list(itertools.chain(*model.transduction_))
    assert np.mean(np.array(recovered) == np.concatenate(truth)) > 0.9
    for C in model.confidences_:
        np.testing.assert_allclose(C.sum(axis=1), 1.0)
    # What is known of a new token weighs in, and can outweigh the text.
    sure = np.full((len(X[0]), 3), 1e-30)
    sure[:, 0] = 1.0
    labels, confidences = model.recover(X[:1], [sure])
    assert labels == [[0] * len(X[0])]
    assert confidences[0][:, 0].min() > 0.99
    even, _ = model.recover(X[:1], [np.full((len(X[0]), 3), 0.5)])
    assert even == model.recover(X[:1], [np.ones((len(X[0]), 3), bool)])[0]


def test_almost_certain_weights_are_exact_labels():
    X, _, truth = data(4)
    exact = PartialCRF(tol=1e-10).fit(X, truth)
    sure = [np.eye(3)[labels] + 1e-30 for labels in truth]
    soft = PartialCRF(tol=1e-10).fit(X, sure)
    np.testing.assert_allclose(
        exact.weights_.emissions, soft.weights_.emissions, atol=1e-4
    )


def test_other_methods_read_the_labels_of_positive_weight():
    X, y, _ = data(5)
    clipped = [np.where(weights > 0.5, weights, 0.0) for weights in y]
    for weights in clipped:
        weights[~weights.any(axis=1)] = 1.0
    soft = Naive().fit(X, clipped)
    assert soft.transduction_ == Naive().fit(X, [w > 0 for w in clipped]).transduction_


def test_a_row_of_zeros_is_refused_by_name():
    X, y, _ = data(6)
    y[2][0] = 0.0
    with pytest.raises(InputError, match="sentence 2, token 0: the candidate set is"):
        PartialCRF().fit(X, y)


@pytest.mark.parametrize("name", ["chain-gp", "partial-crf"])
def test_sentences_of_weight_0_do_not_count(name):
    X, y, _ = data(7)
    settings = {"tol": 1e-10}
    if name == "chain-gp":  # a given kernel, so that all depends on the mode
        settings["kernel"] = METHODS[name]().fit(X, y).kernel_.as_dict()
    weights = np.ones(len(X))
    weights[::3] = 0.0
    kept = np.flatnonzero(weights)
    some = METHODS[name]().set_params(**settings)
    some.fit([X[s] for s in kept], [y[s] for s in kept])
    weighted = METHODS[name]().set_params(**settings).fit(X, y, weights)
    all_close(weighted.predict_proba(X), some.predict_proba(X), atol=0.001)


def test_methods_without_weights_of_sentences_say_so():
    X, y, _ = data(8)
    with pytest.raises(NotSupportedError, match="has no weights of sentences"):
        SGPPSL().fit(X, y, np.ones(len(X)))
