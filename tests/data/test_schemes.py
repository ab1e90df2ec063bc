"""Tag schemes against the CoNLL rules and against themselves."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagsift.data import (
    SCHEMES,
    Span,
    allowed_transitions,
    detect_scheme,
    is_tag,
    opening_transitions,
    spans,
    tags,
    to_scheme,
)
from tagsift.errors import InputError

TAGS = {
    "iob1": ["O", "B-X", "I-X", "B-Y", "I-Y"],
    "iob2": ["O", "B-X", "I-X", "B-Y", "I-Y"],
    "iobes": ["O", *(f"{p}-{t}" for p in "BIES" for t in "XY")],
    "plain": ["O", "X", "Y"],
}
CHUNKED = ("iob1", "iob2", "iobes")
quick = settings(max_examples=150, derandomize=True)


def conll_chunks(labels: list[str]) -> list[tuple[str, int, int]]:
    """Chunks by the scoring script's two functions, written out case by case."""

    def split(tag: str) -> tuple[str, str]:
        head, _, tail = tag.partition("-")
        return head, tail

    def ends(prev: str, prev_type: str, tag: str, type_: str) -> bool:
        cases = {"BB", "BO", "BS", "IB", "IO", "IS"}
        if prev + tag in cases or prev in "ES":
            return True
        return prev != "O" and prev_type != type_

    def starts(prev: str, prev_type: str, tag: str, type_: str) -> bool:
        cases = {"OI", "OE", "EI", "EE", "SI", "SE"}
        if prev + tag in cases or tag in "BS":
            return True
        return tag != "O" and prev_type != type_

    found = []
    start = None
    prev, prev_type = "O", ""
    for position, label in enumerate([*labels, "O"]):
        tag, type_ = split(label)
        if start is not None and ends(prev, prev_type, tag, type_):
            found.append((prev_type, start, position))
            start = None
        if starts(prev, prev_type, tag, type_):
            start = position
        prev, prev_type = tag, type_
    return found


def random_file(scheme: str, seed: int) -> list[list[str]]:
    rng = random.Random(seed)
    return [
        [rng.choice(TAGS[scheme]) for _ in range(rng.randint(1, 12))] for _ in range(20)
    ]


@pytest.mark.parametrize("scheme", CHUNKED)
def test_spans_follow_the_conll_rules_on_every_short_sequence(scheme: str) -> None:
    longest = 4 if scheme == "iobes" else 5
    for length in range(longest + 1):
        for labels in itertools.product(TAGS[scheme], repeat=length):
            assert spans(labels, scheme) == conll_chunks(list(labels)), labels


@pytest.mark.parametrize("scheme", CHUNKED)
def test_spans_follow_the_conll_rules_on_50_random_files(scheme: str) -> None:
    for seed in range(50):
        for labels in random_file(scheme, seed):
            assert spans(labels, scheme) == conll_chunks(labels), labels


def test_each_plain_tag_is_a_span_of_its_own() -> None:
    labels = ["NN", "NN", "O", "VB"]
    assert spans(labels, "plain") == [("NN", 0, 1), ("NN", 1, 2), ("VB", 3, 4)]


@pytest.mark.parametrize(
    ("scheme", "labels", "lenient", "strict"),
    [
        ("iob2", "O I-X I-X", [("X", 1, 3)], []),
        ("iob2", "B-X I-Y", [("X", 0, 1), ("Y", 1, 2)], [("X", 0, 1)]),
        ("iob1", "I-X B-X O B-X", [("X", 0, 1), ("X", 1, 2), ("X", 3, 4)], 2),
        ("iob1", "I-X I-Y", [("X", 0, 1), ("Y", 1, 2)], 2),
        ("iobes", "B-X I-X", [("X", 0, 2)], []),
        ("iobes", "S-X B-X E-X", [("X", 0, 1), ("X", 1, 3)], 2),
        ("iobes", "I-X E-X S-Y", [("X", 0, 2), ("Y", 2, 3)], [("Y", 2, 3)]),
        ("iob1", "I I B I O I", [("", 0, 2), ("", 2, 4), ("", 5, 6)], 3),
        ("iob2", "B-A-B I-A-B", [("A-B", 0, 2)], 1),
        ("iob2", "", [], []),
    ],
)
def test_hand_worked_spans(
    scheme: str,
    labels: str,
    lenient: list[tuple[str, int, int]],
    strict: list[tuple[str, int, int]] | int,
) -> None:
    """A number for `strict` means: the first so many of the lenient ones."""
    sequence = labels.split()
    assert spans(sequence, scheme) == lenient
    wanted = lenient[:strict] if isinstance(strict, int) else strict
    assert spans(sequence, scheme, strict=True) == wanted


@st.composite
def chunkings(draw: st.DrawFn) -> tuple[list[Span], int]:
    """Chunks that do not overlap, and the length of their sentence."""
    found: list[Span] = []
    position = 0
    for _ in range(draw(st.integers(0, 6))):
        start = position + draw(st.integers(0, 2))
        position = start + draw(st.integers(1, 4))
        found.append(
            Span(draw(st.sampled_from(["X", "Y", "", "A-B"])), start, position)
        )
    return found, position + draw(st.integers(0, 2))


