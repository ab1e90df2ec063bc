"""L-BFGS against SciPy, closed forms and hard valleys."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

from tagsift.chain.lbfgs import lbfgs


def run(objective, x, *, max_iter=500, tol=0.0):
    values = []
    step = None
    for step in lbfgs(objective, x):
        values.append(step.value)
        if step.change <= tol or len(values) == max_iter:
            break
    return step, values


def test_quadratic():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 30))
    A = A @ A.T + np.eye(30)
    b = rng.normal(size=30)
    step, values = run(lambda x: (0.5 * x @ A @ x - b @ x, A @ x - b), np.zeros(30))
    np.testing.assert_allclose(step.x, np.linalg.solve(A, b), atol=1e-6)
    assert np.all(np.diff(values) <= 0)


@pytest.mark.parametrize("n", [2, 10, 50])
def test_rosenbrock(n):
    start = np.tile([-1.2, 1.0], n // 2)
    step, values = run(lambda x: (float(rosen(x)), rosen_der(x)), start, tol=1e-15)
    np.testing.assert_allclose(step.x, 1, atol=1e-4)
    assert np.all(np.diff(values) <= 0)
    theirs = minimize(
        lambda x: (float(rosen(x)), rosen_der(x)),
        start,
        jac=True,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 0, "maxcor": 10},
    )
    assert len(values) <= 1.1 * theirs.nit + 5


def test_takes_as_few_steps_as_scipy():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 20))
    y = rng.integers(0, 2, size=200) * 2 - 1

    def logistic(w):
        margin = y * (X @ w)
        value = np.logaddexp(0, -margin).sum() + 0.05 * w @ w
        pull = -y / (1 + np.exp(margin))
        return float(value), X.T @ pull + 0.1 * w

    step, values = run(logistic, np.zeros(20), tol=1e-9)
    theirs = minimize(
        logistic,
        np.zeros(20),
        jac=True,
        method="L-BFGS-B",
        options={"ftol": 1e-9, "maxcor": 10},
    )
    np.testing.assert_allclose(step.value, theirs.fun, rtol=1e-6)
    assert len(values) <= theirs.nit + 3


def test_stops_at_the_minimum():
    assert list(lbfgs(lambda x: (0.0, np.zeros_like(x)), np.ones(3))) == []


def test_survives_cliffs():
    def cliff(x):
        if x[0] > 0.9:
            return np.nan, np.full(1, np.nan)
        return float(-x[0] + x[0] ** 2), 2 * x - 1

    step, _ = run(cliff, np.zeros(1))
    np.testing.assert_allclose(step.x, 0.5, atol=1e-6)


def test_gives_up_where_the_gradient_lies():
    # The function rises along minus the "gradient", whatever the length of the step.
    assert list(lbfgs(lambda x: (float(-x[0]), np.ones(1)), np.zeros(1))) == []
