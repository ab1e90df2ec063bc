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
from tagsift.features.inputs import read_sentences

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


# X ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "X",
    [
        [],
        [[]],
        [["a", "dog"], ["b"]],
        (("a", "dog"), ("b",)),
        [[("a", "D"), ("dog", "N")]],
        [[{"w": "a"}]],
        [np.zeros((2, 3))],
        np.zeros((2, 3, 4)),
    ],
)
def test_lists_of_sentences_are_taken(X: Any):
    read_back = read_sentences(X)
    assert isinstance(read_back, list)
    assert len(read_back) == len(X)


@pytest.mark.parametrize(
    "X", ["a dog", b"a dog", {"a": 1}, 3, None, iter([["a"]]), {("a", "b")}]
)
def test_x_must_be_a_list(X: Any):
    message = refused(read_sentences, X)
    assert message.startswith(
        f"expected a list of sentences, found {type(X).__name__}; give"
    )


def test_a_string_is_no_sentence():
    message = refused(read_sentences, [["a"], "the dog"])
    assert message.startswith(
        "sentence 1: expected a list of tokens, found str ('the dog'); give"
    )


def test_a_long_string_is_shortened():
    message = refused(read_sentences, ["word " * 1000])
    assert len(message) < 250
    assert "..." in message


@pytest.mark.parametrize(
    "sentence", [3, None, iter("ab"), {"a", "b"}, {"a": 1}, np.array(3)]
)
def test_a_sentence_must_be_a_list(sentence: Any):
    message = refused(read_sentences, [["a"], sentence])
    assert message.startswith("sentence 1: expected a list of tokens, found ")


# labels= ---------------------------------------------------------------------------


def test_labels_are_kept_in_order():
    assert resolve_labels(None) is None
    assert resolve_labels(["O", "B", "A"]) == ("O", "B", "A")
    assert resolve_labels((2, 0, 1)) == (2, 0, 1)
    names = resolve_labels(np.array(["B", "A"]))
    assert names == ("B", "A")
    assert {type(name) for name in names} == {str}
    numbers = resolve_labels(np.array([1, 0]))
    assert {type(number) for number in numbers} == {int}


@pytest.mark.parametrize("labels", ["BIO", b"BIO", {"B", "I"}, {"B": 0}, 3])
def test_labels_must_be_a_list(labels: Any):
    assert refused(resolve_labels, labels).startswith("labels must be a list")


def test_an_exhaustible_label_set_is_refused():
    # A generator would be empty at the second fit.
    assert "labels must be a list" in refused(resolve_labels, iter(["A"]))


def test_labels_must_be_distinct_and_there():
    assert refused(resolve_labels, ["A", "B", "A"]) == (
        "labels must be distinct; 'A' stands there twice."
    )
    assert refused(resolve_labels, []) == (
        "labels is empty; give at least one label, or None."
    )


@pytest.mark.parametrize("label", [None, 1.5, True, ["A"], {"A"}])
def test_labels_must_be_strings_or_integers(label: Any):
    assert refused(resolve_labels, ["A", label]) == (
        f"labels must be strings or integers; got {label!r}."
    )


# Labels and sets -------------------------------------------------------------------


def test_labels_become_singletons():
    assert read([["B", "A"], [], ["C"]]) == (
        [[0, 1, 0], [1, 0, 0], [0, 0, 1]],
        ("A", "B", "C"),
    )


@pytest.mark.parametrize("kind", [set, frozenset, list, tuple])
def test_sets_of_any_kind(kind: type):
    y = [[kind(["B", "A"]), kind(["C"])], [], ["A"]]
    assert read(y) == ([[1, 1, 0], [0, 0, 1], [1, 0, 0]], ("A", "B", "C"))


def test_candidates_named_twice_count_once():
    assert read([[["A", "A"], ["A", "B", "A"]], [], ["B"]]) == (
        [[1, 0], [1, 1], [0, 1]],
        ("A", "B"),
    )


def test_integers_are_labels():
    y = [[3, {1, 3}], [], [np.int64(1)]]
    mask, classes = read(y)
    assert (mask, classes) == ([[0, 1], [1, 1], [1, 0]], (1, 3))
    assert {type(name) for name in classes} == {int}


def test_arrays_of_labels_are_sentences():
    y = [np.array(["B", "A"]), np.array([], dtype=str), np.array(["A"])]
    mask, classes = read(y)
    assert (mask, classes) == ([[0, 1], [1, 0], [1, 0]], ("A", "B"))
    assert {type(name) for name in classes} == {str}


