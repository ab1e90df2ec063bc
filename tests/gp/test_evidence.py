"""The evidence against sampling, its gradient against differences, and learning."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp

from tagsift.features import FeatureMatrix
from tagsift.gp import curvature
from tagsift.gp.evidence import GroupEvidence, learn_groups
from tagsift.gp.kernels import GroupKernel


def small(n_sentences: int = 6, length: int = 4, n_labels: int = 3, seed: int = 0):
    """Random groups of features and candidate sets that hang on them."""
    rng = np.random.default_rng(seed)
    n = n_sentences * length
    offsets = np.arange(0, n + 1, length)
    dense, other = rng.normal(size=(n, 4)), rng.normal(size=(n, 2))
    truth = (dense @ rng.normal(size=(4, n_labels))).argmax(axis=1)
    mask = rng.random((n, n_labels)) < 0.3
    mask[np.arange(n), truth] = True
    features = FeatureMatrix(("a", "b"), (dense, other), offsets)
    return features, mask


def kernel(scale: float = 1.0, transition: float = 1.0) -> GroupKernel:
    return GroupKernel(
        {"a": 0.5 * scale, "b": 0.2 * scale},
        {"a": (scale, 0.3), "b": (0.5 * scale, 0.5)},
        transition,
        0.3,
    )


@pytest.fixture(autouse=True)
def keep_everything(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(curvature, "_NEGLIGIBLE", 1e-9)


def test_pack_and_unpack():
    features, mask = small()
    evidence = GroupEvidence(features, mask, kernel())
    logs = evidence.pack(kernel())
    assert len(logs) == 2 + 2 * 2 + 2  # linear, RBF, transition and bias
    back = evidence.unpack(logs)
    np.testing.assert_allclose(evidence.pack(back), logs)
    assert back.rbf["b"] == pytest.approx(kernel().rbf["b"])


def test_gradient_equals_finite_differences():
    features, mask = small(n_sentences=4, length=3)
    ban = np.where(np.arange(9).reshape(3, 3) == 1, -2.0, 0.0)

    def evaluate(trial: GroupKernel):
        evidence = GroupEvidence(
            features, mask, kernel(), ban, ban[0], tol=1e-12, cg_steps=40
        )
        return evidence(trial)

    reader = GroupEvidence(features, mask, kernel())
    logs = reader.pack(kernel())
    found = evaluate(kernel())[1]
    for h in range(len(logs)):
        step = np.zeros_like(logs)
        step[h] = 1e-3
        rise = (
            evaluate(reader.unpack(logs + step))[0]
            - evaluate(reader.unpack(logs - step))[0]
        ) / 2e-3
        assert found[h] == pytest.approx(rise, abs=0.02 + 0.03 * abs(rise)), h


def sampled_evidence(features, mask, trial, n_samples=30_000) -> float:
    """Average the likelihood over draws from the prior; sequences by enumeration."""
    rng = np.random.default_rng(0)
    n, a = mask.shape
    K = np.full((n, n), trial.bias)
    for name, block in zip(features.names, features.blocks, strict=True):
        distance = ((block[:, None] - block[None]) ** 2).sum(axis=2)
        amplitude, theta = trial.rbf[name]
        K += trial.linear[name] * block @ block.T
        K += amplitude * np.exp(-theta * distance)
    root = np.linalg.cholesky(K + 1e-9 * np.eye(n))
    f = np.einsum("nm,sma->sna", root, rng.standard_normal((n_samples, n, a)))
    T = trial.transition**0.5 * rng.standard_normal((n_samples, a, a))
    start = trial.transition**0.5 * rng.standard_normal((n_samples, a))
    total = np.zeros(n_samples)
    for lo, hi in itertools.pairwise(features.offsets):
        scores, inside = [], []
        for labels in itertools.product(range(a), repeat=hi - lo):
            score = start[:, labels[0]].copy()
            for t, y in enumerate(labels):
                score += f[:, lo + t, y]
                if t:
                    score += T[:, labels[t - 1], y]
            scores.append(score)
            inside.append(all(mask[lo + t, y] for t, y in enumerate(labels)))
        table = np.array(scores)
        total += logsumexp(table[np.array(inside)], axis=0) - logsumexp(table, axis=0)
    return float(logsumexp(total) - np.log(n_samples))


@pytest.mark.parametrize("scale", [0.1, 1.0])
def test_close_to_the_exact_evidence_on_tiny_data(scale: float):
    features, mask = small(n_sentences=3, length=3, n_labels=2)
    trial = kernel(scale)
    exact = sampled_evidence(features, mask, trial)
    found = GroupEvidence(features, mask, trial, weight=1.0)(trial)[0]
    assert found == pytest.approx(exact, abs=0.4)
    assert found < exact + 0.1  # Laplace's approximation errs on the low side


def test_a_lone_token_hardly_tells_its_variance():
    """Its evidence is 1/L whatever the variance; the factor 0.85 keeps it so."""
    # The second token allows every label: it says nothing, but there are three labels.
    rows = np.array([[1.0], [0.0]])
    features = FeatureMatrix(("a",), (rows,), np.array([0, 1, 2]))
    mask = np.array([[True, False, False], [True, True, True]])

    def spread(weight: float) -> float:
        values = [
            GroupEvidence(
                features, mask, GroupKernel({"a": v}, {}, 1e-9, 1e-9), weight=weight
            )(GroupKernel({"a": v}, {}, 1e-9, 1e-9))[0]
            for v in (2.0, 10.0, 50.0)
        ]
        return max(abs(value + np.log(3)) for value in values)

    assert spread(0.85) < 0.05
    assert spread(1.0) > 0.15


def test_learning_raises_evidence_times_prior():
    features, mask = small(n_sentences=12)
    start = kernel(0.05)
    evidence = GroupEvidence(features, mask, start)
    seen = []
    learnt, value = learn_groups(
        evidence, start, n_steps=6, on_step=lambda e, k: seen.append((e, k))
    )
    assert len(seen) <= 6
    assert seen[0][1].as_dict() == evidence.unpack(evidence.pack(start)).as_dict()
    shift = evidence.pack(learnt) - evidence.pack(start)
    assert value - 0.5 * shift @ shift > seen[0][0]


def test_a_narrow_prior_keeps_the_start():
    features, mask = small()
    evidence = GroupEvidence(features, mask, kernel())
    learnt, _ = learn_groups(evidence, kernel(), n_steps=4, spread=1e-3)
    np.testing.assert_allclose(
        evidence.pack(learnt), evidence.pack(kernel()), atol=1e-3
    )


def test_labels_that_are_no_candidate_take_no_part():
    features, mask = small()
    wider = np.hstack([mask, np.zeros((len(mask), 1), dtype=bool)])
    narrow = GroupEvidence(features, mask, kernel())(kernel())
    wide = GroupEvidence(features, wider, kernel())(kernel())
    assert wide[0] == pytest.approx(narrow[0])
