"""The tilt solves its equation at any variance, and no other tilt is better."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp, softmax, wrightomega

from tagsift.sgppsl.expectations import best_tilt, wright_omega
from tests.tensors import needs_torch, torch


def value(a, mu, v):
    return 0.5 * (a * a * v).sum(1) + logsumexp(mu + 0.5 * (1 - 2 * a) * v, axis=1)


def test_wright_omega_equals_scipy():
    x = np.concatenate([np.linspace(-300, 50, 1501), np.geomspace(1, 1e6, 300)])
    np.testing.assert_allclose(wright_omega(x), wrightomega(x), rtol=1e-13)


@pytest.mark.parametrize("scale", [0.0, 1e-14, 1e-3, 1.0, 20.0, 1e3, 1e6])
@pytest.mark.parametrize("n_labels", [1, 2, 20])
def test_the_tilt_is_the_softmax_inside_the_bound(scale, n_labels):
    rng = np.random.default_rng(0)
    mu = 0.5 * np.sqrt(scale) * rng.normal(size=(50, n_labels))
    v = scale * rng.uniform(0.02, 1.0, size=(50, n_labels))
    a = best_tilt(mu + 0.5 * v, v)
    np.testing.assert_allclose(a, softmax(mu + 0.5 * v - a * v, axis=1), atol=1e-9)
    np.testing.assert_allclose(a.sum(axis=1), 1.0)


@pytest.mark.parametrize("scale", [1.0, 20.0, 400.0])
def test_no_other_tilt_is_better(scale):
    rng = np.random.default_rng(1)
    mu = np.sqrt(scale) * rng.normal(size=(40, 4))
    v = scale * rng.uniform(0.02, 1.0, size=(40, 4))
    best = value(best_tilt(mu + 0.5 * v, v), mu, v)
    assert (best <= value(0.0 * mu, mu, v) + 1e-9).all()  # Jensen
    for _ in range(20):
        other = best_tilt(mu + 0.5 * v, v) + 0.05 * rng.normal(size=mu.shape)
        assert (best <= value(other, mu, v) + 1e-9).all()


@needs_torch
def test_torch_agrees():
    rng = np.random.default_rng(2)
    mu, v = rng.normal(size=(6, 3)), 30 * rng.random((6, 3))
    found = best_tilt(torch.as_tensor(mu), torch.as_tensor(v))
    np.testing.assert_allclose(found.numpy(), best_tilt(mu, v), rtol=1e-10)