def test_numbers_sort_as_numbers():
    assert read([[10, 9], [], [2]])[1] == (2, 9, 10)


def test_the_label_set_may_be_given():
    assert read([["B", {"A", "B"}], [], ["A"]], ("Z", "B", "A")) == (
        [[0, 1, 0], [0, 1, 1], [0, 0, 1]],
        ("Z", "B", "A"),
    )


def test_empty_labels_and_odd_names_are_names():
    assert read([["", "B|I"], [], ["é\n"]])[1] == ("", "B|I", "é\n")


def test_no_sentence_at_all():
    mask, classes = read_candidates([], np.array([], dtype=int), ("A", "B"))
    assert mask.shape == (0, 2)
    assert classes == ("A", "B")


@pytest.mark.parametrize("y", ["ABC", b"ABC", {"A": 1}, 3, None, iter([])])
def test_y_must_be_a_list(y: Any):
    message = refused(read_candidates, y, LENGTHS)
    assert message.startswith("y must be a list of sentences")
    assert message.endswith(f"got {type(y).__name__}.")


def test_as_many_sentences_in_x_and_y():
    assert refused(read_candidates, [["A", "A"]], LENGTHS) == (
        "X has 3 sentences and y has 1; they must be as many."
    )


@pytest.mark.parametrize(
    "sentence", ["AB", {"A", "B"}, {"A": 1, "B": 2}, 3, None, np.array(3)]
)
def test_labels_of_a_sentence_must_be_a_list(sentence: Any):
    message = refused(read_candidates, [sentence, [], ["A"]], LENGTHS)
    assert message.startswith(
        "sentence 0 of y must be a list of labels, of sets, or a mask; got "
    )


def test_as_many_labels_as_tokens():
    assert refused(read_candidates, [["A", "B"], ["A"], ["B"]], LENGTHS) == (
        "sentence 1: X has 0 tokens and y has 1 entries; every token needs one."
    )


@pytest.mark.parametrize("empty", [set(), frozenset(), [], ()])
def test_an_empty_candidate_set_is_refused(empty: Any):
    assert refused(read_candidates, [["A", "A"], [], [empty]], LENGTHS) == (
        "sentence 2, token 0: the candidate set is empty. Every token needs at least "
        "one label; give the full label set for an unlabelled token."
    )


@pytest.mark.parametrize("entry", [1.5, True, np.True_, b"A", object(), {"A": 1}])
def test_what_is_no_label_is_refused(entry: Any):
    message = refused(read_candidates, [["A", entry], [], ["A"]], LENGTHS)
    assert message.startswith(
        "sentence 0, token 1: expected a label or a set of labels, got "
    )


@pytest.mark.parametrize("name", [None, 1.5, True, b"A", ("A",)])
def test_what_is_no_candidate_is_refused(name: Any):
    message = refused(read_candidates, [["A", {"A", name}], [], ["A"]], LENGTHS)
    assert message == (
        f"sentence 0, token 1: a candidate must be a str or an int; got {name!r}."
    )


def test_strings_and_integers_do_not_mix():
    message = refused(read_candidates, [["A", 1], [], [{"A"}]], LENGTHS)
    assert message == "labels mix strings and integers; use one kind: [\"'A'\", '1']."


@pytest.mark.parametrize(("label", "shown"), [("C", "'C'"), (3, "3")])
def test_a_label_outside_the_label_set_is_refused(label: Any, shown: str):
    y = [["A", "B"], [], [{"A", label}]]
    assert refused(read_candidates, y, LENGTHS, ("A", "B")) == (
        f"sentence 2, token 0: label {shown} is not in labels=['A', 'B']; add it there "
        "or mend the data."
    )


# Masks -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [bool, int, float, np.uint8])
def test_masks(dtype: type):
    y = [
        np.array([[1, 0, 1], [0, 1, 0]], dtype=dtype),
        np.zeros((0, 3), dtype=dtype),
        np.array([[1, 1, 1]], dtype=dtype),
    ]
    expected = [[1, 0, 1], [0, 1, 0], [1, 1, 1]]
    assert read(y) == (expected, (0, 1, 2))
    assert read(y, ("c", "b", "a")) == (expected, ("c", "b", "a"))


