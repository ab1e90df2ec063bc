"""Posterior variances in weight space."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tagsift.chain_gp.mode import Spread
from tagsift.features import FeatureMatrix

#: Nothing that columns do not carry.
NO_REST = np.zeros(9)


@pytest.fixture
def phi() -> FeatureMatrix:
    rng = np.random.default_rng(0)
    sparse = sp.csr_matrix((rng.random((9, 5)) < 0.5).astype(float))
    return FeatureMatrix(
        ("a", "b"), (sparse, rng.normal(size=(9, 2))), np.array([0, 4, 9])
    )


def test_variance_is_the_sum_over_features(phi: FeatureMatrix):
    p = np.random.default_rng(1).dirichlet(np.ones(3), size=9)
    spread = Spread.at_mode(phi, p, np.ones(3, dtype=bool))
    X = np.asarray(phi.stacked().todense())
    found = spread.variance(phi, NO_REST)
    for n in range(9):
        for y in range(3):
            total = 0.0
            for d in range(X.shape[1]):
                h = sum(X[m, d] ** 2 * p[m, y] * (1 - p[m, y]) for m in range(9))
                total += X[n, d] ** 2 / (1 + h)
            assert found[n, y] == pytest.approx(total)


def test_difference_variance_takes_the_mean_off(phi: FeatureMatrix):
    p = np.random.default_rng(1).dirichlet(np.ones(3), size=9)
    spread = Spread.at_mode(phi, p, np.ones(3, dtype=bool))
    v = spread.variance(phi, NO_REST)
    C = np.eye(3) - 1 / 3
    expected = [np.diag(C @ np.diag(row) @ C.T) for row in v]
    np.testing.assert_allclose(spread.difference_variance(phi, NO_REST), expected)


def test_labels_that_never_were_a_candidate_do_not_vary(phi: FeatureMatrix):
    p = np.zeros((9, 3))
    p[:, :2] = 0.5
    spread = Spread.at_mode(phi, p, np.array([True, True, False]))
    assert (spread.variance(phi, NO_REST)[:, 2] == 0).all()
    assert (spread.difference_variance(phi, NO_REST)[:, 2] == 0).all()
    v = spread.variance(phi, NO_REST)[:, :2]
    np.testing.assert_allclose(
        spread.difference_variance(phi, NO_REST)[:, 0],
        0.25 * v.sum(axis=1),
    )


def test_unseen_features_keep_their_prior_variance(phi: FeatureMatrix):
    p = np.full((9, 2), 0.5)
    spread = Spread.at_mode(phi, p, np.ones(2, dtype=bool))
    assert (spread.precision >= 1).all()
    column = np.asarray(phi.block("a").sum(axis=0)).ravel()
    seldom, often = int(column.argmin()), int(column.argmax())
    assert spread.precision[seldom, 0] < spread.precision[often, 0]


def test_what_no_column_carries_is_added(phi: FeatureMatrix):
    p = np.zeros((9, 3))
    p[:, :2] = 0.5
    spread = Spread.at_mode(phi, p, np.array([True, True, False]))
    rest = np.arange(9.0)
    gained = spread.variance(phi, rest) - spread.variance(phi, NO_REST)
    np.testing.assert_allclose(gained[:, :2], np.column_stack([rest, rest]))
    assert (gained[:, 2] == 0).all()
