"""NAIVE, CLPL and CLLP: equalities between them, edge cases, saving."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tagsift.baselines.cllp import CLLP
from tagsift.baselines.clpl import CLPL
from tagsift.baselines.naive import Naive, draw_candidates
from tagsift.errors import ConvergenceWarning, NotSupportedError
from tagsift.features.matrix import FeatureMatrix

ALL = [
    pytest.param(Naive, {}, id="naive"),
    pytest.param(CLPL, {}, id="clpl"),
    pytest.param(CLPL, {"penalty": "hinge"}, id="clpl-hinge"),
    pytest.param(CLPL, {"reward": "mean"}, id="clpl-mean"),
    pytest.param(CLLP, {}, id="cllp"),
    pytest.param(CLLP, {"inter_loss": "label", "C1": 1.0}, id="cllp-label"),
]


def tokens(rng, n_sentences=30, n_labels=3, spread=0.4):
    """Sentences whose labels follow 0 → 1 → 2 → 0, with features around the label."""
    offsets = np.concatenate([[0], np.cumsum(rng.integers(2, 7, size=n_sentences))])
    labels = np.concatenate(
        [
            (rng.integers(n_labels) + np.arange(b - a)) % n_labels
            for a, b in zip(offsets[:-1], offsets[1:], strict=True)
        ]
    )
    X = np.eye(n_labels)[labels] + spread * rng.normal(size=(len(labels), n_labels))
    return FeatureMatrix(("x",), (X,), offsets), labels


def ambiguous(rng, features, labels, n_labels=3, share=0.5):
    mask = np.eye(n_labels, dtype=bool)[labels]
    extra = rng.random(len(labels)) < share
    wrong = (labels + rng.integers(1, n_labels, size=len(labels))) % n_labels
    mask[np.flatnonzero(extra), wrong[extra]] = True
    return features.split(mask)


def flat(sentences):
    return np.array([label for sentence in sentences for label in sentence])


@pytest.mark.parametrize("loss", ["count", "fraction"])
def test_all_share_one_objective_on_exact_labels(loss):
    features, labels = tokens(np.random.default_rng(0), spread=0.8)
    y = features.split(np.eye(3, dtype=bool)[labels])
    settings = {"lam": 0.5, "tol": 1e-3, "loss": loss, "max_passes": 2000}
    reference = Naive(**settings).fit(features, y).objectives_[-1]
    for model in (
        CLPL(**settings),
        CLPL(penalty="hinge", **settings),
        CLPL(reward="mean", **settings),
        CLPL(reward="mean", penalty="hinge", **settings),
        CLLP(C1=0.0, **settings),
        CLLP(C1=1.0, **settings),
    ):
        assert model.fit(features, y).objectives_[-1] == pytest.approx(
            reference, rel=2e-3
        )


def test_cllp_without_the_first_margin_is_clpl():
    rng = np.random.default_rng(1)
    features, labels = tokens(rng)
    y = ambiguous(rng, features, labels)
    bridge = CLPL(lam=0.1, tol=1e-3).fit(features, y)
    single = CLLP(C1=0.0, lam=0.1, tol=1e-3).fit(features, y)
    assert single.objectives_[-1] == pytest.approx(bridge.objectives_[-1], rel=2e-3)
    assert single.transduction_ == bridge.transduction_
    assert single.predict(features) == bridge.predict(features)


@pytest.mark.parametrize("penalty", ["bridge", "hinge"])
def test_the_objective_of_clpl_does_not_rise(penalty):
    rng = np.random.default_rng(2)
    features, labels = tokens(rng, n_sentences=60, spread=0.9)
    y = ambiguous(rng, features, labels, share=0.9)
    model = CLPL(lam=0.1, penalty=penalty).fit(features, y)
    values = np.array(model.objectives_)
    assert len(values) > 2
    assert (values[1:] <= values[:-1] * (1 + model.tol)).all()


def test_a_share_of_wrong_tokens_is_the_count_at_another_lambda():
    """With sentences of length m: objective(fraction, λ) = objective(count, λ/m)/m."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 4))
    labels = rng.integers(3, size=40)
    features = FeatureMatrix(("x",), (X,), np.arange(0, 41, 5))
    y = features.split(np.eye(3, dtype=bool)[labels])
    share = CLPL(lam=1.0, loss="fraction", tol=1e-4, max_passes=5000).fit(features, y)
    count = CLPL(lam=0.2, loss="count", tol=1e-4, max_passes=5000).fit(features, y)
    assert share.objectives_[-1] == pytest.approx(count.objectives_[-1] / 5, rel=5e-4)


