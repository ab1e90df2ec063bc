"""Forward–backward against enumeration, finite differences and its log-domain twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagsift.chain import lattice as module
from tagsift.chain.lattice import (
    Lattice,
    forward_backward,
    log_lattice,
)
from tagsift.chain.layout import ChainLayout
from tagsift.chain.potentials import Potentials
from tests.reference.label_sequences import sums
from tests.tensors import tensor, torch

PROPERTY = settings(max_examples=40, derandomize=True)


def log_forward_backward(U, T, layout, **options):
    """The log-domain twin by itself."""
    potentials = Potentials.gather(U, T, layout, **options)
    found = log_lattice(potentials)
    return Lattice(found.log_z, layout.unpack(found.marginals), found.pairs)


def case(seed, *, n_labels=None, scale=2.0, max_length=4, n_sentences=5):
    """Random potentials of some sentences, with every optional part present."""
    rng = np.random.default_rng(seed)
    L = int(rng.integers(1, 4)) if n_labels is None else n_labels
    lengths = rng.integers(0, max_length + 1, size=n_sentences)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    N = int(offsets[-1])
    mask = rng.random((N, L)) < 0.6
    mask[np.arange(N), rng.integers(0, L, size=N)] = True
    options = {
        "start": scale * rng.normal(size=L),
        "end": scale * rng.normal(size=L),
        "mask": mask,
        "evidence": scale * rng.normal(size=(N, L)),
    }
    U = scale * rng.normal(size=(N, L))
    T = scale * rng.normal(size=(L, L))
    return U, T, offsets, options


def choices():
    names = ["start", "end", "mask", "evidence"]
    return st.sets(st.sampled_from(names))


def both(U, T, offsets, options, function):
    """Run on NumPy and on PyTorch, ask for equality, return NumPy's answer."""
    layout = ChainLayout.from_offsets(offsets)
    answer = function(U, T, layout, **options)
    if torch is None:
        return layout, answer
    tensors = {name: torch.as_tensor(value) for name, value in options.items()}
    twin = function(torch.as_tensor(U), torch.as_tensor(T), layout, **tensors)
    for field in ("log_z", "marginals", "pairs"):
        theirs = getattr(twin, field)
        assert isinstance(theirs, torch.Tensor)
        np.testing.assert_allclose(
            theirs.numpy(), getattr(answer, field), rtol=1e-10, atol=1e-10
        )
    return layout, answer


@PROPERTY
@given(st.integers(0, 10_000), choices())
@pytest.mark.parametrize("function", [forward_backward, log_forward_backward])
def test_equals_enumeration(function, seed, chosen):
    U, T, offsets, options = case(seed)
    options = {name: options[name] for name in chosen}
    layout, answer = both(U, T, offsets, options, function)
    log_z, marginals, pairs = sums(U, T, offsets, **options)
    expected = [log_z[s] for s in layout.sentences]
    np.testing.assert_allclose(answer.log_z, expected, atol=1e-10)
    np.testing.assert_allclose(answer.marginals, marginals, atol=1e-10)
    np.testing.assert_allclose(answer.pairs, pairs, atol=1e-10)


@PROPERTY
@given(st.integers(0, 10_000))
def test_twins_agree_on_longer_sentences(seed):
    U, T, offsets, options = case(
        seed, n_labels=6, max_length=40, n_sentences=8, scale=4.0
    )
    layout = ChainLayout.from_offsets(offsets)
    fast = forward_backward(U, T, layout, **options)
    slow = log_forward_backward(U, T, layout, **options)
    np.testing.assert_allclose(fast.log_z, slow.log_z, rtol=1e-12)
    np.testing.assert_allclose(fast.marginals, slow.marginals, atol=1e-10)
    np.testing.assert_allclose(fast.pairs, slow.pairs, atol=1e-9)


def test_gradient_of_log_z_is_marginals_and_pairs():
    U, T, offsets, options = case(7, n_labels=3, n_sentences=4)
    layout = ChainLayout.from_offsets(offsets)
    answer = forward_backward(U, T, layout, **options)

    def total(U, T, start, end):
        moved = {**options, "start": start, "end": end}
        return forward_backward(U, T, layout, **moved).log_z.sum()

    first = offsets[:-1][np.diff(offsets) > 0]
    last = offsets[1:][np.diff(offsets) > 0] - 1
    gradients = (
        answer.marginals,
        answer.pairs,
        answer.marginals[first].sum(axis=0),
        answer.marginals[last].sum(axis=0),
    )
    arguments = [U, T, options["start"], options["end"]]
    step = 1e-5
    for position, gradient in enumerate(gradients):
        for index in np.ndindex(gradient.shape):
            values = []
            for sign in (1, -1):
                moved = [a.copy() for a in arguments]
                moved[position][index] += sign * step
                values.append(total(*moved))
            assert np.isclose(
                (values[0] - values[1]) / (2 * step), gradient[index], atol=1e-7
            )


