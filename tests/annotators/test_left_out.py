"""What left-out annotators teach."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit

from tagsift.annotators import VoteTagger, vote_tagger
from tagsift.annotators.ballots import read_ballots
from tagsift.annotators.left_out import (
    beyond_habit,
    leave_out,
    left_out_errors,
    lessons,
    measures,
    share,
)
from tagsift.annotators.rounds import Consensus
from tagsift.annotators.tables import vote_evidence
from tests.reference.annotators import careful, corpus_of

CLASSES = ("B-X", "I-X", "O")


@pytest.fixture
def ballots():
    votes = [
        [("O", "B-X", None, "O"), ("B-X", "I-X", None, "O")],
        [(None, "O", "B-X", "O")],
        [(None, None, None, "O"), (None, None, None, "B-X")],
    ]
    names = ("poor", "good", "best", "rule")
    return read_ballots(
        votes, CLASSES, np.array([2, 1, 2]), names=names, abstaining=["rule"]
    )


def test_the_most_reliable_of_a_sentence_is_left_out_first(ballots):
    reliability = np.array([0.4, 0.7, 0.9, 1.0])
    assert leave_out(ballots, reliability, 0).tolist() == [1, 1, 2, -1, -1]
    assert leave_out(ballots, reliability, 1).tolist() == [0, 0, 1, -1, -1]
    assert leave_out(ballots, reliability, 2).tolist() == [-1] * 5


def test_the_evidence_of_the_others_is_all_but_that_of_the_one_left_out(ballots):
    rng = np.random.default_rng(0)
    n_labels, n_contexts = ballots.n_labels, ballots.n_contexts
    log_pi = np.log(rng.dirichlet(np.ones(n_labels), (4, n_labels, n_contexts)))
    who = leave_out(ballots, np.array([0.4, 0.7, 0.9, 1.0]), 0)
    mine = who[:, None] == np.arange(4)
    others = replace(ballots, votes=np.where(mine, -1, ballots.votes))
    expected = vote_evidence(log_pi, ballots)
    for (n, a), before in zip(
        zip(*ballots.given, strict=True), ballots.before, strict=True
    ):
        if who[n] == a:
            expected[n] -= log_pi[a, :, before, ballots.votes[n, a]]
    np.testing.assert_allclose(vote_evidence(log_pi, others), expected)


def test_measures_by_hand(ballots):
    ballots = replace(ballots, words=["The", "IBM", "IBM", "ibm", "7"])
    said = np.array([2, 0, 0, 2, 2])
    sure = np.array(
        [[0.1, 0, 0.9], [0.8, 0, 0.2], [0.6, 0, 0.4], [0.2, 0, 0.8], [0, 0, 1.0]]
    )
    votes = np.arange(15.0).reshape(5, 3) ** 2
    found = measures(said, sure, sure[::-1], votes, ballots)
    assert found.shape == (5, 20 + 2 * 3)
    doubt = logit([0.1, 0.2, 0.4, 0.2, 1e-4])
    np.testing.assert_allclose(found[:, 0], doubt)
    assert found[1, 2] == (2 - 1 + 0.5) / 3  # one of two votes is against it
    assert found[:, 5].tolist() == [0, 1, 0, 0, 1]
    # The doubt and the label before, nothing across sentences; then those after.
    none = logit(1e-4)
    np.testing.assert_allclose(found[:, 6], [none, doubt[0], none, none, doubt[3]])
    assert found[:, 7].tolist() == [-1, 2, -1, -1, 2]
    np.testing.assert_allclose(found[:, 8], [doubt[1], none, none, doubt[4], none])
    # The next likely label, its chance, and how far text and votes prefer it.
    assert found[:, 10].tolist() == [0, 2, 2, 0, 0]
    np.testing.assert_allclose(found[:, 11], logit([0.1, 0.2, 0.4, 0.2, 1e-4]))
    np.testing.assert_allclose(found[:2, 12], np.log([1e-4 / 1.0, 0.8 / 0.2]))
    assert found[:2, 13].tolist() == [0 - 4, 25 - 9]
    # IBM is B-X to 0.8 and to 0.6, and occurs twice.
    np.testing.assert_allclose(found[1:3, 15], 1 - 1.4 / 2)
    assert found[:, 16].tolist() == [0, 1, 1, 0, 0]
    assert found[1, 17:20].tolist() == [1, 1, 1]


def test_a_habit_counts_as_if_it_were_three_times_what_is_typical():
    who = np.repeat([0, 1, 2], 100)
    label, own = np.zeros(300, dtype=int), np.zeros(300, dtype=int)
    own[:2] = own[100:104] = own[200:260] = 1  # 2, 4 and 60 of a hundred
    found = beyond_habit(who, label, own)
    mean = 66 / 300
    rate = [(n + 30 * mean) / 130 for n in (2, 4, 60)]
    np.testing.assert_allclose(found[200:260], 3 * rate[1] / rate[2])
    assert found[200] < 1
    np.testing.assert_array_equal(found[:200], 1.0)
    np.testing.assert_array_equal(found[260:], 1.0)


def test_odds_are_shared_by_word_and_by_span(ballots):
    ballots = replace(ballots, words=["IBM", "IBM", "IBM", "ibm", "IBM"])
    odds, said = np.array([1.0, 2.0, -3.0, 4.0, 5.0]), np.array([2, 0, 0, 0, 1])
    by_word = [1.0, 1.0, -2.0, 4.0, 5.0]  # drawn to −0.5 by 0.4
    found = share(odds, said, ballots)
    np.testing.assert_allclose(found, [*by_word[:3], 4.15, 4.85])  # to 4.5 by 0.3
    found = share(odds, said, replace(ballots, words=()))
    np.testing.assert_allclose(found, [1.0, 2.0, -3.0, 4.15, 4.85])
    plain = replace(ballots, outside=-1)
    np.testing.assert_allclose(share(odds, said, plain), by_word)


class _Text:
    """A text that reads O everywhere, a little surer at some tokens."""

    def __init__(self, confidences):
        self.confidences = confidences

    def marginals(self, evidence=None, factor=1.0):
        return self.confidences

    def best(self, evidence):
        return np.zeros(len(evidence), dtype=np.int64)


@pytest.fixture
def misled():
    """Half of the labels are wrong, as the good know; elsewhere the poor err."""
    rng, n = np.random.default_rng(0), 1500
    wrong = np.arange(n) % 2 == 0
    sure = np.where(wrong, 0.8, 0.7)  # [N]
    good = rng.random((n, 2)) < np.where(wrong, 0.8, 0.05)[:, None]
    poor = rng.random((n, 2)) < np.where(wrong, 0.1, 0.6)[:, None]
    votes = [
        [tuple(np.array(["O", "X"])[row])] for row in np.c_[good, poor].astype(int)
    ]
    names = ("good", "better", "poor", "poorer")
    ballots = read_ballots(votes, ("O", "X"), np.ones(n, dtype=int), names=names)
    confidences = np.column_stack([sure, 1 - sure])
    log_pi = np.log(np.full((4, 2, ballots.n_contexts, 2), 0.5))
    labels = np.zeros(n, dtype=np.int64)
    found = Consensus(
        labels,
        confidences,
        confidences,
        np.zeros((n, 2)),
        log_pi,
        1.0,
        1.0,
        [],
        _Text(confidences),  # type: ignore[arg-type]
    )
    return found, ballots, np.ones(4), np.array([0.9, 0.95, 0.5, 0.4])


def test_good_and_poor_annotators_tell_wrong_labels_from_wrong_votes(misled):
    found, ballots, weights, reliability = misled
    nothing = np.zeros((1500, 2))  # the tables here make no difference between labels
    told = found.labels, found.confidences, nothing
    odds = left_out_errors(*told, found, ballots, weights, reliability)
    # Near 0.8 and 0.05; a little more and less, since the poor are taken off.
    assert 0.75 < expit(odds[::2]).mean() < 0.98
    assert expit(odds[1::2]).mean() < 0.1
    more = lessons(found, ballots, weights, reliability)
    assert more[::2].min() > 0 > more[1::2].max()


def test_few_votes_teach_nothing(misled):
    found, ballots, weights, reliability = misled
    silent = replace(ballots, votes=np.where(np.arange(4) == 0, ballots.votes, -1))
    few = replace(silent, votes=np.where(np.arange(1500) < 900, silent.votes.T, -1).T)
    np.testing.assert_array_equal(lessons(found, few, weights, reliability), 0.0)
    rules = replace(ballots, abstains=np.ones(4, dtype=bool))
    flat = replace(found, log_pi=found.log_pi[:, :, :1])
    np.testing.assert_array_equal(lessons(flat, rules, weights, reliability), 0.0)


def test_what_is_known_exactly_teaches_of_the_same_label(misled):
    found, ballots, weights, reliability = misled
    exact = np.where(np.arange(1500) < 40, 1, -1)  # also where only the poor err
    told = replace(ballots, exact=exact)
    before, after = (lessons(found, b, weights, reliability) for b in (ballots, told))
    assert (after > before)[40:].all()


def test_lessons_on_every_token_are_found_when_first_asked_for(monkeypatch):
    asked = []

    def counted(*told):
        asked.append(told)
        return lessons(*told)

    monkeypatch.setattr(vote_tagger, "lessons", counted)
    chances = {"ann": 0.1, "bob": 0.3, "cat": 0.5}
    corpus = corpus_of({name: careful(share) for name, share in chances.items()})
    model = VoteTagger(rounds=1, folds=2)
    assert not hasattr(model, "lessons_")
    model.fit(corpus.rows, corpus)
    kept = pickle.loads(pickle.dumps(model))
    assert not asked
    found = model.lessons_
    assert found.shape == (corpus.n_tokens,)
    assert np.isfinite(found).all() and found.any()
    assert model.lessons_ is found and len(asked) == 1
    np.testing.assert_array_equal(kept.lessons_, found)
    model.update(corpus.rows, corpus)
    assert model.lessons_ is not found and len(asked) == 3
