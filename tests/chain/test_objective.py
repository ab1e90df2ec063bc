"""The objective of the linear chain against enumeration and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tagsift.chain.linear_chain import LinearChain
from tagsift.chain.objective import ChainObjective, TransitionPrior
from tagsift.features import FeatureMatrix
from tests.reference.label_sequences import sums

LENGTHS = (3, 1, 0, 4, 2, 3)


def toy(seed=0, n_labels=3):
    """Random sparse (with twin columns) and dense features of a few sentences."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(LENGTHS)])
    N = int(offsets[-1])
    X = (rng.random((N, 5)) < 0.4).astype(float)
    blocks = (rng.normal(size=(N, 2)), sp.csr_matrix(np.hstack([X, X[:, :2]])))
    return FeatureMatrix(("vectors", "words"), blocks, offsets), rng


def soft(rng, n_labels=3):
    """Log evidence with some bans, one exact sentence and one unlabelled one."""
    N = sum(LENGTHS)
    e = 2.0 * rng.normal(size=(N, n_labels))
    e[rng.random((N, n_labels)) < 0.2] = -np.inf
    e[np.arange(N), rng.integers(n_labels, size=N)] = 0.0
    e[:3] = np.where(np.eye(n_labels)[rng.integers(n_labels, size=3)], 0.0, -np.inf)
    e[3] = 0.0
    return e - e.max(axis=1, keepdims=True)


def bans(n_labels=3):
    allowed = np.ones((n_labels, n_labels), dtype=bool)
    allowed[0, 1] = allowed[2, 2] = False
    first, last = np.ones((2, n_labels), dtype=bool)
    first[1] = last[2] = False
    return allowed, first, last


def enumerated(weights, features, evidence, allowed=None):
    """By sentence log Z(f + e) − log Z(f), and the marginals, over label sequences."""
    U = features.stacked() @ weights.emissions + weights.bias
    given_ = U, weights.transitions, features.offsets
    known = sums(*given_, start=weights.start, evidence=evidence, allowed=allowed)
    free = sums(*given_, start=weights.start, allowed=allowed)
    passable = known.log_z > -np.inf  # where there is a permitted way
    return np.where(passable, known.log_z - free.log_z, 0.0), known.marginals


def penalty(weights, l2):
    parts = (weights.emissions, weights.bias, weights.transitions, weights.start)
    return 0.5 * l2 * sum(float((part**2).sum()) for part in parts)


def slopes(objective, w, step=1e-5):
    for k in range(len(w)):
        ends = np.repeat(w[None], 2, axis=0)
        ends[0, k] += step
        ends[1, k] -= step
        yield (objective(ends[0])[0] - objective(ends[1])[0]) / (2 * step)


