"""The partial CRF against enumeration, finite differences, another library and data."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import tagsift
from tagsift.base import TrainingSet
from tagsift.baselines import CRF, PartialCRF
from tagsift.chain.linear_chain import LinearChain
from tagsift.chain.objective import ChainObjective
from tagsift.data import corrupt
from tagsift.errors import ConvergenceWarning
from tagsift.features import FeatureMatrix
from tagsift.io import read_columns
from tagsift.metrics import recovery, span_scores
from tests.reference.label_sequences import sums


def toy(seed=0, *, n_labels=3, lengths=(3, 1, 0, 4, 2, 3), exact=2, dense=True):
    """Random sparse (with twin columns) and dense features, partly labelled."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    N = int(offsets[-1])
    X = (rng.random((N, 6)) < 0.4).astype(float)
    X = np.hstack([X, X[:, :3]])
    blocks = [("words", sp.csr_matrix(X))]
    if dense:
        blocks.insert(0, ("vectors", rng.normal(size=(N, 2))))
    names, matrices = zip(*blocks, strict=True)
    mask = rng.random((N, n_labels)) < 0.5
    mask[np.arange(N), rng.integers(0, n_labels, size=N)] = True
    for s in range(exact):
        rows = slice(offsets[s], offsets[s + 1])
        mask[rows] = np.eye(n_labels, dtype=bool)[mask[rows].argmax(axis=1)]
    features = FeatureMatrix(names, matrices, offsets)
    classes = tuple("ABCDEFG"[:n_labels])
    return TrainingSet(features, mask, classes, "plain", 0)


def masks_of(train):
    return [train.mask[lo:hi] for lo, hi in itertools.pairwise(train.offsets)]


def fit(train, model=None):
    model = PartialCRF() if model is None else model
    return model.set_params(labels=train.classes).fit(train.features, masks_of(train))


def enumerated(weights, train):
    """log Z_S − log Z by sentence, free and restricted marginals, by enumeration."""
    U = train.features.stacked() @ weights.emissions + weights.bias
    about = U, weights.transitions, train.offsets
    free = sums(*about, start=weights.start)
    inside = sums(*about, start=weights.start, mask=train.mask)
    filled = train.features.lengths > 0
    return (inside.log_z - free.log_z)[filled], free.marginals, inside.marginals


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("dense", [True, False])
def test_likelihood_and_marginals_equal_enumeration(seed, dense):
    train = toy(seed, dense=dense)
    objective = ChainObjective(train.features, train.mask, l2=0.7)
    w = np.random.default_rng(seed).normal(size=objective.n_parameters)
    weights = objective.weights(w)
    values, free, restricted = enumerated(weights, train)
    np.testing.assert_allclose(
        weights.log_likelihood(train.features, train.mask), values, atol=1e-10
    )
    # Merging identical columns is invisible: same value, same squared norm.
    norm = sum(
        float((part**2).sum())
        for part in (
            weights.emissions,
            weights.bias,
            weights.transitions,
            weights.start,
        )
    )
    assert np.isclose(objective(w)[0], -values.sum() + 0.35 * norm)
    model = fit(train)
    model.weights_ = weights
    np.testing.assert_allclose(model._marginals(train.features), free, atol=1e-10)
    chosen, confidences = model._restricted(train.features, train.log_evidence)
    np.testing.assert_allclose(confidences, restricted, atol=1e-10)
    np.testing.assert_array_equal(
        chosen, np.where(train.mask, restricted, -1).argmax(axis=1)
    )


def test_the_end_is_stationary_and_the_objective_is_reported():
    train = toy(4)
    model = fit(train, PartialCRF(tol=1e-12, l2=0.5))
    objective = ChainObjective(train.features, train.mask, l2=0.5)
    values = model.weights_.log_likelihood(train.features, train.mask)
    weights = model.weights_
    norm = sum(
        float((part**2).sum())
        for part in (
            weights.emissions,
            weights.bias,
            weights.transitions,
            weights.start,
        )
    )
    assert np.isclose(model.objective_, values.sum() - 0.25 * norm)
    assert model.objective_ > -objective(np.zeros(objective.n_parameters))[0]
    assert model.l2_ == 0.5
    assert model.tuning_ is None


