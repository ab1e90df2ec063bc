"""The solver: bounds, bookkeeping, and an enumerated quadratic programme as oracle."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from tagsift.baselines._atoms import Reward, Term
from tagsift.baselines._frank_wolfe import BlockFrankWolfe


def problem(seed=0, lengths=(4, 1, 3, 5, 2, 4), n_labels=3, n_features=4):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    X = rng.normal(size=(offsets[-1], n_features))
    labels = rng.integers(n_labels, size=offsets[-1])
    mask = rng.random((offsets[-1], n_labels)) < 0.4
    mask[np.arange(len(labels)), labels] = True
    return X, offsets, labels, mask


def joint(X, labels, n_labels):
    """Ψ(x, y): features summed by label, and transition counts."""
    emissions = np.zeros((X.shape[1], n_labels))
    for x, label in zip(X, labels, strict=True):
        emissions[:, label] += x
    transitions = np.zeros((n_labels, n_labels))
    for a, b in itertools.pairwise(labels):
        transitions[a, b] += 1
    return np.concatenate([emissions.ravel(), transitions.ravel()])


def enumerated_optimum(X, offsets, mask, terms, rewards, lam):
    """Solve the primal with one constraint per label sequence and a slack per hinge."""
    n_labels = mask.shape[1]
    rows, bounds, weights = [], [], []
    for term in terms:
        for s in range(len(offsets) - 1):
            part = slice(offsets[s], offsets[s + 1])
            for y in itertools.product(
                range(n_labels), repeat=offsets[s + 1] - offsets[s]
            ):
                inside = all(mask[part][t, k] for t, k in enumerate(y))
                if term.decoder == "candidate" and not inside:
                    continue
                if term.decoder == "non_candidate" and inside:
                    continue
                loss = sum(term.loss[part][t, k] for t, k in enumerate(y))
                rows.append((len(weights), rewards[s] - joint(X[part], y, n_labels)))
                bounds.append(loss)
            weights.append(term.weight)
    size = len(rewards[0])
    A = np.zeros((len(rows), size + len(weights)))
    for i, (hinge, row) in enumerate(rows):
        A[i, :size] = row
        A[i, size + hinge] = 1.0
    b, c = np.array(bounds), np.array(weights)
    found = minimize(
        lambda z: 0.5 * lam * z[:size] @ z[:size] + c @ z[size:],
        np.concatenate([np.zeros(size), np.full(len(c), b.max())]),
        jac=lambda z: np.concatenate([lam * z[:size], c]),
        constraints={"type": "ineq", "fun": lambda z: A @ z - b, "jac": lambda z: A},
        bounds=[(None, None)] * size + [(0, None)] * len(c),
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-10},
    )
    assert found.success
    return found.fun


def rewards_of(reward, X, offsets):
    return [
        np.concatenate(
            [
                (
                    X[offsets[s] : offsets[s + 1]].T
                    @ reward.unary[offsets[s] : offsets[s + 1]]
                ).ravel(),
                reward.pairs[s].ravel(),
            ]
        )
        for s in range(len(offsets) - 1)
    ]


@pytest.mark.parametrize("plain", [0, 5, 1000])
@pytest.mark.parametrize("kind", ["free", "non_candidate", "mean", "two"])
def test_optimum_equals_that_of_the_enumerated_programme(kind, plain):
    X, offsets, labels, mask = problem(lengths=(3, 1, 3, 2))
    outside = (~mask).astype(float)
    unlike = 1.0 - np.eye(3)[labels]
    reward = Reward.of_labels(labels, offsets, 3)
    terms = {
        "free": [Term("free", 0.25, unlike)],
        "non_candidate": [Term("non_candidate", 0.25, outside)],
        "mean": [Term("non_candidate", 0.25, outside)],
        "two": [Term("candidate", 0.1, unlike), Term("non_candidate", 0.25, outside)],
    }[kind]
    if kind == "mean":
        reward = Reward.of_candidates(mask, offsets)
    lam, tol = 0.3, 2e-2 if plain == 1000 else 1e-3  # plain steps close the gap slowly
    solver = BlockFrankWolfe(
        X, offsets, mask, lam, np.random.default_rng(0), plain_passes=plain
    )
    found = solver.solve(terms, reward, tol=tol, max_passes=500)
    best = enumerated_optimum(
        X, offsets, mask, terms, rewards_of(reward, X, offsets), lam
    )
    assert found.converged
    assert found.dual <= best * (1 + 1e-6)
    assert best <= found.primal * (1 + 1e-6)
    assert found.primal == pytest.approx(best, rel=1.1 * tol)


@pytest.mark.parametrize("plain", [0, 5, 1000])
def test_bounds_and_bookkeeping(plain):
    X, offsets, labels, mask = problem(lengths=(4, 1, 0, 3, 5, 2, 4, 6))
    terms = [Term("non_candidate", 1 / 7, (~mask).astype(float))]
    tol = 2e-2 if plain == 1000 else 1e-3
    reward = Reward.of_labels(labels, offsets, 3)
    solver = BlockFrankWolfe(
        X, offsets, mask, 0.1, np.random.default_rng(0), plain_passes=plain
    )
    for passes in (1, 2, 5, 400):
        found = solver.solve(terms, reward, tol=tol, max_passes=passes)
        assert found.dual <= found.primal + 1e-12
        assert (np.diff(found.duals) >= -1e-12).all()
        mean = solver.means[0]
        residue = reward.unary - mean.unary
        np.testing.assert_allclose(solver.E, X.T @ residue / 7 / 0.1, atol=1e-9)
        pairs = reward.pairs.sum(axis=0) - mean.pairs.sum(axis=0)
        np.testing.assert_allclose(solver.A, pairs / 7 / 0.1, atol=1e-9)
        assert (mean.unary >= -1e-9).all()
        np.testing.assert_allclose(mean.unary.sum(axis=1), 1.0)
    assert found.converged
    assert found.primal - found.dual <= tol * found.primal


def test_sparse_and_dense_features_give_the_same_optimum():
    X, offsets, labels, mask = problem()
    X = np.where(X > 0.5, X, 0.0)
    terms = [Term("free", 1 / 6, 1.0 - np.eye(3)[labels])]
    reward = Reward.of_labels(labels, offsets, 3)
    solvers = [
        BlockFrankWolfe(features, offsets, mask, 0.1, np.random.default_rng(0))
        for features in (X, sp.csr_matrix(X))
    ]
    found = [solver.solve(terms, reward, tol=1e-6) for solver in solvers]
    assert found[0].primal == pytest.approx(found[1].primal, rel=2e-6)
    # The primal is λ-strongly convex: a gap of g leaves at most sqrt(2 g / λ).
    distance = np.linalg.norm(solvers[0].E - solvers[1].E)
    assert distance <= 2 * np.sqrt(2e-6 * found[0].primal / 0.1)


def test_a_changed_reward_starts_from_the_atoms_there_are():
    X, offsets, labels, mask = problem()
    terms = [Term("non_candidate", 1 / 6, (~mask).astype(float))]
    first = Reward.of_candidates(mask, offsets)
    second = Reward.of_labels(labels, offsets, 3)
    warm = BlockFrankWolfe(X, offsets, mask, 0.1, np.random.default_rng(0))
    warm.solve(terms, first, tol=1e-4)
    again = warm.solve(terms, second, tol=1e-4)
    cold = BlockFrankWolfe(X, offsets, mask, 0.1, np.random.default_rng(0)).solve(
        terms, second, tol=1e-4
    )
    assert again.primal == pytest.approx(cold.primal, rel=2e-4)


def test_blocks_forget_atoms_without_weight(monkeypatch):
    monkeypatch.setattr("tagsift.baselines._atoms._MAX_ATOMS", 3)
    X, offsets, labels, mask = problem()
    terms = [Term("free", 1 / 6, 1.0 - np.eye(3)[labels])]
    solver = BlockFrankWolfe(X, offsets, mask, 0.05, np.random.default_rng(0))
    found = solver.solve(terms, Reward.of_labels(labels, offsets, 3), tol=1e-3)
    assert found.converged
    for block in solver.blocks[0].values():
        assert block.weights[: block.size].sum() == pytest.approx(1.0)
        assert len(block.keys) == block.size


def test_pairs_are_counted_inside_sentences_only():
    labels, offsets = np.array([0, 1, 1, 0, 2]), np.array([0, 2, 2, 5])
    counted = Reward.of_labels(labels, offsets, 3).pairs
    assert counted[0, 0, 1] == 1
    assert counted[1].sum() == 0
    assert counted[2, 1, 0] == counted[2, 0, 2] == 1
    assert counted.sum() == 3
