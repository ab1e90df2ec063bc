"""Agreement of a corpus: by hand, and against its parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tagsift.annotators import (
    annotators_against,
    corpus_agreement,
    encode_votes,
    fleiss_kappa,
    habits,
    quick_labels,
)
from tagsift.data import VoteCorpus, generate
from tagsift.data.simulated_annotators import SimulatedAnnotator, simulate_votes

ROWS = [[("a",), ("b",), ("c",)], [("d",), ("e",)]]
VOTES = [
    [("B-X", "B-X", "B-X"), ("I-X", "I-X", "O"), ("O", "O", None)],
    [("O", "B-X", "B-X"), ("O", "O", None)],
]
CORPUS = VoteCorpus(ROWS, VOTES, ("ann", "bob", "cid"), None, "iob2")


def test_figures_by_hand():
    found = corpus_agreement(CORPUS)
    assert found.tokens == 5
    assert found.votes_per_token == pytest.approx(13 / 5)
    # Equal pairs: 3 of 3, 1 of 3, 1 of 1, 1 of 3, 1 of 1.
    assert found.pairwise_agreement == pytest.approx(7 / 11)
    stacked = encode_votes(VOTES, ["B-X", "I-X", "O"])
    assert found.fleiss_kappa == fleiss_kappa(stacked, 3)
    shown = [(pair.first, pair.second, pair.shared) for pair in found.pairs]
    assert shown == [("ann", "bob", 5), ("ann", "cid", 3), ("bob", "cid", 3)]
    # Spans: ann one, bob the same and another, cid a shorter one and bob's other.
    f1 = [pair.span_f1 for pair in found.pairs]
    assert f1 == pytest.approx([2 / 3, 0.0, 1 / 2])
    assert found.pairwise_span_f1 == pytest.approx(2 * 2 / (3 + 3 + 4))
    assert found.as_dict()["pairs"][0]["first"] == "ann"


def test_who_abstains_has_not_labelled():
    silent = replace(CORPUS, abstaining=("ann",))
    assert corpus_agreement(silent).votes_per_token == pytest.approx(10 / 5)


def test_strangers_have_nothing_to_agree_on():
    votes = [[("O", None)] * 3, [(None, "O")] * 2]
    found = corpus_agreement(VoteCorpus(ROWS, votes, ("a", "b"), None, "iob2"))
    assert found.pairs == ()
    assert np.isnan(found.pairwise_agreement)
    assert np.isnan(found.pairwise_span_f1)


def test_annotators_against_the_truth_and_against_dawid_skene():
    people = (
        SimulatedAnnotator(name="good", misses=0.05),
        SimulatedAnnotator(name="fair", misses=0.15),
        SimulatedAnnotator(name="odd", confuses={("ORG", "LOC"): 0.7}),
    )
    votes = simulate_votes(generate(80, random_state=2, task="ner"), people)
    assert votes.gold is not None
    true = annotators_against(votes, votes.gold)
    found = annotators_against(votes, quick_labels(votes))
    for reports in (true, found):
        good, fair, odd = reports
        assert good.reliability > fair.reliability > odd.reliability
        assert habits(odd, sorted(votes.label_set)).startswith("takes ORG for LOC")
        assert habits(good, sorted(votes.label_set)) == ""
        assert "misses" in habits(fair, sorted(votes.label_set))