def test_one_array_of_masks():
    mask = np.array([[[1, 0], [0, 1]], [[1, 1], [1, 0]]], dtype=bool)
    assert read(mask, lengths=[2, 2]) == (
        [[1, 0], [0, 1], [1, 1], [1, 0]],
        (0, 1),
    )


def test_an_empty_list_stands_for_an_empty_mask():
    assert read([np.eye(2), [], np.ones((1, 2))]) == ([[1, 0], [0, 1], [1, 1]], (0, 1))


def test_only_empty_masks():
    mask, classes = read_candidates([np.zeros((0, 3))], np.array([0]))
    assert mask.shape == (0, 3)
    assert classes == (0, 1, 2)


def test_the_mask_given_is_not_shared():
    given_mask = np.ones((2, 2), dtype=bool)
    mask, _ = read_candidates([given_mask], np.array([2]))
    mask[:] = False
    assert given_mask.all()


def test_a_mask_of_another_width_is_refused():
    y = [np.ones((2, 3)), np.zeros((0, 3)), np.ones((1, 2))]
    assert refused(read_candidates, y, LENGTHS) == (
        "sentence 2 of y: expected a mask of 3 columns, got an array of shape (1, 2)."
    )
    assert "a mask of 2 columns" in refused(read_candidates, y, LENGTHS, ("A", "B"))


@pytest.mark.parametrize("odd", [-1, -0.5, np.nan, np.inf])
def test_weights_that_are_negative_or_not_finite_are_refused(odd: float):
    y = [np.eye(2), [], np.array([[odd, 1]])]
    message = refused(read_candidates, y, LENGTHS)
    assert message.startswith("sentence 2 of y: a mask holds only 0/1 or booleans, and")


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
    message = refused(read_candidates, [[None, None], [], [None]], LENGTHS)
    assert message == "y holds no label at all; give labels= or some labels."


@pytest.mark.parametrize("odd", [[1.0], [1.0, -1.0], [np.nan, 1.0], [0, 0], ["a", "b"]])
def test_weights_of_sentences_are_checked(odd: list[Any]):
    assert refused(read_sample_weight, odd, 2).startswith("sample_weight ")
    assert read_sample_weight(None, 2) is None
    assert read_sample_weight([1, 2], 2).tolist() == [1.0, 2.0]


def test_an_array_of_strings_is_no_mask():
    y = [np.array([["A", "B"], ["A", "C"]]), [], np.array([["A", "B"]])]
    assert "a mask holds only 0/1" in refused(read_candidates, y, LENGTHS)


def test_an_empty_row_of_a_mask_is_refused():
    y = [np.array([[1, 0], [0, 0]]), [], np.array([[0, 1]])]
    message = refused(read_candidates, y, LENGTHS)
    assert message.startswith("sentence 0, token 1: the candidate set is empty.")


def test_masks_and_sets_do_not_mix():
    y = [np.eye(2), [], [{"A"}]]
    assert refused(read_candidates, y, LENGTHS) == (
        "sentence 2 of y is a list where others are masks; give every sentence as a "
        "mask [T, L]."
    )
    ragged = [np.eye(2), [], [["A"]]]
    assert "give every sentence as a mask" in refused(read_candidates, ragged, LENGTHS)


# Gold labels -----------------------------------------------------------------------


def test_gold_labels_and_singletons():
    y = [["A", {"B"}], (), np.array(["C"]), [frozenset([3]), np.int64(4)]]
    gold = read_gold(y)
    assert gold == [["A", "B"], [], ["C"], [3, 4]]
    assert type(gold[3][1]) is int


@pytest.mark.parametrize("y", ["AB", None, {"A"}, {"A": 1}])
def test_gold_must_be_a_list(y: Any):
    assert refused(read_gold, y).startswith("y must be a list of sentences of gold")


@pytest.mark.parametrize("sentence", ["AB", None, {"A"}, 3])
def test_a_gold_sentence_must_be_a_list(sentence: Any):
    message = refused(read_gold, [["A"], sentence])
    assert message == (
        f"sentence 1 of y must be a list of gold labels; got {sentence!r}."
    )


@pytest.mark.parametrize("entry", [{"A", "B"}, set(), None, ["A"], True])
def test_ambiguous_tokens_cannot_be_scored_with(entry: Any):
    message = refused(read_gold, [["A"], ["A", entry]])
    assert message.startswith("sentence 1, token 1: expected one gold label to score")


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
