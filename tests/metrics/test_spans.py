"""Span scores against hand-worked values, seqeval and their own invariances."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval import scheme as seqeval_scheme
from seqeval.metrics.sequence_labeling import (
    get_entities,
    precision_recall_fscore_support,
)
from seqeval.metrics.v1 import precision_recall_fscore_support as strict_support

from tagsift.data.schemes import to_scheme
from tagsift.errors import InputError
from tagsift.metrics import SpanScore, span_scores, token_accuracy

PREFIXES = {"iob1": "BI", "iob2": "BI", "iobes": "BIES"}


def words(text: str) -> list[list[str]]:
    return [line.split() for line in text.strip().splitlines()]


def test_averages_by_hand():
    # NP: precision 1/2, recall 1/2, F1 1/2; VP: all 1. Micro: 2 of 3 and 2 of 3.
    scores = span_scores(
        words("B-NP I-NP B-VP O B-NP"), words("B-NP I-NP B-VP B-NP I-NP"), scheme="iob2"
    )
    assert scores.micro.precision == scores.micro.recall == scores.f1 == 2 / 3
    assert scores.precision == scores.recall == 2 / 3
    assert scores.macro.precision == scores.macro.recall == scores.macro.f1 == 0.75


def test_strict_reading_drops_irregular_spans_on_both_sides():
    gold = words("I-NP O B-NP I-NP")  # the first is irregular in IOB2
    predicted = words("B-NP O B-NP I-NP")
    lenient = span_scores(gold, predicted, scheme="iob2")
    strict = span_scores(gold, predicted, scheme="iob2", reading="strict")
    assert lenient.micro == SpanScore(2, 2, 2)
    assert strict.micro == SpanScore(1, 2, 1)


def test_plain_tags_by_hand_where_seqeval_is_wrong():
    # NNP is not NN and VBD is not VB: 2 of the 4 tokens are right. seqeval takes the
    # first letter for a prefix, cuts it off and joins neighbours (NN NNP is one chunk).
    gold, predicted = [["NN", "NNP", "VBD", "DT"]], [["NN", "NN", "VB", "DT"]]
    scores = span_scores(gold, predicted, scheme="plain")
    assert scores.micro == SpanScore(4, 4, 2)
    assert scores.per_type["NN"] == SpanScore(1, 2, 1)
    assert scores.f1 == token_accuracy(gold, predicted) == 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = get_entities(gold[0])
    assert [kind for kind, _, _ in found] != gold[0]


def random_file(scheme: str, seed: int) -> tuple[list[list[str]], list[list[str]]]:
    """Two taggings that agree on about two tokens in three, irregular ones included."""
    rng = np.random.default_rng(seed)
    prefixes = PREFIXES[scheme]
    tags = ["O"] + [f"{p}-{kind}" for p in prefixes for kind in ("PER", "LOC", "ORG")]
    gold, predicted = [], []
    for length in rng.integers(1, 15, size=12):
        truth = rng.choice(tags, size=length)
        guess = np.where(rng.random(length) < 0.3, rng.choice(tags, length), truth)
        gold.append(truth.tolist())
        predicted.append(guess.tolist())
    return gold, predicted


@pytest.mark.parametrize("scheme", ["iob1", "iob2", "iobes"])
def test_equals_seqeval_on_50_random_files(scheme):
    for seed in range(50):
        gold, predicted = random_file(scheme, seed)
        ours = span_scores(gold, predicted, scheme=scheme)
        for average, mine in (("micro", ours.micro), ("macro", ours.macro)):
            theirs = precision_recall_fscore_support(
                gold, predicted, average=average, zero_division=0
            )
            assert (mine.precision, mine.recall, mine.f1) == pytest.approx(theirs[:3])


@pytest.mark.parametrize(
    ("scheme", "theirs"), [("iob1", "IOB1"), ("iob2", "IOB2"), ("iobes", "IOBES")]
)
def test_strict_equals_seqeval_strict_on_50_random_files(scheme, theirs):
    for seed in range(50):
        gold, predicted = random_file(scheme, seed)
        if scheme == "iob1":
            # After an irregular B, seqeval reads the I that follows as a chunk of its
            # own; we drop the chunk whole. Well-formed files show the rest alike.
            gold = [to_scheme(labels, "iob1", "iob1") for labels in gold]
            predicted = [to_scheme(labels, "iob1", "iob1") for labels in predicted]
        ours = span_scores(gold, predicted, scheme=scheme, reading="strict")
        expected = strict_support(
            gold,
            predicted,
            average="micro",
            scheme=getattr(seqeval_scheme, theirs),
            zero_division=0,
        )
        assert (ours.precision, ours.recall, ours.f1) == pytest.approx(expected[:3])


def test_scheme_is_found_from_gold_labels():
    assert span_scores([["NN"]], [["VB"]]).scheme == "plain"
    assert span_scores([["S-A"]], [["O"]]).scheme == "iobes"
    assert span_scores([[0, 1]], [[0, 2]]).micro == SpanScore(2, 2, 1)


def test_nothing_found_scores_zero():
    assert span_scores([["O"]], [["O"]], scheme="iob2").f1 == 0.0
    empty = span_scores([["O"]], [["O"]], scheme="iob2").macro
    assert (empty.precision, empty.recall, empty.f1) == (0.0, 0.0, 0.0)
    scores = span_scores([["B-A"]], [["O"]], scheme="iob2")
    assert (scores.precision, scores.recall) == (0.0, 0.0)


@st.composite
def taggings(draw):
    scheme = draw(st.sampled_from(sorted(PREFIXES)))
    tags = st.sampled_from(["O"] + [f"{p}-{k}" for p in PREFIXES[scheme] for k in "xy"])
    lengths = draw(st.lists(st.integers(1, 7), min_size=1, max_size=6))
    side = [st.lists(tags, min_size=n, max_size=n) for n in lengths]
    return scheme, draw(st.tuples(*side)), draw(st.tuples(*side)), draw(st.randoms())


@settings(deadline=None, max_examples=60, derandomize=True)
@given(taggings())
def test_bounds_symmetry_and_order(case):
    scheme, gold, predicted, random = case
    for reading in ("lenient", "strict"):
        scores = span_scores(gold, predicted, scheme=scheme, reading=reading)
        assert 0.0 <= scores.f1 <= 1.0
        assert 0.0 <= scores.macro.f1 <= 1.0
        low, high = sorted((scores.precision, scores.recall))
        assert low - 1e-12 <= scores.f1 <= high + 1e-12
        turned = span_scores(predicted, gold, scheme=scheme, reading=reading)
        assert (turned.precision, turned.recall) == (scores.recall, scores.precision)
        order = list(range(len(gold)))
        random.shuffle(order)
        shuffled = span_scores(
            [gold[i] for i in order],
            [predicted[i] for i in order],
            scheme=scheme,
            reading=reading,
        )
        assert shuffled == scores
    same = span_scores(gold, gold, scheme=scheme)
    assert same.f1 == (1.0 if same.micro.n_gold else 0.0)
    strict = span_scores(gold, predicted, scheme=scheme, reading="strict").micro
    assert strict.n_gold <= same.micro.n_gold


def test_errors_say_where():
    with pytest.raises(InputError, match=r"Sentence 1 .* has 2 gold labels and 1"):
        span_scores([["O"], ["O", "O"]], [["O"], ["O"]])
    with pytest.raises(InputError, match="2 sentences and the predicted labels 1"):
        span_scores([["O"], ["O"]], [["O"]])
    with pytest.raises(InputError, match="nothing to score"):
        span_scores([[]], [[]])
    with pytest.raises(InputError, match="found a string"):
        span_scores(["B-NP"], ["B-NP"])
    with pytest.raises(InputError, match="Sentence 1 of the predicted labels.*token 0"):
        span_scores([["O"], ["O"]], [["O"], ["NN"]], scheme="iob2")
    with pytest.raises(InputError, match="iob9"):
        span_scores([["O"]], [["O"]], scheme="iob9")
    with pytest.raises(InputError, match="'lenient' or 'strict'"):
        span_scores([["O"]], [["O"]], scheme="iob2", reading="loose")
