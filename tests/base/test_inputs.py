"""Everything that users may hand over as X, y and labels, and every refusal."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagsift.base.inputs import (
    read_candidates,
    read_evidence,
    read_gold,
    read_sample_weight,
    resolve_labels,
)
from tagsift.errors import InputError

LENGTHS = np.array([2, 0, 1])


def read(y: Any, labels: tuple[Any, ...] | None = None, lengths: Any = LENGTHS):
    mask, classes = read_candidates(y, np.asarray(lengths), labels)
    assert mask.dtype == bool
    return mask.astype(int).tolist(), classes


def refused(call: Any, *args: Any, **kwargs: Any) -> str:
    with pytest.raises(InputError) as caught:
        call(*args, **kwargs)
    text = str(caught.value)
    assert "\n" not in text
    assert text.endswith(".")
    return text


def of_three(y: Any) -> Any:
    return read_candidates(y, LENGTHS)


def within_ab(y: Any) -> Any:
    return read_candidates(y, LENGTHS, ("A", "B"))


def of_two(weights: Any) -> Any:
    return read_sample_weight(weights, 2)


# What is taken ----------------------------------------------------------------------

ABC, ZBA = tuple("ABC"), tuple("ZBA")


@pytest.mark.parametrize(
    ("y", "labels", "mask", "classes"),
    [
        ([["B", "A"], [], ["C"]], None, ["010", "100", "001"], ABC),
        ([[{"B", "A"}, {"C"}], [], ["A"]], None, ["110", "001", "100"], ABC),
        ([[("B", "A"), ["C"]], (), [frozenset("A")]], None, ["110", "001", "100"], ABC),
        ([[["A", "A"], ["A", "B", "A"]], [], ["B"]], None, ["10", "11", "01"], ABC[:2]),
        ([[3, {1, 3}], [], [np.int64(1)]], None, ["01", "11", "10"], (1, 3)),
        ([[10, 9], [], [2]], None, ["001", "010", "100"], (2, 9, 10)),
        ([np.array(["B", "A"]), [], ["A"]], None, ["01", "10", "10"], ABC[:2]),
        (
            [["B", set("AB")], [], ["A"]],
            tuple("ZBA"),
            ["010", "011", "001"],
            tuple("ZBA"),
        ),
        ([["", "B|I"], [], ["é\n"]], None, ["100", "010", "001"], ("", "B|I", "é\n")),
        ([np.eye(2), [], np.ones((1, 2))], None, ["10", "01", "11"], (0, 1)),
        (
            [np.eye(2, dtype=bool), [], np.ones((1, 2), "u1")],
            ABC[:2],
            ["10", "01", "11"],
            ABC[:2],
        ),
    ],
)
def test_labels_sets_and_masks_are_one_mask(y, labels, mask, classes):
    found = read(y, labels)
    assert found == ([[int(k) for k in row] for row in mask], classes)
    assert {type(name) for name in found[1]} == {type(classes[0])}


def test_one_array_of_masks():
    mask = np.array([[[1, 0], [0, 1]], [[1, 1], [1, 0]]], dtype=bool)
    assert read(mask, lengths=[2, 2])[0] == [[1, 0], [0, 1], [1, 1], [1, 0]]


def test_labels_are_kept_in_order():
    assert resolve_labels(None) is None
    assert resolve_labels(["O", "B", "A"]) == ("O", "B", "A")
    assert resolve_labels((2, 0, 1)) == (2, 0, 1)
    names = resolve_labels(np.array(["B", "A"]))
    assert names == ("B", "A")
    assert {type(name) for name in names} == {str}
    numbers = resolve_labels(np.array([1, 0]))
    assert {type(number) for number in numbers} == {int}


def test_no_sentence_at_all():
    mask, classes = read_candidates([], np.array([], dtype=int), ("A", "B"))
    assert mask.shape == (0, 2)
    assert classes == ("A", "B")


def test_only_empty_masks():
    mask, classes = read_candidates([np.zeros((0, 3))], np.array([0]))
    assert mask.shape == (0, 3)
    assert classes == (0, 1, 2)


def test_the_mask_given_is_not_shared():
    given_mask = np.ones((2, 2), dtype=bool)
    mask, _ = read_candidates([given_mask], np.array([2]))
    mask[:] = False
    assert given_mask.all()


def test_weights_are_evidence_up_to_a_factor():
    y = [np.array([[0.2, 0.1], [3.0, 0.0]]), [], np.ones((1, 2))]
    mask, classes = read_candidates(y, LENGTHS)
    assert mask.tolist() == [[True, True], [True, False], [True, True]]
    assert classes == (0, 1)
    np.testing.assert_allclose(
        read_evidence(y, mask), [[0.0, np.log(0.5)], [0.0, -np.inf], [0.0, 0.0]]
    )


@pytest.mark.parametrize("kind", [bool, int, float])
def test_masks_of_any_kind_and_equal_weights_are_no_evidence(kind: type):
    y = [np.eye(2).astype(kind), [], np.ones((1, 2), dtype=kind)]
    mask, _ = read_candidates(y, LENGTHS)
    assert read_evidence(y, mask) is None
    scaled = [4 * sentence if len(sentence) else sentence for sentence in y]
    assert read_evidence(scaled, mask) is None
    assert read_evidence([["A", "B"], [], [None]], mask) is None


def test_none_is_an_unlabelled_token():
    y = [["A", None], [], [{"B", "C"}]]
    mask, classes = read_candidates(y, LENGTHS)
    assert classes == ("A", "B", "C")
    assert mask.tolist() == [[1, 0, 0], [1, 1, 1], [0, 1, 1]]
    assert read_sample_weight(None, 2) is None
    assert read_sample_weight([1, 2], 2).tolist() == [1.0, 2.0]


def test_gold_labels_and_singletons():
    y = [["A", {"B"}], (), np.array(["C"]), [frozenset([3]), np.int64(4)]]
    gold = read_gold(y)
    assert gold == [["A", "B"], [], ["C"], [3, 4]]
    assert type(gold[3][1]) is int


# What is refused, and how ----------------------------------------------------------


def entry(what: Any) -> list[Any]:
    return [["A", what], [], ["A"]]


#: By who reads it, how the sentence begins, and what is said to be wrong by it.
WRONG: dict[Any, dict[str, list[Any]]] = {
    resolve_labels: {
        "labels must be a list": ["BIO", b"BIO", set("BI"), {"B": 0}, 3, iter("A")],
        "labels must be distinct; 'A' stands there twice.": [["A", "B", "A"]],
        "labels is empty; give at least one label, or None.": [[]],
        "labels must be strings or integers; got ": [
            ["A", name] for name in (None, 1.5, True, ["A"], {"A"})
        ],
    },
    of_three: {
        "y must be a list of sentences": ["AB", b"AB", {"A": 1}, 3, None, iter([])],
        "X has 3 sentences and y has 1; they must be as many.": [[["A", "A"]]],
        "sentence 0 of y must be a list of labels, of sets, or a mask; got ": [
            [s, [], ["A"]] for s in ("AB", set("AB"), {"A": 1}, 3, None, np.array(3))
        ],
        "sentence 1: X has 0 tokens and y has 1 entries; every token needs one.": [
            [["A", "B"], ["A"], ["B"]]
        ],
        "sentence 0, token 1: the candidate set is empty. Every token needs at": [
            *map(entry, (set(), frozenset(), [], ())),
            [np.array([[1, 0], [0, 0]]), [], np.eye(1, 2)],
        ],
        "sentence 0, token 1: expected a label or a set of labels, got ": [
            *map(entry, (1.5, True, np.True_, b"A", object(), {"A": 1}))
        ],
        "sentence 0, token 1: a candidate must be a str or an int; got ": [
            entry({"A", name}) for name in (None, 1.5, True, b"A", ("A",))
        ],
        "labels mix strings and integers; use one kind: [": [entry(1), entry({1, 2})],
        "y holds no label at all; give": [[[None, None], [], [None]]],
        "sentence 2 of y: expected a mask of 3 columns, got an array of shape (1, 2)": [
            [np.ones((2, 3)), np.zeros((0, 3)), np.ones((1, 2))]
        ],
        "sentence 2 of y: a mask holds only 0/1 or booleans, and": [
            [np.eye(2), [], np.array([[odd, 1]])]
            for odd in (-1, -0.5, np.nan, np.inf, "A")
        ],
        "sentence 2 of y is a list where others are masks; give every": [
            [np.eye(2), [], [{"A"}]],
            [np.eye(2), [], [["A"]]],
        ],
    },
    within_ab: {
        "sentence 0, token 1: label 'C' is not in labels=['A', 'B']; add it there": [
            entry({"A", "C"}),
            entry("C"),
        ],
        "sentence 0, token 1: label 3 is not in labels=": [entry({"A", 3})],
    },
    read_gold: {
        "y must be a list of sentences of gold": ["AB", None, {"A"}, {"A": 1}],
        "sentence 1 of y must be a list of gold labels; got ": [
            [["A"], sentence] for sentence in ("AB", None, {"A"}, 3)
        ],
        "sentence 0, token 1: expected one gold label to score with": [
            *map(entry, (set("AB"), set(), None, ["A"], True))
        ],
    },
    of_two: {"sample_weight ": [[1.0], [1.0, -1.0], [np.nan, 1.0], [0, 0], ["a", "b"]]},
}


@pytest.mark.parametrize(
    ("read", "message"),
    [(read, message) for read, cases in WRONG.items() for message in cases],
)
def test_what_is_wrong_is_one_sentence(read: Any, message: str):
    for value in WRONG[read][message]:
        assert refused(read, value).startswith(message)


# Properties, and how often what is given is looked at -----------------------------

sets = st.frozensets(st.sampled_from("ABCDE"), min_size=1)
corpora = st.lists(st.lists(sets, max_size=6), max_size=6)


@settings(max_examples=60, derandomize=True)
@given(corpora)
def test_the_mask_says_what_the_sets_say(y: list[list[frozenset[str]]]):
    lengths = np.array([len(sentence) for sentence in y], dtype=int)
    mask, classes = read_candidates(y, lengths)
    flat = [entry for sentence in y for entry in sentence]
    assert classes == tuple(sorted(set().union(*flat)))
    assert mask.shape == (len(flat), len(classes))
    read_back = [{classes[k] for k in np.flatnonzero(row)} for row in mask]
    assert read_back == flat


@settings(max_examples=60, derandomize=True)
@given(corpora.filter(lambda y: any(y)), st.data())
def test_the_place_of_a_hole_is_named(y: list[list[Any]], data: st.DataObject):
    places = [(s, t) for s, sentence in enumerate(y) for t in range(len(sentence))]
    s, t = data.draw(st.sampled_from(places))
    y = [list(sentence) for sentence in y]
    y[s][t] = set()
    lengths = np.array([len(sentence) for sentence in y])
    with pytest.raises(InputError, match=re.escape(f"sentence {s}, token {t}:")):
        read_candidates(y, lengths)


@pytest.mark.parametrize("kind", [set, frozenset, list])
def test_a_whole_corpus_is_read_in_a_few_passes(kind: type):
    rng = np.random.default_rng(0)
    names = [f"L{k}" for k in range(22)]
    y = [
        [kind([names[a], names[b]]) for a, b in rng.integers(22, size=(25, 2))]
        for _ in range(400)
    ]
    calls = 0

    def count(frame: Any, event: str, what: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        mask, _ = read_candidates(y, np.full(400, 25))
    finally:
        sys.setprofile(None)
    assert mask.shape == (10_000, 22)
    assert calls < 4 * len(mask)  # nothing is looked up, compared or built by token
