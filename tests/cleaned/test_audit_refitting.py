"""Confidences fitted to looks: gradients, identity, and what becomes better."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit, softmax

import tagsift
from tagsift.cleaned import clean
from tagsift.cleaned.auditing.drawing import drawn_order
from tagsift.cleaned.auditing.recalibration import PRIOR, fit_to_looks
from tagsift.cleaned.auditing.refitting import inclusion_chances
from tagsift.errors import NotSupportedError
from tagsift.metrics import calibration_scores
from tests.cleaned.simulated import voted


def _told(n, seed=0, sharpness=1.0):
    """Confidences that are right where `sharpness` is 1, and labels drawn of them."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, 3)) * 2
    truth = np.array([rng.choice(3, p=p) for p in softmax(scores, axis=1)])
    return softmax(sharpness * scores, axis=1), truth


def test_the_fit_is_the_best_by_a_search_without_gradients():
    p, truth = _told(60, sharpness=3.0)
    weights = np.random.default_rng(1).uniform(0.5, 2, size=60)
    shares = np.full(3, 1 / 3)
    made = fit_to_looks(p, truth, weights, 0, shares)
    counts = np.bincount(truth, weights, minlength=3) + PRIOR.smoothing * shares
    u = counts / counts.sum()

    def loss(x):
        theta, floor = np.exp(x[0]), expit(x[2] + logit(PRIOR.floor))
        bias = np.array([x[1], 0, 0]) + x[3:]
        q = (1 - floor) * softmax(theta * np.log(p) + bias, axis=1) + floor * u
        spreads = [PRIOR.temperature, PRIOR.outside, PRIOR.floor_spread]
        spreads += [PRIOR.label] * 3
        prior = 0.5 * np.sum((x / np.array(spreads)) ** 2)
        return prior - np.sum(weights * np.log(q[np.arange(60), truth]))

    slow = minimize(
        loss, np.zeros(6), method="Powell", options={"xtol": 1e-8, "ftol": 1e-12}
    ).x
    assert made.exponent == pytest.approx(np.exp(slow[0]), rel=1e-2)
    bias = np.array([slow[1], 0, 0]) + slow[3:]
    assert made.bias == pytest.approx(bias, abs=2e-2)
    assert made.shares == pytest.approx(u)


def test_no_look_changes_hardly_anything():
    p, _ = _told(50)
    nothing = np.zeros(0)
    shares = p.mean(axis=0)
    made = fit_to_looks(p[:0], nothing.astype(int), nothing, 0, shares)
    assert np.abs(made(p) - p).max() <= PRIOR.floor
    assert made(p).sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("sharpness", [0.5, 1.0, 3.0])
def test_looks_mend_confidences_and_leave_good_ones(sharpness):
    p, truth = _told(4_000, sharpness=sharpness)
    made = fit_to_looks(p[:800], truth[:800], np.ones(800), -1, p.mean(axis=0))
    before, after = (
        calibration_scores(x, truth[800:]) for x in (p[800:], made(p[800:]))
    )
    assert after.nll <= before.nll + 0.005
    assert after.ece <= max(before.ece, 0.03)


def test_chances_are_those_of_the_draw():
    weights = np.array([0.5, 1.0, 2.0, 4.0, 0.0, 1.0, 1.0, 3.0])
    rng, draws, n = np.random.default_rng(0), 4_000, 3
    counts = np.zeros(8)
    for _ in range(draws):
        counts[drawn_order(weights, rng)[:n]] += 1
    chances = inclusion_chances(weights, n)
    assert chances.sum() == pytest.approx(n)
    assert np.abs(counts / draws - chances).max() < 0.04  # of eight; exact for many
    assert (inclusion_chances(weights, 7) == (weights > 0)).all()


def test_the_result_after_the_looks():
    cleaned = clean(voted(), tagsift.MajorityVote())
    plan = tagsift.audit(cleaned, n=80)
    gold = cleaned.corpus.gold
    for s in plan.sentences:
        plan.answer(s, gold[s])
    stated = plan.result()
    after = stated.cleaned
    for s in plan.sentences:
        assert after.sentences[s] == gold[s]
        lo, hi = after.corpus.bounds[s : s + 2]
        assert after.settled[lo:hi].all()
    assert after.confidences.sum(axis=1) == pytest.approx(1)
    assert after.scores().calibration.nll < cleaned.scores().calibration.nll
    assert plan.cleaned is cleaned and (cleaned.settled == False).all()  # noqa: E712
    again = tagsift.audit(after, n=10)
    assert not set(again.sentences) & set(plan.sentences)
    finished = tagsift.audit(tagsift.bundled("ner"))
    with pytest.raises(NotSupportedError, match="with confidences"):
        _ = finished.result().cleaned
    assert finished.result().calibration is None
