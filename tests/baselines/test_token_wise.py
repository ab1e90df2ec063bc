"""What all token-wise rivals must survive and keep: edge cases and invariances."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from tagsift.baselines import PALOC, PLAGGD, PLECOC, PLSVM, SURE, WKNN
from tagsift.baselines._pointwise import best_candidate
from tagsift.errors import InputError
from tagsift.features import FeatureMatrix

MODELS = [
    WKNN(),
    PLECOC(),
    PLSVM(n_steps=200),
    PALOC(),
    PALOC(stack="all", rule="stack"),
    SURE(),
    PLAGGD(max_iter=2),
]
KINDS = [False, True]


def name(model) -> str:
    return model.method.name


def data(seed=0, n=120, q=4, d=10, sparse=False):
    rng = np.random.default_rng(seed)
    truth = rng.integers(q, size=n)
    mask = np.eye(q, dtype=bool)[truth]
    mask[np.arange(n), rng.integers(q, size=n)] = True
    X = 2.5 * rng.normal(size=(q, d))[truth] + rng.normal(size=(n, d))
    return (sp.csr_matrix(np.maximum(X, 0)) if sparse else X), mask, truth


@pytest.mark.parametrize("model", MODELS, ids=name)
@pytest.mark.parametrize("sparse", KINDS)
def test_easy_labels_are_learnt_and_recovered(model, sparse: bool):
    X, mask, truth = data(sparse=sparse)
    model = clone(model).fit_flat(X[:80], mask[:80])
    assert np.mean(model.predict_flat(X[80:]) == truth[80:]) > 0.8
    recovered = np.array(model.transduction_[0])
    assert mask[np.arange(80), recovered].all()
    assert np.mean(recovered == truth[:80]) > 0.85


@pytest.mark.parametrize(
    "model", [m for m in MODELS if name(m) in ("pl-svm", "pl-ecoc", "paloc")], ids=name
)
@pytest.mark.parametrize("sparse", KINDS)
def test_a_token_with_all_labels_says_nothing(model, sparse: bool):
    X, mask, _ = data(2, sparse=sparse)
    model = clone(model).set_params(scale="none")
    plain = clone(model).fit_flat(X, mask)
    join = sp.vstack if sparse else np.vstack
    more = clone(model).fit_flat(
        join([X, X[:7] * 1.5]), np.vstack([mask, np.ones((7, 4), dtype=bool)])
    )
    np.testing.assert_allclose(plain._token_scores(X), more._token_scores(X))


@pytest.mark.parametrize("model", MODELS, ids=name)
@pytest.mark.parametrize("sparse", KINDS)
@pytest.mark.parametrize(
    ("X", "mask"),
    [
        ([[1.0, 2.0]], [[True, False]]),
        ([[1.0, 2.0]], [[True, True]]),
        ([[1.0, 2.0], [3.0, 4.0]], [[True], [True]]),
        ([[1.0, 2.0]] * 6, [[True, False, True]] * 6),
        ([[1.0, 2.0]] * 6, [[True, True, True]] * 6),
        ([[0.0, 0.0]] * 4, [[False, True, False]] * 4),
        ([[1.0, 2.0], [2.0, 1.0]], [[True, False], [False, True]]),
    ],
    ids=[
        "one token",
        "one full token",
        "one label",
        "identical tokens",
        "nothing known",
        "no features and one class",
        "two tokens",
    ],
)
def test_edge_cases(model, sparse: bool, X, mask):
    X, mask = np.array(X), np.array(mask)
    features = sp.csr_matrix(X) if sparse else X
    model = clone(model).fit_flat(features, mask)
    predicted = model.predict_flat(features)
    assert mask.any(axis=0)[predicted].all()
    assert mask[np.arange(len(mask)), model.transduction_[0]].all()
    assert model.predict_flat(features[:0]).shape == (0,)


@pytest.mark.parametrize("model", MODELS, ids=name)
def test_sentences_and_plain_instances_agree(model):
    X, mask, _ = data(5)
    flat = clone(model).fit_flat(X, mask)
    offsets = np.array([0, 50, 50, 119, 120])
    features = FeatureMatrix(("dense",), (X,), offsets)
    masks = [mask[a:b] for a, b in zip(offsets[:-1], offsets[1:], strict=True)]
    nested = clone(model).fit(features, masks)
    assert [len(labels) for labels in nested.predict(features)] == [50, 0, 69, 1]
    np.testing.assert_array_equal(
        np.concatenate(nested.predict(features)), flat.predict_flat(X)
    )
    chosen, _ = nested.recover(features, masks)
    assert mask[np.arange(120), np.concatenate(chosen).astype(int)].all()


def test_bad_plain_input_is_refused():
    model = WKNN()
    with pytest.raises(InputError, match="one row per instance and one column"):
        model.fit_flat(np.eye(3), np.ones((2, 2), dtype=bool))
    with pytest.raises(InputError, match="feature 0 of .flat. is nan"):
        model.fit_flat([[np.nan]], [[True]])
    with pytest.raises(InputError, match="a matrix of numbers"):
        model.fit_flat(["a", "b"], [[True], [True]])
    fitted = model.fit_flat(np.eye(3), np.eye(3, dtype=bool))
    with pytest.raises(InputError, match="3 feature columns but got 2"):
        fitted.predict_flat(np.eye(2))


def test_best_candidate_keeps_to_candidates_even_at_minus_infinity():
    scores = np.array([[5.0, -np.inf, -np.inf], [1.0, 1.0, 0.0]])
    mask = np.array([[False, False, True], [True, True, False]])
    np.testing.assert_array_equal(best_candidate(scores, mask), [2, 0])
