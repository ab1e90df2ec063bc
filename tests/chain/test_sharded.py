"""The objective as a sum over shards: the same numbers as on one machine."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tagsift.chain.engine import LocalEngine
from tagsift.chain.lbfgs import minimise
from tagsift.chain.linear_chain import LinearChain
from tagsift.chain.objective import ChainObjective, TransitionPrior
from tagsift.chain.sharded import ChainData, ShardedObjective
from tagsift.features import FeatureMatrix
from tagsift.features.compact import CompactRows, compact
from tagsift.features.packed import PackedFeatures

L = 4
PRIOR = TransitionPrior(np.eye(L), np.arange(L) / 9, 1.7, 0.6)


def corpus(seed=0, kinds=("words", "vectors", "more")):
    """Sentences with twin and empty columns, and a label that is no candidate."""
    rng = np.random.default_rng(seed)
    lengths = (5, 1, 0, 7, 3, 3, 2, 6, 4)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    N = int(offsets[-1])
    X = (rng.random((N, 9)) < 0.4).astype(float)
    blocks = {
        "words": sp.csr_matrix(np.hstack([X, X[:, :3], np.zeros((N, 1))])),
        "vectors": rng.normal(size=(N, 3)),
        "more": sp.csr_matrix(0.5 * X[:, ::-1]),
        "numbers": sp.csr_matrix(X[:, :4] * rng.integers(1, 4, size=(N, 1))),
    }
    evidence = rng.normal(size=(N, L))
    evidence[rng.random((N, L)) < 0.5] = -np.inf
    evidence[np.arange(N), rng.integers(L - 1, size=N)] = 0.0
    evidence[:6] = np.where(np.eye(L)[rng.integers(L - 1, size=6)], 0.0, -np.inf)
    evidence[:, -1] = -np.inf
    features = FeatureMatrix(kinds, tuple(blocks[kind] for kind in kinds), offsets)
    return features, evidence, rng


def cut(features, evidence, n_shards, weights=None):
    pieces = []
    for chosen in np.array_split(np.arange(features.n_sequences), n_shards):
        part = PackedFeatures.of(features.take_sequences(chosen))
        own = None if weights is None else weights[chosen]
        pieces.append(ChainData(part, evidence[features.rows_of(chosen)], own))
    return pieces


def bans():
    between = np.ones((L, L), dtype=bool)
    between[0, 1] = False
    first, last = np.ones((2, L), dtype=bool)
    first[2] = False
    return between, first, last


@pytest.mark.parametrize("kinds", [("words",), ("vectors",), ("numbers", "vectors")])
@pytest.mark.parametrize("n_shards", [1, 2, 4])
@pytest.mark.parametrize("banned", [False, True])
def test_value_and_gradient_are_those_of_one_machine(kinds, n_shards, banned, tmp_path):
    features, evidence, rng = corpus(1, kinds)
    weights, allowed = rng.random(features.n_sequences), bans() if banned else None
    one = ChainObjective(
        features, evidence, 0.7, PRIOR, allowed=allowed, sample_weight=weights
    )
    chain = one.weights(rng.normal(size=one.n_parameters))
    value, gradient = one(one.vector(chain))
    for folder in (None, tmp_path):
        shards = LocalEngine(folder=folder).scatter(
            cut(features, evidence, n_shards, weights)
        )
        many = ShardedObjective(shards, 0.7, PRIOR, allowed=allowed)
        assert many.n_parameters == one.n_parameters
        found, slope = many(many.vector(chain))
        assert found == pytest.approx(value, rel=1e-12)
        slopes = [each.weights(g) for each, g in ((one, gradient), (many, slope))]
        for name in ("emissions", "transitions", "start"):
            expected, got = (getattr(each, name) for each in slopes)
            np.testing.assert_allclose(got, expected, atol=1e-10)


def test_shards_on_disk_are_those_in_memory_to_the_bit(tmp_path):
    features, evidence, rng = corpus(2)
    objectives = [
        ShardedObjective(
            LocalEngine(folder=folder).scatter(cut(features, evidence, 3)), 0.5
        )
        for folder in (None, tmp_path)
    ]
    w = rng.normal(size=objectives[0].n_parameters)
    (value, gradient), (other, slope) = (each(w) for each in objectives)
    assert value == other
    np.testing.assert_array_equal(gradient, slope)
    assert objectives[0].key == objectives[1].key


def test_labels_confidences_and_curvature():
    features, evidence, rng = corpus(3)
    shards = LocalEngine().scatter(cut(features, evidence, 3))
    objective = ShardedObjective(shards, 0.5, PRIOR)
    chain = objective.weights(rng.normal(size=objective.n_parameters))
    labels, marginals = chain.recover(features, evidence)
    found, confidences = objective.recover(chain)
    np.testing.assert_array_equal(found, labels)
    np.testing.assert_allclose(confidences, marginals, atol=1e-12)
    free = chain.marginals(features)
    slow = np.array(
        [
            [(x**2 * free[:, y] * (1 - free[:, y])).sum() for y in range(L)]
            for x in np.asarray(features.stacked().todense()).T
        ]
    )
    np.testing.assert_allclose(chain.curvature(features), slow, atol=1e-12)
    np.testing.assert_allclose(objective.curvature(chain), slow, atol=1e-12)


def test_columns_that_only_look_alike_in_one_shard_stay_apart():
    offsets = np.array([0, 2, 4])
    X = np.array([[1.0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 0]])
    features = FeatureMatrix(("x",), (sp.csr_matrix(X),), offsets)
    evidence = np.where(np.eye(2)[[0, 1, 1, 0]], 0.0, -np.inf)
    shards = LocalEngine().scatter(cut(features, evidence, 2))
    assert ShardedObjective(shards, 1.0).parameters.groups.n_groups == 3


@pytest.mark.parametrize("n_shards", [1, 3])
def test_the_fit_is_that_of_one_machine(n_shards):
    features, evidence, _ = corpus(4)
    one = ChainObjective(features, evidence, 0.3, PRIOR)
    shards = LocalEngine().scatter(cut(features, evidence, n_shards))
    many = ShardedObjective(shards, 0.3, PRIOR)
    ends = [
        minimise(each, np.zeros(each.n_parameters), max_iter=200, tol=1e-12)
        for each in (one, many)
    ]
    assert ends[0].value == pytest.approx(ends[1].value, rel=1e-9)
    a, b = (each.weights(end.x) for each, end in zip((one, many), ends, strict=True))
    assert isinstance(a, LinearChain)
    np.testing.assert_allclose(a.emissions, b.emissions, atol=1e-4)


def test_the_key_tells_data_and_settings_apart():
    features, evidence, rng = corpus(5)

    def key(evidence=evidence, l2=1.0, n=2, weights=None):
        shards = LocalEngine().scatter(cut(features, evidence, n, weights))
        return ShardedObjective(shards, l2).key

    other = evidence.copy()
    other[7, other[7] > -np.inf] -= 0.1
    weights = rng.random(features.n_sequences)
    keys = {key(), key(other), key(l2=2.0), key(n=3), key(weights=weights)}
    assert len(keys) == 5
    assert key() == key()


def test_compact_rows_multiply_like_the_matrix():
    features, _, rng = corpus(6, ("words", "more", "numbers"))
    for name in ("words", "more"):
        X = features.block(name)
        rows = compact(X)
        assert isinstance(rows, CompactRows)
        E, G = rng.normal(size=(X.shape[1], 3)), rng.normal(size=(X.shape[0], 3))
        np.testing.assert_allclose(rows @ E, X @ E, atol=1e-14)
        np.testing.assert_allclose(rows.T @ G, X.T @ G, atol=1e-14)
        np.testing.assert_array_equal(rows.rows().toarray(), X.toarray())
    assert sp.issparse(compact(features.block("numbers")))


def test_packed_features_open_as_they_were():
    features, _, _ = corpus(7, ("vectors", "words", "numbers"))
    packed = PackedFeatures.of(features)
    chosen = [4, 0, 8]
    pairs = [
        (packed.open(), features),
        (packed.take_sequences(chosen), features.take_sequences(chosen)),
    ]
    for found, expected in pairs:
        assert found.columns == expected.columns
        np.testing.assert_array_equal(found.offsets, expected.offsets)
        for block, other in zip(found.blocks, expected.blocks, strict=True):
            a, b = (x.toarray() if sp.issparse(x) else x for x in (block, other))
            np.testing.assert_array_equal(a, b)


def _numbers(state):
    return {"a": np.arange(state), "empty": np.zeros(0), "b": np.full((3, 2), 0.5)}


def _same(state):
    return state


def test_files_of_shards_are_numbers_alone(tmp_path):
    shards = LocalEngine(folder=tmp_path).scatter([5, 1000])
    shards.then(_numbers)
    for size, found in zip((5, 1000), shards.map(_same), strict=True):
        np.testing.assert_equal(found, _numbers(size))
        assert not found["a"].flags.writeable
    path = min(tmp_path.iterdir())
    path.write_bytes(b"cos\nabort\n(tR." + path.read_bytes()[14:])  # code, as a pickle
    (found,) = shards.map(_same, only=[0])
    assert found["a"].shape == (5,) and found["a"][0] != 0
    np.testing.assert_equal(found["b"], _numbers(5)["b"])
    shards.close()
    assert not list(tmp_path.iterdir())