@quick
@given(chunkings(), st.sampled_from(CHUNKED), st.randoms(use_true_random=False))
def test_spans_and_tags_are_inverse(
    chunking: tuple[list[Span], int], scheme: str, rng: random.Random
) -> None:
    chunks, length = chunking
    shuffled = rng.sample(chunks, len(chunks))
    labels = tags(shuffled, length, scheme)
    assert len(labels) == length
    assert spans(labels, scheme) == chunks
    assert spans(labels, scheme, strict=True) == chunks


@quick
@given(chunkings(), st.sampled_from(CHUNKED), st.sampled_from(CHUNKED))
def test_conversion_there_and_back(
    chunking: tuple[list[Span], int], source: str, target: str
) -> None:
    labels = tags(*chunking, source)
    there = to_scheme(labels, source, target)
    assert spans(there, target) == chunking[0]
    assert to_scheme(there, target, source) == labels


@quick
@given(st.lists(st.sampled_from(["O", "NN", "VB", "B-x", "B"]), max_size=8))
def test_plain_tags_survive_any_scheme(labels: list[str]) -> None:
    for scheme in CHUNKED:
        there = to_scheme(labels, "plain", scheme)
        assert to_scheme(there, scheme, "plain") == labels


@quick
@given(st.data(), st.sampled_from(SCHEMES))
def test_allowed_transitions_say_which_sequences_are_well_formed(
    data: st.DataObject, scheme: str
) -> None:
    """A sequence obeys the table if and only if rewriting its spans changes nothing."""
    names = TAGS[scheme]
    labels = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=6))
    transitions, start, end = allowed_transitions(names, scheme)
    codes = [names.index(label) for label in labels]
    obeys = bool(start[codes[0]] and end[codes[-1]]) and all(
        transitions[a, b] for a, b in itertools.pairwise(codes)
    )
    assert obeys == (tags(spans(labels, scheme), len(labels), scheme) == labels)
    assert obeys == (spans(labels, scheme) == spans(labels, scheme, strict=True))


def test_allowed_transitions_by_hand() -> None:
    transitions, start, end = allowed_transitions(["B-X", "I-X", "O"], "iob2")
    wanted = [[True, True, True], [True, True, True], [True, False, True]]
    assert transitions.tolist() == wanted
    assert start.tolist() == [True, False, True]
    assert end.all()
    transitions, start, _ = allowed_transitions(["B", "I", "O"], "iob1")
    wanted = [[True, True, True], [True, True, True], [False, True, True]]
    assert transitions.tolist() == wanted
    assert start.tolist() == [False, True, True]
    *_, end = allowed_transitions(["B-X", "E-X", "I-X", "O", "S-X"], "iobes")
    assert end.tolist() == [False, True, False, True, True]
    transitions, start, end = allowed_transitions(["NN", "VB"], "plain")
    assert np.all(transitions)
    assert start.all()
    assert end.all()


@pytest.mark.parametrize(
    ("sequences", "scheme"),
    [
        (["B-X I-X O", "O"], "iob2"),
        (["I-X I-X O B-Y", "O I-X"], "iob1"),
        (["I I B I O"], "iob1"),
        (["B I O B"], "iob2"),
        (["S-X O"], "iobes"),
        (["B-X E-X"], "iobes"),
        (["NN VB O"], "plain"),
        (["B-X I-X", "I-X"], "iob2"),
        (["O O"], "iob2"),
        ([], "iob2"),
        (["PER O LOC"], "plain"),
        (["B- O"], "plain"),
    ],
)
def test_detection(sequences: list[str], scheme: str) -> None:
    assert detect_scheme([s.split() for s in sequences]) == scheme


@quick
@given(st.lists(chunkings(), min_size=4, max_size=8), st.sampled_from(CHUNKED))
def test_detection_of_well_formed_files(
    sentences: list[tuple[list[Span], int]], scheme: str
) -> None:
    """Whatever is detected reads the same chunks."""
    found = detect_scheme(tags(*sentence, scheme) for sentence in sentences)
    for chunks, length in sentences:
        assert spans(tags(chunks, length, scheme), found) == chunks


def test_refusals() -> None:
    with pytest.raises(InputError, match=r"token 1: .*scheme iob2, found 'NN'"):
        spans(["O", "NN"], "iob2")
    with pytest.raises(InputError, match="found 'S-X'"):
        spans(["S-X"], "iob1")
    with pytest.raises(InputError, match="found 'bilou'"):
        spans(["O"], "bilou")
    for chunks in ([("X", 0, 2), ("X", 1, 3)], [("X", 2, 2)], [("X", 0, 4)]):
        with pytest.raises(InputError, match="do not overlap inside 0:3"):
            tags(chunks, 3, "iob2")
    with pytest.raises(InputError, match="found the type ''"):
        to_scheme(["B", "I"], "iob2", "plain")
    assert not is_tag("", "plain")
    assert is_tag("anything", "plain")
    assert not is_tag("B-", "iob2")


@pytest.mark.parametrize("scheme", ["iob1", "iob2", "iobes"])
def test_openings_count_the_spans(scheme: str):
    """As many openings as spans by the lenient rules, in every short sequence."""
    names = ["O", "B-X", "I-X", "I-Y"] + (["E-X", "S-Y"] if scheme == "iobes" else [])
    between, first = opening_transitions(names, scheme)
    for path in itertools.product(range(len(names)), repeat=3):
        openings = first[path[0]] + sum(between[a] for a in itertools.pairwise(path))
        assert openings == len(spans([names[y] for y in path], scheme))
