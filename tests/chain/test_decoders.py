"""The four decoders against enumeration of all label sequences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tagsift.baselines._atoms import Reward
from tagsift.chain.layout import ChainLayout
from tagsift.chain.viterbi import non_candidate, viterbi
from tests.reference.label_sequences import sequences


def random_batch(rng, n_sentences=6, max_labels=3, max_length=4):
    """Several short sentences at once, some with full candidate sets, some empty."""
    n_labels = int(rng.integers(1, max_labels + 1))
    lengths = rng.integers(0, max_length + 1, size=n_sentences)
    lengths[0] = max(lengths[0], 1)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    n_tokens = int(offsets[-1])
    U = rng.normal(size=(n_tokens, n_labels))
    T = rng.normal(size=(n_labels, n_labels))
    mask = rng.random((n_tokens, n_labels)) < rng.choice([0.3, 0.6, 0.9])
    mask[np.arange(n_tokens), rng.integers(n_labels, size=n_tokens)] = True
    full = rng.integers(n_sentences)
    mask[offsets[full] : offsets[full + 1]] = True
    return U, T, mask, offsets


def score(U, T, labels):
    total = sum(U[t, label] for t, label in enumerate(labels))
    return total + sum(T[a, b] for a, b in itertools.pairwise(labels))


def inside(mask, labels):
    return all(mask[t, label] for t, label in enumerate(labels))


def pieces(offsets):
    return [
        (s, slice(offsets[s], offsets[s + 1]))
        for s in range(len(offsets) - 1)
        if offsets[s + 1] > offsets[s]
    ]


@pytest.mark.parametrize("seed", range(75))
def test_decoders_equal_enumeration(seed):
    U, T, mask, offsets = random_batch(np.random.default_rng(seed))
    layout = ChainLayout.from_offsets(offsets)
    best = viterbi(U, T, layout)
    kept = viterbi(U, T, layout, mask=mask)
    outside, found = non_candidate(U, T, mask, layout)
    exists = dict(zip(layout.sentences.tolist(), found.tolist(), strict=True))
    for s, rows in pieces(offsets):
        u, m = U[rows], mask[rows]
        every = [y for y, _ in sequences(u, T)]
        top = max(score(u, T, y) for y in every)
        assert score(u, T, best[rows]) == pytest.approx(top)
        top = max(score(u, T, y) for y in every if inside(m, y))
        assert inside(m, kept[rows])
        assert score(u, T, kept[rows]) == pytest.approx(top)
        rest = [score(u, T, y) for y in every if not inside(m, y)]
        assert exists[s] == bool(rest) == (not m.all())
        if rest:
            assert not inside(m, outside[rows])
            assert score(u, T, outside[rows]) == pytest.approx(max(rest))


@pytest.mark.parametrize("seed", range(20))
def test_mean_feature_equals_the_average_over_candidate_sequences(seed):
    rng = np.random.default_rng(200 + seed)
    _, _, mask, offsets = random_batch(rng)
    X = rng.normal(size=(len(mask), 2))
    mean = Reward.of_candidates(mask, offsets)
    P, pairs = mean.unary, mean.pairs
    n_labels = mask.shape[1]
    for s, rows in pieces(offsets):
        U, T = np.zeros(mask[rows].shape), np.zeros((n_labels, n_labels))
        chosen = [y for y, _ in sequences(U, T, mask=mask[rows])]
        emission = np.zeros((n_labels, 2))
        transition = np.zeros((n_labels, n_labels))
        for y in chosen:
            for t, label in enumerate(y):
                emission[label] += X[rows][t] / len(chosen)
            for a, b in itertools.pairwise(y):
                transition[a, b] += 1 / len(chosen)
        np.testing.assert_allclose(P[rows].T @ X[rows], emission, atol=1e-12)
        np.testing.assert_allclose(pairs[s], transition, atol=1e-12)


def test_ties_go_to_the_lowest_label():
    offsets = np.array([0, 3, 3, 5])
    layout = ChainLayout.from_offsets(offsets)
    U, T = np.zeros((5, 3)), np.zeros((3, 3))
    mask = np.ones((5, 3), dtype=bool)
    mask[:, 0] = False
    np.testing.assert_array_equal(viterbi(U, T, layout), 0)
    np.testing.assert_array_equal(viterbi(U, T, layout, mask=mask), 1)
    labels, found = non_candidate(U, T, mask, layout)
    np.testing.assert_array_equal(labels, 0)
    assert found.all()
