from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tagsift.errors import InputError
from tagsift.features import FeatureMatrix

SPARSE = sp.csr_matrix(np.eye(4, 3))
DENSE = np.arange(8.0).reshape(4, 2)
MATRIX = FeatureMatrix(("a", "b"), (SPARSE, DENSE), np.array([0, 1, 1, 4]))


def test_blocks():
    assert MATRIX.block("b") is DENSE
    assert MATRIX.sparse.names == ("a",)
    assert MATRIX.dense.names == ("b",)
    assert MATRIX.dense.dense.sparse is None
    both = np.hstack([SPARSE.toarray(), DENSE])
    np.testing.assert_array_equal(MATRIX.stacked().toarray(), both)
    assert isinstance(MATRIX.dense.stacked(), np.ndarray)


def test_take_sequences():
    taken = MATRIX.take_sequences([2, 0, 1, 2])
    assert taken.offsets.tolist() == [0, 3, 4, 4, 7]
    rows = [1, 2, 3, 0, 1, 2, 3]
    np.testing.assert_array_equal(taken.block("b"), DENSE[rows])
    np.testing.assert_array_equal(taken.block("a").toarray(), SPARSE.toarray()[rows])
    assert MATRIX.take_sequences([]).n_tokens == 0


def test_refused():
    with pytest.raises(InputError, match="block 'a' has 4 rows, .* 3 tokens"):
        FeatureMatrix(("a",), (DENSE,), np.array([0, 3]))
    with pytest.raises(InputError, match="one name per block"):
        FeatureMatrix(("a",), (DENSE, DENSE), np.array([0, 4]))