def test_singletons_make_it_the_crf():
    train = toy(5, exact=6)
    partial, gold = fit(train), fit(train, CRF())
    np.testing.assert_allclose(
        partial.weights_.emissions, gold.weights_.emissions, atol=1e-12
    )
    assert partial.predict(train.features) == gold.predict(train.features)
    assert partial.transduction_ == gold.transduction_
    assert np.concatenate(gold.confidences_).min() == 0
    names = [train.classes[k] for k in train.mask.argmax(axis=1)]
    assert [name for sentence in gold.transduction_ for name in sentence] == names


def test_labels_that_are_no_candidate_never_win():
    train = toy(7, n_labels=3)
    wide = TrainingSet(
        train.features,
        np.insert(train.mask, 0, False, axis=1),
        ("never", *train.classes),
        "plain",
        0,
    )
    narrow_model, model = fit(train), fit(wide)
    marginals = np.concatenate(model.predict_proba(wide.features))
    np.testing.assert_array_equal(marginals[:, 0], 0)
    np.testing.assert_allclose(
        marginals[:, 1:], np.concatenate(narrow_model.predict_proba(train.features))
    )
    assert model.predict(wide.features) == narrow_model.predict(train.features)
    # New candidate sets may hold that label alone, or beside others.
    y = [[{"never"} for _ in range(n)] for n in wide.features.lengths]
    y[0][1] = {"never", "A", "B"}
    recovered, confidences = model.recover(wide.features, y)
    assert recovered[3] == ["never"] * 4
    assert recovered[0][1] != "never"
    np.testing.assert_allclose(np.concatenate(confidences).sum(axis=1), 1)
    assert np.isfinite(model._log_likelihood(wide))
    unknown = TrainingSet(
        wide.features, np.eye(4, dtype=bool)[np.zeros(13, int)], wide.classes, "", 0
    )
    np.testing.assert_allclose(model._log_likelihood(unknown), 0, atol=1e-9)


def test_unlabelled_sentences_teach_nothing():
    train = toy(8)
    mask = train.mask.copy()
    mask[train.offsets[3] : train.offsets[4]] = True
    with_it = TrainingSet(train.features, mask, train.classes, "plain", 0)
    without = with_it.take_sequences([0, 1, 2, 4, 5])
    np.testing.assert_allclose(
        fit(with_it).weights_.emissions, fit(without).weights_.emissions, atol=1e-3
    )


def test_decoders():
    names = ("B-X", "I-X", "O")
    X = sp.csr_matrix(np.zeros((2, 1)))
    features = FeatureMatrix(("x",), (X,), np.array([0, 2]))
    model = PartialCRF(labels=names, scheme="iob2").fit(features, [["O", "I-X"]])
    model.weights_ = LinearChain(
        np.zeros((1, 3)), np.zeros(3), np.zeros((3, 3)), np.array([0.0, 2.0, 1.0])
    )
    assert model.predict(features) == [["I-X", "B-X"]]
    assert model.set_params(decoder="valid").predict(features) == [["O", "B-X"]]
    # Three of four continuations of O outweigh the single best path through I-X.
    model.weights_ = LinearChain(
        np.zeros((1, 3)),
        np.zeros(3),
        np.array([[0.0, 0, 0], [1.0, -9, -9], [0.5, 0.5, 0.5]]),
        np.array([-9.0, 0, 0]),
    )
    assert model.set_params(decoder="viterbi").predict(features)[0][0] == "I-X"
    assert model.set_params(decoder="marginal").predict(features)[0][0] == "O"


