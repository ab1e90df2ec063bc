"""``tagsift fit`` with engines: the same models, and what cannot be done."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tagsift as package
from tagsift import write
from tagsift.data import bundled, corrupt


@pytest.fixture
def train(tmp_path):
    partial = corrupt(bundled()[:40], cl=2, p=0.3, random_state=0)
    write(partial, tmp_path / "train.tsv", gold=False)
    return tmp_path / "train.tsv"


def test_out_of_core_is_the_model_of_memory(tagsift, train, tmp_path):
    fit = ["fit", str(train), "-m", "partial-crf", "-q", "--min-count", "2", "-o"]
    steps, folder = tmp_path / "steps", tmp_path / "shards"
    large = ["--out-of-core", str(folder), "--checkpoint", str(steps)]
    tagsift(*fit, str(tmp_path / "a"))
    told = tagsift(*fit, str(tmp_path / "b"), *large, "--json")
    facts = told.json
    one, other = package.load(tmp_path / "a"), package.load(tmp_path / "b")
    assert facts["features"] == one.n_features_in_ == other.n_features_in_
    assert facts["bytes"] == (tmp_path / "b").stat().st_size
    assert not steps.exists()
    assert list(folder.iterdir()) == []
    np.testing.assert_allclose(
        one.weights_.emissions, other.weights_.emissions, atol=1e-3
    )
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-6)


def test_every_worker_has_a_piece(tagsift, train, tmp_path, monkeypatch):
    engine = package.engines.LocalEngine(n_shards=3)
    monkeypatch.setattr("tagsift.cli._scaling.engine_of", lambda _: engine)
    fit = ["fit", str(train), "-m", "partial-crf", "-o", str(tmp_path / "m")]
    told = tagsift(*fit, "--out-of-core", str(tmp_path / "shards"))
    assert "train.tsv: 3 pieces" in told.err


@pytest.mark.parametrize("method", ["partial-crf", "chain-gp"])
def test_the_size_of_the_model_is_said_before_the_fit(tagsift, train, tmp_path, method):
    out = tmp_path / "m"
    for least in ("1", "3"):
        told = tagsift("fit", train, "-m", method, "--min-count", least, "-o", out)
        said = re.search(r"a model file of about ([0-9.]+) MB", told.err)
        size = float(re.search(r"m: ([0-9.]+) MB", told.out)[1])
        assert float(said[1]) == pytest.approx(size, rel=0.1, abs=0.06)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--workers", "2"], "belong to an engine"),
        (["--out-of-core", "x", "--workers", "2"], "--workers belongs to --engine"),
        (["--out-of-core", "x", "--engine", "ray"], "give one of them"),
        (["--out-of-core", "x", "--votes", "2"], "read column files of candidates"),
        (["--out-of-core", "x", "--gold"], "are not compared"),
        (["--out-of-core", "x", "-m", "clpl"], "CLPL works in memory"),
        (["--out-of-core", "train.tsv"], "cannot write a shard of train.tsv"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    tagsift, train, monkeypatch, options, sentence
):
    monkeypatch.chdir(train.parent)
    told = tagsift("fit", train, "-q", "-o", "m", *options)
    assert told.status == 2
    assert sentence in told.err
    assert told.err.count("\n") == 1
    assert not (train.parent / "m").exists()
