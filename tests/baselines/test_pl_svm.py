"""PL-SVM: Pegasos steps against a loop, the objective, and what averaging does."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tagsift.baselines import PLSVM
from tagsift.baselines.pl_svm import pegasos


def data(seed=0, n=60, q=4, d=6):
    rng = np.random.default_rng(seed)
    centres = 4.0 * rng.normal(size=(q, d))
    truth = rng.integers(q, size=n)
    mask = np.eye(q, dtype=bool)[truth]
    mask[np.arange(n), rng.integers(q, size=n)] = True
    return centres[truth] + rng.normal(size=(n, d)), mask, truth


def pl_svm_objective(W, X, mask, lam):
    """Regularised hinge between the best candidate and the best non-candidate."""
    scores = np.asarray(X @ W)  # [N, L]
    inside = np.where(mask, scores, -np.inf).max(axis=1)  # [N]
    outside = np.where(mask, -np.inf, scores).max(axis=1)  # [N]
    hinge = np.maximum(0.0, 1.0 - (inside - outside))  # [N]
    return float(0.5 * lam * np.sum(W**2) + hinge.mean())


def loop_pegasos(X, mask, lam, n_steps):
    n, q = mask.shape
    W = np.zeros((q, X.shape[1]))
    iterates = []
    for t in range(1, n_steps + 1):
        step = np.zeros_like(W)
        for i in range(n):
            s = W @ X[i]
            a = min(np.flatnonzero(mask[i]), key=lambda y: (-s[y], y))
            b = min(np.flatnonzero(~mask[i]), key=lambda y: (-s[y], y))
            if s[a] - s[b] < 1:
                step[a] += X[i]
                step[b] -= X[i]
        eta = 1 / (lam * t)
        W = (1 - eta * lam) * W + eta / n * step
        W = W * min(1.0, 1 / (np.sqrt(lam) * max(np.linalg.norm(W), 1e-300)))
        iterates.append(W)
    return iterates


@pytest.mark.parametrize("sparse", [False, True])
def test_steps_equal_a_loop(sparse: bool):
    X, mask, _ = data()
    features = sp.csr_matrix(X) if sparse else X
    iterates = loop_pegasos(X, mask, 0.01, 9)
    last = pegasos(features, mask, 0.01, 9, average=False)
    np.testing.assert_allclose(last.T, iterates[-1], atol=1e-9)
    half = pegasos(features, mask, 0.01, 9, average=True)
    np.testing.assert_allclose(half.T, np.mean(iterates[4:], axis=0), atol=1e-9)


def test_more_steps_lower_the_objective():
    X, mask, _ = data(1)
    values = [
        pl_svm_objective(pegasos(X, mask, 0.01, T, average=True), X, mask, 0.01)
        for T in (2, 20, 400)
    ]
    assert values[0] > values[1] > values[2]


def test_nothing_but_full_sets_gives_the_first_label():
    model = PLSVM().fit_flat(np.eye(3), np.ones((3, 2), dtype=bool))
    np.testing.assert_array_equal(model.predict_flat(np.eye(3)), 0)
