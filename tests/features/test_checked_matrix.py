"""Features that no method can use are refused by place; the others get one form."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tagsift.baselines import PartialCRF
from tagsift.errors import InputError
from tagsift.features import FeatureMatrix, checked

OFFSETS = np.array([0, 1, 3])


def matrix(block, offsets=OFFSETS) -> FeatureMatrix:
    return FeatureMatrix(("own",), (block,), offsets)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.coo_matrix])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e160, -1e31])
def test_what_is_no_number_is_named_by_its_place(kind, value):
    block = np.ones((3, 4))
    block[2, 3] = value
    with pytest.raises(InputError, match="sentence 1, token 1: feature 3 of 'own' is"):
        checked(matrix(kind(block)))


@pytest.mark.parametrize("kind", [object, complex, "U3"])
def test_blocks_must_hold_numbers(kind):
    with pytest.raises(InputError, match="must be a matrix of numbers"):
        checked(matrix(np.ones((3, 2)).astype(kind)))


def test_sparse_rows_get_canonical_form():
    rows = sp.csr_matrix(np.eye(3) + 1)
    dense = rows.toarray()
    assert rows.has_canonical_format
    rows.indices = rows.indices.reshape(3, 3)[:, ::-1].reshape(-1).copy()
    rows.data = rows.data.reshape(3, 3)[:, ::-1].reshape(-1).copy()
    (found,) = checked(matrix(rows)).blocks
    assert found.has_sorted_indices and found.has_canonical_format
    np.testing.assert_array_equal(found.toarray(), dense)
    (row,) = checked(matrix(found)).blocks
    assert np.shares_memory(row.data, found.data)  # nothing to mend, nothing copied


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [("indices", 0, 10**6), ("indices", 1, -1), ("indptr", 1, -1), ("indptr", 3, 99)],
)
def test_damaged_sparse_rows_are_refused(name, place, value):
    rows = sp.csr_matrix(np.eye(3))
    getattr(rows, name)[place] = value
    with pytest.raises(InputError, match="sparse features 'own' are damaged"):
        checked(matrix(rows))


@pytest.mark.parametrize("offsets", [[1, 2, 3], [0, 4, 3], [0.0, 1.0, 3.0]])
def test_sentences_follow_each_other(offsets):
    with pytest.raises(InputError, match="whole numbers that rise from 0"):
        checked(matrix(np.ones((3, 1)), np.array(offsets)))


def test_estimators_look_at_what_they_are_given():
    X = matrix(np.array([[0.0], [1.0], [1e200]]))
    with pytest.raises(InputError, match="sentence 1, token 1"):
        PartialCRF().fit(X, [["A"], ["A", "B"]])
    model = PartialCRF().fit(matrix(np.ones((3, 1))), [["A"], ["A", "B"]])
    with pytest.raises(InputError, match="sentence 1, token 1"):
        model.predict(X)
