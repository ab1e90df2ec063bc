"""Determinants, Jacobians and conjugate gradients against dense linear algebra."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.chain.lattice import forward_backward
from tagsift.chain.layout import ChainLayout
from tagsift.chain.potentials import log_evidence
from tagsift.gp import curvature
from tagsift.gp.curvature import ChainPoint, Counts, Determinants, conjugate_gradient

N_LABELS = 3


@pytest.fixture(autouse=True)
def keep_everything(monkeypatch: pytest.MonkeyPatch):
    """Leave no token out, so that dense oracles apply."""
    monkeypatch.setattr(curvature, "_NEGLIGIBLE", 1e-12)


@pytest.fixture
def point() -> ChainPoint:
    rng = np.random.default_rng(0)
    layout = ChainLayout.from_offsets(np.array([0, 3, 4, 8]))
    U = rng.normal(size=(8, N_LABELS))
    T = rng.normal(size=(N_LABELS, N_LABELS))
    mask = rng.random((8, N_LABELS)) < 0.5
    mask[np.arange(8), rng.integers(N_LABELS, size=8)] = True
    return ChainPoint(U, T, layout, log_evidence(mask))


@pytest.fixture
def K() -> np.ndarray:  # noqa: N802
    X = np.random.default_rng(1).normal(size=(8, 5))
    return X @ X.T + 0.3 * np.eye(8)


def shares(p: np.ndarray, w: np.ndarray) -> np.ndarray:
    return np.array(
        [
            max(0.0, 1 - (1 - w_n @ w_n) / (1 - p_n @ p_n))
            for p_n, w_n in zip(p, w, strict=True)
        ]
    )


def dense_value(K: np.ndarray, variance: float, point: ChainPoint) -> float:
    """The same determinants from full matrices."""
    p, w = point.free.unary, point.restricted.unary
    n, a = p.shape
    rho = shares(p, w)
    W = np.zeros((n * a, n * a))
    H = np.zeros((a, a))
    first = {0, 3, 4}
    for i in range(n):
        block = rho[i] * (np.diag(p[i]) - np.outer(p[i], p[i]))
        W[i * a : (i + 1) * a, i * a : (i + 1) * a] = block
        H += block if i in first else 0.0
    value = np.linalg.slogdet(np.eye(n * a) + np.kron(K, np.eye(a)) @ W)[1]
    value += np.linalg.slogdet(np.eye(a) + variance * H)[1]
    for free, restricted in zip(point.free.pairs, point.restricted.pairs, strict=True):
        spread_f = free.sum() - free @ free / free.sum()
        spread_r = restricted.sum() - restricted @ restricted / restricted.sum()
        share = max(0.0, 1 - spread_r / spread_f)
        row = share * (np.diag(free) - np.outer(free, free) / free.sum())
        value += np.linalg.slogdet(np.eye(a) + variance * row)[1]
    return -0.5 * value


def test_value_equals_that_of_full_matrices(point: ChainPoint, K: np.ndarray):
    assert Determinants.of(K, 0.7, point).value == pytest.approx(
        dense_value(K, 0.7, point), abs=1e-5
    )


def test_weight_scales_value_and_derivatives(point: ChainPoint, K: np.ndarray):
    whole, half = Determinants.of(K, 0.7, point), Determinants.of(K, 0.7, point, 0.5)
    assert half.value == pytest.approx(0.5 * whole.value)
    np.testing.assert_allclose(half.by_kernel, 0.5 * whole.by_kernel)
    np.testing.assert_allclose(half.by_free.unary, 0.5 * whole.by_free.unary)


def test_derivative_in_the_kernel(point: ChainPoint, K: np.ndarray):
    D = np.random.default_rng(2).normal(size=K.shape)
    D = D + D.T
    step = 1e-5
    found = (
        dense_value(K + step * D, 0.7, point) - dense_value(K - step * D, 0.7, point)
    ) / (2 * step)
    by_kernel = Determinants.of(K, 0.7, point).by_kernel
    assert float((by_kernel * D).sum()) == pytest.approx(found, abs=1e-4)


def test_derivative_in_the_variance(point: ChainPoint, K: np.ndarray):
    step = 1e-5
    found = (
        dense_value(K, 0.7 * np.exp(step), point)
        - dense_value(K, 0.7 * np.exp(-step), point)
    ) / (2 * step)
    by_variance = Determinants.of(K, 0.7, point).by_variance
    assert by_variance == pytest.approx(found, abs=1e-5)


def test_derivative_in_the_scores(point: ChainPoint, K: np.ndarray):
    rng = np.random.default_rng(3)
    dU, dT = rng.normal(size=point.U.shape), rng.normal(size=point.T.shape)
    step = 1e-5
    ends = [
        dense_value(
            K,
            0.7,
            ChainPoint(
                point.U + sign * step * dU,
                point.T + sign * step * dT,
                point.layout,
                point.evidence,
            ),
        )
        for sign in (1, -1)
    ]
    slope = Determinants.of(K, 0.7, point).by_scores(point)
    found = float((slope.unary * dU).sum() + (slope.pairs * dT).sum())
    assert found == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=2e-4)


def test_no_curvature_where_every_label_is_a_candidate(K: np.ndarray):
    layout = ChainLayout.from_offsets(np.array([0, 3, 4, 8]))
    rng = np.random.default_rng(4)
    everything = np.zeros((8, N_LABELS))
    point = ChainPoint(
        rng.normal(size=(8, N_LABELS)),
        rng.normal(size=(N_LABELS, N_LABELS)),
        layout,
        everything,
    )
    assert Determinants.of(K, 1.0, point).value == pytest.approx(0.0, abs=1e-6)


def test_what_is_left_out_is_small(
    point: ChainPoint, K: np.ndarray, monkeypatch: pytest.MonkeyPatch
):
    whole = Determinants.of(K, 1.0, point).value
    monkeypatch.setattr(curvature, "_NEGLIGIBLE", 3e-2)
    assert Determinants.of(K, 1.0, point).value == pytest.approx(whole, abs=0.1)


@pytest.mark.parametrize("restricted", [False, True])
def test_moved_is_the_directional_derivative(point: ChainPoint, restricted: bool):
    rng = np.random.default_rng(5)
    direction = Counts(rng.normal(size=point.U.shape), rng.normal(size=point.T.shape))
    evidence = point.evidence if restricted else None
    step = 1e-6
    up = forward_backward(
        point.U + step * direction.unary,
        point.T + step * direction.pairs,
        point.layout,
        evidence=evidence,
    )
    here = point.restricted if restricted else point.free
    found = point.moved(direction, restricted=restricted)
    np.testing.assert_allclose(
        found.unary, (up.marginals - here.unary) / step, atol=1e-4
    )
    np.testing.assert_allclose(found.pairs, (up.pairs - here.pairs) / step, atol=1e-4)


def test_jacobian_is_symmetric(point: ChainPoint):
    rng = np.random.default_rng(6)
    a, b = (
        Counts(rng.normal(size=point.U.shape), rng.normal(size=point.T.shape))
        for _ in range(2)
    )

    def dot(x: Counts, y: Counts) -> float:
        return float((x.unary * y.unary).sum() + (x.pairs * y.pairs).sum())

    left = dot(a, point.moved(b, restricted=False))
    assert left == pytest.approx(dot(b, point.moved(a, restricted=False)), abs=1e-5)


def test_conjugate_gradient_solves():
    rng = np.random.default_rng(7)
    A = rng.normal(size=(12, 12))
    H = A @ A.T + np.eye(12)
    b = rng.normal(size=12)
    x = conjugate_gradient(lambda v: H @ v, b, max_steps=50, tol=1e-12)
    np.testing.assert_allclose(x, np.linalg.solve(H, b), atol=1e-7)


def test_conjugate_gradient_stops_at_negative_curvature():
    x = conjugate_gradient(lambda v: -v, np.ones(3))
    np.testing.assert_array_equal(x, np.zeros(3))
