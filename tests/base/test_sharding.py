"""Fits in shards: the models of one machine, whatever the number of shards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

import tagsift
from tagsift.base.sharding import _cuts
from tagsift.baselines import CRF, PartialCRF
from tagsift.chain.checkpoint import Checkpoint
from tagsift.chain.engine import LocalEngine
from tagsift.chain_gp import ChainGP
from tagsift.data.corpus import Corpus
from tagsift.errors import DataError, InputError
from tagsift.features import FeatureMatrix, SequenceVectorizer
from tests.reference.comparing import all_close

CORPUS = tagsift.data.bundled()[:30]


def candidates(seed=0):
    rng = np.random.default_rng(seed)
    names = list(CORPUS.label_set)
    return [
        [{label} | set(rng.choice(names, 2)) if s % 3 else {label} for label in row]
        for s, row in enumerate(CORPUS.labels)
    ]


def weights(seed=0):
    rng = np.random.default_rng(seed)
    return [rng.random((len(row), 3)) + 0.01 for row in CORPUS.rows]


def vectors(seed=0):
    """Ready features: a sparse and a dense block."""
    words = SequenceVectorizer().fit_transform(CORPUS.rows).stacked()
    dense = np.random.default_rng(seed).normal(size=(words.shape[0], 5))
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in CORPUS.rows])])
    return FeatureMatrix(("words", "vectors"), (words, dense), offsets)


def same(one, other, X=None, *, atol=1e-4):
    X = CORPUS.rows if X is None else X
    assert one.classes_ == other.classes_
    assert one.scheme_ == other.scheme_
    assert one.blocks_ == other.blocks_
    assert one.transduction_ == other.transduction_
    assert one.predict(X) == other.predict(X)
    all_close(one.confidences_, other.confidences_, atol=atol)
    key = "objective_" if hasattr(one, "objective_") else "log_posterior_"
    assert getattr(one, key) == pytest.approx(getattr(other, key), rel=1e-6)


@pytest.mark.parametrize(("n_shards", "on_disk"), [(1, False), (2, True), (5, False)])
def test_a_partial_crf_is_that_of_one_machine(n_shards, on_disk, tmp_path):
    y = candidates()
    folder = tmp_path / "shards" if on_disk else None
    engine = LocalEngine(n_shards, folder)
    local = PartialCRF(bans=True).fit(CORPUS.rows, y)
    sharded = PartialCRF(bans=True, engine=engine).fit(CORPUS.rows, y)
    same(local, sharded)
    assert local.n_iter_ == sharded.n_iter_
    again = PartialCRF(bans=True, engine=engine).fit(CORPUS.rows, y)
    np.testing.assert_array_equal(sharded.weights_.emissions, again.weights_.emissions)


@pytest.mark.parametrize(
    "given", ["corpus", "weights", "sample_weight", "min_count", "ready"]
)
def test_other_input(given):
    X, y, more, settings = CORPUS.rows, candidates(), None, {}
    if given == "weights":
        y, settings = weights(), {"tol": 1e-9}  # a flat valley: rounding takes a part
    elif given == "corpus":
        X, y = Corpus.from_lists(X, y), None
    elif given == "sample_weight":
        more = np.random.default_rng(1).random(len(y))
    elif given == "min_count":
        settings = {"features": SequenceVectorizer(min_count=3)}
    else:
        X = vectors()
    models = [
        PartialCRF(**settings, engine=engine).fit(X, y, more)
        for engine in (None, LocalEngine(3))
    ]
    X = X.rows if given == "corpus" else X
    same(*models, X, atol=1e-2 if given == "weights" else 1e-4)


@pytest.mark.parametrize("soft", [False, True])
def test_corpora_in_chunks_are_the_whole(soft, tmp_path):
    names = CORPUS.label_set.names
    whole = Corpus.from_lists(CORPUS.rows, candidates(), label_set=names)
    if soft:
        table = np.where(whole.members, 1.0, 0.2)[whole.candidate_codes]  # [N, L]
        whole = replace(whole, weights=table)
    chunks = [whole[first : first + 7] for first in range(0, len(whole), 7)]
    one = PartialCRF(tol=1e-9).fit(whole)
    for folder in (None, tmp_path):
        engine = LocalEngine(folder=folder)
        other = PartialCRF(tol=1e-9, engine=engine).fit(iter(chunks))
        assert (other.classes_, other.scheme_) == (one.classes_, one.scheme_)
        assert other.objective_ == pytest.approx(one.objective_, rel=1e-6)
        assert other.predict(whole.rows) == one.predict(whole.rows)
        assert not hasattr(other, "transduction_")
    with pytest.raises(InputError, match="found 2 of these; read one file in chunks"):
        PartialCRF(engine=engine).fit([*chunks, chunks[0].with_scheme("plain")])
    for nothing in ([], [["a", "dog"]]):
        with pytest.raises(InputError, match="expected corpora"):
            PartialCRF(engine=engine).fit(nothing)


@pytest.mark.parametrize("ready", [False, True])
def test_chain_gp_has_the_same_kernel_temperature_and_spread(ready):
    X, y = vectors() if ready else CORPUS.rows, candidates()
    one, other = (
        ChainGP(n_inducing=20, tol=1e-7, engine=engine).fit(X, y)
        for engine in (None, LocalEngine(3))
    )
    same(one, other, X, atol=2e-3 if ready else 1e-4)  # vectors are in single precision
    assert one.kernel_ == other.kernel_
    assert one.temperature_ == pytest.approx(other.temperature_, rel=1e-4)
    assert one.span_bonus_ == pytest.approx(other.span_bonus_, rel=1e-4)
    np.testing.assert_allclose(
        one.spread_.precision, other.spread_.precision, rtol=1e-2
    )


def test_exact_labels_only():
    one, other = (
        CRF(engine=engine).fit(CORPUS.rows, CORPUS.labels)
        for engine in (None, LocalEngine(2))
    )
    same(one, other)
    with pytest.raises(InputError, match="needs exact labels; sentence 1, token 0 has"):
        CRF(engine=LocalEngine(2)).fit(CORPUS.rows, candidates())


def test_a_killed_fit_goes_on_and_another_is_refused(tmp_path, monkeypatch):
    y, kept = candidates(), Checkpoint(tmp_path / "steps", every=5)
    engine = LocalEngine(2, checkpoint=kept)
    whole = PartialCRF(engine=LocalEngine(2)).fit(CORPUS.rows, y)
    write, calls = Checkpoint.write, []

    def killed(self, step):
        write(self, step)
        calls.append(step.n_iter)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "write", killed)
        with pytest.raises(KeyboardInterrupt):
            PartialCRF(engine=engine).fit(CORPUS.rows, y)
    assert calls == [5, 10]
    again = PartialCRF(engine=engine).fit(CORPUS.rows, y)
    np.testing.assert_array_equal(whole.weights_.emissions, again.weights_.emissions)
    with pytest.raises(DataError, match="other data or settings"):
        PartialCRF(engine=engine, l2=2.0).fit(CORPUS.rows, y)


def test_a_model_file_holds_no_engine(tmp_path):
    model = PartialCRF(engine=LocalEngine(2)).fit(CORPUS.rows, candidates())
    assert clone(model).engine == LocalEngine(2)
    model.save(tmp_path / "model.tagsift")
    loaded = tagsift.load(tmp_path / "model.tagsift")
    assert loaded.engine is None
    assert loaded.predict(CORPUS.rows) == model.predict(CORPUS.rows)


def test_what_an_engine_cannot_do_is_one_sentence():
    X, y, engine = CORPUS.rows, candidates(), LocalEngine(2)

    class Own:
        def fit(self, X):
            return self

        def transform(self, X):
            return [np.ones((len(row), 1)) for row in X]

    with pytest.raises(InputError, match="counted part by part"):
        PartialCRF(features=Own(), engine=engine).fit(X, y)
    with pytest.raises(InputError, match="tune=True compares fits"):
        PartialCRF(tune=True, engine=engine).fit(X, y)
    with pytest.raises(InputError, match="sentence 1: X has"):
        PartialCRF(engine=engine).fit(X, [y[0], y[1][:-1], *y[2:]])
    with pytest.raises(InputError, match="X has 2 sentences and no token"):
        PartialCRF(engine=engine, labels=["A"]).fit([[], []], [[], []])
    with pytest.raises(InputError, match="n_shards must be at least 1"):
        LocalEngine(0)


@pytest.mark.parametrize("n_shards", [1, 2, 3, 50])
def test_cuts_leave_no_shard_without_a_token(n_shards):
    lengths = np.array([0, 3, 0, 0, 5, 1, 0, 40, 2, 2, 0])
    bounds = _cuts(lengths, n_shards)
    assert bounds[0] == 0
    assert bounds[-1] == len(lengths)
    assert (np.diff(bounds) > 0).all()
    assert all(part.sum() for part in np.split(lengths, bounds[1:-1]))
    assert len(bounds) - 1 <= n_shards
