"""SURE: the exact pseudo-label step, and the loop around it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from tagsift.baselines import SURE
from tagsift.baselines._kernel_ridge import DenseRidge
from tagsift.baselines._pointwise import CandidateSimplex
from tagsift.baselines.sure import pseudo_labels
from tagsift.errors import ScaleWarning
from tagsift.features.distances import mean_distance

LAM = 0.3


def case(seed: int, n: int = 40, q: int = 5):
    rng = np.random.default_rng(seed)
    mask = rng.random((n, q)) < 0.5
    mask[np.arange(n), rng.integers(q, size=n)] = True
    return rng.normal(size=(n, q)) * 0.5, mask


def loss(p: np.ndarray, q: np.ndarray) -> float:
    return float(np.sum((p - q) ** 2) - LAM * np.abs(p).max())


def test_pseudo_labels_beat_every_choice_of_the_largest_label():
    Q, mask = case(0)
    P = pseudo_labels(Q, CandidateSimplex(mask), LAM)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert not P[~mask].any()
    for i in range(len(Q)):
        others = []
        for j in np.flatnonzero(mask[i]):
            lifted = Q[i].copy()
            lifted[j] += LAM / 2
            others.append(
                loss(CandidateSimplex(mask[i][None]).project(lifted[None])[0], Q[i])
            )
        assert loss(P[i], Q[i]) <= min(others) + 1e-12


def test_pseudo_labels_equal_the_published_qp():
    Q, mask = case(1, n=15)
    P = pseudo_labels(Q, CandidateSimplex(mask), LAM)
    for q, allowed, p in zip(Q, mask, P, strict=True):
        inner = q[allowed]
        j, k = int(inner.argmax()), len(inner)

        def objective(x, inner=inner, j=j):
            return np.sum((x - inner) ** 2) - LAM * x[j]

        found = minimize(
            objective,
            np.full(k, 1.0 / k),
            bounds=[(0, 1)] * k,
            constraints=[
                {"type": "eq", "fun": lambda x: x.sum() - 1},
                {"type": "ineq", "fun": lambda x, j=j: x[j] - x},
            ],
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        np.testing.assert_allclose(p[allowed], found.x, atol=1e-5)


def test_the_model_belongs_to_the_last_pseudo_labels():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 4))
    _, mask = case(3, n=30, q=4)
    model = SURE(scale="none", max_iter=7, tol=0.0).fit_flat(X, mask)
    assert model.n_iter_ == 7
    ridge = DenseRidge(X, model.beta, mean_distance(X, rng))
    ridge.solve(model.confidences_[0])
    np.testing.assert_allclose(model.expansion_.weights, ridge.weights, atol=1e-9)


def test_large_data_are_said_in_the_model():
    rng = np.random.default_rng(6)
    _, mask = case(7)
    with pytest.warns(ScaleWarning, match="Nyström"):
        model = SURE(max_dense=10).fit_flat(rng.normal(size=(40, 3)), mask)
    assert model.variant_ == "Nyström kernel"
