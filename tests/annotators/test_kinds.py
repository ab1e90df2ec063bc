"""What annotators are: said, or told by the text and said to be a guess."""

from __future__ import annotations

from dataclasses import replace

import pytest

import tagsift
from tagsift.annotators import VoteTagger
from tagsift.baselines import PartialCRF
from tagsift.data.corpus import Corpus
from tagsift.metrics import span_scores
from tests.reference.annotators import careful, corpus_of
from tests.reference.corpora import votes_of


def tagged(gold, share, place=0):
    """The labels of a tagger that has read one sentence in so many."""
    few = list(range(place, len(gold), share))
    labels = [gold.labels[n] for n in few]
    tagger = PartialCRF(scheme=gold.scheme).fit([gold.rows[n] for n in few], labels)
    return tagger.predict(gold.rows)


def of_kinds(corpus, kinds):
    people = [replace(one, kind=kinds[one.name]) for one in corpus.annotators]
    return replace(corpus, annotators=tuple(people))


@pytest.fixture(scope="module")
def models():
    gold = tagsift.bundled()
    votes = {name: tagged(gold, 20, k) for k, name in enumerate("abc")}
    return Corpus.from_lists(gold.rows, votes=votes, scheme=gold.scheme)


def test_models_are_guessed_and_people_are_not(models):
    people = corpus_of({name: careful(0.3) for name in "abc"}, n=len(models))
    one, other = (VoteTagger(rounds=2, folds=2).fit(c) for c in (models, people))
    assert one.guessed_kinds_ == dict.fromkeys("abc", "model")
    assert other.guessed_kinds_ == {}


@pytest.mark.parametrize("kind", ["person", "model", "source"])
def test_nothing_is_guessed_of_whose_kind_is_known(models, kind):
    told = of_kinds(models, dict.fromkeys("abc", kind))
    fitted = VoteTagger(rounds=2, folds=2).fit(told)
    assert fitted.guessed_kinds_ == {}
    abstains = [one.abstains for one in fitted.annotators_]
    assert abstains == [kind == "source"] * 3


def test_a_source_speaks_where_its_o_is_said_to_mean_something(models):
    told = of_kinds(models, dict.fromkeys("abc", "source"))
    fitted = VoteTagger(rounds=1, folds=2, o_means="outside").fit(told)
    assert not any(one.abstains for one in fitted.annotators_)


def test_one_careful_person_is_not_overruled_by_a_model():
    gold = tagsift.bundled()
    corpus = corpus_of({"ann": careful(0.15)}, n=len(gold))
    votes = votes_of(corpus) | {"llm": tagged(gold, 30)}
    both = Corpus.from_lists(
        gold.rows, votes=votes, gold=gold.labels, scheme=gold.scheme
    )
    both = of_kinds(both, {"ann": "person", "llm": "model"})
    labels = VoteTagger(rounds=2, folds=3).fit(both).transduction_
    found, *alone = (
        span_scores(gold.labels, rows, scheme=gold.scheme).f1
        for rows in (labels, votes["ann"], votes["llm"])
    )
    assert found > max(alone)