@pytest.mark.parametrize(("kind", "settings"), ALL)
def test_clean_candidates_are_learnt_and_recovered(kind, settings):
    rng = np.random.default_rng(4)
    features, labels = tokens(rng, n_sentences=60, spread=0.2)
    y = ambiguous(rng, features, labels, share=0.3)
    model = kind(lam=0.1, **settings).fit(features, y)
    assert (flat(model.transduction_) == labels).mean() > 0.97
    assert (flat(model.predict(features)) == labels).mean() > 0.97
    again, confidences = model.recover(features, y)
    assert again == model.transduction_
    assert confidences is None
    with pytest.raises(NotSupportedError):
        model.predict_proba(features)


@pytest.mark.parametrize(("kind", "settings"), ALL[1:])
def test_the_order_of_labels_hardly_matters(kind, settings):
    rng = np.random.default_rng(6)
    features, labels = tokens(rng, spread=0.2)
    masks = ambiguous(rng, features, labels, share=0.3)
    order = np.array([2, 0, 1])
    first = kind(lam=0.1, tol=1e-3, **settings).fit(features, masks)
    second = kind(lam=0.1, tol=1e-3, **settings).fit(
        features, [mask[:, order] for mask in masks]
    )
    assert first.objectives_[-1] == pytest.approx(second.objectives_[-1], rel=3e-3)
    np.testing.assert_array_equal(
        flat(first.predict(features)), order[flat(second.predict(features))]
    )


@pytest.mark.parametrize(("kind", "settings"), ALL)
def test_edge_cases(kind, settings):
    """Full sets, empty and one-token sentences, equal tokens, an unseen label."""
    X = np.repeat(np.eye(2), [5, 5], axis=0)
    features = FeatureMatrix(("x",), (X,), np.array([0, 3, 3, 4, 8, 10]))
    mask = np.zeros((10, 4), dtype=bool)
    mask[:5, 0] = mask[5:, 1] = mask[3:7, 2] = True
    mask[8:] = [True, True, True, False]
    model = kind(lam=0.1, labels=list("abcd"), **settings)
    model.fit(features, features.split(mask))
    predicted = model.predict(features)
    assert [len(sentence) for sentence in predicted] == [3, 0, 1, 4, 2]
    assert "d" not in flat(predicted)
    assert all(
        mask[n, "abcd".index(label)]
        for n, label in enumerate(flat(model.transduction_))
    )


@pytest.mark.parametrize(("kind", "settings"), ALL)
def test_sparse_and_mixed_features(kind, settings):
    rng = np.random.default_rng(8)
    features, labels = tokens(rng, spread=0.2)
    y = ambiguous(rng, features, labels, share=0.3)
    words = sp.csr_matrix(np.eye(3)[labels])
    blocks = (words, features.block("x"))
    mixed = FeatureMatrix(("word", "x"), blocks, features.offsets)
    model = kind(lam=0.1, **settings).fit(mixed, y)
    assert (flat(model.predict(mixed)) == labels).mean() > 0.97


def test_draws_come_evenly_from_the_sets():
    mask = np.array([[True, False, True, True], [False, True, False, False]])
    drawn = np.stack(
        [draw_candidates(mask, "abcd", np.random.default_rng(s)) for s in range(600)]
    )
    counts = np.bincount(drawn[:, 0], minlength=4)
    assert counts[1] == 0
    assert (counts[[0, 2, 3]] > 150).all()
    assert (drawn[:, 1] == 1).all()


def test_draws_go_by_the_names_of_labels():
    mask = np.random.default_rng(0).random((50, 4)) < 0.6
    mask[:, 3] = False
    mask[:, 0] |= ~mask.any(axis=1)
    drawn = draw_candidates(mask, "abcd", np.random.default_rng(1))
    order = np.array([2, 3, 1, 0])
    again = draw_candidates(mask[:, order], "cdba", np.random.default_rng(1))
    np.testing.assert_array_equal(order[again], drawn)
    fewer = draw_candidates(mask[:, :3], "abc", np.random.default_rng(1))
    np.testing.assert_array_equal(fewer, drawn)


def test_stopping_early_is_said():
    features, labels = tokens(np.random.default_rng(10), spread=1.0)
    y = features.split(np.eye(3, dtype=bool)[labels])
    with pytest.warns(ConvergenceWarning, match="stopped after 1 passes"):
        Naive(lam=0.01, max_passes=1).fit(features, y)
