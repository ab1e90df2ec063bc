"""Votes on new sentences, and on very few of them."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.annotators import VoteTagger
from tagsift.data import VoteCorpus, generate
from tagsift.data.simulated_annotators import SimulatedAnnotator, simulate_votes
from tagsift.errors import InputError

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
    first, second = (tagger.recover(new.rows, votes)[1] for votes in (renamed, other))
    np.testing.assert_allclose(np.concatenate(first), np.concatenate(second))


def test_votes_that_do_not_fit(tagger):
    new = simulate_votes(generate(5, random_state=7, task="ner"), PEOPLE)
    rules = VoteCorpus(
        new.rows, new.votes, ("x", "y"), None, new.scheme, abstaining=("x", "y")
    )
    with pytest.raises(InputError, match="fit on all votes"):
        tagger.recover(new.rows, rules)


def test_one_sentence_is_enough_not_to_fail():
    votes = simulate_votes(generate(1, random_state=8, task="ner"), PEOPLE)
    found = VoteTagger(rounds=2, folds=2).fit(votes.rows, votes)
    assert len(found.recovered_[0]) == len(votes.rows[0])
