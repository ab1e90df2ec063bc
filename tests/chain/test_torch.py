"""The chain objective and its minimum on PyTorch tensors: as on NumPy arrays."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tagsift.backend import asarray, is_torch, to_numpy
from tagsift.chain.lbfgs import lbfgs
from tagsift.chain.objective import ChainObjective, TransitionPrior
from tagsift.features import FeatureMatrix

torch = pytest.importorskip("torch")
DEVICE = torch.device("cpu")


def data(seed=0, *, exact=3, kinds=("sparse", "dense"), n_labels=4):
    """Sentences with twin columns and a label that is a candidate nowhere."""
    rng = np.random.default_rng(seed)
    lengths = (5, 1, 0, 7, 3, 3, 2, 6)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    N = int(offsets[-1])
    X = (rng.random((N, 9)) < 0.4).astype(float)
    blocks = {
        "sparse": sp.csr_matrix(np.hstack([X, X[:, :3]])),
        "dense": rng.normal(size=(N, 3)),
    }
    mask = rng.random((N, n_labels)) < 0.5
    mask[np.arange(N), rng.integers(0, n_labels - 1, size=N)] = True
    mask[:, -1] = False
    for s in range(exact):
        rows = slice(offsets[s], offsets[s + 1])
        mask[rows] = np.eye(n_labels, dtype=bool)[mask[rows].argmax(axis=1)]
    features = FeatureMatrix(kinds, tuple(blocks[kind] for kind in kinds), offsets)
    return features, mask


def objectives(features, mask, **settings):
    rng = np.random.default_rng(7)
    n_labels = mask.shape[1]
    prior = TransitionPrior(
        rng.normal(size=(n_labels, n_labels)), rng.normal(size=n_labels), 1.7, 0.6
    )
    return [
        ChainObjective(features, mask, 0.5, prior, device=device, **settings)
        for device in ("cpu", DEVICE)
    ]


@pytest.mark.parametrize("exact", [0, 3, 8])
@pytest.mark.parametrize(
    "kinds", [("sparse", "dense"), ("sparse",), ("dense",)], ids="-".join
)
@pytest.mark.parametrize(("single", "rtol"), [(False, 1e-10), (True, 1e-5)])
def test_value_and_gradient(exact, kinds, single, rtol):
    features, mask = data(1, exact=exact, kinds=kinds)
    numpy, tensors = objectives(features, mask, single=single)
    assert tensors.n_parameters == numpy.n_parameters
    for scale in (0.0, 1.0, 300.0):  # the last one needs the log domain
        w = scale * np.random.default_rng(2).normal(size=numpy.n_parameters)
        value, gradient = numpy(w)
        twin, slope = tensors(asarray(w, device=DEVICE))
        assert isinstance(twin, float)
        assert is_torch(slope)
        assert slope.dtype == torch.float64
        assert twin == pytest.approx(value, rel=rtol)
        np.testing.assert_allclose(
            to_numpy(slope), gradient, rtol=rtol, atol=rtol * np.abs(gradient).max()
        )


def test_single_precision_blocks_meet_double_precision_weights():
    features, mask = data(4)
    numpy, _ = objectives(features, mask)
    w = np.random.default_rng(4).normal(size=numpy.n_parameters)
    weights = numpy.weights(w)
    blocks = (features.blocks[0], features.blocks[1].astype(np.float32))
    single = FeatureMatrix(features.names, blocks, features.offsets)
    np.testing.assert_allclose(
        to_numpy(weights.on(DEVICE).scores(single)), weights.scores(single), rtol=1e-12
    )


def test_the_steps_stay_on_the_device_and_end_at_the_same_place():
    features, mask = data(5)
    ends = []
    for objective in objectives(features, mask):
        w = asarray(np.zeros(objective.n_parameters), device=objective.device)
        for step in lbfgs(objective, w):
            assert is_torch(step.x) == is_torch(step.gradient) == is_torch(w)
            assert isinstance(step.value, float)
            if step.change < 1e-13:
                break
        ends.append(step)
    one, other = ends
    assert other.value == pytest.approx(one.value, rel=1e-12)
    np.testing.assert_allclose(to_numpy(other.x), one.x, atol=1e-5)
