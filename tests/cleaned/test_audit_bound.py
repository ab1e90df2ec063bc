"""Bounds of a share: unbiased by enumeration, slow twins, and coverage."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from tagsift.cleaned.auditing.bound import Looks, boundary, bounds, increments
from tagsift.cleaned.auditing.drawing import DESIGN, drawn_order, weights_of


def _orders(weights: list[float], n: int) -> Any:
    """Every order of n draws, with its chance."""
    for order in permutations(range(len(weights)), n):
        chance, left = 1.0, sum(weights)
        for s in order:
            chance *= weights[s] / left
            left -= weights[s]
        yield list(order), chance


@given(
    st.lists(st.tuples(st.floats(0.1, 5), st.floats(-4, 4)), min_size=2, max_size=5),
    st.floats(-3, 3),
)
def test_every_look_is_unbiased_over_all_orders(pairs: Any, settled: float) -> None:
    weights, values = np.array(pairs).T
    total = weights.sum()
    mean = np.zeros(len(values))
    for order, chance in _orders(weights.tolist(), len(values)):
        before = np.cumsum(weights[order]) - weights[order]
        left = (total - before) / total
        made, _ = increments(values[order], weights[order], total, settled)
        mean += chance * made * left**2
    assert np.allclose(mean, values.sum() + settled, atol=1e-9)


def test_increments_as_a_loop() -> None:
    rng = np.random.default_rng(0)
    values, weights = rng.normal(size=6), rng.uniform(0.5, 2, size=6)
    total = weights.sum() + 3.0
    made, clock = increments(values, weights, total, 1.5)
    past, left, tau = 1.5, total, 0.0
    for t in range(6):
        share = left / total
        estimate = past + values[t] * left / weights[t]
        tau += 1 / share**2
        assert made[t] == pytest.approx(estimate / share**2)
        assert clock[t] == pytest.approx(tau)
        past, left = past + values[t], left - weights[t]


def _looks(seed: int, n: int = 40, rate: float = 0.3) -> Looks:
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 9, size=n).astype(float)
    errors = rng.binomial(size.astype(int), rate).astype(float)
    control = errors - rate * size + rng.normal(size=n)
    clock = np.arange(1.0, n + 1)
    return Looks(errors, size, control, clock, np.asarray(float(n)), size.mean())


def test_bounds_are_where_the_test_meets_the_line() -> None:
    """A slow twin for the last look: the test of a share r, solved by bisection."""
    looks, alpha = _looks(1), 0.05
    y, x, z, n = looks.errors, looks.size, looks.control, len(looks.errors)

    def state(t: int) -> tuple[float, float]:
        y_, x_, z_ = y[:t], x[:t], z[:t]
        start = (y_.sum() - z_.sum()) / x_.sum()
        prior = DESIGN.prior_looks * np.mean(z_**2)
        apart, model = y_ - start * x_, z_ - z_.mean()
        beta = (apart @ model + prior) / (model @ model + prior)
        beta = min(max(beta, 0.0), DESIGN.most_control)
        return beta, (y_.sum() - beta * z_.sum()) / x_.sum()

    beta, value = state(n)
    left = [y[t] - state(t + 1)[0] * z[t] - state(t + 1)[1] * x[t] for t in range(n)]
    pseudo = x.mean() * (1 + np.sqrt(looks.mean_size)) / looks.mean_size
    second = np.sum(np.square(left)) + pseudo**2
    skewness = np.sqrt(n) * (np.sum(np.power(left, 3)) + pseudo**3) / second**1.5
    error = (1 - DESIGN.late_error) * alpha
    line = np.sqrt(2 * np.log(1 / error))  # at the planned end

    def above(r: float, side: int) -> float:
        u = y - beta * z - r * x
        c = line * (1 + max(side * skewness, 0) * line / (3 * np.sqrt(n)))
        variance = np.sum((u - u.mean()) ** 2) + (pseudo**2 if side > 0 else 0)
        variance *= n**2 / ((n - 2) * (n - c**2))
        return float(abs(u.sum()) - c * np.sqrt(variance))

    made = bounds(looks, alpha)
    assert made.value[-1] == pytest.approx(value)
    assert made.low[-1] == pytest.approx(brentq(above, 0, value, args=(-1,)))
    assert made.high[-1] == pytest.approx(brentq(above, value, 1, args=(1,)))


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_a_walk_stays_below_the_boundary(alpha):
    """From a fiftieth of the planned clock to a hundred times of it."""
    rng, walks = np.random.default_rng(0), 4_000
    clock = 0.02 * 1.04 ** np.arange(220)
    steps = rng.normal(size=(walks, len(clock))) * np.sqrt(np.diff(clock, prepend=0))
    ratio = np.cumsum(steps, axis=1) / np.sqrt(clock)
    above = (ratio > boundary(clock, alpha)).any(axis=1).mean()
    assert above <= alpha + 4 * np.sqrt(alpha * (1 - alpha) / walks)
    assert above > alpha / 2  # and is no wider than it must be
    assert clock[-1] > 100


def test_the_linear_error_is_that_of_the_jackknife():
    rng, n = np.random.default_rng(4), 4_000
    size = rng.integers(1, 30, size=n).astype(float)
    errors = rng.binomial(size.astype(int), rng.beta(0.5, 5, size=n)).astype(float)
    clock = np.arange(1.0, n + 1)
    looks = Looks(
        errors, size, np.zeros(n), clock, np.asarray(float(n)), float(size.mean())
    )
    made = bounds(looks, 0.05)
    ratio = errors.sum() / size.sum()
    without = (errors.sum() - errors) / (size.sum() - size)  # [n]
    jackknife = np.sqrt((n - 1) / n * np.sum((without - without.mean()) ** 2))
    c = float(boundary(np.ones(1), 0.05)[0])
    assert made.value[-1] == pytest.approx(ratio)
    assert (made.value[-1] - made.low[-1]) / c == pytest.approx(jackknife, rel=0.03)


def test_nothing_is_stated_before_the_least_number_of_looks() -> None:
    made = bounds(_looks(2), 0.05)
    early = slice(DESIGN.least_looks - 1)
    assert (made.low[early] == 0).all() and (made.high[early] == 1).all()
    assert made.high[DESIGN.least_looks - 1] < 1


@given(st.integers(0, 10_000), st.floats(0.01, 0.2))
def test_a_smaller_error_gives_wider_bounds(seed: int, alpha: float) -> None:
    looks = _looks(seed)
    narrow, wide = bounds(looks, alpha), bounds(looks, alpha / 3)
    assert (wide.low <= narrow.low + 1e-12).all()
    assert (wide.high >= narrow.high - 1e-12).all()
    assert (narrow.low <= narrow.value).all() and (narrow.value <= narrow.high).all()


def test_no_errors_seen_is_no_proof_of_none() -> None:
    n = 60
    zero, clock = np.zeros(n), np.arange(1.0, n + 1)
    looks = Looks(zero, np.full(n, 12.0), zero, clock, np.asarray(float(n)), 12.0)
    made = bounds(looks, 0.05)
    # Where 3 / n of the sentences hold one wrong token each, the chance to see none is
    # 5 %.
    assert made.high[-1] > 3 / n / 12


def test_a_first_draw_has_the_chance_of_its_weight() -> None:
    weights, draws = np.array([1.0, 2.0, 5.0, 0.0]), 20_000
    rng = np.random.default_rng(0)
    orders = np.array([drawn_order(weights, rng) for _ in range(draws)])
    assert set(orders.ravel()) == {0, 1, 2}
    chance = np.bincount(orders[:, 0], minlength=4) / draws
    expected = weights / weights.sum()
    tolerance = 5 * np.sqrt(expected * (1 - expected) / draws)
    assert (np.abs(chance - expected) <= tolerance).all()
    # Within a part of the corpus, it is a sample of that part.
    ahead = np.mean([order[order < 2][0] for order in orders])  # of the first two
    assert abs(ahead - 2 / 3) <= 5 * np.sqrt(2 / 9 / draws)


@given(st.lists(st.floats(0, 10), min_size=1, max_size=9))
def test_everything_may_be_drawn(variance: list[float]) -> None:
    weights = weights_of(np.array(variance))
    least = weights.min() / weights.mean()
    assert least >= DESIGN.even_share - 1e-9


def _population(seed: int) -> tuple[Any, ...]:
    """Sentences of which the model knows something, as clustered as labels are."""
    rng = np.random.default_rng(seed)
    size = rng.integers(3, 25, size=400).astype(float)
    rate = rng.beta(0.4, 6, size=400)
    errors = rng.binomial(size.astype(int), rate).astype(float)
    expected = size * np.clip(rate * rng.uniform(0.3, 2, size=400), 0.001, 0.9)
    return errors, size, expected, weights_of(expected * (1 - expected / size))


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_bounds_hold_at_every_moment(alpha: float) -> None:
    errors, size, expected, weights = _population(0)
    rng, draws, n = np.random.default_rng(1), 400, 80
    picks = np.array([drawn_order(weights, rng)[:n] for _ in range(draws)])
    control = expected - expected.sum() / size.sum() * size
    (y, clock), (x, _), (z, _) = (
        increments(one[picks], weights[picks], weights.sum())
        for one in (errors, size, control)
    )
    made = bounds(Looks(y, x, z, clock, clock[:, -1], size.mean()), alpha)
    truth = errors.sum() / size.sum()
    spare = 4 * np.sqrt(alpha * (1 - alpha) / draws)
    assert np.mean((made.high < truth).any(axis=1)) <= alpha + spare
    assert np.mean((made.low > truth).any(axis=1)) <= alpha + spare
    assert abs(made.value[:, -1].mean() - truth) < 0.1 * truth
    assert made.high[:, -1].mean() < 0.5  # and say something
