"""PALOC: pairs, votes and refinement by loops; machines against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC, LinearSVC

from tagsift.baselines import PALOC
from tagsift.baselines.paloc import label_pairs, pair_problems, pair_votes, refine
from tagsift.errors import ScaleWarning


def data(seed=0, n=90, q=4, d=5):
    rng = np.random.default_rng(seed)
    truth = rng.integers(q, size=n)
    mask = np.eye(q, dtype=bool)[truth]
    mask[np.arange(n), rng.integers(q, size=n)] = True
    centres = 2 * rng.normal(size=(q, d))
    return centres[truth] + rng.normal(size=(n, d)), mask, truth


def test_pairs_hold_the_tokens_that_tell_their_labels_apart():
    _, mask, _ = data()
    pairs = label_pairs(4)
    assert pairs.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    problems, cut = pair_problems(mask, pairs, None, np.random.default_rng(0))
    assert cut == 0
    for (j, k), problem in zip(pairs, problems, strict=True):
        expected = {
            i: (1 if mask[i, j] else -1)
            for i in range(len(mask))
            if mask[i, j] != mask[i, k]
        }
        assert dict(zip(problem.rows, problem.sides, strict=True)) == expected


def test_votes_equal_a_loop():
    rng = np.random.default_rng(1)
    pairs = label_pairs(4)
    outputs = rng.normal(size=(20, 6)).round()  # zeros are no vote
    expected = np.zeros((20, 4))
    for i in range(20):
        for p, (j, k) in enumerate(pairs):
            expected[i, j] += outputs[i, p] > 0
            expected[i, k] += outputs[i, p] < 0
    np.testing.assert_array_equal(pair_votes(outputs, pairs, 4), expected)


def test_refinement_keeps_the_winner_where_it_is_a_candidate():
    mask = np.array([[1, 1, 0], [1, 1, 0], [0, 1, 1]], dtype=bool)
    votes = np.array([[0.0, 2.0, 1.0], [0.0, 1.0, 2.0], [1.0, 1.0, 1.0]])
    assert refine(votes, mask).tolist() == [
        [False, True, False],
        [True, True, False],
        [False, True, True],
    ]


@pytest.mark.parametrize("stack", ["own", "all"])
@pytest.mark.parametrize("sparse", [False, True])
def test_both_layers_are_the_machines_of_scikit_learn(stack: str, sparse: bool):
    X, mask, _ = data(2)
    features = sp.csr_matrix(X) if sparse else X
    model = PALOC(C=1.0, stack=stack, scale="none").fit_flat(features, mask)
    pairs = label_pairs(4)

    def machine(Z, y):
        if sparse:
            return LinearSVC(C=1.0, max_iter=100_000, random_state=0).fit(Z, y)
        return SVC(C=1.0, gamma=1 / Z.shape[1]).fit(Z, y)

    outputs = np.zeros((len(X), len(pairs)))
    for p, (j, k) in enumerate(pairs):
        rows = mask[:, j] ^ mask[:, k]
        fitted = machine(X[rows], np.where(mask[rows, j], 1, -1))
        outputs[:, p] = fitted.decision_function(X)
    np.testing.assert_allclose(
        model.pair_machines_.outputs(features), outputs, atol=2e-2
    )
    used = model.pair_machines_.outputs(features)
    refined = refine(pair_votes(used, pairs, 4), mask)
    top = np.zeros((len(X), 4))
    for j in range(4):
        own = used if stack == "all" else used[:, (pairs == j).any(axis=1)]
        Z = np.hstack([X, own])
        fitted = machine(Z, np.where(refined[:, j], 1, -1))
        top[:, j] = fitted.decision_function(Z)
    np.testing.assert_allclose(model._top_outputs(features, used), top, atol=3e-2)


def test_the_two_rules():
    X, mask, _ = data(3)
    vote = PALOC(scale="none").fit_flat(X, mask)
    alone = PALOC(scale="none", rule="stack").fit_flat(X, mask)
    outputs = vote.pair_machines_.outputs(X)
    top = vote._top_outputs(X, outputs)
    np.testing.assert_array_equal(alone.predict_flat(X), top.argmax(axis=1))
    counts = pair_votes(outputs, label_pairs(4), 4) + 10 * (top > 0)
    expected = [
        max(range(4), key=lambda j, i=i: (counts[i, j], top[i, j])) for i in range(90)
    ]
    np.testing.assert_array_equal(vote.predict_flat(X), expected)


def test_empty_and_one_sided_pairs():
    # Labels 0 and 1 always come together: no token tells them apart. Label 2 has none
    # of its own against label 3.
    mask = np.array([[1, 1, 0, 0]] * 4 + [[0, 0, 0, 1]] * 4, dtype=bool)
    X = np.vstack([np.zeros((4, 1)), np.ones((4, 1))])
    model = PALOC(scale="none").fit_flat(X, mask)
    outputs = model.pair_machines_.outputs(X)
    np.testing.assert_array_equal(outputs[:, 0], 0.0)  # 0 against 1: empty
    np.testing.assert_array_equal(outputs[:, 5], -1.0)  # 2 against 3: only 3
    assert set(model.predict_flat(X[:4])) <= {0, 1}
    assert set(model.predict_flat(X[4:])) == {3}


def test_large_pairs_are_cut_and_said():
    X, mask, _ = data(4)
    with pytest.warns(ScaleWarning, match="more than pair_limit=10 tokens"):
        model = PALOC(pair_limit=10).fit_flat(X, mask)
    assert model.variant_ == "at most 10 tokens per pair"
    linear = PALOC(pair_limit=10).fit_flat(sp.csr_matrix(X), mask)
    assert linear.variant_ == "linear SVMs (sparse features)"
