"""Laplace's evidence: close to the truth on small data, and what its search does."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tagsift.gp.kernels import RBF
from tagsift.sgppsl.hyperparameters import Freedom, laplace_evidence, search_evidence
from tagsift.sgppsl.likelihoods import Separate
from tests.reference.posterior import evidence
from tests.reference.problems import small


def evidence_of(problem, kernel=None, state=None):
    labels = problem.labels()
    return laplace_evidence(
        problem.distances(),
        kernel or problem.kernel,
        Separate(labels.evidence),
        labels.uniform(),
        state,
    )


@pytest.mark.parametrize("seed", range(3))
def test_it_is_near_the_integral(seed):
    # Two tokens, two labels, exact labels: Equation (8) by quadrature.
    problem = small(seed, lengths=(1, 1), n_labels=2, amplitude=1.0, n_features=1)
    mask = np.eye(2, dtype=bool)
    problem = type(problem)(problem.X, mask, problem.offsets, problem.kernel)
    distances = problem.distances()
    K = np.zeros((4, 4))
    for y in range(2):
        part = slice(2 * y, 2 * y + 2)
        K[part, part] = problem.kernel.gram(distances.ZN, y)

    def likelihood(f):
        by_token = f.reshape(-1, 2, 2).transpose(0, 2, 1)  # [G, token, label]
        share = np.exp(by_token) / np.exp(by_token).sum(axis=2, keepdims=True)
        return share[:, 0, 0] * share[:, 1, 1]

    exact = math.log(evidence(likelihood, K, 14))
    # The curvature is diagonal over labels, which overstates what is known.
    assert evidence_of(problem)[0] == pytest.approx(exact, abs=0.5)


def test_a_warm_start_changes_nothing():
    problem = small(3)
    cold, state = evidence_of(problem)
    warm, _ = evidence_of(problem, state=state)
    assert warm == pytest.approx(cold, rel=1e-4)


def test_dense_and_inducing_agree():
    problem = small(4)
    labels = problem.labels()
    values = [
        laplace_evidence(
            problem.distances(points),
            problem.kernel,
            Separate(labels.evidence),
            labels.uniform(),
        )[0]
        for points in (None, np.arange(len(problem.X)))
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-5)


def search(problem, free=None, **options):
    labels = problem.labels()
    return search_evidence(
        problem.kernel,
        problem.distances(),
        Separate(labels.evidence),
        labels.uniform(),
        free or Freedom(),
        **options,
    )


@pytest.mark.parametrize("fixed", ["amplitude", "theta"])
def test_what_is_fixed_stays(fixed):
    problem = small(6)
    free = Freedom(theta=fixed != "theta", amplitude=fixed != "amplitude")
    kernel = search(problem, free, max_trials=6)
    still = getattr(kernel, fixed), getattr(problem.kernel, fixed)
    np.testing.assert_array_equal(*still)


def test_smooth_labels_ask_for_wide_kernels():
    # Labels that change once along a line need a wide kernel; scattered ones do not.
    x = np.linspace(0, 4, 40)[:, None]
    start = RBF(np.full(2, 1.0), np.full(2, 4.0))
    chosen = []
    for labels in (x[:, 0] > 2, np.random.default_rng(0).random(40) < 0.5):
        mask = np.stack([labels, ~labels], axis=1)
        problem = type(small(0))(x, mask, np.array([0, 40]), start)
        chosen.append(search(problem))
    smooth, rough = chosen
    assert smooth.amplitude[0] > rough.amplitude[0]
