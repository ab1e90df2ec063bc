"""MACE against a slow twin, and against spammers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tagsift.annotators import VoteTable
from tagsift.annotators.initialise import first_tables, vote_shares
from tagsift.annotators.mace import mace
from tests.reference.annotators import cast, table_of
from tests.reference.corpora import corpora, law


def slow_mace(table, posterior, n_steps, weights):
    """Loops over votes and whether each was known; a set is one in equal parts."""
    people, n_labels = table.n_annotators, table.n_labels
    votes = [one for one in cast(table) if not one.silent]
    heard = sorted({one.token for one in votes})
    theta, xi = np.full(people, 0.8), np.full((people, n_labels), 1 / n_labels)
    for _ in range(n_steps):
        knew, spoke, spammed = np.zeros(people), np.zeros(people), np.zeros_like(xi)
        for n, a, labels, *_ in votes:
            spoke[a] += 1
            for v in labels:
                part, spam = 1 / len(labels), (1 - theta[a]) * xi[a, v]
                right = part * posterior[n, v] * theta[a] / (theta[a] + spam)
                knew[a] += right
                spammed[a, v] += part - right
        theta = (knew + 0.1) / (spoke + 0.2)
        xi = spammed + 0.1 / n_labels
        xi /= xi.sum(axis=1, keepdims=True)
        prior = np.maximum(posterior[heard].sum(axis=0) / max(len(heard), 1), 1e-9)
        likely = np.tile(prior, (table.n_tokens, 1))
        for n, a, labels, *_ in votes:
            for v in labels:
                p = (1 - theta[a]) * xi[a, v] + theta[a] * (np.arange(n_labels) == v)
                likely[n] *= p ** (weights[a] / len(labels))
        likely *= np.exp(table.pinned)
        likely /= likely.sum(axis=1, keepdims=True)
        posterior = posterior.copy()
        posterior[heard] = likely[heard]
    return posterior


@law
@given(corpora(exact=True), st.integers(1, 3), st.none() | st.integers(0, 999))
def test_mace_by_loops(corpus, n_steps, seed):
    """What nobody says anything of stays as it was."""
    table = VoteTable(corpus)
    shares, weights = vote_shares(table), np.ones(table.n_annotators)
    if seed is not None:
        weights = np.random.default_rng(seed).random(table.n_annotators)
    expected = slow_mace(table, shares, n_steps, weights)
    found = mace(table, shares, n_steps, None if seed is None else weights)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-12)


def test_copies_that_share_a_weight_count_once():
    rng = np.random.default_rng(1)
    truth = rng.integers(3, size=(60, 1))
    votes = np.where(rng.random((60, 3)) < 0.8, truth, rng.integers(3, size=(60, 3)))
    one, both = table_of(votes), table_of(votes[:, [0, 1, 2, 0]])
    shares = vote_shares(one)
    found = mace(both, shares, 20, np.array([0.5, 1.0, 1.0, 0.5]))
    np.testing.assert_allclose(found, mace(one, shares, 20), rtol=1e-6)


def test_mace_sees_through_spammers():
    """Three who know the truth mostly, and as many who always say the same."""
    rng = np.random.default_rng(2)
    truth = rng.integers(3, size=300)
    good = [np.where(rng.random(300) < 0.85, truth, 2) for _ in range(3)]
    table = table_of(np.stack([*good, *np.zeros((2, 300), dtype=int)], axis=1))
    found, counted = mace(table, vote_shares(table)), vote_shares(table)
    found, counted = ((p.argmax(axis=1) == truth).mean() for p in (found, counted))
    assert found > max(0.9, counted)


def test_tables_begin_with_one_who_knows_among_those_who_do_not():
    """The rounds would not recover from tables that hold the careless to be right."""
    rng = np.random.default_rng(3)
    truth = rng.choice(3, 600, p=[0.3, 0.3, 0.4])
    careless = [np.where(rng.random(600) < 0.3, truth, 2) for _ in range(4)]
    table = table_of(np.stack([truth, *careless], axis=1))
    tables = np.exp(first_tables(vote_shares(table), table, strength=1.0))
    right = tables.mean(axis=2)[:, [0, 1], [0, 1]].mean(axis=1)  # [A]
    assert right[0] > 0.6 and (right[1:] < 0.45).all()
