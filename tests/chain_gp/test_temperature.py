"""Temperatures and bonuses set on sentences that a fit left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tagsift.base import TrainingSet
from tagsift.base.training_set import hold_out, hold_out_last
from tagsift.chain.linear_chain import LinearChain
from tagsift.chain.objective import banned_means
from tagsift.chain_gp.held_out import (
    HeldOut,
    best_bonus,
    best_temperature,
    leave_out,
    log_chance,
    temperature_of_seen,
)
from tagsift.chain_gp.mode import ModeFinder
from tagsift.features import FeatureMatrix
from tagsift.gp.kernels import GroupKernel
from tests.reference.label_sequences import sums


def make(lengths: list[int], mask: np.ndarray, seed: int = 0) -> TrainingSet:
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    X = np.random.default_rng(5).normal(size=(offsets[-1], 3))
    features = FeatureMatrix(("x",), (X,), offsets)
    return TrainingSet(features, mask, tuple("ABC"[: mask.shape[1]]), "plain", seed)


@pytest.fixture
def weights() -> LinearChain:
    rng = np.random.default_rng(0)
    return LinearChain(
        rng.normal(size=(3, 3)),
        rng.normal(size=3),
        rng.normal(size=(3, 3)),
        rng.normal(size=3),
    )


def test_a_fifth_is_held_out_and_empty_sentences_are_not():
    lengths = [0, *[2] * 60]
    train = make(lengths, np.ones((120, 3), dtype=bool))
    seen, unseen = hold_out(train)
    assert len(unseen) == 12 and len(seen) == 48
    assert set(seen) | set(unseen) == set(range(1, 61))
    again = hold_out(train)
    np.testing.assert_array_equal(unseen, again[1])
    other = hold_out(make(lengths, np.ones((120, 3), dtype=bool), seed=1))
    assert set(other[1]) != set(unseen)


@pytest.mark.parametrize("together", [1, 4])
@pytest.mark.parametrize(("n", "share"), [(60, 0.2), (13, 0.2), (40, 0.1)])
def test_every_turn_leaves_out_others(n: int, share: float, together: int):
    train = make([2] * n, np.ones((2 * n, 3), dtype=bool))
    parts = [
        hold_out(train, share=share, turn=k, together=together)
        for k in range(round(1 / share))
    ]
    for seen, unseen in parts:
        assert sorted([*seen, *unseen]) == list(range(n))
        assert list(unseen) == sorted(unseen)
    assert sorted(np.concatenate([unseen for _, unseen in parts])) == list(range(n))
    if n == 60:
        apart = [int((np.diff(unseen) > 1).sum()) for _, unseen in parts]
        assert (max(apart) <= 4) == (together == 4)


@pytest.mark.parametrize(
    ("lengths", "turns", "left_out"),
    [
        ([2] * 9, 0, 0),  # too few to say anything
        ([0] * 50 + [2] * 9, 0, 0),  # empty ones say nothing
        ([2] * 10, 5, 4),
        ([100] * 100, 3, 2000),  # 6,000 tokens are enough
        ([100] * 400, 2, 4000),  # of 20,000 tokens: more are not looked at
    ],
)
def test_sentences_are_left_out_until_they_are_enough(lengths, turns, left_out):
    train = make(lengths, np.ones((sum(lengths), 2), dtype=bool))
    allowed = (np.ones((2, 2), bool), np.ones(2, bool), np.ones(2, bool))
    finder = ModeFinder(*banned_means(allowed), 1, 1)
    parts = list(leave_out(finder, train, GroupKernel({"x": 1.0}, {}), tol=0.1))
    assert [one.unseen.n_tokens for one in parts] == [left_out] * turns
    assert len({one.unseen.features.block("x")[0, 0] for one in parts}) == turns


def test_the_last_sentences_are_held_out():
    seen, unseen = hold_out_last(make([2] * 7, np.ones((14, 3), dtype=bool)))
    assert (seen.tolist(), unseen.tolist()) == ([0, 1, 2, 3, 4], [5, 6])
    seen, unseen = hold_out_last(make([4, 3], np.ones((7, 3), dtype=bool)))
    assert (seen.tolist(), unseen.tolist()) == ([0, 1], [])


def enumerated(weights: LinearChain, train: TrainingSet, T: float) -> np.ndarray:
    """Marginals of every token by all label sequences of its sentence, [N, L]."""
    cold = weights.tempered(T)
    U = train.features.block("x") @ cold.emissions + cold.bias
    return sums(U, cold.transitions, train.offsets, start=cold.start).marginals


@pytest.mark.parametrize("soft", [False, True])
def test_the_chance_of_what_is_known_by_enumeration(weights: LinearChain, soft: bool):
    rng = np.random.default_rng(1)
    mask = rng.random((5, 3)) < 0.5
    mask[np.arange(5), rng.integers(3, size=5)] = True
    train, known = make([3, 2], mask), mask.astype(float)
    if soft:
        known = rng.random((5, 3))
        shift = rng.normal(size=(5, 1))  # of a token, which says nothing
        train = replace(train, mask=known > 0, evidence=np.log(known) + shift)
        known = known / known.max(axis=1, keepdims=True)
    twin = np.log((enumerated(weights, train, 1.4) * known).sum(axis=1)).sum()
    assert log_chance(HeldOut(weights, train), 1.4) == pytest.approx(twin)


def test_tokens_that_a_chain_cannot_label_do_not_count(weights: LinearChain):
    mask = np.array([[True, True, False], [False, False, True]])
    never = replace(weights, bias=np.array([0.0, 0.0, -np.inf]))
    train = make([1, 1], mask)
    assert log_chance(HeldOut(never, train), 1.0) == pytest.approx(0.0)
    assert np.isfinite(best_temperature([HeldOut(never, train)]))


@pytest.mark.parametrize("truth", [0.7, 1.0, 1.5])
def test_many_exact_labels_find_the_temperature(truth: float):
    """Tokens on their own, drawn from the model at a temperature."""
    n = 20000
    rng = np.random.default_rng(2)
    weights = LinearChain(
        rng.normal(size=(3, 3)), np.zeros(3), np.zeros((3, 3)), np.zeros(3)
    )
    train = make([1] * n, np.ones((n, 3), dtype=bool))
    U = weights.scores(train.features) / truth
    p = np.exp(U - U.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    y = (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    unseen = make([1] * n, np.eye(3, dtype=bool)[y])
    halves = [unseen.take_sequences(range(lo, lo + n // 2)) for lo in (0, n // 2)]
    found = best_temperature([HeldOut(weights, half) for half in halves])
    assert found == pytest.approx(truth, rel=0.06)


def test_no_labels_leave_the_temperature_where_the_prior_is(weights: LinearChain):
    unseen = make([2] * 20, np.ones((40, 3), dtype=bool))
    found = best_temperature([HeldOut(weights, unseen)])
    assert found == pytest.approx(1.25, abs=2e-3)
    assert best_temperature([]) == 1.25


def test_the_prior_weighs_as_much_as_its_width_says(weights: LinearChain):
    """Slow twin: the best of many temperatures."""
    mask = np.eye(3, dtype=bool)[np.random.default_rng(3).integers(3, size=40)]
    held_out = HeldOut(weights, make([2] * 20, mask))
    grid = np.exp(np.linspace(-1, 1, 2001))
    like = np.interp(grid, grid[::20], [log_chance(held_out, t) for t in grid[::20]])
    twin = grid[np.argmax(like - 0.5 * (np.log(grid / 1.25) / 0.2) ** 2)]
    found = best_temperature([held_out])
    assert found == pytest.approx(twin, rel=0.005)
    assert found > 1.3  # random labels pull it up


def test_fits_without_a_sentence_tell_how_sure_to_be_of_it(weights):
    """Slow twin: the best of many temperatures, by the sum over tokens."""
    rng = np.random.default_rng(3)
    parts = []
    for _ in range(2):
        mask = rng.random((12, 3)) < 0.7
        mask[np.arange(12), rng.integers(3, size=12)] = True
        other = replace(weights, emissions=weights.emissions + rng.normal(size=(3, 3)))
        parts.append(HeldOut(other, make([3] * 4, mask)))
    surer = weights.tempered(0.25)
    grid = np.exp(np.linspace(-1, 2, 301))
    sums = []
    for t in grid:
        total = 0.0
        for chain, unseen in parts:
            known = unseen.features, unseen.log_evidence
            q = chain.tempered(1.3).marginals(*known)
            c = surer.tempered(t).marginals(*known)
            total += sum(
                q[n, y] * np.log(c[n, y]) for n, y in zip(*np.nonzero(q), strict=True)
            )
        sums.append(total)
    found = temperature_of_seen(parts, surer, 1.3, 24)
    nearest = grid[np.argmax(sums)]
    assert found == pytest.approx(1.3**0.6 * nearest**0.4, rel=0.01)
    half = temperature_of_seen(parts, surer.tempered(2.0), 1.3, 24)
    assert half == pytest.approx(found / 2**0.4, rel=0.01)
    usual = pytest.approx(1.15 * 1.3)
    assert temperature_of_seen([], weights, 1.3, 24) == usual
    assert temperature_of_seen(parts, surer, 1.3, 20_001) == usual  # far larger fits


FREE = (np.ones((3, 3), dtype=bool), np.ones(3, dtype=bool), np.ones(3, dtype=bool))
INSIDE = np.array([False, True, True])


def test_the_bonus_is_that_of_all_held_out_tokens(weights: LinearChain):
    """Against loops over the tokens of sentences of one token."""
    unseen = make([1] * 30, np.random.default_rng(3).random((30, 3)) < 0.8)
    unseen.mask[np.arange(30), np.random.default_rng(4).integers(3, size=30)] = True
    T, hits, both = 1.5, 0.0, 0.0
    for x, mask in zip(unseen.features.block("x"), unseen.mask, strict=True):
        score = (x @ weights.emissions + weights.bias + weights.start) / T
        p = np.where(mask, np.exp(score), 0.0)
        p /= p.sum()
        label = int(score.argmax())
        hits += INSIDE[label] * p[label]
        both += INSIDE[label] + p[INSIDE].sum()
    f1 = 2 * hits / both
    expected = pytest.approx(T * np.log((2 - f1) / f1))
    assert best_bonus([HeldOut(weights, unseen)], T, FREE, INSIDE) == expected
    parts = (unseen.take_sequences(range(lo, lo + 15)) for lo in (0, 15))
    held_out = [HeldOut(weights, part) for part in parts]
    assert best_bonus(held_out, T, FREE, INSIDE) == expected


def test_bonuses_are_bounded(weights: LinearChain):
    assert best_bonus([], 1.0, FREE, INSIDE) == 0.5
    unseen = make([2] * 20, np.tile([True, False, False], (40, 1)))
    assert best_bonus([HeldOut(weights, unseen)], 1.0, FREE, INSIDE) == 2.0
