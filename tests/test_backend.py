"""The numerics that the array API lacks, on both array libraries."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import linalg, special

from tagsift import backend
from tagsift.errors import (
    InputError,
    MissingExtraError,
    TagsiftWarning,
)
from tests.tensors import needs_torch, torch

LIBRARIES = ["numpy", pytest.param("torch", marks=needs_torch)]


def to_library(x, library):
    """Bring an array to one of the two libraries."""
    return np.asarray(x) if library == "numpy" else torch.as_tensor(np.asarray(x))


@pytest.fixture
def spd():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(12, 12))
    return A @ A.T + 0.1 * np.eye(12)


@needs_torch
def test_namespace_passes_over_none_numbers_and_sparse():
    xp = backend.namespace(None, 1.0, sp.eye_array(3).tocsr(), np.ones(2))
    assert xp.asarray([1.0]).__class__ is np.ndarray
    assert "torch" in backend.namespace(torch.ones(2), None).__name__


@needs_torch
def test_asarray_round_trip_between_libraries():
    x = np.arange(6.0).reshape(2, 3)
    t = backend.asarray(x, like=torch.ones(1))
    assert backend.is_torch(t)
    assert t.dtype == torch.float64
    assert backend.device_of(t) == torch.device("cpu")
    back = backend.asarray(t, like=x)
    assert backend.device_of(back) == "cpu"
    np.testing.assert_array_equal(back, x)
    assert backend.asarray(x) is x
    assert backend.asarray(t, device=torch.device("cpu")) is t
    half = backend.asarray(x, device=torch.device("cpu"), dtype=np.float32)
    assert half.dtype == torch.float32
    assert backend.asarray([1, 2], dtype=np.float32).dtype == np.float32
    np.testing.assert_array_equal(backend.to_numpy(t), x)


@needs_torch
def test_to_numpy_of_what_is_not_a_plain_array():
    X = sp.csr_array(np.eye(2))
    assert backend.to_numpy(X) is X
    assert backend.to_numpy([1.0, 2.0]).tolist() == [1.0, 2.0]
    t = torch.ones(2, requires_grad=True)
    assert backend.to_numpy(t).tolist() == [1.0, 1.0]
    assert not backend.is_torch(X) and not backend.is_torch(None)


@needs_torch
def test_asarray_copies_arrays_torch_cannot_share():
    x = np.arange(6.0).reshape(2, 3)[:, ::-1]
    np.testing.assert_array_equal(
        backend.to_numpy(backend.asarray(x, like=torch.ones(1))), x
    )


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array, np.asarray])
def test_sparse_matmul_equals_dense(library, kind):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(7, 5)) * (rng.random((7, 5)) < 0.4)
    B = rng.normal(size=(5, 3))
    other = to_library(B, library)
    for left in (kind(X), backend.asarray(kind(X), like=other)):
        answer = backend.sparse_matmul(left, other)
        assert backend.is_torch(answer) == (library == "torch")
        np.testing.assert_allclose(backend.to_numpy(answer), X @ B, atol=1e-12)
    mixed = backend.sparse_matmul(np.ones((2, 5), dtype=np.float32), other)
    np.testing.assert_allclose(backend.to_numpy(mixed), np.ones((2, 5)) @ B, atol=1e-12)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("overwrite", [False, True])
def test_cholesky_without_jitter(spd, library, order, overwrite):
    K = to_library(np.array(spd, order=order), library)
    factor, used = backend.cholesky(K, overwrite=overwrite)
    assert used == 0
    np.testing.assert_allclose(
        backend.to_numpy(factor), np.linalg.cholesky(spd), atol=1e-12
    )
    if not overwrite:
        np.testing.assert_array_equal(backend.to_numpy(K), spd)


def test_cholesky_works_in_place_on_request(spd):
    for order in "CF":
        K = np.array(spd, order=order)
        factor, _ = backend.cholesky(K, overwrite=True)
        assert np.shares_memory(factor, K)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_cholesky_adds_the_least_jitter_that_serves(library, order):
    rng = np.random.default_rng(2)
    A = rng.normal(size=(20, 3))
    K = A @ A.T - 2e-8 * np.eye(20)  # rank 3, and slightly indefinite
    mean = K.diagonal().mean()
    given = to_library(np.array(K, order=order), library)
    factor, used = backend.cholesky(given, overwrite=True)
    assert 2e-8 < used <= 10 * 2e-8 + 1e-10 * mean
    assert np.isclose(np.log10(used / mean), round(np.log10(used / mean)))
    L = backend.to_numpy(factor)
    np.testing.assert_allclose(L @ L.T, K + used * np.eye(20), atol=1e-9)
    assert np.array_equal(L, np.tril(L))


@pytest.mark.parametrize("library", LIBRARIES)
def test_cholesky_gives_up_in_one_sentence(library):
    K = to_library(np.diag([1.0, -1.0, 1.0]), library)
    with pytest.raises(InputError, match="3 x 3 matrix is not positive definite"):
        backend.cholesky(K)
    with pytest.raises(InputError, match="not finite"):
        backend.cholesky(to_library(np.full((2, 2), np.nan), library))
    with pytest.raises(InputError, match="square"):
        backend.cholesky(to_library(np.ones((2, 3)), library))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("rows", [4, 5, 23])
def test_inverse_cholesky_by_halves(library, rows, monkeypatch):
    monkeypatch.setattr("tagsift.backend.linalg._HALVED", 4)
    X = np.random.default_rng(rows).normal(size=(rows, 9))
    K = X @ X.T + np.eye(rows)
    found = np.asarray(backend.inverse_cholesky(to_library(K, library)))
    np.testing.assert_allclose(found, np.linalg.inv(np.linalg.cholesky(K)), atol=1e-12)


def test_cholesky_of_nothing():
    factor, used = backend.cholesky(np.empty((0, 0)))
    assert factor.shape == (0, 0)
    assert used == 0


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("trans", [True, False])
@pytest.mark.parametrize("orders", ["CC", "CF", "FC", "FF"])
@pytest.mark.parametrize("shape", [(12,), (12, 1), (12, 4), (12, 0)])
def test_solve_triangular(spd, library, trans, orders, shape):
    # The other triangle holds what must not be read.
    A = np.array(spd, order=orders[0])
    B = np.array(np.random.default_rng(3).normal(size=shape), order=orders[1])
    clean = np.tril(A)
    given = to_library(B, library)
    X = backend.solve_triangular(
        to_library(A if library == "numpy" else clean, library),
        given,
        trans=trans,
    )
    assert tuple(X.shape) == shape
    product = (clean.T if trans else clean) @ backend.to_numpy(X)
    np.testing.assert_allclose(product, B, atol=1e-8)
    np.testing.assert_array_equal(backend.to_numpy(given), B)


def test_solve_triangular_in_place(spd):
    L = np.linalg.cholesky(spd)
    for order in "CF":
        B = np.array(np.ones((12, 3)), order=order)
        X = backend.solve_triangular(L, B, overwrite=True)
        assert np.shares_memory(X, B)


@pytest.mark.parametrize("library", LIBRARIES)
def test_cho_solve(spd, library):
    B = np.random.default_rng(4).normal(size=(12, 3))
    factor, _ = backend.cholesky(to_library(spd, library))
    X = backend.to_numpy(backend.cho_solve(factor, to_library(B, library)))
    np.testing.assert_allclose(X, linalg.solve(spd, B), atol=1e-9)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_logsumexp_and_softmax_equal_scipy(library, axis):
    x = np.random.default_rng(5).normal(size=(4, 6)) * 300
    x[1, 2] = -np.inf
    given = to_library(x, library)
    np.testing.assert_allclose(
        backend.to_numpy(backend.logsumexp(given, axis=axis)),
        special.logsumexp(x, axis=axis),
    )
    np.testing.assert_allclose(
        backend.to_numpy(backend.softmax(given, axis=axis)),
        special.softmax(x, axis=axis),
        atol=1e-15,
    )


@pytest.mark.parametrize("library", LIBRARIES)
def test_log_softmax_parts_are_logsumexp_and_softmax(library):
    x = np.random.default_rng(6).normal(size=(4, 6)) * 300
    x[1, 2] = -np.inf
    given = to_library(x.copy(), library)
    total, shares = backend.log_softmax_parts(given)
    np.testing.assert_array_equal(backend.to_numpy(given), x)  # left as it was
    np.testing.assert_allclose(backend.to_numpy(total), special.logsumexp(x, axis=1))
    np.testing.assert_allclose(
        backend.to_numpy(shares), special.softmax(x, axis=1), atol=1e-15
    )


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exp_inplace_writes_over_what_it_is_given(library, dtype):
    x = np.array([[-np.inf, -1.0], [0.0, 2.0]], dtype=dtype)
    given = to_library(x.copy(), library)
    answer = backend.exp_inplace(given)
    assert answer is given
    assert backend.to_numpy(answer).dtype == dtype
    np.testing.assert_allclose(backend.to_numpy(given), np.exp(x), rtol=1e-6)


@pytest.mark.parametrize("library", LIBRARIES)
def test_rows_of_minus_infinity(library):
    x = to_library(np.array([[-np.inf, -np.inf], [0.0, -np.inf]]), library)
    assert backend.to_numpy(backend.logsumexp(x)).tolist() == [-np.inf, 0.0]
    assert backend.to_numpy(backend.softmax(x)).tolist() == [[0, 0], [1, 0]]


@needs_torch
def test_devices_that_are_not_there(monkeypatch):
    assert backend.use_device("cpu") == "cpu"
    with pytest.raises(InputError, match="'cpu' or 'cuda'; got 'tpu'"):
        backend.use_device("tpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="finds none; use device='cpu'"):
        backend.asarray([1.0], device="cuda")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"install '\.\[gpu\]'"):
        backend.use_device("cuda")


@needs_torch
def test_stored_devices_fall_back_to_the_cpu(monkeypatch):
    assert backend.available_device("cpu") == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert backend.available_device("cuda") == "cuda"
    with pytest.warns(TagsiftWarning, match="fitted with device='cuda:1', which"):
        assert backend.available_device("cuda:1") == "cpu"
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.warns(TagsiftWarning, match="loaded with device='cpu'"):
        assert backend.available_device("cuda") == "cpu"


@needs_torch
def test_device_numbers_are_checked(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert backend.use_device("cuda:0") == torch.device("cuda:0")
    for name in ("cuda:1", "cuda:x"):
        with pytest.raises(InputError, match=r"finds 1 GPU\(s\)"):
            backend.use_device(name)
