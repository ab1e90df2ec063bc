from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

from tagsift.errors import InputError
from tagsift.features.inputs import stack_tokens

Token = namedtuple("Token", "word pos")


def test_strings():
    tokens = stack_tokens([["a", "b"], [], ["c"]])
    assert tokens.kind == "columns"
    assert tokens.columns == (["a", "b", "c"],)
    assert tokens.offsets.tolist() == [0, 2, 2, 3]


def test_columns_beyond_those_asked_for_are_left_out():
    X = [[("a", "X", "1")], [("b", "Y", "2")]]
    assert stack_tokens(X, 2).columns == (["a", "b"], ["X", "Y"])
    assert stack_tokens(X, 9).columns == (["a", "b"], ["X", "Y"], ["1", "2"])


def test_other_containers():
    expected = (["a", "b"], ["X", "Y"])
    assert stack_tokens([[Token("a", "X"), Token("b", "Y")]]).columns == expected
    assert stack_tokens([[["a", "X"], ["b", "Y"]]]).columns == expected
    assert stack_tokens([[("a", "X"), ["b", "Y"]]]).columns == expected
    assert stack_tokens([np.array([["a", "X"], ["b", "Y"]])]).columns == expected
    assert stack_tokens((("a", "b"),)).columns == (["a", "b"],)
    assert stack_tokens([np.array(["a", "b"])]).columns == (["a", "b"],)
    assert stack_tokens(iter([{"a": 0, "b": 0}.keys()])).columns == (["a", "b"],)


def test_dicts_and_arrays():
    assert stack_tokens([[{"f": 1}], [{}]]).dicts == [{"f": 1}, {}]
    tokens = stack_tokens([np.ones((2, 3)), np.zeros((0, 3)), np.zeros((1, 3), int)])
    assert tokens.kind == "array"
    assert tokens.array.tolist() == [[1, 1, 1], [1, 1, 1], [0, 0, 0]]
    assert tokens.array.dtype == np.float64
    assert tokens.offsets.tolist() == [0, 2, 2, 3]


@pytest.mark.parametrize("X", [[], [[]], [[], np.zeros((0, 3))]])
def test_nothing(X):
    tokens = stack_tokens(X)
    assert tokens.kind == "empty"
    assert tokens.offsets[-1] == 0
    assert len(tokens.offsets) == len(X) + 1


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        ("a b", "expected a list of sentences, found str"),
        ({"a": 1}, "expected a list of sentences, found dict"),
        (3, "expected a list of sentences, found int"),
        (["a b"], r"sentence 0: expected a list of tokens, found str \('a b'\)"),
        ([["a"], {"f": 1}], "sentence 1: expected a list of tokens, found dict"),
        ([["a"], 3], "sentence 1: expected a list of tokens, found int"),
        ([np.array(1.0)], "sentence 0: .* an array without axes"),
        ([["a", 3]], r"sentence 0, token 1 \(3\): found int after str"),
        ([["a"], ["b", ("c", "X")]], "sentence 1, token 1 .*: found tuple after str"),
        ([[], [3]], r"sentence 1, token 0 \(3\): cannot use a token of type int"),
        ([["a"], [("b", "X")]], "sentence 1 holds tuples .* sentence 0 holds strings"),
        ([[], [("b", "X"), ("c",)]], "sentence 1, token 1 .*: 1 columns where the"),
        (
            [[("b", "X")], [("c",)]],
            "sentence 1 has 1 columns a token where sentence 0",
        ),
        ([[()]], r"sentence 0, token 0 \(\(\)\): a token without columns"),
        ([[("b", 0.5)]], "sentence 0, token 0 .*: column 1 is of type float"),
        ([[("a", "X")], [("b", "X"), (None, "X")]], "sentence 1, token 1 .*: column 0"),
        ([np.ones(3)], "sentence 0: expected an array with the two axes"),
        (
            [np.ones((1, 3)), np.ones((1, 2))],
            "sentence 1 has 2 features a token",
        ),
        ([[], np.array([[0.0], [np.nan]])], "sentence 1, token 1: feature 0 is nan"),
        ([np.ones((1, 3)), ["a"]], "sentence 1 holds strings .* holds an array"),
    ],
)
def test_one_clear_sentence(X, sentence):
    with pytest.raises(InputError, match=sentence) as error:
        stack_tokens(X)
    assert "\n" not in str(error.value)