@pytest.mark.parametrize("scale", [300.0, 1e3, 1e5])
@pytest.mark.parametrize("chosen", [(), ("mask",), ("start", "end", "evidence")])
def test_extreme_potentials(scale, chosen):
    for seed in range(10):
        U, T, offsets, options = case(seed, n_labels=3, scale=scale)
        options = {name: options[name] for name in chosen}
        layout, answer = both(U, T, offsets, options, forward_backward)
        log_z, marginals, pairs = sums(U, T, offsets, **options)
        expected = [log_z[s] for s in layout.sentences]
        np.testing.assert_allclose(answer.log_z, expected, rtol=1e-12)
        np.testing.assert_allclose(answer.marginals, marginals, atol=1e-8)
        np.testing.assert_allclose(answer.pairs, pairs, atol=1e-8)


def test_slow_underflow_over_several_steps_is_noticed():
    # Label 1 falls behind by e^-800, then wins back e^200 a step: no single
    # rescaling factor is tiny, and yet label 1 is the answer.
    U = np.zeros((12, 2))
    U[:4, 1] = -200
    U[4:, 1] = 200
    T = np.array([[0.0, -1e4], [-1e4, 0.0]])
    layout = ChainLayout.from_offsets(np.array([0, 12]))
    answer = forward_backward(U, T, layout)
    np.testing.assert_allclose(answer.log_z, [800.0])
    np.testing.assert_allclose(answer.marginals[:, 1], 1)


@pytest.mark.parametrize(
    "far",
    [
        [[0, -3e3, -3e3], [-3e3, 0, -3e3], [0, 0, 0], [0, 1, 2]],  # a score
        2 * [[0, -400, -400]] + 2 * [[-500, 0, -500]],  # a product
    ],
)
def test_only_the_sentences_that_need_it_fall_back(monkeypatch, far):
    offsets = np.array([0, 3, 3, 7, 10, 11])
    rng = np.random.default_rng(0)
    U, T = rng.normal(size=(11, 3)), rng.normal(size=(3, 3))
    T[[0, 2], 1] = -np.inf
    U[3:7] = far
    layout = ChainLayout.from_offsets(offsets)
    seen = []

    def spy(potentials):
        seen.append(potentials.layout.n_tokens)
        return slow(potentials)

    slow = module.log_lattice
    monkeypatch.setattr(module, "log_lattice", spy)
    answer = forward_backward(U, T, layout)
    assert seen == [4]
    log_z, marginals, pairs = sums(U, T, offsets)
    np.testing.assert_allclose(answer.log_z, [log_z[s] for s in layout.sentences])
    np.testing.assert_allclose(answer.marginals, marginals, atol=1e-10)
    np.testing.assert_allclose(answer.pairs, pairs, atol=1e-10)


@pytest.mark.parametrize("library", [np.asarray, tensor])
def test_banned_transitions_and_hopeless_sentences(library):
    U = np.zeros((5, 2))
    T = np.array([[0.0, -np.inf], [0.0, 0.0]])
    mask = np.array([[1, 0], [0, 1], [1, 1], [1, 1], [1, 1]], dtype=bool)
    layout = ChainLayout.from_offsets(np.array([0, 2, 5]))
    assert layout.sentences.tolist() == [1, 0]
    answer = forward_backward(library(U), library(T), layout, mask=library(mask))
    np.testing.assert_allclose(answer.log_z, [np.log(4), -np.inf])
    np.testing.assert_allclose(answer.marginals[:2], 0)
    np.testing.assert_allclose(
        answer.marginals[2:], [[0.25, 0.75], [0.5, 0.5], [0.75, 0.25]]
    )
    np.testing.assert_allclose(answer.pairs, [[0.75, 0], [0.5, 0.75]])


def test_one_very_long_sentence():
    rng = np.random.default_rng(0)
    U, T = rng.normal(size=(20_000, 3)), rng.normal(size=(3, 3))
    layout = ChainLayout.from_offsets(np.array([0, 20_000]))
    answer = forward_backward(U, T, layout)
    np.testing.assert_allclose(answer.marginals.sum(axis=1), 1)
    np.testing.assert_allclose(answer.pairs.sum(), 19_999)
