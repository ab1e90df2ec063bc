"""WKNN: votes against a loop, and the two ways its neighbours are counted."""

from __future__ import annotations

import numpy as np

from tagsift.baselines import WKNN
from tagsift.baselines.wknn import neighbour_votes


def loop_votes(x, X, mask, k, skip=None):
    d = np.linalg.norm(X - x, axis=1)
    order = [i for i in np.argsort(d, kind="stable") if i != skip][:k]
    total = d[order].sum()
    votes = np.zeros(mask.shape[1])
    for i in order:
        weight = 1.0 if total == 0 or len(order) == 1 else 1.0 - d[i] / total
        votes += weight * mask[i]
    return votes


def data(seed=0, n=40, q=4):
    rng = np.random.default_rng(seed)
    mask = rng.random((n, q)) < 0.4
    mask[np.arange(n), rng.integers(q, size=n)] = True
    return rng.normal(size=(n, 3)), mask, rng.normal(size=(15, 3))


def test_new_tokens_are_labelled_by_a_loop_over_their_neighbours():
    X, mask, Z = data()
    for k in (1, 5):
        model = WKNN(n_neighbours=k, scale="none").fit_flat(X, mask)
        expected = [loop_votes(z, X, mask, k).argmax() for z in Z]
        np.testing.assert_array_equal(model.predict_flat(Z), expected)


def test_recovery_leaves_the_token_out_and_keeps_to_its_candidates():
    X, mask, _ = data(1)
    model = WKNN(scale="none").fit_flat(X, mask)
    expected = [
        np.where(mask[i], loop_votes(X[i], X, mask, 5, skip=i), -1.0).argmax()
        for i in range(len(X))
    ]
    np.testing.assert_array_equal(model.transduction_[0], expected)


def test_identical_neighbours_have_equal_weights():
    indices = np.array([[0, 1, 2]])
    mask = np.array([[1, 0], [0, 1], [0, 1]], dtype=bool)
    np.testing.assert_array_equal(
        neighbour_votes(indices, np.zeros((1, 3)), mask), [[1.0, 2.0]]
    )
