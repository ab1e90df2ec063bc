"""Whole reports and the records behind them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import tagsift
from tagsift.errors import InputError
from tagsift.report import MethodScores, Tagged, data_report, scores_report
from tagsift.report.data import _compared


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


def test_methods_are_compared_on_what_they_cleaned_and_on_unseen_text(tagged):
    corpus = tagsift.corrupt(tagsift.bundled("ner")[:30], cl=3, random_state=0)
    cleaned = tagsift.cleaned.clean(corpus, tagsift.make("partial-crf"))
    bare = dataclasses.replace(tagged, marginals=None).scores()
    compared = {
        cleaned.title: MethodScores(
            cleaned.scores(), tagged.scores(), cleaned.recovery()
        ),
        "CRF (gold labels)": MethodScores(None, bare),
    }
    report = data_report(cleaned, title="T", compared=compared, tagged=tagged)
    assert titles(report)[0] == "Methods compared"
    assert titles(report)[-5:-1] == titles(scores_report(tagged))
    ours, other = report.sections[0].tables[0].texts()
    assert ours[0] == "Partial CRF" and "–" not in ours
    assert other[1:5] == ["–"] * 4 and other[-2:] == ["–", "–"]
    of_votes = dataclasses.replace(compared.pop(cleaned.title), recovery=None)
    (table,) = _compared({"a": of_votes}, True).tables
    assert "open labels found" not in [one.name for one in table.columns]


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
