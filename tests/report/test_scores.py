"""Whole reports and the records behind them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tagsift.errors import InputError
from tagsift.metrics import recovery
from tagsift.report import Cleaned, Tagged, demo_report, scores_report
from tagsift.report.sections import review_section


def titles(report):
    return [section.title for section in report.sections]


def test_scores_report_with_and_without_probabilities(tagged):
    full = scores_report(tagged, method="SGPPSL", facts=[("seed", "0")])
    assert titles(full) == [
        "Scores",
        "How far to trust the probabilities",
        "One sentence",
        "Confused labels",
    ]
    assert full.facts == (("seed", "0"),)
    assert [stat.name for stat in full.stats][:2] == ["span F1", "token accuracy"]
    bare = scores_report(dataclasses.replace(tagged, marginals=None))
    assert titles(bare) == ["Scores", "Confused labels"]
    assert len(bare.stats) == 2


def test_demo_report_tells_the_whole_story(tagged, training):
    report = demo_report(tagged, training, method="SGPPSL", corpus="a toy corpus")
    assert titles(report) == [
        "Training labels recovered",
        "What to re-check first",
        "How far to trust the probabilities",
        "One sentence",
        "Scores",
        "Confused labels",
    ]
    assert report.title == "SGPPSL on a toy corpus"
    n = int(training.ambiguous.sum())
    assert f"{n} of the tokens" in report.summary
    assert any(stat.note == f"of {n} ambiguous tokens" for stat in report.stats)


def test_demo_report_with_rivals(tagged, training):
    rivals = {
        "Word counts": (dataclasses.replace(tagged, marginals=None).scores(), None),
        "Partial CRF": (tagged.scores(), training.recovery()),
    }
    report = demo_report(
        tagged, training, method="SGPPSL", corpus="toy", rivals=rivals, notices=["N."]
    )
    assert titles(report)[:2] == ["Methods compared", "What to re-check first"]
    rows = report.sections[0].tables[0].texts()
    assert [row[0] for row in rows] == ["SGPPSL", "Word counts", "Partial CRF"]
    assert rows[1][4:] == ["–", "–", "–", "–"]
    assert report.notices == ("N.",)
    assert report.sections[2].figures[0].title == "Reliability diagram of SGPPSL"


def test_demo_report_without_truth_and_confidences(tagged, training):
    blind = dataclasses.replace(training, confidences=None, gold=None)
    report = demo_report(tagged, blind, method="PL-SVM", corpus="toy")
    assert "What to re-check first" not in titles(report)
    assert "Training labels recovered" not in titles(report)
    unsure = dataclasses.replace(training, gold=None)
    section = demo_report(tagged, unsure, method="M", corpus="toy").sections[0]
    assert section.title == "What to re-check first"
    assert [column.name for column in section.tables[0].columns][-1] == "confidence"
    assert len(section.tables) == 1


def test_suspects_by_hand():
    training = Cleaned(
        tokens=[["a", "b"], [], ["c"]],
        candidates=[[{"X"}, {"X", "Y"}], [], [{"X", "Y"}]],
        recovered=[["X", "Y"], [], ["X"]],
        classes=("X", "Y"),
        confidences=[np.array([[1.0, 0.0], [0.2, 0.8]]), np.zeros((0, 2)),
                     np.array([[0.6, 0.4]])],
        gold=[["X", "Y"], [], ["Y"]],
    )  # fmt: skip
    assert training.ambiguous.tolist() == [False, True, True]
    np.testing.assert_allclose(training.doubts(), [0.0, 0.2, 0.4])
    (s, t, confidence), second = training.suspects()
    assert (s, t) == (2, 0)
    assert confidence == pytest.approx(0.6)
    assert second[:2] == (0, 1)
    first, other = review_section(training).tables[0].texts()
    assert first == ["c", "3", "[c]", "X Y", "X", "0.60", "is Y"]
    assert other == ["b", "1", "a [b]", "X Y", "Y", "0.80", "right"]
    assert training.wrong().tolist() == [False, False, True]
    assert training.recovery() == recovery(
        training.gold, training.recovered, training.candidates
    )


def test_what_checking_brings(training, tagged):
    report = demo_report(tagged, training, method="M", corpus="toy")
    effort = report.sections[1].tables[1]
    shares = [row[3] for row in effort.rows]
    assert shares == sorted(shares)
    assert 0.0 <= shares[0] <= shares[-1] <= 1.0
    # The doubts are the right ones here, so checking half finds most errors.
    assert shares[-1] > 0.5


def test_example_is_the_least_sure_sentence_of_good_length():
    sure, unsure = np.array([[0.9, 0.1]]), np.array([[0.5, 0.5]])
    tagged = Tagged(
        tokens=[["a"] * 6, ["b"] * 6, ["c"] * 30, []],
        gold=[["X"] * 6, ["X"] * 6, ["X"] * 30, []],
        predicted=[["X"] * 6, ["X"] * 6, ["X"] * 30, []],
        classes=("X", "Y"),
        marginals=[np.repeat(sure, 6, 0), np.repeat(unsure, 6, 0),
                   np.repeat(unsure, 30, 0), np.zeros((0, 2))],
    )  # fmt: skip
    assert tagged.example()[0] == 1
    with pytest.raises(InputError, match="needs marginals"):
        dataclasses.replace(tagged, marginals=None).example()


def test_plain_tags_have_no_span_tile():
    tagged = Tagged([["a", "b"]], [["NN", "VB"]], [["NN", "NN"]], ("NN", "VB"))
    report = scores_report(tagged)
    assert [stat.name for stat in report.stats] == ["token accuracy"]


def test_errors(training):
    with pytest.raises(InputError, match="need confidences"):
        dataclasses.replace(training, confidences=None).doubts()
