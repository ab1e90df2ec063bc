"""Where a second look pays."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import tagsift
from tagsift.annotators import VoteTagger
from tagsift.annotators.ballots import read_ballots
from tagsift.annotators.ranking import (
    error_chance,
    label_lessons,
    most_doubtful,
    rank_spans,
    rank_tokens,
    span_types,
    stretches,
)
from tagsift.annotators.reasons import Reasons
from tagsift.data import spans
from tagsift.errors import NotSupportedError
from tests.reference.annotators import careful, corpus_of

CLASSES = ("B-X", "I-X", "O")


@pytest.fixture
def small():
    votes = [
        [("O", "O"), ("B-X", "O"), ("I-X", "O")],
        [("O", "O"), (None, None), ("B-X", "B-X")],
    ]
    ballots = read_ballots(votes, CLASSES, np.array([3, 3]), names=("a", "b"))
    labels = np.array([2, 0, 1, 2, 2, 0])
    confidences = np.full((6, 3), 0.05)
    confidences[np.arange(6), labels] = 0.9
    text = np.full((6, 3), 0.1)
    text[np.arange(6), labels] = 0.8
    text[3] = [0.8, 0.1, 0.1]  # the text alone sees a span
    return labels, confidences, text, ballots


def test_a_text_that_differs_and_a_low_confidence_are_doubted(small):
    labels, confidences, text, ballots = small
    confidences[1] = [0.6, 0.1, 0.3]  # as where votes are split
    chance = error_chance(labels, confidences, text, ballots)
    assert chance[1] > chance[3] > chance[0]
    # Log-odds 1 − 0.9 of the confidence and a fifth of those of the text, 1 − 0.8.
    odds = (np.log(1 / 9) + 0.2 * np.log(1 / 4)) / 1.2
    assert chance[0] == pytest.approx(1 / (1 + np.exp(-odds)))
    assert ((chance > 0) & (chance < 1)).all()


def test_labels_that_were_found_wrong_are_doubted_more(small):
    labels, confidences, text, ballots = small
    # Ten checked tokens said to be B-X at 0.9, eight of them wrongly; two right O.
    said, chance = np.array([0] * 10 + [2] * 3), np.array([0.1] * 10 + [0.0] * 3)
    checked = SimpleNamespace(
        exact=np.array([2] * 8 + [0] * 2 + [2, 2, -1]), n_labels=3
    )
    by_label = label_lessons(said, chance, checked)
    # 8 wrong against 1 expected, with 5 of each before: log(13 / 6).
    np.testing.assert_allclose(by_label, [np.log(13 / 6), 0.0, 0.0], atol=1e-12)
    before = error_chance(labels, confidences, text, ballots)
    after = error_chance(labels, confidences, text, ballots, by_label[labels])
    assert (after[labels == 0] > before[labels == 0]).all()
    np.testing.assert_array_equal(after[labels != 0], before[labels != 0])


def test_reasons_and_order(small):
    looks = list(rank_tokens(*small, CLASSES))
    assert len(looks) == 6
    assert [a.score for a in looks] == sorted((a.score for a in looks), reverse=True)
    by_place = {(look.sentence, look.start): look for look in looks}
    assert by_place[0, 1].reason == "annotators are split"
    assert by_place[0, 1].tally == {"B-X": 1, "O": 1}
    assert by_place[1, 0].reason == (
        "the text disagrees with all annotators: it reads B-X"
    )
    assert by_place[1, 1].reason == "nobody voted on it"
    assert by_place[0, 0].probabilities == {"O": 0.9, "B-X": 0.05, "I-X": 0.05}


def test_spans_are_ranked_whole(small):
    looks = list(rank_spans(*small, CLASSES, "iob2"))
    places = {(look.sentence, look.start, look.end): look.label for look in looks}
    assert places[0, 1, 3] == "X"
    assert places[1, 2, 3] == "X"
    assert len(looks) == 5


def test_wrong_labels_come_first():
    chances = {"ann": 0.4, "bob": 0.5}
    annotators = {name: careful(chance) for name, chance in chances.items()}
    corpus = corpus_of(annotators, seed=2, n=200)
    model = VoteTagger(rounds=2).fit(corpus.rows, corpus)
    wrong = [
        model.recovered_[look.sentence][look.start]
        != corpus.gold[look.sentence][look.start]
        for look in model.looks()
    ]
    first = sum(wrong[: len(wrong) // 10])
    assert sum(wrong) > 10 and first > 0.5 * sum(wrong)  # five times what chance finds
    assert next(iter(model.looks("span"))).score >= 0.2


def test_a_loaded_model_has_no_votes_to_rank(tmp_path):
    corpus = corpus_of({"ann": careful(0.2)}, n=10)
    VoteTagger(rounds=1).fit(corpus.rows, corpus).save(tmp_path / "m.tagsift")
    with pytest.raises(NotSupportedError, match="does not hold the votes"):
        tagsift.load(tmp_path / "m.tagsift").looks()


@pytest.mark.parametrize("scheme", ["iob1", "iob2", "iobes", "plain"])
def test_stretches_are_the_spans_and_the_tokens_between(scheme: str):
    """Against the walker of the schemes, on tags at random, well-formed or not."""
    names = [f"{p}-{t}" for p in ("BIES" if scheme == "iobes" else "BI") for t in "XY"]
    classes = (*names, "O")
    rng = np.random.default_rng(0)
    lengths = [0, 1, 40, 0, 7, 1]
    offsets = np.cumsum([0, *lengths])
    labels = rng.integers(len(classes), size=sum(lengths))
    expected = []
    for lo, hi in zip(offsets[:-1], offsets[1:], strict=True):
        found = spans([classes[k] for k in labels[lo:hi]], scheme)
        covered = {t for one in found for t in range(one.start, one.end)}
        places = [(one.start, one.type) for one in found]
        places += [(t, "O") for t in range(hi - lo) if t not in covered]
        expected += [(lo + t, kind) for t, kind in sorted(places)]
    begin = stretches(labels, offsets, classes, scheme)
    types = span_types(classes, scheme)
    assert [(n, types[labels[n]]) for n in begin[:-1]] == expected
    assert begin[-1] == len(labels)
    chance = rng.integers(3, size=len(labels)) / 3
    worst = [a + chance[a:b].argmax() for a, b in zip(begin, begin[1:], strict=False)]
    assert most_doubtful(chance, begin).tolist() == worst


def test_kinds_of_reasons_are_in_words(small):
    labels, confidences, text, ballots = small
    votes = ballots.votes.copy()
    votes[5, 1] = 2
    labels = labels.copy()
    labels[2] = 0
    about = Reasons(labels, text, replace(ballots, votes=votes), CLASSES)
    assert [about.sentence(n) for n in range(6)] == [
        "neither text nor votes are sure",
        "annotators are split",
        "most votes say I-X, not B-X",
        "the text disagrees with all annotators: it reads B-X",
        "nobody voted on it",
        "annotators are split",
    ]