@pytest.mark.parametrize("banned", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_soft_evidence_equals_enumeration(seed, weighted, banned):
    features, rng = toy(seed)
    evidence = soft(rng)
    allowed = bans() if banned else None
    shares = rng.random(len(LENGTHS)) if weighted else None
    objective = ChainObjective(
        features, evidence, 0.7, allowed=allowed, sample_weight=shares
    )
    w = rng.normal(size=objective.n_parameters)
    value, gradient = objective(w)
    weights = objective.weights(w)
    values, _ = enumerated(weights, features, evidence, allowed)
    total = values.sum() if shares is None else values @ shares
    assert np.isclose(value, penalty(weights, 0.7) - total)
    np.testing.assert_allclose(gradient, list(slopes(objective, w)), atol=1e-6)
    if not banned:
        filled = np.flatnonzero(LENGTHS)
        np.testing.assert_allclose(
            weights.log_likelihood(features, evidence), values[filled], atol=1e-10
        )


def test_a_mask_is_the_hard_case():
    features, rng = toy(3)
    evidence = soft(rng)
    mask = evidence > -np.inf
    hard = ChainObjective(features, mask)
    spelt = ChainObjective(features, np.where(mask, 0.0, -np.inf))
    w = rng.normal(size=hard.n_parameters)
    np.testing.assert_array_equal(hard(w)[1], spelt(w)[1])
    assert hard(w)[0] == spelt(w)[0] != ChainObjective(features, evidence)(w)[0]
    again = hard.with_evidence(evidence)
    assert again(w)[0] == ChainObjective(features, evidence)(w)[0]
    assert hard(w)[0] == spelt(w)[0]


def test_evidence_counts_up_to_a_constant_per_token():
    features, rng = toy(4)
    evidence = soft(rng)
    one = ChainObjective(features, evidence)
    other = ChainObjective(features, evidence + rng.normal(size=(len(evidence), 1)))
    w = rng.normal(size=one.n_parameters)
    np.testing.assert_allclose(one(w)[1], other(w)[1], atol=1e-10)


def test_even_evidence_teaches_nothing():
    features, rng = toy(5)
    objective = ChainObjective(features, np.zeros((sum(LENGTHS), 3)), 0.3)
    w = rng.normal(size=objective.n_parameters)
    value, gradient = objective(w)
    assert np.isclose(value, 0.15 * float(w @ w))
    np.testing.assert_allclose(gradient, 0.3 * w, atol=1e-10)


def test_almost_certain_evidence_is_an_exact_label():
    features, rng = toy(6)
    labels = rng.integers(3, size=sum(LENGTHS))
    exact = ChainObjective(features, np.eye(3, dtype=bool)[labels])
    sure = ChainObjective(features, np.where(np.eye(3)[labels], 0.0, -60.0))
    w = rng.normal(size=exact.n_parameters)
    assert np.isclose(exact(w)[0], sure(w)[0])
    np.testing.assert_allclose(exact(w)[1], sure(w)[1], atol=1e-9)


def test_weights_of_sentences_are_copies_of_them():
    features, rng = toy(7)
    evidence = soft(rng)
    copies = [0, 1, 1, 3, 4, 4, 4, 5]
    rows = np.concatenate(
        [np.arange(features.offsets[s], features.offsets[s + 1]) for s in copies]
    )
    many = ChainObjective(features.take_sequences(copies), evidence[rows])
    counts = np.bincount(copies, minlength=len(LENGTHS)).astype(float)
    weighted = ChainObjective(features, evidence, sample_weight=counts)
    chain = LinearChain(
        rng.normal(size=(9, 3)), rng.normal(size=3), rng.normal(size=(3, 3)), np.ones(3)
    )
    chain.emissions[7:] = chain.emissions[2:4]  # copies of one feature weigh the same
    values = [each(each.vector(chain))[0] for each in (many, weighted)]
    assert np.isclose(*values)


def test_the_gradient_with_a_prior_is_the_slope():
    features, rng = toy(6)
    prior = TransitionPrior(rng.normal(size=(3, 3)), rng.normal(size=3), 1.7, 0.6)
    objective = ChainObjective(features, soft(rng), 0.5, prior)
    w = rng.normal(size=objective.n_parameters)
    np.testing.assert_allclose(objective(w)[1], list(slopes(objective, w)), atol=1e-6)


@pytest.mark.parametrize("prior", [None, TransitionPrior(scale=1.7, scale_bias=0.6)])
def test_a_start_from_given_weights_is_those_weights(prior):
    features, rng = toy(8)
    objective = ChainObjective(features, soft(rng), prior=prior)
    w = rng.normal(size=objective.n_parameters)
    np.testing.assert_allclose(objective.vector(objective.weights(w)), w, atol=1e-12)


def test_sentences_without_a_permitted_way_count_as_unlabelled():
    features, rng = toy(9)
    mask = np.eye(3, dtype=bool)[np.zeros(sum(LENGTHS), int)]
    mask[4] = [False, True, False]  # opens the fourth sentence, which bans forbid
    mask[8] = True
    objective = ChainObjective(features, mask, allowed=bans())
    mask[4:8] = True
    unlabelled = ChainObjective(features, mask, allowed=bans())
    w = rng.normal(size=objective.n_parameters)
    assert np.isfinite(objective(w)[0])
    assert objective(w)[0] == unlabelled(w)[0]
    np.testing.assert_array_equal(objective(w)[1], unlabelled(w)[1])
