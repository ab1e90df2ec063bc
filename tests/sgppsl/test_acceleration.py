"""Extrapolated iterations reach the fixed point, sooner, and only that."""

from __future__ import annotations

import numpy as np

from tagsift.sgppsl.acceleration import Anderson


def iterate(step, x, n, accelerate):
    """Run a fixed-point iteration; return the residual of every step and the end."""
    anderson, sizes = Anderson(), []
    for _ in range(n):
        fx = step(x)
        sizes.append(float(np.linalg.norm(fx - x)))
        x = anderson((x,), (fx,))[0] if accelerate else fx
    return sizes, x


def linear(seed=0, rate=0.97, size=6):
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.normal(size=(size, size)))
    A = Q @ np.diag(np.linspace(0.1, rate, size)) @ Q.T
    b = rng.normal(size=size)
    return lambda x: A @ x + b, np.linalg.solve(np.eye(size) - A, b)


def test_a_slow_linear_iteration_ends_soon():
    step, end = linear()
    slow, _ = iterate(step, np.zeros(6), 30, accelerate=False)
    fast, x = iterate(step, np.zeros(6), 30, accelerate=True)
    assert fast[-1] < 1e-8 < 1e-2 < slow[-1]
    np.testing.assert_allclose(x, end, atol=1e-6)


def test_everything_moves_alike():
    # y is a linear function of x; the mixed y must stay that function of the mixed x.
    step, _ = linear(1)
    B = np.random.default_rng(2).normal(size=(4, 6))
    anderson, x = Anderson(), np.zeros(6)
    for _ in range(8):
        fx = step(x)
        y, x = anderson((B @ x, x), (B @ fx, fx))
        np.testing.assert_allclose(y, B @ x, atol=1e-8)


def test_it_forgets_when_told_and_when_it_gets_worse():
    step, _ = linear(3)
    anderson, x = Anderson(), np.zeros(6)
    for _ in range(3):
        x = anderson((x,), (step(x),))[0]
    anderson.forget()
    np.testing.assert_array_equal(anderson((x,), (step(x),))[0], step(x))
    far = 100.0 * np.ones(6)  # a residual larger than the last: one plain step
    np.testing.assert_array_equal(anderson((far,), (step(far),))[0], step(far))


def test_a_step_that_stands_still_is_left_alone():
    anderson = Anderson()
    for _ in range(3):
        x = anderson((np.ones(3),), (np.ones(3),))[0]
        np.testing.assert_array_equal(x, 1.0)