def test_bans_hold_in_the_fit_and_in_what_is_predicted(tmp_path):
    names = ("B-X", "I-X", "O")
    X = sp.csr_matrix(np.eye(3))
    features = FeatureMatrix(("x",), (X,), np.array([0, 3]))
    y = [["O", {"I-X", "B-X"}, "O"]]
    about = {"labels": names, "scheme": "iob2", "tol": 1e-12}
    free, banned = (PartialCRF(bans=b, **about).fit(features, y) for b in (False, True))
    assert np.isclose(*free.weights_.transitions[2, :2])
    assert banned.weights_.transitions[2, 1] < -4
    assert banned.transduction_ == [["O", "B-X", "O"]]
    # By themselves these scores would open a sentence with I-X.
    banned.weights_ = LinearChain(
        np.zeros((3, 3)), np.zeros(3), np.zeros((3, 3)), np.array([0.0, 2.0, 1.0])
    )
    banned.save(tmp_path / "model.tagsift")
    for model in (banned, tagsift.load(tmp_path / "model.tagsift")):
        assert model.predict(features)[0][0] == "O"
    assert banned.set_params(bans=False).predict(features)[0][0] == "I-X"


def test_bans_without_a_way_through_are_none():
    names = ("B-X", "I-X", "O")
    model = PartialCRF(labels=names, scheme="iob2", bans=True)
    assert model.fit([["a", "b"]], [["I-X", "I-X"]]).predict([["c"]]) == [["I-X"]]


def test_progress_and_early_stops_are_told(capsys):
    train = toy(1)
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter=2 steps"):
        model = fit(train, PartialCRF(max_iter=2, verbose=1))
    assert model.n_iter_ == 2
    assert capsys.readouterr().out == ""


def as_dicts(features):
    """Binary features, a bias and the start of a sentence as crfsuite takes them."""
    X = features.stacked()
    tokens = []
    for n in range(features.n_tokens):
        columns = X.indices[X.indptr[n] : X.indptr[n + 1]]
        tokens.append({f"f{k}": 1.0 for k in columns} | {"bias": 1.0})
    for lo, hi in itertools.pairwise(features.offsets):
        if lo < hi:
            tokens[lo]["start"] = 1.0
    return [tokens[lo:hi] for lo, hi in itertools.pairwise(features.offsets)]


def their_crf(l2, **options):
    sklearn_crfsuite = pytest.importorskip("sklearn_crfsuite")
    return sklearn_crfsuite.CRF(
        c1=0,
        c2=l2 / 2,
        all_possible_states=True,
        all_possible_transitions=True,
        **options,
    )


@pytest.mark.parametrize("l2", [0.3, 2.0])
def test_gold_labels_agree_with_crfsuite(l2):
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 9, size=40)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    N = int(offsets[-1])
    truth = rng.integers(0, 4, size=N)
    X = rng.random((N, 25)) < 0.2
    X[np.arange(N), truth] |= rng.random(N) < 0.7
    features = FeatureMatrix(("x",), (sp.csr_matrix(X.astype(float)),), offsets)
    y = [[f"L{k}" for k in truth[lo:hi]] for lo, hi in itertools.pairwise(offsets)]
    ours = CRF(l2=l2, tol=1e-9).fit(features, y)
    theirs = their_crf(l2, epsilon=1e-7, delta=1e-9)
    theirs.fit(as_dicts(features), y)
    loss = theirs.training_log_.last_iteration["loss"]
    assert np.isclose(-ours.objective_, loss, rtol=1e-3)
    for mine, other in zip(
        ours.predict_proba(features),
        theirs.predict_marginals(as_dicts(features)),
        strict=True,
    ):
        matrix = [[token[label] for label in ours.classes_] for token in other]
        np.testing.assert_allclose(mine, matrix, atol=5e-3)


@pytest.mark.parametrize(("folder", "least"), [("basenp", 0.85), ("conll2003", 0.57)])
def test_real_corpora(corpora, folder, least):
    corpus = read_columns(corpora / folder / "train.conll")[:500].with_columns(2)
    train, test = corpus[:400], corpus[400:]
    partial = corrupt(train, cl=3, p=0.1, random_state=0)
    model = PartialCRF(labels=partial.label_set.names, scheme=corpus.scheme)
    model.fit(partial.rows, partial.candidates)
    predicted = model.predict(test.rows)
    assert span_scores(test.labels, predicted, scheme=corpus.scheme).f1 >= least
    share = recovery(partial.gold, model.transduction_, partial.candidates)
    assert share.ambiguous > 0.95
