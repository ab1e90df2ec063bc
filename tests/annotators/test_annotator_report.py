"""What is said of each annotator, against loops over their spans."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given

from tagsift.annotators import (
    annotators_against,
    habits,
    looks_abstaining,
    quick_labels,
)
from tagsift.data import generate, spans
from tagsift.data.simulated_annotators import SimulatedAnnotator
from tests.reference.annotators import simulated
from tests.reference.corpora import corpora, law, votes_of, with_votes


@law
@given(corpora())
def test_reports_are_those_of_loops(corpus):
    plain = corpus.scheme == "plain"

    def marks(row):  # what counts: the spans, or the tags
        if plain:
            return {(t, name) for t, name in enumerate(row) if name is not None}
        single = [k if isinstance(k, str) else "O" for k in row]
        return set(spans(single, corpus.scheme))

    hits, given, wanted, tokens, sentences = np.zeros((5, len(corpus.annotators)))
    names = list(corpus.label_set)
    confusion = np.zeros((len(corpus.annotators), len(names), len(names)))
    for sentence in corpus:
        for a, one in enumerate(corpus.annotators):
            row = sentence.votes.get(one.name)
            if row is None:
                continue
            sentences[a] += 1
            tokens[a] += sum(vote is not None for vote in row)
            said, true = marks(row), marks(sentence.gold)
            hits[a] += len(said & true)
            given[a] += len(said)
            wanted[a] += len(said) if plain else len(true)
            for vote, name in zip(row, sentence.gold, strict=True):
                if isinstance(vote, str):
                    confusion[a, names.index(name), names.index(vote)] += 1
    confusion += 0.1 * np.eye(len(names)) + 1e-3
    confusion /= confusion.sum(axis=2, keepdims=True)
    total = np.where(corpus.abstains, given, (given + wanted) / 2)
    mean = hits.sum() / max(total.sum(), 1)
    reports = annotators_against(corpus, corpus.gold, names)
    assert [one.name for one in reports] == [one.name for one in corpus.annotators]
    for a, one in enumerate(reports):
        assert (one.tokens, one.sentences) == (tokens[a], sentences[a])
        shares = (hits[a], given[a]), (hits[a], wanted[a])
        shares = *shares, (2 * hits[a], given[a] + wanted[a])
        expected = [part / whole if whole else np.nan for part, whole in shares]
        assert [one.precision, one.recall, one.f1] == pytest.approx(
            expected, nan_ok=True
        )
        reliability = (hits[a] + 10 * mean) / (total[a] + 10)
        reliability = reliability if tokens[a] else np.nan
        assert one.reliability == pytest.approx(reliability, nan_ok=True)
        assert one.abstains == corpus.abstains[a]
        np.testing.assert_allclose(one.confusion, confusion[a])
        few = f"labelled {one.tokens} tokens only" if one.tokens else "labelled nothing"
        assert one.flags[0].startswith(few)


@law
@given(corpora())
def test_who_looks_abstaining_by_loops(corpus):
    """One says O of everything; eight times, so that there is enough to judge by."""
    if "O" in corpus.label_set:
        nothing = [["O"] * n for n in corpus.lengths]
        corpus = with_votes(corpus, {**votes_of(corpus), "a0": nothing})
    corpus = corpus.take(list(range(len(corpus))) * 8)
    asked, silent = defaultdict[str, int](int), defaultdict[str, int](int)
    for sentence in corpus:
        for name, row in sentence.votes.items():
            others = [v for k, v in sentence.votes.items() if k != name]
            for t, vote in enumerate(row):
                spoken = any(other[t] not in (None, "O") for other in others)
                if vote is not None and spoken:
                    asked[name] += 1
                    silent[name] += vote == "O"
    assert looks_abstaining(corpus) == {
        one.name: silent[one.name] / asked[one.name]
        for one in corpus.annotators
        if "O" in corpus.label_set and not one.abstains
        if asked[one.name] >= 20 and silent[one.name] >= 0.99 * asked[one.name]
    }


def test_annotators_against_the_truth_and_against_dawid_skene():
    people = (
        SimulatedAnnotator(name="good", misses=0.05),
        SimulatedAnnotator(name="fair", misses=0.15),
        SimulatedAnnotator(name="odd", confuses={("ORG", "LOC"): 0.7}),
    )
    votes = simulated(generate(80, random_state=2, task="ner"), people)
    names = list(votes.label_set)
    for labels in (votes.gold, quick_labels(votes)):
        good, fair, odd = annotators_against(votes, labels, names)
        assert good.reliability > fair.reliability > odd.reliability
        assert habits(odd, names).startswith("takes ORG for LOC")
        assert habits(good, names) == ""
        assert "misses" in habits(fair, names)
