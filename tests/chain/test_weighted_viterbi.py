"""Equations (30)–(31) against all label sequences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagsift.chain.layout import ChainLayout
from tagsift.chain.viterbi import viterbi, weighted_viterbi
from tests.reference import decoding as slow


def scores(seed, lengths, n_labels):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    S = rng.dirichlet(np.ones(n_labels), size=int(offsets[-1]))
    S_T = rng.dirichlet(np.ones(n_labels), size=n_labels)
    tau, tau_T = rng.random(S.shape), rng.random(S_T.shape)
    return offsets, S, S_T, tau, tau_T


@settings(max_examples=40, derandomize=True)
@given(st.integers(0, 10_000), st.integers(1, 3), st.booleans())
def test_it_equals_enumeration(seed, n_labels, weighted):
    offsets, S, S_T, tau, tau_T = scores(seed, (4, 0, 1, 5), n_labels)
    if not weighted:
        tau, tau_T = np.ones_like(tau), np.ones_like(tau_T)
    given_ = {"tau": tau, "tau_T": tau_T} if weighted else {}
    layout = ChainLayout.from_offsets(offsets)
    found = weighted_viterbi(S, S_T, layout, **given_)
    for lo, hi in itertools.pairwise(offsets):
        if lo < hi:
            path = slow.best_path(S[lo:hi], S_T, tau[lo:hi], tau_T)
            one = slow.path_score(found[lo:hi], S[lo:hi], S_T, tau[lo:hi], tau_T)
            best = slow.path_score(path, S[lo:hi], S_T, tau[lo:hi], tau_T)
            assert one == pytest.approx(best, rel=1e-12)


def test_without_factors_it_is_plain_viterbi_over_sums():
    offsets, S, S_T, tau, tau_T = scores(1, (6, 3), 3)
    layout = ChainLayout.from_offsets(offsets)
    plain = weighted_viterbi(S, S_T, layout)
    np.testing.assert_array_equal(plain, viterbi(S, S_T, layout))
    ones = weighted_viterbi(
        S, S_T, layout, tau=np.ones_like(tau), tau_T=np.ones_like(tau_T)
    )
    np.testing.assert_array_equal(plain, ones)


def test_a_transition_of_factor_zero_is_not_forbidden():
    # Reading R7: in a sum of scores 0 forbids nothing.
    S = np.array([[0.9, 0.1], [0.1, 0.9]])
    S_T = np.full((2, 2), 0.5)
    tau_T = np.array([[0.2, 0.0], [0.2, 0.2]])
    layout = ChainLayout.from_offsets(np.array([0, 2]))
    assert weighted_viterbi(S, S_T, layout, tau_T=tau_T).tolist() == [0, 1]
