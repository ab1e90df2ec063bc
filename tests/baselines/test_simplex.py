"""The projection onto candidate simplices, against a QP solver and its definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from tagsift.baselines._pointwise import CandidateSimplex


def random_case(seed: int, n: int = 20, q: int = 5):
    rng = np.random.default_rng(seed)
    mask = rng.random((n, q)) < 0.5
    mask[np.arange(n), rng.integers(q, size=n)] = True
    return rng.normal(size=(n, q)) * 2, mask


def qp_projection(v: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Solve the same problem with a general solver."""
    k = int(allowed.sum())
    found = minimize(
        lambda p: np.sum((p - v[allowed]) ** 2),
        np.full(k, 1.0 / k),
        jac=lambda p: 2 * (p - v[allowed]),
        bounds=[(0, 1)] * k,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    out = np.zeros(len(v))
    out[allowed] = found.x
    return out


def test_equals_a_qp_solver():
    V, mask = random_case(0)
    P = CandidateSimplex(mask).project(V)
    for v, allowed, p in zip(V, mask, P, strict=True):
        np.testing.assert_allclose(p, qp_projection(v, allowed), atol=1e-6)


@given(st.integers(0, 10_000))
@settings(max_examples=50, derandomize=True)
def test_rows_are_distributions_in_the_order_of_the_input(seed: int):
    V, mask = random_case(seed)
    P = CandidateSimplex(mask).project(V)
    np.testing.assert_allclose(P.sum(axis=1), 1.0, atol=1e-12)
    assert (P >= 0).all()
    assert not P[~mask].any()
    for v, allowed, p in zip(V, mask, P, strict=True):
        assert (np.diff(p[allowed][np.argsort(v[allowed])]) >= 0).all()


def test_exact_tokens_and_uniform_start():
    mask = np.array([[True, False, False], [True, True, False], [True, True, True]])
    simplex = CandidateSimplex(mask)
    np.testing.assert_array_equal(
        simplex.project(np.full((3, 3), -7.0))[0], [1.0, 0.0, 0.0]
    )
    np.testing.assert_allclose(
        simplex.uniform(), [[1, 0, 0], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3]]
    )
