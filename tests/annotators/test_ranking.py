"""Where a second look pays."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit

import tagsift
from tagsift.annotators import VoteTable, VoteTagger
from tagsift.annotators.ranking import (
    error_chance,
    error_odds,
    label_lessons,
    rank_spans,
    rank_tokens,
)
from tagsift.annotators.reasons import Reasons
from tagsift.data import Span, spans
from tagsift.errors import NotSupportedError
from tests.reference.annotators import CLASSES, careful, corpus_of, table_of
from tests.reference.corpora import corpora, law


@pytest.fixture
def small():
    votes = [
        [("O", "O"), ("B-X", "O"), ("I-X", "O")],
        [("O", "O"), (None, None), ("B-X", "B-X")],
    ]
    table = table_of(votes)
    labels = np.array([2, 0, 1, 2, 2, 0])
    confidences = np.full((6, 3), 0.05)
    confidences[np.arange(6), labels] = 0.9
    text = np.full((6, 3), 0.1)
    text[np.arange(6), labels] = 0.8
    text[3] = [0.8, 0.1, 0.1]  # the text alone sees a span
    return labels, confidences, text, table


def test_a_text_that_differs_and_a_low_confidence_are_doubted(small):
    labels, confidences, text, table = small
    confidences[1] = [0.6, 0.1, 0.3]  # as where votes are split
    chance = error_chance(labels, confidences, text, table)
    assert chance[1] > chance[3] > chance[0]
    # Log-odds 1 − 0.9 of the confidence and a fifth of those of the text, 1 − 0.8.
    odds = (np.log(1 / 9) + 0.2 * np.log(1 / 4)) / 1.2
    alone = error_odds(labels, confidences, text)
    other = (logit(0.4) + 0.2 * logit(1 - text[1, labels[1]])) / 1.2
    assert alone[1] - alone[0] == pytest.approx(other - odds)
    # How many are wrong is what the confidences say.
    doubt = 1 - confidences[np.arange(len(labels)), labels]
    assert expit(alone).sum() == pytest.approx(doubt.sum())
    assert ((chance > 0) & (chance < 1)).all()


def test_labels_that_were_found_wrong_are_doubted_more(small):
    labels, confidences, text, table = small
    # Ten checked tokens said to be B-X at 0.9, eight of them wrongly; two right O.
    said, chance = np.array([0] * 10 + [2] * 3), np.array([0.1] * 10 + [0.0] * 3)
    checked = SimpleNamespace(
        exact=np.array([2] * 8 + [0] * 2 + [2, 2, -1]), n_labels=3
    )
    by_label = label_lessons(said, chance, checked)
    # 8 wrong against 1 expected, with 5 of each before: log(13 / 6).
    np.testing.assert_allclose(by_label, [np.log(13 / 6), 0.0, 0.0], atol=1e-12)
    before = error_chance(labels, confidences, text, table)
    after = error_chance(labels, confidences, text, table, by_label[labels])
    assert (after[labels == 0] > before[labels == 0]).all()
    np.testing.assert_array_equal(after[labels != 0], before[labels != 0])


@law
@given(corpora(), st.integers(0, 999))
def test_looks_are_at_all_spans_and_the_tokens_between(corpus, seed):
    """The worst first, whole spans by their worst token, of whatever labels."""
    rng, table = np.random.default_rng(seed), VoteTable(corpus)
    names, n = list(corpus.label_set), corpus.n_tokens
    labels, chance = rng.integers(len(names), size=n), rng.integers(3, size=n) / 3
    confidences, text = rng.dirichlet(np.ones(len(names)), size=(2, n))
    about = labels, confidences, text, table, names
    order = np.argsort(-chance, kind="stable").tolist()
    sentence = np.repeat(np.arange(len(corpus)), corpus.lengths)
    for m, look in zip(order, rank_tokens(*about, chance), strict=True):
        place = corpus.bounds[look.sentence] + look.start
        assert (place, look.sentence) == (m, sentence[m])
        assert (look.end, look.label) == (look.start + 1, names[labels[m]])
        assert (look.score, look.tally) == (chance[m], corpus.tally(m))
        row = dict(zip(names, confidences[m].tolist(), strict=True))
        likely = {k: round(p, 4) for k, p in row.items() if p >= 0.01}
        assert look.probabilities == likely
    places = []
    for s, (lo, hi) in enumerate(pairwise(corpus.bounds.tolist())):
        found = spans([names[k] for k in labels[lo:hi]], corpus.scheme)
        covered = {t for one in found for t in range(one.start, one.end)}
        found += [Span("O", t, t + 1) for t in range(hi - lo) if t not in covered]
        for one in sorted(found, key=lambda one: one.start):
            worst = lo + one.start + chance[lo + one.start : lo + one.end].argmax()
            place = (s, one.start, one.end, one.type, chance[worst])
            places.append((*place, corpus.tally(worst)))
    assert [
        (one.sentence, one.start, one.end, one.label, one.score, one.tally)
        for one in rank_spans(*about, corpus.scheme, chance)
    ] == sorted(places, key=lambda place: -place[4])


def test_wrong_labels_come_first():
    chances = {"ann": 0.4, "bob": 0.5}
    annotators = {name: careful(chance) for name, chance in chances.items()}
    corpus = corpus_of(annotators, seed=2, n=200)
    model = VoteTagger(rounds=2).fit(corpus)
    wrong = [
        model.transduction_[look.sentence][look.start]
        != corpus.gold[look.sentence][look.start]
        for look in model.looks()
    ]
    first = sum(wrong[: len(wrong) // 10])
    assert sum(wrong) > 10 and first > 0.5 * sum(wrong)  # five times what chance finds
    assert next(iter(model.looks("span"))).score >= 0.2


def test_a_loaded_model_has_no_votes_to_rank(tmp_path):
    corpus = corpus_of({"ann": careful(0.2)}, n=10)
    VoteTagger(rounds=1).fit(corpus).save(tmp_path / "m.tagsift")
    with pytest.raises(NotSupportedError, match="does not hold the votes"):
        tagsift.load(tmp_path / "m.tagsift").looks()


def test_kinds_of_reasons_are_in_words(small):
    labels, confidences, text, table = small
    first = next(rank_tokens(*small, CLASSES))
    assert first.reason == ("the text disagrees with all annotators: it reads B-X")
    code = np.where((table.token == 5) & (table.annotator == 1), 2, table.code)
    votes = table.corpus.votes._replace(code=code)
    table = replace(table, corpus=replace(table.corpus, votes=votes))
    labels[2] = 0
    about = Reasons(labels, text, table, CLASSES)
    assert [about.sentence(n) for n in range(6)] == [
        "neither text nor votes are sure",
        "annotators are split",
        "annotators are split",
        "the text disagrees with all annotators: it reads B-X",
        "nobody voted on it",
        "annotators are split",
    ]
