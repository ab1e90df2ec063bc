"""Where the inducing points stand: distinct, seeded, covering labels and space."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tagsift.features.distances import squared_distances
from tagsift.gp.inducing import choose_points, whiten

THETA = 0.3


def everything(n, n_labels=2):
    return np.full((n, n_labels), 1.0 / n_labels)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_points_are_distinct_rows(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 37))[rng.integers(40, size=3000)]
    group = sp.csr_matrix(X) if kind == "sparse" else X
    for size in (10, 40, 500):
        points = choose_points(group, everything(len(X)), THETA, size, 0)
        rows = X[points]
        assert len(np.unique(rows, axis=0)) == len(points)
        assert len(points) == min(size, len(np.unique(X, axis=0)))
        assert (np.diff(points) > 0).all()


def test_the_seed_decides():
    X = np.random.default_rng(1).normal(size=(400, 3))
    shares = everything(400)
    one = choose_points(X, shares, THETA, 20, 0)
    assert one.tolist() == choose_points(X, shares, THETA, 20, 0).tolist()
    assert one.tolist() != choose_points(X, shares, THETA, 20, 1).tolist()


def residual(X, points):
    """What the points leave unexplained of all prior covariances, squared."""
    A, _, _ = whiten(
        np.exp(-THETA * squared_distances(X[points], X[points])),
        np.exp(-THETA * squared_distances(X[points], X)),
    )
    K = np.exp(-THETA * squared_distances(X, X))
    return float(np.sum((K - A.T @ A) ** 2))


@pytest.mark.parametrize("seed", range(5))
def test_greedy_points_explain_more_than_a_uniform_draw(seed):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(300, 2)), 6 + 3 * rng.normal(size=(30, 2))])
    shares = everything(len(X))
    greedy = choose_points(X, shares, THETA, 25, seed)
    uniform = rng.choice(len(X), 25, replace=False)
    assert residual(X, greedy) < residual(X, uniform)


def test_rare_labels_are_covered():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(4000, 5))
    shares = np.zeros((4000, 3))
    shares[:, 0] = 1.0
    shares[:8] = [[0, 1, 0]] * 4 + [[0, 0, 1]] * 4
    hits = sum(
        (shares[choose_points(X, shares, THETA, 30, seed)][:, 1:].any(axis=0)).sum()
        for seed in range(5)
    )
    assert hits >= 5  # a uniform draw of 30 among 4000 would find one label in 17 draws


def test_points_stop_where_nothing_is_left_to_explain():
    X = np.linspace(0, 1e-6, 200)[:, None]
    points = choose_points(X, everything(200), THETA, 20, 0)
    assert 1 <= len(points) < 20
