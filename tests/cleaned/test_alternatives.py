"""Whole spans with shares: by a chain, against all its label sequences one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from tagsift.annotators import span_types
from tagsift.chain.lattice import forward_backward
from tagsift.chain.layout import ChainLayout
from tagsift.cleaned.alternatives import SpanChain
from tagsift.data import spans

LABELS = {
    "iob2": ("B-A", "B-B", "I-A", "I-B", "O"),
    "iob1": ("B-A", "I-A", "I-B", "O"),
    "iobes": ("B-A", "E-A", "I-A", "O", "S-A"),
    "plain": ("O", "x", "y"),
}


def chain_of(marginals, scheme: str, transitions=None) -> SpanChain:
    names = LABELS[scheme]
    types = tuple(span_types(names, scheme))
    return SpanChain(np.asarray(marginals), names, types, scheme, transitions)


def by_hand(probability, length: int, scheme: str, t: int) -> dict:
    """Shares of the spans over a token: all label sequences, one by one."""
    shares: dict = {}
    for labels in product(range(len(LABELS[scheme])), repeat=length):
        found = spans([LABELS[scheme][k] for k in labels], scheme)
        here = [tuple(one) for one in found if one.start <= t < one.end]
        key = here[0] if here else ("O", t, t + 1)
        shares[key] = shares.get(key, 0.0) + probability(labels)
    return shares


def shares_of(chain: SpanChain, t: int) -> dict:
    return {tuple(one[:3]): one.share for one in chain.at(t)}


@pytest.mark.parametrize("scheme", LABELS)
@pytest.mark.parametrize("seed", range(3))
def test_of_one_chain_they_are_exact(scheme: str, seed: int):
    rng, length, size = np.random.default_rng(seed), 4, len(LABELS[scheme])
    U, T = rng.normal(size=(length, size)), 2 * rng.normal(size=(size, size))
    layout = ChainLayout.from_offsets(np.array([0, length]))
    found = forward_backward(U, T, layout)

    def probability(labels) -> float:
        score = sum(U[t, k] for t, k in enumerate(labels))
        score += sum(T[pair] for pair in zip(labels, labels[1:], strict=False))
        return float(np.exp(score - found.log_z[0]))

    chain = chain_of(found.marginals, scheme, T)
    for t in range(length):
        want, got = by_hand(probability, length, scheme, t), shares_of(chain, t)
        assert {k: got.get(k, 0.0) for k in want} == pytest.approx(want, abs=1e-7)


@pytest.mark.parametrize("scheme", LABELS)
def test_without_a_chain_labels_are_independent(scheme: str):
    rng, length, size = np.random.default_rng(5), 3, len(LABELS[scheme])
    p = softmax(rng.normal(size=(length, size)), axis=1)  # [T, L]

    def probability(labels) -> float:
        return float(np.prod([p[t, k] for t, k in enumerate(labels)]))

    for t in range(length):
        want, got = (
            by_hand(probability, length, scheme, t),
            shares_of(chain_of(p, scheme), t),
        )
        assert got == pytest.approx(want, abs=1e-9)


@given(data=st.data())
def test_shares_add_up_to_one_whatever_is_said(data: st.DataObject):
    scheme = data.draw(st.sampled_from(sorted(LABELS)))
    length, size = data.draw(st.integers(1, 7)), len(LABELS[scheme])
    number = st.integers(0, 5)
    rows = st.lists(number, min_size=size, max_size=size).filter(any)
    p = np.array(data.draw(st.lists(rows, min_size=length, max_size=length)), float)
    p /= p.sum(axis=1, keepdims=True)
    scores = st.sampled_from([0.0, 1.0, -3.0, -50.0])
    rows = st.lists(scores, min_size=size, max_size=size)
    T = data.draw(
        st.none() | st.lists(rows, min_size=size, max_size=size).map(np.array)
    )
    chain = chain_of(p, scheme, T)
    for t in range(length):
        found = chain.at(t)
        assert sum(one.share for one in found) == pytest.approx(1.0)
        assert all(one.start <= t < one.end for one in found)
        places = [one[:3] for one in found]
        assert len(set(places)) == len(places)
        outside = sum(one.share for one in found if one.type == "O")
        assert outside == pytest.approx(p[t, LABELS[scheme].index("O")])
