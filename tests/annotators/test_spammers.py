"""MACE against a slow twin, and against spammers."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.annotators.ballots import Ballots, read_ballots
from tagsift.annotators.spammers import mace
from tagsift.annotators.start import first_tables, vote_shares

CLASSES = ("B-X", "I-X", "O")


def drawn(n: int, n_annotators: int, seed: int) -> Ballots:
    """Votes of annotators who know four labels of five, and leave out some tokens."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=(n, 1))
    knows = rng.random((n, n_annotators)) < 0.8
    said = np.where(knows, truth, rng.integers(3, size=(n, n_annotators)))
    names = np.where(rng.random(said.shape) < 0.3, None, np.array(CLASSES)[said])
    columns = tuple("abcdefgh"[:n_annotators])
    return read_ballots([names.tolist()], CLASSES, np.array([n]), names=columns)


def slow_mace(votes: np.ndarray, posterior: np.ndarray, n_steps: int) -> np.ndarray:
    """Loops over tokens, annotators and whether each knew, [N, L]."""
    (n, people), labels = votes.shape, posterior.shape[1]
    theta, xi = np.full(people, 0.8), np.full((people, labels), 1 / labels)
    for _ in range(n_steps):
        knew, cast = np.zeros(people), np.zeros(people)
        spammed = np.zeros((people, labels))
        for i in range(n):
            for a in range(people):
                v = votes[i, a]
                if v < 0:
                    continue
                cast[a] += 1
                for y in range(labels):
                    chance = theta[a] if y == v else 0.0
                    share = chance / (chance + (1 - theta[a]) * xi[a, v])
                    knew[a] += posterior[i, y] * share
                    spammed[a, v] += posterior[i, y] * (1 - share)
        theta = (knew + 0.1) / (cast + 0.2)
        xi = spammed + 0.1 / labels
        xi /= xi.sum(axis=1, keepdims=True)
        prior = posterior[(votes >= 0).any(axis=1)].mean(axis=0)
        updated = np.empty_like(posterior)
        for i in range(n):
            for y in range(labels):
                updated[i, y] = prior[y]
                for a in range(people):
                    v = votes[i, a]
                    if v >= 0:
                        p = theta[a] * (v == y) + (1 - theta[a]) * xi[a, v]
                        updated[i, y] *= p
        posterior = updated / updated.sum(axis=1, keepdims=True)
    return posterior


@pytest.mark.parametrize("n_steps", [1, 3])
def test_mace_by_loops(n_steps: int):
    ballots = drawn(40, 4, seed=0)
    shares = vote_shares(ballots)
    heard = ballots.voted
    found = mace(ballots, shares, n_steps)
    expected = slow_mace(ballots.votes, shares, n_steps)
    np.testing.assert_allclose(found[heard], expected[heard], rtol=1e-9)
    np.testing.assert_array_equal(found[~heard], shares[~heard])


def test_copies_that_share_a_weight_count_once():
    one = drawn(60, 3, seed=1)
    both = read_ballots(
        [
            [
                tuple(None if v < 0 else CLASSES[v] for v in (*row, row[0]))
                for row in one.votes
            ]
        ],
        CLASSES,
        np.array([60]),
        names=("a", "b", "c", "copy of a"),
    )
    shares = vote_shares(one)
    weights = np.array([0.5, 1.0, 1.0, 0.5])
    found = mace(both, shares, 20, weights)
    np.testing.assert_allclose(found, mace(one, shares, 20), rtol=1e-6)


def test_mace_sees_through_spammers():
    """Three who know the truth mostly, and as many who always say the same."""
    rng = np.random.default_rng(2)
    truth = rng.choice(CLASSES, 300)
    good = [np.where(rng.random(300) < 0.85, truth, "O") for _ in range(3)]
    votes = [list(zip(*good, ["B-X"] * 300, ["B-X"] * 300, strict=True))]
    ballots = read_ballots(
        votes, CLASSES, np.array([300]), names=("a", "b", "c", "spam", "spam2")
    )
    found = np.array(CLASSES)[mace(ballots, vote_shares(ballots)).argmax(axis=1)]
    counted = np.array(CLASSES)[vote_shares(ballots).argmax(axis=1)]
    assert (found == truth).mean() > max(0.9, (counted == truth).mean())


def test_tables_begin_with_one_who_knows_among_those_who_do_not():
    """The rounds would not recover from tables that hold the careless to be right."""
    rng = np.random.default_rng(3)
    truth = rng.choice(3, 600, p=[0.3, 0.3, 0.4])
    careless = [np.where(rng.random(600) < 0.3, truth, 2) for _ in range(4)]
    said = np.stack([truth, *careless], axis=1)
    ballots = read_ballots(
        [np.array(CLASSES)[said].tolist()],
        CLASSES,
        np.array([600]),
        names=("good", *"wxyz"),
    )
    tables = np.exp(first_tables(vote_shares(ballots), ballots, strength=1.0))
    right = tables.mean(axis=2)[:, [0, 1], [0, 1]].mean(axis=1)  # [A]
    assert right[0] > 0.6 and (right[1:] < 0.45).all()


def test_nobody_says_anything():
    ballots = read_ballots(
        [[(None,), (None,)]], CLASSES, np.array([2]), names=("silent",)
    )
    shares = vote_shares(ballots)
    assert mace(ballots, shares) is shares
