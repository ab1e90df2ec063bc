"""Votes on new sentences, and on very few of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tagsift.annotators import VoteTagger
from tagsift.data import generate
from tagsift.data.simulated_annotators import SimulatedAnnotator
from tagsift.errors import InputError, TagsiftWarning
from tagsift.metrics import token_accuracy
from tests.reference.annotators import simulated
from tests.reference.corpora import votes_of, with_votes

PEOPLE = (
    SimulatedAnnotator(name="good", misses=0.05),
    SimulatedAnnotator(name="bad", misses=0.6, shifts=0.5, invents=0.5),
)


def drawn(n, seed):
    return simulated(generate(n, random_state=seed, task="ner"), PEOPLE)


@pytest.fixture(scope="module")
def tagger() -> VoteTagger:
    return VoteTagger(rounds=2, folds=2).fit(drawn(60, 5))


def test_annotators_who_are_known_are_weighed(tagger):
    new = drawn(30, 6)
    labels, confidences = tagger.recover(new)
    assert confidences is not None
    np.testing.assert_allclose(np.concatenate(confidences).sum(axis=1), 1.0)
    right = token_accuracy(new.gold, labels)
    assert right > token_accuracy(new.gold, votes_of(new)["bad"])
    assert right > token_accuracy(new.gold, tagger.predict(new.rows))


def test_an_unknown_annotator_is_the_average_one(tagger):
    new, found = drawn(5, 7), []
    for names in ("xy", "yx"):
        votes = dict(zip(names, votes_of(new).values(), strict=True))
        other = with_votes(new, votes, annotators="xy")
        with pytest.warns(TagsiftWarning, match=r"knows good, bad, and none .* \(x, y"):
            found.append(np.concatenate(tagger.recover(other)[1]))
    np.testing.assert_allclose(*found)


def test_labels_that_a_model_does_not_have(tagger):
    new = drawn(5, 7)
    food = {**votes_of(new), "good": [["B-FOOD"] * n for n in new.lengths]}
    other = with_votes(new, food, label_set=None)
    for method in (tagger.recover, tagger.update):
        with pytest.raises(InputError, match="'B-FOOD'; correct it, or fit on all"):
            method(other)


def test_votes_that_nobody_gave_leave_the_text_to_say(tagger):
    new = drawn(3, 7)
    likeliest = [
        [tagger.classes_[k] for k in p.argmax(axis=1)]
        for p in tagger.predict_proba(new.rows)
    ]
    assert tagger.recover(with_votes(new, {}))[0] == likeliest


def test_candidates_of_a_corpus_are_kept_to(tagger):
    sets = drawn(3, 7).union()
    pairs = zip(sets.candidates, tagger.recover(sets)[0], strict=True)
    assert all(k in names for row in pairs for names, k in zip(*row, strict=True))


def test_looks_are_at_tokens_or_spans(tagger):
    with pytest.raises(InputError, match="'token' or 'span'; got 'sentence'"):
        tagger.looks("sentence")


def test_votes_that_do_not_fit(tagger):
    new = drawn(5, 7)
    rules = [replace(one, abstains=True) for one in new.annotators]
    with pytest.raises(InputError, match="fit on all votes"):
        tagger.recover(with_votes(new, votes_of(new), annotators=rules))


def test_one_sentence_is_enough_not_to_fail():
    votes = drawn(1, 8)
    found = VoteTagger(rounds=2, folds=2).fit(votes)
    assert len(found.transduction_[0]) == len(votes[0])
