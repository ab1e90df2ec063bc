"""The record of all scores and its two forms."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from tagsift.errors import InputError
from tagsift.metrics import (
    brier_score,
    dict_report,
    evaluate,
    log_loss,
    reliability,
    span_scores,
    text_report,
    token_scores,
)

GOLD = [["B-NP", "I-NP", "O"], ["B-VP"], []]
GUESS = [["B-NP", "I-NP", "B-NP"], ["B-VP"], []]
CLASSES = ["B-NP", "B-VP", "I-NP", "O"]
MARGINALS = [
    np.array([[0.7, 0.1, 0.1, 0.1], [0.0, 0.0, 1.0, 0.0], [0.4, 0.1, 0.2, 0.3]]),
    np.array([[0.2, 0.6, 0.1, 0.1]]),
    np.zeros((0, 4)),
]


def test_holds_what_the_parts_compute():
    scores = evaluate(GOLD, GUESS, marginals=MARGINALS, classes=CLASSES, n_bins=10)
    assert scores.scheme == "iob2"
    assert scores.spans == span_scores(GOLD, GUESS, scheme="iob2")
    assert scores.span_f1 == pytest.approx(0.8)
    assert scores.tokens == token_scores(GOLD, GUESS, CLASSES)
    stacked, truth = np.concatenate(MARGINALS), np.array([0, 2, 3, 1])
    part = scores.calibration
    assert part.ece == reliability(stacked, truth, n_bins=10).ece
    assert part.brier == brier_score(stacked, truth)
    assert part.nll == log_loss(stacked, truth)
    # The only error has the lowest confidence: risks 0, 0, 0, 1/4.
    assert part.aurc == pytest.approx(1 / 16)
    with pytest.raises(dataclasses.FrozenInstanceError):
        scores.scheme = "plain"


def test_headline_without_and_with_marginals():
    without = evaluate(GOLD, GUESS)
    assert without.calibration is None
    assert "ece" not in without.headline()
    assert without.headline()["token_accuracy"] == 0.75
    scores = evaluate(GOLD, GUESS, marginals=MARGINALS, classes=CLASSES)
    assert set(scores.headline()) >= {"span_f1", "token_macro_f1", "nll", "aurc"}


@pytest.mark.parametrize("marginals", [None, MARGINALS])
def test_the_dict_is_ready_for_json(marginals):
    scores = evaluate(GOLD, GUESS, marginals=marginals, classes=CLASSES)
    facts = dict_report(scores)
    assert json.loads(json.dumps(facts), parse_constant=pytest.fail) == facts
    assert facts["spans"]["per_type"]["NP"]["n_predicted"] == 2
    if marginals is not None:
        assert facts["calibration"]["risk_at_coverage"]["1"] == 0.25
        assert facts["calibration"]["reliability"]["accuracy"][0] is None


def test_text_by_eye():
    text = text_report(evaluate(GOLD, GUESS, marginals=MARGINALS, classes=CLASSES))
    lines = text.splitlines()
    assert lines[0] == "4 tokens in 2 sentences, scheme iob2"
    assert lines[3].split() == ["spans", "(CoNLL)", "66.67", "100.00", "80.00", "2"]
    assert any(line.split()[:2] == ["token", "accuracy"] for line in lines)
    assert "calibration error" in text
    assert "calibration error" not in text_report(evaluate(GOLD, GUESS))
    assert "(no type)" in text_report(evaluate([["B"]], [["B"]]))


def test_gold_labels_the_model_does_not_know():
    classes = ["B-NP", "I-NP", "O"]
    guess = [["B-NP", "I-NP", "O"], ["O"], []]
    marginals = [np.eye(3), np.array([[0.2, 0.2, 0.6]]), np.zeros((0, 3))]
    with pytest.raises(InputError, match="Sentence 1, token 0 .* gold label 'B-VP'"):
        evaluate(GOLD, guess, marginals=marginals, classes=classes)
    scores = evaluate(
        GOLD, guess, marginals=marginals, classes=classes, unknown="wrong"
    )
    assert scores.tokens.accuracy == 0.75
    assert scores.calibration.ece == pytest.approx(0.6 / 4)
    with pytest.raises(InputError, match="predicted label 'B-VP'"):
        evaluate(GOLD, GUESS, classes=classes, unknown="wrong")


def test_numbers_as_labels():
    scores = evaluate([[0, 1]], [[0, 0]], marginals=[np.eye(2)], classes=[0, 1])
    assert scores.scheme == "plain"
    assert dict_report(scores)["tokens"]["per_label"]["1"]["support"] == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"marginals": MARGINALS}, "classes=model.classes_"),
        ({"unknown": "skip"}, "'error' or 'wrong'"),
        ({"scheme": "bilou"}, "bilou"),
    ],
)
def test_errors(settings, message):
    with pytest.raises(InputError, match=message):
        evaluate(GOLD, GUESS, **settings)
