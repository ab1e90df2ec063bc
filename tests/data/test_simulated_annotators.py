"""Annotators made up: they err as they were told to."""

from __future__ import annotations

import pytest

from tagsift.data import Annotator, bundled, generate, spans
from tagsift.data.simulated_annotators import SimulatedAnnotator, simulate_votes
from tagsift.errors import InputError


def column(votes, name):
    rows = ((sentence.votes.get(name), len(sentence)) for sentence in votes)
    return [[None] * size if row is None else row for row, size in rows]


def found(votes, name):
    """Spans of one annotator and of the truth, by sentence."""
    for mine, truth in zip(column(votes, name), votes.gold, strict=True):
        if None not in mine:
            yield set(spans(mine, "iob2")), set(spans(truth, "iob2"))


def test_the_five_of_the_demo_err_as_they_should():
    votes = simulate_votes(generate(400, random_state=3, task="ner"))
    *people, dictionary = votes.annotators
    assert dictionary == Annotator("dictionary", "source", abstains=True)
    assert {(one.kind, one.abstains) for one in people} == {("person", False)}
    recall = {}
    for name in (one.name for one in votes.annotators):
        pairs = list(found(votes, name))
        hits = sum(len(mine & truth) for mine, truth in pairs)
        recall[name] = hits / sum(len(truth) for _, truth in pairs)
    assert recall["ann"] > recall["bob"] > recall["confused"] > recall["careless"]
    # A dictionary is never wrong in what it says, and knows few words.
    assert all(mine <= truth for mine, truth in found(votes, "dictionary"))
    assert 0.2 < recall["dictionary"] < 0.6
    assert not any(None in row for row in column(votes, "dictionary"))
    missing = sum(None in row for row in column(votes, "ann"))
    assert 0.2 < missing / len(votes) < 0.4


def test_types_are_confused_as_told():
    who = SimulatedAnnotator(name="x", confuses={("ORG", "LOC"): 1.0})
    votes = simulate_votes(bundled("ner")[:50], [who])
    for mine, truth in found(votes, "x"):
        told = {(s.type, s.start, s.end) for s in mine}
        for span in truth:
            type_ = "LOC" if span.type == "ORG" else span.type
            assert (type_, span.start, span.end) in told


def test_votes_are_repeatable_and_nobody_is_left_out():
    corpus = bundled("ner")[:30]
    seldom = [SimulatedAnnotator(name=name, labels=0.1) for name in "ab"]
    votes = simulate_votes(corpus, seldom, random_state=4)
    assert votes == simulate_votes(corpus, seldom, random_state=4)
    assert votes != simulate_votes(corpus, seldom, random_state=5)
    assert all(sentence.votes for sentence in votes)
    assert votes.gold == corpus.labels


def test_plain_tags_have_no_spans():
    with pytest.raises(InputError, match="plain tags"):
        simulate_votes(bundled("pos")[:2])
