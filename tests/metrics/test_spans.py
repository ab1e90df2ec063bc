"""Span scores against hand-worked values, nervaluate and their own invariances."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nervaluate.evaluator import Evaluator

from tagsift.data.schemes import to_scheme
from tagsift.errors import InputError
from tagsift.metrics import Tally, span_scores, token_accuracy

PREFIXES = {"iob1": "BI", "iob2": "BI", "iobes": "BIES"}


def words(text: str) -> list[list[str]]:
    return [line.split() for line in text.strip().splitlines()]


def test_averages_by_hand():
    # NP: precision 1/2, recall 1/2, F1 1/2; VP: all 1. Micro: 2 of 3 and 2 of 3.
    scores = span_scores(
        words("B-NP I-NP B-VP O B-NP"), words("B-NP I-NP B-VP B-NP I-NP"), scheme="iob2"
    )
    assert scores.micro.precision == scores.micro.recall == scores.f1 == 2 / 3
    assert scores.macro.precision == scores.macro.recall == scores.macro.f1 == 0.75


def test_plain_tags_by_hand():
    # NNP is not NN and VBD is not VB: 2 of the 4 tokens are right, though all four
    # tags agree in their first letters.
    gold, predicted = [["NN", "NNP", "VBD", "DT"]], [["NN", "NN", "VB", "DT"]]
    scores = span_scores(gold, predicted, scheme="plain")
    assert scores.micro == Tally(4, 4, 2)
    assert scores.per_type["NN"] == Tally(1, 2, 1)
    assert scores.f1 == token_accuracy(gold, predicted) == 0.5


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


@pytest.mark.parametrize("scheme", ["iob1", "iob2"])
def test_equals_nervaluate_on_50_random_files_of_well_formed_tags(scheme):
    # nervaluate knows no IOBES and no regular tags; on others both readings are its
    # own "strict" match: the same type, start and end.
    kinds = ("PER", "LOC", "ORG")
    for seed in range(50):
        gold, predicted = (
            [to_scheme(labels, scheme, scheme) for labels in side]
            for side in random_file(scheme, seed)
        )
        overall, by_kind = (
            Evaluator(gold, predicted, tags=list(kinds), loader="list").evaluate()[name]
            for name in ("overall", "entities")
        )
        for reading in ("lenient", "strict"):
            ours = span_scores(gold, predicted, scheme=scheme, reading=reading)
            assert counted(overall["strict"]) == ours.micro
            for kind, score in ours.per_type.items():
                assert counted(by_kind[kind]["strict"]) == score
                theirs = by_kind[kind]["strict"]
                assert score.f1 == pytest.approx(theirs.f1)


def counted(result) -> Tally:
    """The three numbers behind a result of nervaluate."""
    return Tally(result.possible, result.actual, result.correct)


REGULAR = {
    "iob2": r"(?<!\S)B-(\S+)(?: I-\1(?!\S))*",
    "iobes": r"(?<!\S)(?:S-(\S+)|B-(\S+)(?: I-\2)* E-\2(?!\S))",
}


def regular_spans(labels: list[str], scheme: str) -> set[tuple[str, int, int]]:
    """The spans of the strict reading, as matches of one regular expression."""
    text = " ".join(labels)
    return {
        (match[match.lastindex], *(text[:end].count(" ") for end in match.span()))
        for match in re.finditer(REGULAR[scheme], text)
    }


@pytest.mark.parametrize("scheme", ["iob2", "iobes"])
def test_strict_equals_a_regular_expression_on_50_random_files(scheme):
    for seed in range(50):
        gold, predicted = random_file(scheme, seed)
        found = [
            [regular_spans(labels, scheme) for labels in side]
            for side in (gold, predicted)
        ]
        n_gold, n_predicted = (sum(map(len, side)) for side in found)
        n_correct = sum(len(a & b) for a, b in zip(*found, strict=True))
        ours = span_scores(gold, predicted, scheme=scheme, reading="strict")
        assert ours.micro == Tally(n_gold, n_predicted, n_correct)


def test_scheme_is_found_from_gold_labels():
    assert span_scores([["NN"]], [["VB"]]).scheme == "plain"
    assert span_scores([["S-A"]], [["O"]]).scheme == "iobes"
    assert span_scores([[0, 1]], [[0, 2]]).micro == Tally(2, 2, 1)


def test_nothing_found_scores_zero():
    assert span_scores([["O"]], [["O"]], scheme="iob2").f1 == 0.0
    empty = span_scores([["O"]], [["O"]], scheme="iob2").macro
    assert (empty.precision, empty.recall, empty.f1) == (0.0, 0.0, 0.0)
    scores = span_scores([["B-A"]], [["O"]], scheme="iob2")
    assert (scores.micro.precision, scores.micro.recall) == (0.0, 0.0)


@st.composite
def taggings(draw):
    scheme = draw(st.sampled_from(sorted(PREFIXES)))
    tags = st.sampled_from(["O"] + [f"{p}-{k}" for p in PREFIXES[scheme] for k in "xy"])
    lengths = draw(st.lists(st.integers(1, 7), min_size=1, max_size=6))
    side = [st.lists(tags, min_size=n, max_size=n) for n in lengths]
    return scheme, draw(st.tuples(*side)), draw(st.tuples(*side)), draw(st.randoms())


@settings(max_examples=60, derandomize=True)
@given(taggings())
def test_bounds_symmetry_and_order(case):
    scheme, gold, predicted, random = case
    for reading in ("lenient", "strict"):
        scores = span_scores(gold, predicted, scheme=scheme, reading=reading)
        assert 0.0 <= scores.f1 <= 1.0
        assert 0.0 <= scores.macro.f1 <= 1.0
        low, high = sorted((scores.micro.precision, scores.micro.recall))
        assert low - 1e-12 <= scores.f1 <= high + 1e-12
        turned = span_scores(predicted, gold, scheme=scheme, reading=reading)
        assert (turned.micro.precision, turned.micro.recall) == (
            scores.micro.recall,
            scores.micro.precision,
        )
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
