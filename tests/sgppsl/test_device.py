"""SGPPSL on PyTorch tensors, without a GPU: fit, file, and a machine without one."""

from __future__ import annotations

import numpy as np
import pytest

import tagsift
from tagsift.data import corrupt, generate
from tagsift.errors import TagsiftWarning
from tagsift.sgppsl import SGPPSL, estimator

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.fixture
def data():
    corpus = generate(24, 0, task="ner")
    return corrupt(corpus[:16], cl=2, p=0.3, random_state=1), corpus[16:]


def fitted(partial, device):
    return SGPPSL(theta=0.02, amplitude=5.0, device=device, max_iter=60).fit(
        partial.rows, partial.candidates
    )


def test_files_from_a_gpu_load_without_one(data, monkeypatch, tmp_path):
    partial, test = data
    ours = fitted(partial, "cpu")
    with monkeypatch.context() as patch:
        patch.setattr(estimator, "use_device", lambda name: torch.device("cpu"))
        model = fitted(partial, "cuda")
    model.save(tmp_path / "model.tagsift")
    with pytest.warns(TagsiftWarning, match="loaded with device='cpu'") as heard:
        again = tagsift.load(tmp_path / "model.tagsift")
    assert len(heard) == 1
    assert heard[0].filename == __file__
    assert again.device == "cpu"
    assert isinstance(again.gp_.beta, np.ndarray)
    assert again.predict(test.rows) == ours.predict(test.rows)
