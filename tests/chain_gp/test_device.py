"""ChainGP on PyTorch tensors, without a GPU: as on NumPy arrays."""

from __future__ import annotations

import numpy as np
import pytest

import tagsift
from tagsift.chain_gp import ChainGP, estimator
from tagsift.data import corrupt, generate
from tagsift.errors import TagsiftWarning
from tagsift.features import FeatureMatrix, distances
from tagsift.gp.kernels import InducingColumns, rbf_inputs

torch = pytest.importorskip("torch")
SETTINGS = {"n_inducing": 30, "tol": 1e-9, "max_iter": 2000}


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.fixture
def pretend(monkeypatch):
    """Let ``device="cuda"`` mean PyTorch on the CPU."""

    def use_device(name):
        return torch.device("cpu") if name.startswith("cuda") else name

    monkeypatch.setattr(estimator, "use_device", use_device)


@pytest.fixture(scope="module")
def data():
    corpus = generate(50, 0, task="chunk")
    train, test = corpus[:38], corpus[38:]
    return corrupt(train, cl=3, p=0.3, random_state=1), test


def with_vectors(corpus):
    """Features with a dense group, so that there is an RBF part."""
    words = tagsift.SequenceVectorizer().fit(corpus[0].rows)

    def transform(rows):
        found = words.transform(rows)
        rng = np.random.default_rng(0)
        mixing = rng.normal(size=(found.n_features, 4)) / 3
        vectors = found.stacked() @ mixing
        return FeatureMatrix(
            (*found.names, "vectors"), (*found.blocks, vectors), found.offsets
        )

    return transform(corpus[0].rows), transform(corpus[1].rows)


@pytest.mark.parametrize("settings", [{}, {"decoder": "marginal"}], ids=str)
def test_whole_fits_agree(data, pretend, settings):
    partial, test = data
    X, X_test = with_vectors(data)
    ours, theirs = (
        ChainGP(device=device, scheme="iob2", **SETTINGS, **settings).fit(
            X, partial.candidates
        )
        for device in ("cpu", "cuda")
    )
    assert theirs.log_posterior_ == pytest.approx(ours.log_posterior_, rel=1e-6)
    assert theirs.temperature_ == pytest.approx(ours.temperature_, rel=1e-3)
    assert theirs.transduction_ == ours.transduction_
    assert theirs.predict(X_test) == ours.predict(X_test)
    assert isinstance(theirs.weights_.emissions, np.ndarray)
    np.testing.assert_allclose(
        theirs.weights_.emissions, ours.weights_.emissions, atol=1e-3
    )
    for one, other in zip(
        ours.predict_proba(X_test), theirs.predict_proba(X_test), strict=True
    ):
        assert isinstance(other, np.ndarray)
        np.testing.assert_allclose(other, one, atol=1e-3)
    for one, other in zip(
        ours.predict_latent(X_test), theirs.predict_latent(X_test), strict=True
    ):
        np.testing.assert_allclose(
            np.vstack(other), np.vstack(one), rtol=1e-3, atol=1e-3
        )


@pytest.mark.parametrize("limit", [None, 0], ids=["spread out", "sparse"])
def test_rbf_columns_agree(data, monkeypatch, limit):
    if limit is not None:
        monkeypatch.setattr(distances, "_SPREAD_OUT", limit)
    partial, _ = data
    X, X_test = with_vectors(data)
    mask = np.vstack([partial.label_set.mask(s) for s in partial.candidates])
    for name, matrix in rbf_inputs(X).items():
        part = InducingColumns.choose(matrix, mask, 0.05, 20, 0)
        new = rbf_inputs(X_test)[name]
        found = part.columns(new, torch.device("cpu"))
        assert isinstance(found, np.ndarray)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, part.columns(new), atol=1e-6)


def test_files_from_a_gpu_load_without_one(data, pretend, no_gpu, tmp_path):
    partial, test = data
    kernel = ChainGP(n_inducing=20).fit(partial.rows, partial.candidates).kernel_
    model = ChainGP(kernel=kernel.as_dict(), n_inducing=20, device="cuda").fit(
        partial.rows, partial.candidates
    )
    model.save(tmp_path / "model.tagsift")
    with pytest.warns(TagsiftWarning, match="loaded with device='cpu'") as heard:
        again = tagsift.load(tmp_path / "model.tagsift")
    assert len(heard) == 1
    assert heard[0].filename == __file__
    assert again.device == "cpu"
    assert again.predict(test.rows) == model.predict(test.rows)
    # Where there is one, it is used: arrays of a file can be moved there.
    again.device = "cuda"
    assert again.predict(test.rows) == model.predict(test.rows)
