"""Scaling: unit sparse rows, standardised dense columns, and the mix of both."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tagsift.errors import InputError
from tagsift.features.matrix import FeatureMatrix
from tagsift.features.scaling import scale_features
from tests.reference.saved_again import saved_again


@pytest.fixture
def binary() -> sp.csr_matrix:
    rng = np.random.default_rng(0)
    dense = (rng.random((30, 12)) < 0.3).astype(float)
    dense[:, 0] = 1.0
    dense[4] = 0.0
    return sp.csr_matrix(dense)


@pytest.fixture
def real() -> np.ndarray:
    values = np.random.default_rng(1).normal(3.0, 5.0, size=(30, 4))
    values[:, 2] = 7.1
    return values


def test_sparse_rows_get_unit_length_and_stay_sparse(binary):
    scaled, _ = scale_features(binary)
    lengths = np.linalg.norm(scaled.toarray(), axis=1)
    expected = np.ones(30)
    expected[4] = 0.0
    np.testing.assert_allclose(lengths, expected)
    assert sp.issparse(scaled)
    assert scaled.nnz == binary.nnz
    assert set(binary.data) == {1.0}, "the input is left as it was"


def test_dense_columns_are_standardised_on_the_training_part(real):
    scaled, scaler = scale_features(real[:20])
    np.testing.assert_allclose(scaled.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(scaled.std(axis=0), [1.0, 1.0, 0.0, 1.0], atol=1e-12)
    new = scaler.transform(real[20:])
    centre, spread = real[:20, 0].mean(), real[:20, 0].std()
    np.testing.assert_allclose(new[:, 0], (real[20:, 0] - centre) / spread)
    np.testing.assert_allclose(new[:, 2], 0.0, atol=1e-12)


def test_mixed_blocks_have_comparable_row_lengths(binary, real):
    mixed = FeatureMatrix(("vector", "word"), (real, binary), np.array([0, 10, 30]))
    scaled, _ = scale_features(mixed)
    assert sp.issparse(scaled)
    dense = scaled.toarray()
    np.testing.assert_allclose(dense[:, :12], scale_features(binary)[0].toarray())
    np.testing.assert_allclose(dense[:, 12:], scale_features(real)[0] / 2.0)


def test_dense_mode_leaves_sparse_columns_alone(binary, real):
    mixed = FeatureMatrix(("vector", "word"), (real, binary), np.array([0, 10, 30]))
    scaled = scale_features(mixed, "dense")[0].toarray()
    np.testing.assert_array_equal(scaled[:, :12], binary.toarray())
    mean_square = binary.sum() / 30
    np.testing.assert_allclose(
        scaled[:, 12:], scale_features(real)[0] * np.sqrt(mean_square / 4)
    )
    assert (scale_features(binary, "dense")[0] != binary).nnz == 0
    np.testing.assert_array_equal(
        scale_features(real, "dense")[0], scale_features(real)[0]
    )


@pytest.mark.parametrize("mode", ["auto", "dense", "standard", "l2", "none"])
def test_state_round_trip(mode, binary, real):
    mixed = FeatureMatrix(("word", "vector"), (binary, real), np.array([0, 10, 30]))
    scaled, scaler = scale_features(mixed, mode)
    again = saved_again(scaler).transform(mixed)
    np.testing.assert_array_equal(scaled.toarray(), again.toarray())


def test_other_modes(binary, real):
    assert (scale_features(binary, "none")[0] != binary).nnz == 0
    np.testing.assert_array_equal(scale_features(real, "none")[0], real)
    np.testing.assert_allclose(
        np.linalg.norm(scale_features(real, "l2")[0], axis=1), 1.0
    )
    scaled = scale_features(binary, "standard")[0].toarray()
    np.testing.assert_allclose(scaled.std(axis=0), 1.0)


def test_errors_name_what_is_wrong(binary):
    _, scaler = scale_features(binary)
    with pytest.raises(InputError, match="12 feature columns but got 5"):
        scaler.transform(np.ones((2, 5)))
    with pytest.raises(InputError, match="must be one of"):
        scale_features(binary, "minmax")
