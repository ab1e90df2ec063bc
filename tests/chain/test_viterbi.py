"""Viterbi against enumeration, ties and bans included."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagsift.chain.layout import ChainLayout
from tagsift.chain.viterbi import max_expected_accuracy, viterbi
from tagsift.errors import InputError
from tests.reference.label_sequences import sequences
from tests.tensors import tensor


def best_path(U, T, start, end, allowed_token, *allowed):
    """Highest score; among equals the lowest last label, then the one before it."""
    every = sequences(U, T, start=start, end=end, mask=allowed_token, allowed=allowed)
    ranked = sorted((-score, labels[::-1]) for labels, score in every)
    return ranked[0][1][::-1] if ranked else None


@pytest.mark.parametrize("library", [np.asarray, tensor])
@settings(max_examples=150, derandomize=True)
@given(st.integers(0, 100_000), st.booleans(), st.booleans())
def test_equals_enumeration(library, seed, whole_numbers, with_bans):
    rng = np.random.default_rng(seed)
    L = int(rng.integers(1, 4))
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 5, size=4))])
    N = int(offsets[-1])

    def draw(*shape):
        if whole_numbers:  # many ties
            return rng.integers(0, 2, size=shape).astype(float)
        return rng.normal(size=shape)

    U, T, start, end = draw(N, L), draw(L, L), draw(L), draw(L)
    mask = rng.random((N, L)) < 0.7
    mask[np.arange(N), rng.integers(0, L, size=N)] = True
    bans = [np.ones((L, L), bool), np.ones(L, bool), np.ones(L, bool)]
    if with_bans:
        bans = [rng.random(ban.shape) < 0.8 for ban in bans]
    options = {
        "start": start,
        "end": end,
        "mask": mask,
    }
    options = {name: library(value) for name, value in options.items()}
    options["allowed"] = tuple(bans)
    layout = ChainLayout.from_offsets(offsets)
    paths = [
        best_path(U[lo:hi], T, start, end, mask[lo:hi], *bans) if hi > lo else ()
        for lo, hi in itertools.pairwise(offsets)
    ]
    if any(path is None for path in paths):
        with pytest.raises(InputError, match="no label sequence satisfies") as caught:
            viterbi(library(U), library(T), layout, **options)
        named = int(str(caught.value).split(":")[0].removeprefix("sentence "))
        assert paths[named] is None
        return
    expected = [label for path in paths for label in path]
    found = viterbi(library(U), library(T), layout, **options)
    assert found.tolist() == expected


def test_options_may_be_left_out():
    U = np.array([[0.0, 0.2], [0.5, 0.0], [2.0, 0.0]])
    T = np.array([[0.0, 0.0], [-3.0, 0.0]])
    layout = ChainLayout.from_offsets(np.array([0, 3]))
    assert viterbi(U, T, layout).tolist() == [0, 0, 0]
    assert viterbi(U, T, layout, start=np.array([0.0, 5.0])).tolist() == [1, 1, 1]
    every, all_pairs = np.ones(2, dtype=bool), np.ones((2, 2), dtype=bool)
    stay, one = np.eye(2, dtype=bool), np.array([False, True])
    assert viterbi(U, T, layout, allowed=(stay, every, every)).tolist() == [0, 0, 0]
    assert viterbi(U, T, layout, allowed=(all_pairs, every, one)).tolist() == [0, 0, 1]
    assert viterbi(U, T, layout, allowed=(all_pairs, one, every)).tolist() == [1, 1, 1]


@pytest.mark.parametrize("library", [np.asarray, tensor])
def test_ties_take_the_lowest_index(library):
    layout = ChainLayout.from_offsets(np.array([0, 4]))
    labels = viterbi(library(np.zeros((4, 3))), library(np.zeros((3, 3))), layout)
    assert labels.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("seed", range(20))
def test_the_surest_sequence_by_enumeration(seed: int):
    """Most labels expected to be right; a broken rule costs more than any label."""
    rng = np.random.default_rng(seed)
    lengths, n_labels = [3, 0, 2], 3
    mask = rng.random((5, n_labels)) < 0.6
    mask[np.arange(5), rng.integers(n_labels, size=5)] = True
    p = np.where(mask, rng.random((5, n_labels)), 0.0)
    p /= p.sum(axis=1, keepdims=True)
    allowed = rng.random((3, 3)) < 0.6, rng.random(3) < 0.6, rng.random(3) < 0.6
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    found = max_expected_accuracy(p, offsets, allowed).tolist()
    for lo, hi in ((0, 3), (3, 5)):
        best = (np.inf, -np.inf)
        for path in itertools.product(range(n_labels), repeat=hi - lo):
            if not mask[np.arange(lo, hi), path].all():
                continue
            broken = int(not allowed[1][path[0]]) + int(not allowed[2][path[-1]])
            broken += sum(not allowed[0][pair] for pair in itertools.pairwise(path))
            value = (broken, -p[np.arange(lo, hi), path].sum())
            if value < best or best[0] == np.inf:
                best, chosen = value, list(path)
        assert found[lo:hi] == chosen
    free = max_expected_accuracy(p, offsets)
    np.testing.assert_array_equal(free, p.argmax(axis=1))
