"""What left-out annotators teach."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit

from tagsift.annotators import VoteTable, VoteTagger, held_out_annotators, vote_tagger
from tagsift.annotators.confusion import vote_evidence
from tagsift.annotators.held_out_annotators import (
    beyond_habit,
    leave_out,
    left_out_errors,
    lessons,
    measures,
    share,
)
from tagsift.annotators.rounds import Consensus
from tagsift.annotators.settings import VoteConstants
from tests.reference.annotators import careful, corpus_of, table_of
from tests.reference.corpora import corpora, law


@law
@given(corpora(), st.integers(0, 999))
def test_of_every_sentence_the_most_reliable_are_left_out_in_turn(corpus, seed):
    rng, table = np.random.default_rng(seed), VoteTable(corpus)
    reliability = rng.permutation(table.n_annotators) / table.n_annotators
    place = {one.name: a for a, one in enumerate(corpus.annotators)}
    shape = (table.n_annotators, table.n_labels, table.n_contexts, table.n_labels)
    log_pi = np.log(rng.dirichlet(np.ones(shape[-1]), shape[:-1]))
    for turn in range(3):
        who = leave_out(table, reliability, turn)
        expected = []
        for sentence in corpus:
            there = [a for a in map(place.get, sentence.votes) if not table.abstains[a]]
            there = [*sorted(there, key=lambda a: -reliability[a]), -1, -1, -1]
            expected += [there[turn]] * len(sentence)
        assert who.tolist() == expected
        # The evidence of the others is all but that of the one left out.
        theirs = who[table.token] == table.annotator
        others = replace(table, corpus=corpus.with_votes(~theirs))
        alone = replace(table, corpus=corpus.with_votes(theirs))
        parts = [vote_evidence(log_pi, one) for one in (others, alone)]
        whole = vote_evidence(log_pi, table)
        np.testing.assert_allclose(sum(parts), whole, atol=1e-12)


@pytest.fixture
def table():
    votes = [
        [("O", "B-X", None, "O"), ("B-X", "I-X", None, "O")],
        [(None, "O", "B-X", "O")],
        [(None, None, None, "O"), (None, None, None, "B-X")],
    ]
    words = [["The", "IBM"], ["IBM"], ["ibm", "7"]]
    return table_of(votes, abstaining="d", rows=words)


def test_measures_by_hand(table):
    said = np.array([2, 0, 0, 2, 2])
    sure = np.array(
        [[0.1, 0, 0.9], [0.8, 0, 0.2], [0.6, 0, 0.4], [0.2, 0, 0.8], [0, 0, 1.0]]
    )
    votes = np.arange(15.0).reshape(5, 3) ** 2
    found = measures(said, sure, sure[::-1], votes, table)
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


@law
@given(corpora(), st.integers(0, 999))
def test_odds_are_shared_by_word_and_by_span(corpus, seed):
    """Words that are not outside are drawn by 0.4, then spans by 0.3."""
    rng = np.random.default_rng(seed)
    rows = [[(str(rng.choice(list("abc"))),) for _ in row] for row in corpus.rows]
    columns = (tuple(word for row in rows for (word,) in row),)
    table = VoteTable(replace(corpus, columns=columns))
    odds = rng.normal(size=table.n_tokens)
    said = rng.integers(table.n_labels, size=table.n_tokens)
    inside = said != table.outside
    drawn, alike = odds.copy(), list(zip(columns[0], said, strict=True))
    for n in np.flatnonzero(inside):
        same = [m for m in range(len(odds)) if alike[m] == alike[n]]
        drawn[n] = 0.6 * odds[n] + 0.4 * odds[same].mean()
    expected, group = drawn.copy(), []
    for n in range(len(odds)) if table.outside >= 0 else ():
        if not inside[n]:
            continue
        group = group if group[-1:] == [n - 1] and n not in table.bounds else []
        group.append(n)
        expected[group] = 0.7 * drawn[group] + 0.3 * drawn[group].mean()
    np.testing.assert_allclose(share(odds, said, table), expected)


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
    votes = [[tuple("OX"[k] for k in row)] for row in np.c_[good, poor].astype(int)]
    table = table_of(votes, "OX", ("good", "better", "poor", "poorer"))
    confidences = np.column_stack([sure, 1 - sure])
    log_pi = np.log(np.full((4, 2, table.n_contexts, 2), 0.5))
    labels = np.zeros(n, dtype=np.int64)
    found = Consensus(
        table,
        labels,
        confidences,
        confidences,
        np.zeros((n, 2)),
        log_pi,
        (1.0, 1.0),
        1.0,
        [],
        _Text(confidences),  # type: ignore[arg-type]
    )
    return found, np.ones(4), np.array([0.9, 0.95, 0.5, 0.4])


def test_good_and_poor_annotators_tell_wrong_labels_from_wrong_votes(misled):
    found, weights, reliability = misled
    nothing = np.zeros((1500, 2))  # the tables here make no difference between labels
    told = found.labels, found.confidences, nothing
    odds = left_out_errors(*told, found, weights, reliability)
    # Near 0.8 and 0.05; a little more and less, since the poor are taken off.
    assert 0.75 < expit(odds[::2]).mean() < 0.98
    assert expit(odds[1::2]).mean() < 0.1
    more = lessons(found, weights, reliability)
    assert more[::2].min() > 0 > more[1::2].max()


def test_few_votes_teach_nothing(misled):
    found, weights, reliability = misled
    table = found.table
    few = (table.annotator == 0) & (table.token < 900)
    few = replace(table, corpus=table.corpus.with_votes(few))
    beside = replace(found, table=few)
    np.testing.assert_array_equal(lessons(beside, weights, reliability), 0.0)
    quiet = tuple(replace(one, abstains=True) for one in table.corpus.annotators)
    rules = replace(table, corpus=replace(table.corpus, annotators=quiet))
    flat = replace(found, table=rules, log_pi=found.log_pi[:, :, :1])
    np.testing.assert_array_equal(lessons(flat, weights, reliability), 0.0)


def test_what_is_known_exactly_teaches_of_the_same_label(misled):
    found, weights, reliability = misled
    exact = np.where(np.arange(1500) < 40, 1, -1)  # also where only the poor err
    corpus = replace(found.table.corpus, exact_codes=exact)
    told = replace(found, table=replace(found.table, corpus=corpus))
    before, after = (lessons(one, weights, reliability) for one in (found, told))
    assert (after > before)[40:].all()


def test_lessons_on_every_token_are_found_when_first_asked_for(monkeypatch):
    asked = []

    def counted(*told):
        asked.append(told)
        return lessons(*told)

    monkeypatch.setattr(vote_tagger, "lessons", counted)
    monkeypatch.setattr(held_out_annotators, "CONSTANTS", VoteConstants(forests=1))
    chances = {"ann": 0.1, "bob": 0.3, "cat": 0.5}
    corpus = corpus_of({k: careful(share) for k, share in chances.items()}, n=40)
    model = VoteTagger(rounds=1, folds=2)
    assert not hasattr(model, "error_log_odds_")
    model.fit(corpus)
    kept = pickle.loads(pickle.dumps(model))
    assert not asked
    found = model.error_log_odds_
    assert found.shape == (corpus.n_tokens,)
    assert np.isfinite(found).all() and found.any()
    assert model.error_log_odds_ is found and len(asked) == 1
    np.testing.assert_array_equal(kept.error_log_odds_, found)
    model.update(corpus)
    assert model.error_log_odds_ is not found and len(asked) == 3
