"""The bonus of a span against what it is derived from."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tagsift.chain.linear_chain import LinearChain
from tagsift.chain.span_bonus import expected_f1, span_bonus, with_span_bonus
from tagsift.data import spans

CLASSES = ("B-X", "I-X", "O")
INSIDE = np.array([True, True, False])


def test_expected_f1_token_by_token():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), size=40)  # [N, L]
    labels = rng.integers(3, size=40)  # [N]
    hits = taken = true = 0.0
    for label, row in zip(labels, p, strict=True):
        taken += INSIDE[label]
        hits += INSIDE[label] * row[label]
        true += row[INSIDE].sum()
    found = expected_f1(labels, p, INSIDE)
    assert found == pytest.approx(2 * hits / (taken + true))


def test_expected_f1_without_spans():
    nothing = np.tile([0.0, 0.0, 1.0], (4, 1))  # [N, L]
    assert expected_f1(np.full(4, 2), nothing, INSIDE) == 0.0


@pytest.mark.parametrize("temperature", [1.0, 1.4])
@pytest.mark.parametrize("f1", [0.4, 0.6, 0.9])
def test_spans_are_taken_from_half_the_f1_on(f1: float, temperature: float):
    """A lone token whose span has probability F / 2 is a tie."""
    odds = np.log(f1 / 2) - np.log(1 - f1 / 2)  # of the span, at temperature 1
    assert temperature * odds + span_bonus(f1, temperature) == pytest.approx(0.0)


def test_half_the_f1_is_the_best_threshold():
    """Against all thresholds: labels drawn from probabilities that are right."""
    p = np.random.default_rng(0).beta(0.5, 1.0, size=20_000)  # of a span, [N]
    thresholds = np.linspace(0.05, 0.95, 181)
    f1 = [2 * p[p > t].sum() / ((p > t).sum() + p.sum()) for t in thresholds]
    best = int(np.argmax(f1))
    tie = 1.0 / (1.0 + np.exp(span_bonus(f1[best])))
    assert thresholds[best] == pytest.approx(tie, abs=0.01)


def test_the_bonus_is_bounded_and_gone_where_all_is_right():
    assert span_bonus(0.0) == 2.0
    assert span_bonus(1.0) == 0.0


@pytest.mark.parametrize("scheme", ["iob1", "iob2"])
def test_a_leaning_chain_scores_every_span_once(scheme: str):
    """Against the spans of every label sequence of four tokens."""
    rng = np.random.default_rng(1)
    chain = LinearChain(
        rng.normal(size=(2, 3)),
        rng.normal(size=3),
        rng.normal(size=(3, 3)),
        rng.normal(size=3),
    )
    lean = with_span_bonus(chain, 0.7, CLASSES, scheme)
    for labels in itertools.product(range(3), repeat=4):
        names = [CLASSES[k] for k in labels]
        gain = lean.start[labels[0]] - chain.start[labels[0]]
        for a, b in itertools.pairwise(labels):
            gain += lean.transitions[a, b] - chain.transitions[a, b]
        assert gain == pytest.approx(0.7 * len(spans(names, scheme))), names


def test_no_bonus_leaves_the_chain_as_it_is():
    chain = LinearChain(np.zeros((1, 3)), np.zeros(3), np.zeros((3, 3)), np.zeros(3))
    assert with_span_bonus(chain, 0.0, CLASSES, "iob2") is chain
