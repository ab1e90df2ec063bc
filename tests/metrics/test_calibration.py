"""Calibration scores against loops, scikit-learn and hand-worked values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import brier_score_loss
from sklearn.metrics import log_loss as sklearn_log_loss

from tagsift.errors import InputError
from tagsift.metrics import (
    brier_score,
    log_loss,
    reliability,
    risk_coverage,
    stack_marginals,
    top_label,
)
from tagsift.metrics.calibration import CLIP


def sample(seed: int, n: int = 200, n_labels: int = 4):
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.full(n_labels, 0.4), size=n)
    return probabilities, rng.integers(0, n_labels, size=n)


def loop_ece(probabilities, truth, n_bins):
    """Expected calibration error by its definition, one bin and one token at a time."""
    total = 0.0
    for b in range(n_bins):
        low, high = b / n_bins, (b + 1) / n_bins
        inside = []
        for row, label in zip(probabilities, truth, strict=True):
            confidence = max(row)
            if low < confidence <= high or (b == 0 and confidence == 0):
                inside.append((confidence, float(list(row).index(confidence) == label)))
        if inside:
            gap = abs(sum(c for c, _ in inside) - sum(r for _, r in inside))
            total += gap / len(truth)
    return total


def loop_aurc(confidence, correct):
    """Mean risk over all coverages, for distinct confidences."""
    order = sorted(range(len(correct)), key=lambda i: -confidence[i])
    wrong, risks = 0, []
    for k, i in enumerate(order, start=1):
        wrong += not correct[i]
        risks.append(wrong / k)
    return sum(risks) / len(risks)


def calibration_error(probabilities, truth, **settings):
    return reliability(probabilities, truth, **settings).ece


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_bins", [1, 7, 15])
def test_ece_equals_the_loop(seed, n_bins):
    probabilities, truth = sample(seed)
    ours = calibration_error(probabilities, truth, n_bins=n_bins)
    assert ours == pytest.approx(loop_ece(probabilities, truth, n_bins))


def test_ece_by_hand():
    # Bin (0.6, 0.8]: confidences 0.7, 0.7, one right: gap 0.2, weight 2/3.
    # Bin (0.8, 1]: confidence 0.9, right: gap 0.1, weight 1/3.
    probabilities = [[0.7, 0.3], [0.7, 0.3], [0.1, 0.9]]
    table = reliability(probabilities, [0, 1, 1], n_bins=5)
    assert table.ece == pytest.approx(0.2 * 2 / 3 + 0.1 / 3)
    assert table.mce == pytest.approx(0.2)
    assert table.counts.tolist() == [0, 0, 0, 2, 1]
    assert np.isnan(table.confidence[:3]).all()
    assert table.accuracy[3:].tolist() == [0.5, 1.0]


def test_bins_are_closed_on_the_right():
    table = reliability([[0.5, 0.5], [1.0, 0.0]], [0, 0], n_bins=2)
    assert table.counts.tolist() == [1, 1]


@pytest.mark.parametrize("seed", range(5))
def test_log_loss_and_brier_equal_scikit_learn(seed):
    probabilities, truth = sample(seed)
    labels = list(range(4))
    assert log_loss(probabilities, truth) == pytest.approx(
        sklearn_log_loss(truth, probabilities, labels=labels)
    )
    assert brier_score(probabilities, truth) == pytest.approx(
        brier_score_loss(truth, probabilities, labels=labels, scale_by_half=False)
    )


def test_log_loss_clips_and_brier_is_two_when_sure_and_wrong():
    assert log_loss([[1.0, 0.0]], [1]) == pytest.approx(-math.log(CLIP))
    assert brier_score([[1.0, 0.0]], [1]) == 2.0
    assert brier_score([[1.0, 0.0]], [0]) == 0.0


def test_a_truth_without_column_has_probability_zero():
    probabilities = [[0.5, 0.5]]
    assert log_loss(probabilities, [-1]) == pytest.approx(-math.log(CLIP))
    assert brier_score(probabilities, [-1]) == pytest.approx(1.5)
    assert calibration_error(probabilities, [-1]) == pytest.approx(0.5)


@pytest.mark.parametrize("seed", range(5))
def test_aurc_equals_the_loop(seed):
    confidence, correct = top_label(*sample(seed))
    curve = risk_coverage(confidence, correct)
    assert curve.aurc == pytest.approx(loop_aurc(confidence, correct))
    assert curve.risk[-1] == pytest.approx(1 - correct.mean())


def test_risk_coverage_by_hand_with_ties():
    # Surest token right; the next two tie, one wrong: half an error each.
    curve = risk_coverage([0.9, 0.5, 0.5], [True, False, True])
    np.testing.assert_allclose(curve.risk, [0, 0.25, 1 / 3])
    np.testing.assert_allclose(curve.coverage, [1 / 3, 2 / 3, 1])
    assert curve.aurc == pytest.approx((0 + 0.25 + 1 / 3) / 3)
    # The mean over both orders of the tie.
    both = [loop_aurc([3, 2, 1], [True, False, True])]
    both += [loop_aurc([3, 2, 1], [True, True, False])]
    assert curve.aurc == pytest.approx(sum(both) / 2)
    assert curve.risk_at(0.5) == 0.25
    assert curve.risk_at(1.0) == pytest.approx(1 / 3)
    assert curve.risk_at(0.01) == 0.0


MATRICES = arrays(np.float64, st.tuples(st.integers(1, 12), st.just(3)),
                  elements=st.floats(0.0, 1.0))  # fmt: skip


@settings(max_examples=60, derandomize=True)
@given(MATRICES, st.data())
def test_bounds_and_permutations(raw, data):
    probabilities = (raw + 1e-3) / (raw + 1e-3).sum(axis=1, keepdims=True)
    n = len(probabilities)
    truth = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    order = np.array(data.draw(st.permutations(range(n))))
    for score, low, high in (
        (calibration_error, 0.0, 1.0),
        (brier_score, 0.0, 2.0),
        (log_loss, 0.0, -math.log(CLIP)),
    ):
        value = score(probabilities, truth)
        assert low - 1e-12 <= value <= high
        assert score(probabilities[order], truth[order]) == pytest.approx(value)
    confidence, correct = top_label(probabilities, truth)
    curve = risk_coverage(confidence, correct)
    assert ((curve.risk >= 0) & (curve.risk <= 1)).all()
    turned = risk_coverage(confidence[order], correct[order])
    np.testing.assert_allclose(turned.risk, curve.risk, atol=1e-12)
    columns = np.array(data.draw(st.permutations(range(3))))
    place = np.argsort(columns)
    assert brier_score(probabilities[:, columns], place[truth]) == pytest.approx(
        brier_score(probabilities, truth)
    )


def test_marginals_are_checked():
    good = [np.full((2, 2), 0.5), np.zeros((0, 2)), np.array([[1.0, 0.0]])]
    assert stack_marginals(good, [2, 0, 1], 2).shape == (3, 2)
    assert stack_marginals([], [], 2).shape == (0, 2)
    with pytest.raises(InputError, match="3 sentences and labels for 2"):
        stack_marginals(good, [2, 0], 2)
    with pytest.raises(InputError, match=r"Sentence 0 .* \(3, 2\).* got \(2, 2\)"):
        stack_marginals(good, [3, 0, 1], 2)
    with pytest.raises(InputError, match=r"Sentence 0, token 1 .* sum to 1.2"):
        stack_marginals([np.array([[0.5, 0.5], [0.6, 0.6]])], [2], 2)
    with pytest.raises(InputError, match="smallest is -0.5"):
        log_loss([[1.5, -0.5]], [0])
    with pytest.raises(InputError, match="sum to nan"):
        log_loss([[float("nan"), 0.5]], [0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: log_loss([[0.5, 0.5]], [2]), "from 0 to 1"),
        (lambda: log_loss([[0.5, 0.5]], [0.0]), "column numbers"),
        (lambda: log_loss([0.5, 0.5], [0]), "shapes"),
        (lambda: log_loss(np.zeros((0, 2)), np.zeros(0, int)), "at least one token"),
        (lambda: reliability([[1.0]], [0], n_bins=0), "at least 1"),
        (lambda: risk_coverage([0.5], [True, False]), "shapes"),
        (lambda: risk_coverage([float("nan")], [True]), "NaN"),
        (lambda: risk_coverage([0.5], [True]).risk_at(0.0), "above 0"),
    ],
)
def test_errors(call, message):
    with pytest.raises(InputError, match=message):
        call()
