"""Votes on new sentences, and on very few of them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from tagsift.annotators import VoteTagger
from tagsift.data import VoteCorpus, generate
from tagsift.data.simulated_annotators import SimulatedAnnotator, simulate_votes
from tagsift.errors import InputError, TagsiftWarning

PEOPLE = (
    SimulatedAnnotator(name="good", misses=0.05),
    SimulatedAnnotator(name="bad", misses=0.6, shifts=0.5, invents=0.5),
)


@pytest.fixture(scope="module")
def tagger() -> VoteTagger:
    votes = simulate_votes(generate(60, random_state=5, task="ner"), PEOPLE)
    return VoteTagger(rounds=2, folds=2).fit(votes.rows, votes)


def test_annotators_who_are_known_are_weighed(tagger):
    new = simulate_votes(generate(30, random_state=6, task="ner"), PEOPLE)
    labels, confidences = tagger.recover(new.rows, new)
    assert confidences is not None
    np.testing.assert_allclose(np.concatenate(confidences).sum(axis=1), 1.0)

    def right(found):
        pairs = zip(found, new.gold, strict=True)
        return sum(a == b for x, y in pairs for a, b in zip(x, y, strict=True))

    bad = [[entry[1] for entry in row] for row in new.votes]
    assert right(labels) > right(bad)
    assert right(labels) > right(tagger.predict(new.rows))


def test_an_unknown_annotator_is_the_average_one(tagger):
    new = simulate_votes(generate(5, random_state=7, task="ner"), PEOPLE)
    renamed = VoteCorpus(new.rows, new.votes, ("x", "y"), None, new.scheme)
    turned = [[entry[::-1] for entry in row] for row in new.votes]
    other = VoteCorpus(new.rows, turned, ("x", "y"), None, new.scheme)
    with pytest.warns(TagsiftWarning, match=r"knows good, bad, and none .* \(x, y\)"):
        found = [tagger.recover(new.rows, votes)[1] for votes in (renamed, other)]
    first, second = found
    np.testing.assert_allclose(np.concatenate(first), np.concatenate(second))


def test_labels_that_a_model_does_not_have(tagger):
    new = simulate_votes(generate(5, random_state=7, task="ner"), PEOPLE)
    votes = [[("B-FOOD", *entry[1:]) for entry in row] for row in new.votes]
    other = VoteCorpus(new.rows, votes, new.annotators, None, new.scheme)
    for method in (tagger.recover, tagger.update):
        with pytest.raises(InputError, match="'B-FOOD'; correct it, or fit on all"):
            method(new.rows, other)


def test_votes_that_nobody_gave_leave_the_text_to_say(tagger):
    new = simulate_votes(generate(3, random_state=7, task="ner"), PEOPLE)
    nothing = [[(None, None)] * len(row) for row in new.rows]
    silent = VoteCorpus(new.rows, nothing, new.annotators, None, new.scheme)
    likeliest = [
        [tagger.classes_[k] for k in p.argmax(axis=1)]
        for p in tagger.predict_marginals(new.rows)
    ]
    assert tagger.recover(new.rows, silent)[0] == likeliest


def test_looks_are_at_tokens_or_spans(tagger):
    with pytest.raises(InputError, match="'token' or 'span'; got 'sentence'"):
        tagger.looks("sentence")


def test_votes_are_scored_by_the_labels_that_were_voted(tagger):
    new = simulate_votes(generate(6, random_state=9, task="ner"), PEOPLE)
    assert 0.5 < tagger.score(new.rows, new) <= 1.0
    model = VoteTagger(rounds=1, folds=2)
    scores = cross_val_score(model, new.rows, list(new), cv=2)
    assert np.isfinite(scores).all()


def test_votes_that_do_not_fit(tagger):
    new = simulate_votes(generate(5, random_state=7, task="ner"), PEOPLE)
    rules = VoteCorpus(
        new.rows, new.votes, new.annotators, None, new.scheme, abstaining=new.annotators
    )
    with pytest.raises(InputError, match="fit on all votes"):
        tagger.recover(new.rows, rules)


def test_one_sentence_is_enough_not_to_fail():
    votes = simulate_votes(generate(1, random_state=8, task="ner"), PEOPLE)
    found = VoteTagger(rounds=2, folds=2).fit(votes.rows, votes)
    assert len(found.recovered_[0]) == len(votes.rows[0])
