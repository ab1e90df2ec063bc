"""When to stop: wrong labels left, and what the next looks should find."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

from tagsift.annotators import outlook
from tagsift.annotators.outlook import _PLACES, _place
from tagsift.annotators.settings import CONSTANTS
from tagsift.errors import InputError


def test_without_answers_the_chances_are_added_up():
    chances = np.array([0.9, 0.5, 0.2, 0.05, 0.001])
    ahead = outlook(chances, looks=2)
    assert ahead.left == pytest.approx(chances.sum()) == ahead.stated
    assert ahead.gain == pytest.approx(1.4)
    assert (ahead.looks, ahead.looked, ahead.found, ahead.expected) == (2, 0, 0, 0.0)
    assert ahead.left_range[0] < ahead.left < ahead.left_range[1]


def test_the_correction_is_the_mode_that_a_general_minimiser_finds():
    rng = np.random.default_rng(0)
    asked = rng.uniform(0.05, 0.9, 60)
    wrong = rng.random(60) < asked / 2
    x, places = logit(asked), _PLACES
    nearest = np.abs(x[:, None] - places).argmin(axis=1)
    prior = np.array(
        [[0.36 * np.exp(-((a - b) ** 2) / 8) for a in places] for b in places]
    ) + 1e-6 * np.eye(len(places))

    def loss(g):
        signs = np.where(wrong, 1, -1)
        fit = log_expit(signs * (x + g[nearest])).sum()
        return 0.5 * g @ np.linalg.solve(prior, g) - fit

    # In whitened coordinates, in which a general minimiser gets there.
    root = np.linalg.cholesky(prior)
    best = root @ minimize(lambda z: loss(root @ z), np.zeros(len(places))).x
    chances = np.array([0.7, 0.3, 0.1, 0.01])
    here = np.abs(logit(chances)[:, None] - places).argmin(axis=1)
    expected = expit(logit(chances) + best[here]).sum()
    assert outlook(chances, asked, wrong).left == pytest.approx(expected, abs=1e-4)


def test_answers_correct_chances_like_those_asked_about():
    half, small = np.full(100, 0.5), np.full(100, 0.0005)
    right, wrong = np.zeros(80, dtype=bool), np.ones(80, dtype=bool)
    asked = np.full(80, 0.5)
    assert outlook(half, asked, right).left < 15 < 85 < outlook(half, asked, wrong).left
    near = outlook(half, asked, right)
    assert near.left_range[1] < near.stated == 50.0
    # Of far smaller chances they say nothing.
    for answers in (right, wrong):
        far = outlook(small, asked, answers).left
        assert far == pytest.approx(small.sum(), rel=0.05)


def test_ranges_hold_nine_times_in_ten_where_the_model_is_true():
    rng, places = np.random.default_rng(1), _PLACES
    apart = (places[:, None] - places) / CONSTANTS.outlook_length
    prior = 0.6**2 * np.exp(-0.5 * apart**2) + 1e-6 * np.eye(len(places))
    root, held, found, stated = np.linalg.cholesky(prior), [], [], []
    for _ in range(300):
        chances = np.sort(rng.beta(0.3, 3.0, 600))[::-1]
        place = _place(logit(np.clip(chances, 1e-4, 1 - 1e-4)))
        true = expit(logit(chances) + (root @ rng.standard_normal(len(places)))[place])
        # Errors come in pairs, as the ranges expect of them.
        wrong = np.repeat(rng.random(300) < true[::2], 2)
        ahead = outlook(chances[100:], chances[:100], wrong[:100])
        for expected, bounds, part in (
            (ahead.left, ahead.left_range, wrong[100:]),
            (ahead.gain, ahead.gain_range, wrong[100:150]),
        ):
            held.append(bounds[0] <= part.sum() <= bounds[1])
            found.append(np.log((expected + 1) / (part.sum() + 1)))
        stated.append(np.log((ahead.stated + 1) / (wrong[100:].sum() + 1)))
    assert 0.84 < np.mean(held) < 0.96
    # With answers, the expectation is nearer to the truth than the chances alone.
    assert np.std(found[::2]) < 0.8 * np.std(stated)


def test_extreme_answers_and_nothing_left():
    for scale in (0.7, 5.0):
        answers = np.zeros(2000), np.ones(2000, dtype=bool)
        sure = outlook([1.0, 0.0], *answers, scale=scale)
        assert np.isfinite([sure.left, *sure.left_range]).all()
        assert 1.0 < sure.left < 2.0
    done = outlook([], [0.4], [True])
    assert (done.left, done.left_range, done.gain, done.looks) == (0, (0, 0), 0, 0)
    assert (done.looked, done.found, done.expected) == (1, 1, 0.4)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (([0.5, 1.5],), "chances must be chances from 0 to 1"),
        (([0.5, np.nan],), "chances must be chances from 0 to 1"),
        (([0.5], [0.5, 0.2], [True]), "got 1 answers for 2 labels"),
    ],
)
def test_what_is_no_chance_is_refused(given, words):
    with pytest.raises(InputError, match=words):
        outlook(*given)
    with pytest.raises(InputError, match="0 or more"):
        outlook([0.5], looks=-1)
    with pytest.raises(InputError, match="more than 0"):
        outlook([0.5], scale=0.0)


def test_the_larger_the_scale_the_more_answers_count():
    half, asked, right = np.full(100, 0.5), np.full(20, 0.5), np.zeros(20, dtype=bool)
    left = [outlook(half, asked, right, scale=scale).left for scale in (0.2, 0.7, 2.0)]
    assert 50 > left[0] > left[1] > left[2] > 0
