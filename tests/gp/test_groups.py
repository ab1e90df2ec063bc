"""The sum of kernels in whitened coordinates."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tagsift.features import FeatureMatrix
from tagsift.gp import kernels
from tagsift.gp.kernels import (
    GroupKernel,
    InducingColumns,
    rbf_inputs,
    scaled_features,
    uncarried_variance,
)


@pytest.fixture
def features() -> FeatureMatrix:
    rng = np.random.default_rng(0)
    sparse = sp.csr_matrix((rng.random((12, 6)) < 0.4).astype(float))
    more = sp.csr_matrix((rng.random((12, 5)) < 0.4).astype(float))
    dense = rng.normal(size=(12, 3))
    return FeatureMatrix(
        ("word", "window", "vectors"), (sparse, more, dense), np.array([0, 5, 12])
    )


@pytest.fixture
def kernel() -> GroupKernel:
    return GroupKernel(
        {"word": 0.5, "window": 2.0, "vectors": 0.7},
        {"sparse": (3.0, 0.1), "vectors": (4.0, 0.3)},
        1.5,
        0.2,
    )


def test_dictionaries_and_back(kernel: GroupKernel):
    assert GroupKernel.from_dict(kernel.as_dict()) == kernel


def test_another_view_hears_less_of_the_words_around():
    kernel = GroupKernel({"word": 6.0, "window": 6.0}, {}, 2.0, 5.0)
    near = kernel.nearer()
    assert near == GroupKernel({"word": 20.0, "window": 2.0}, {}, 2.0, 5.0)
    assert GroupKernel({"word": 6.0}, {}).nearer() is None
    assert GroupKernel(kernel.linear, {"vectors": (4.0, 0.3)}).nearer() is None


def test_rbf_parts(features: FeatureMatrix):
    inputs = rbf_inputs(features)
    assert list(inputs) == ["sparse", "vectors"]
    assert inputs["sparse"].shape == (12, 11)


def test_the_default(features: FeatureMatrix, monkeypatch: pytest.MonkeyPatch):
    kernel = GroupKernel.default(features, 0)
    assert kernel.linear["word"] == kernel.linear["window"] == 1.0
    norm = (features.block("vectors") ** 2).sum(axis=1).mean()
    assert kernel.linear["vectors"] == pytest.approx(10 / norm)
    assert list(kernel.rbf) == ["vectors"]
    assert GroupKernel.default(features, 0, rbf=False).rbf == {}
    banned = GroupKernel.default(features, 0, bans=True)
    assert (banned.transition, kernel.transition) == (2.0, 6.0)
    assert features.sparse is not None
    alone = GroupKernel.default(features.sparse, 0)
    assert (set(alone.linear.values()), alone.rbf) == ({6.0}, {})
    monkeypatch.setattr(kernels, "_TOKENS", 3)
    many = GroupKernel.default(features.sparse, 0)
    assert set(many.linear.values()) == {3.0}  # four times as many tokens


def test_whitened_features_reproduce_the_kernel(
    features: FeatureMatrix, kernel: GroupKernel
):
    """With every token an inducing point, ΦΦᵀ is the sum of kernels."""
    columns, expected = {}, np.zeros((12, 12))
    for name, X in rbf_inputs(features).items():
        amplitude, theta = kernel.rbf[name]
        rows = np.asarray(X.todense()) if sp.issparse(X) else X
        distance = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
        unit = np.exp(-theta * distance)
        expected += amplitude * unit
        part = InducingColumns(X, np.linalg.cholesky(unit + 1e-10 * np.eye(12)), theta)
        columns[name] = part.columns(X)
    for name, block in zip(features.names, features.blocks, strict=True):
        rows = np.asarray(block.todense()) if sp.issparse(block) else block
        expected += kernel.linear[name] * rows @ rows.T
    phi = scaled_features(features, kernel, columns)
    assert phi.names[-2:] == ("rbf:sparse", "rbf:vectors")
    stacked = np.asarray(phi.stacked().todense())
    np.testing.assert_allclose(stacked @ stacked.T, expected, atol=1e-4)


def test_uncarried_variance_is_the_conditional_one(
    features: FeatureMatrix, kernel: GroupKernel
):
    """σ² (1 − k_nZ K_ZZ⁻¹ k_Zn), part by part: none at the inducing points."""
    columns, expected = {}, np.zeros(12)
    for name, X in rbf_inputs(features).items():
        amplitude, theta = kernel.rbf[name]
        rows = np.asarray(X.todense()) if sp.issparse(X) else X
        unit = np.exp(-theta * ((rows[:, None] - rows[None]) ** 2).sum(axis=2))
        K = unit[:4, :4]
        columns[name] = InducingColumns(X[:4], np.linalg.cholesky(K), theta).columns(X)
        for n in range(12):
            k = unit[n, :4]
            expected[n] += amplitude * (1 - k @ np.linalg.solve(K, k))
    rest = uncarried_variance(scaled_features(features, kernel, columns), kernel)
    np.testing.assert_allclose(rest, expected, atol=1e-5)
    np.testing.assert_allclose(rest[:4], 0, atol=1e-5)


def test_columns_do_not_depend_on_portions(
    features: FeatureMatrix, monkeypatch: pytest.MonkeyPatch
):
    X = rbf_inputs(features)["vectors"]
    part = InducingColumns.choose(X, np.full((12, 2), 0.5), 0.3, 4, 0)
    whole = part.columns(X)
    assert whole.dtype == np.float32 and whole.shape == (12, 4)
    monkeypatch.setattr(kernels, "_PORTION", 5)
    np.testing.assert_allclose(part.columns(X), whole, atol=1e-6)
