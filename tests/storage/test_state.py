"""Declared state: what is written comes back, what does not fit is refused."""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.sparse as sp

from tagsift.errors import ModelFileError
from tagsift.storage.state import (
    Item,
    Saved,
    array,
    by_name,
    flag,
    keyed,
    listed,
    matrix,
    number,
    part,
    read_state,
    several,
    texts,
    training_parts,
    whole,
    word,
    write_state,
)


@dataclass(frozen=True)
class Line:
    weights: Any
    bias: float

    saved: ClassVar[Saved] = {"weights": array("P"), "bias": number()}


def again(item: Item, value: Any, **sizes: int) -> Any:
    meta, arrays = write_state({"x_": item}, SimpleNamespace(x_=value))
    return read_state({"x_": item}, json.loads(json.dumps(meta)), arrays, sizes)["x_"]


SHARED = np.arange(2.0)


@pytest.mark.parametrize(
    ("item", "value"),
    [
        (number(), 0.1),
        (number(optional=True), None),
        (whole(), 3),
        (word("a", "b"), "b"),
        (flag(), True),
        (texts(), ("é", "\ud800", "")),
        (texts(), ("O", "naïve\nB-ÖRT\t字" * 50)),
        (several(number(), whole()), (0.5, 2)),
        (by_name(number()), {"b": 1.0, "a": 2.0}),
        (keyed(a=number(), b=word()), {"a": 1.0, "b": "x"}),
    ],
    ids=lambda entry: type(entry).__name__,
)
def test_values_come_back(item: Item, value: Any):
    assert again(item, value) == value


def test_arrays_and_parts_come_back():
    np.testing.assert_array_equal(again(array("A B"), np.eye(2)), np.eye(2))
    line = again(part(Line), Line(np.arange(3.0), 1.5))
    assert line.bias == 1.5
    np.testing.assert_array_equal(line.weights, np.arange(3.0))
    found = again(listed("K", array("P")), [SHARED, SHARED + 1, SHARED])
    assert found[0] is found[2]
    np.testing.assert_array_equal(found[1], SHARED + 1)
    lines = {"a": Line(np.zeros(2), 0.0), "b": Line(np.zeros(3), 0.0)}
    assert len(again(by_name(part(Line)), lines)["b"].weights) == 3


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_sparse_matrices_come_back(rows: int):
    made = sp.random(rows, 4, density=0.4, format="csr", random_state=rows)
    found = again(matrix("N D"), made, D=4)
    assert found.shape == made.shape
    assert (found != made).nnz == 0
    np.testing.assert_array_equal(
        again(matrix("N D"), made.toarray(), D=4), made.toarray()
    )


def test_unsorted_and_doubled_entries_are_put_in_order():
    odd = sp.csr_matrix(
        (np.ones(4), np.array([2, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 3)
    )
    found = again(matrix("N D"), odd)
    np.testing.assert_array_equal(found.toarray(), odd.toarray())
    assert found.has_canonical_format
    assert not odd.has_sorted_indices  # the model is left as it was


@pytest.mark.parametrize(
    ("item", "value", "said"),
    [
        (array("D L"), np.zeros((3, 2)), r"shape \[D, L\] with D = 2, L = 2"),
        (array("D+1"), np.zeros(2), r"shape \[D\+1\]"),
        (array("D"), np.zeros(2, dtype=int), "kind float, found int64"),
        (array("D", "int"), np.zeros(2), "kind int"),
        (array("D"), np.array([1.0, np.nan]), "finite"),
        (array("D"), np.array([1.0, 1e200]), "finite"),
        (array("D", infinite=-np.inf), np.array([1.0, np.inf]), "finite"),
        (array("D", least=0), np.array([1.0, -0.5]), "at least 0, found -0.5"),
        (array("D", most=0), np.array([-1.0, 0.5]), "at most 0, found 0.5"),
        (array("D", "int", below="L"), np.array([0, 2]), "below 2, found 2"),
        (array("D", sums=1), np.array([0.5, 0.4]), "must sum to 1"),
        (array("D D", triangular=True), np.diag([1.0, 0.0]), "positive diagonal"),
        (number(least=0), -1.0, "at least 0"),
        (number(above=0), 0.0, "above 0"),
        (whole(most=5), 6, "at most 5"),
        (whole(), 10**400, "at most 9.0072e"),
        (number(), 10**400, "at most 1e"),
        (word("a"), "b", "one of a"),
        (listed("L", array("D")), [np.zeros(2)], r"shape \[L\]"),
        (texts(), ("a", "a"), "there twice"),
    ],
    ids=lambda entry: type(entry).__name__ if not isinstance(entry, str) else entry,
)
def test_what_does_not_fit_is_refused(item: Item, value: Any, said: str):
    with pytest.raises(ModelFileError, match=said) as caught:
        again(item, value, D=2, L=2)
    assert str(caught.value).startswith("'x'")


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("indices", np.array([0, 3, 1])),
        ("indices", np.array([0, -1, 1])),
        ("indices", np.array([1, 0, 1])),
        ("indices", np.array([0, 0, 1])),
        ("indices", np.array([0, 1])),
        ("indptr", np.array([0, 3, 2])),
        ("indptr", np.array([0, 2, 4])),
        ("indptr", np.array([1, 2, 3])),
        ("indptr", np.array([0, 2])),
        ("indptr", np.array([0.0, 2.0, 3.0])),
        ("data", np.array([1.0, np.nan, 1.0])),
    ],
)
def test_a_sparse_matrix_is_checked_whole(name: str, wrong: np.ndarray):
    made = sp.csr_matrix(np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]))
    table = {"x_": matrix("N D")}
    meta, arrays = write_state(table, SimpleNamespace(x_=made))
    read_state(table, meta, arrays, {"D": 3})
    with pytest.raises(ModelFileError, match=f"'x/{name}'"):
        read_state(table, meta, arrays | {f"x/{name}": wrong}, {"D": 3})


@pytest.mark.parametrize("wrong", [None, 3, [2], [2, -1], [2, 2.0], [True, 3], "x"])
def test_the_shape_of_a_sparse_matrix_is_checked(wrong: Any):
    table = {"x_": matrix("N D")}
    meta, arrays = write_state(table, SimpleNamespace(x_=sp.identity(3, format="csr")))
    with pytest.raises(ModelFileError):
        read_state(table, meta | {"x": wrong}, arrays, {"D": 3})


def test_training_parts_are_known_from_the_declaration():
    table = {
        "a_": matrix("N D", training=True),
        "b_": array("D"),
        "c_": by_name(keyed(x=number())),
        "d_": listed("K", matrix("N D", training=True)),
    }
    assert training_parts(table) == ("a", "d/")
