"""NumPy and PyTorch say the same: single functions to 1e-8, whole fits to 1e-5."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tagsift.backend import asarray, to_numpy
from tagsift.features.distances import squared_distances
from tagsift.sgppsl.expectations import Jensen, Moments, expectation
from tagsift.sgppsl.hyperparameters import HeldOut, theta_gradient
from tagsift.sgppsl.labels import (
    Settings,
    confidence,
    literal_confidence,
    pair_confidence_sums,
)
from tagsift.sgppsl.likelihoods import Chain, Piecewise
from tagsift.sgppsl.predictive import FittedGP
from tagsift.sgppsl.solver import start
from tests.reference.problems import random_moments, small

torch = pytest.importorskip("torch")
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
POINTS = np.array([0, 2, 3, 6, 9, 11])


def move(array):
    return asarray(array, device=DEVICE)


def close(one, other, rtol=1e-8):
    np.testing.assert_allclose(to_numpy(other), to_numpy(one), rtol=rtol, atol=1e-10)


def moved(q):
    return Moments(*(move(getattr(q, f.name)) for f in dataclasses.fields(q)))


def test_kernels_and_confidences():
    problem = small(1)
    q, p = random_moments(problem, 1), moved(random_moments(problem, 1))
    evidence = move(problem.evidence)
    distances, tensors = problem.distances(), problem.distances(device=DEVICE)
    close(distances.ZN, tensors.ZN)
    for y in range(problem.n_labels):
        close(problem.kernel.gram(distances.ZN, y), problem.kernel.gram(tensors.ZN, y))
    close(confidence(q.mu, q.var, problem.evidence), confidence(p.mu, p.var, evidence))
    close(
        literal_confidence(q.mu, q.var, problem.evidence),
        literal_confidence(p.mu, p.var, evidence),
    )
    labels, moved_labels = problem.labels(), problem.labels(DEVICE)
    for one, other in zip(
        pair_confidence_sums(q.mu_T, q.var_T, labels.left, labels.right),
        pair_confidence_sums(p.mu_T, p.var_T, moved_labels.left, moved_labels.right),
        strict=True,
    ):
        close(one, other)


@pytest.mark.parametrize("name", ["piecewise", "chain"])
@pytest.mark.parametrize("way", ["jensen", "tilted", "sampled", "laplace"])
def test_expectations(name, way):
    problem = small(2)
    q = random_moments(problem, 2, spread=4.0)
    both = {
        "piecewise": (
            problem.piecewise(),
            Piecewise(
                move(problem.piecewise().weights),
                move(problem.piecewise().pair_weights),
            ),
        ),
        "chain": (
            problem.chain(),
            Chain(problem.labels().layout, move(problem.evidence)),
        ),
    }
    one = expectation(way)(both[name][0], q)
    other = expectation(way)(both[name][1], moved(q))
    assert other.value == pytest.approx(one.value, rel=1e-8)
    for field in dataclasses.fields(one)[1:]:
        close(getattr(one, field.name), getattr(other, field.name))


@pytest.mark.parametrize("points", [None, POINTS], ids=["dense", "inducing"])
def test_covariances(points):
    problem = small(3)
    covariance, roots = problem.distances(points).covariance(problem.kernel)
    tensors, torch_roots = problem.distances(points, DEVICE).covariance(problem.kernel)
    rng = np.random.default_rng(3)
    lam = rng.gamma(1.0, size=problem.mask.shape)
    g = rng.normal(size=problem.mask.shape)
    beta = rng.normal(size=(covariance.size, problem.n_labels))
    for one, other in zip(roots, torch_roots, strict=True):
        close(one, other)
    close(covariance.mean(beta), tensors.mean(move(beta)))
    slope = covariance.gradient(beta, g)
    close(slope, tensors.gradient(move(beta), move(g)))
    one, other = covariance.factor(lam), tensors.factor(move(lam))
    close(one.var, other.var)
    assert other.kl == pytest.approx(one.kl, rel=1e-8)
    close(covariance.precondition(one, slope), tensors.precondition(other, move(slope)))


def test_hyperparameter_gradients_and_held_out_sets():
    problem, points = small(5), POINTS
    slopes, values = [], []
    for device in ("cpu", DEVICE):
        distances = problem.distances(points, device)
        fixed, roots, solution = problem.fit(points=points, device=device, tol=1e-6)
        weights = asarray(problem.piecewise().weights, device=device)
        pairs = asarray(problem.piecewise().pair_weights, device=device)
        likelihood = Piecewise(weights, pairs)
        state = start(fixed, weights, problem.n_labels)
        slopes.append(
            theta_gradient(distances, fixed, problem.kernel, roots, likelihood, state)
        )
        held_out = HeldOut(
            problem.distances(None, device),
            problem.labels(device),
            squared_distances(problem.X, problem.X[:3] + 0.1, device=device),
            asarray(problem.evidence[:3], device=device),
            np.array([0, 1, 3]),
            Settings(),
            Jensen(),
        )
        values.append(held_out.score(problem.kernel))
    for one, other in zip(*slopes, strict=True):
        close(one, other)
    assert values[1] == pytest.approx(values[0], rel=1e-6)


@pytest.mark.parametrize("points", [None, POINTS], ids=["dense", "inducing"])
@pytest.mark.parametrize("likelihood", ["piecewise", "chain"])
@pytest.mark.parametrize("way", ["jensen", "tilted", "sampled", "laplace"])
def test_whole_fits(points, likelihood, way):
    problem = small(6)
    new = np.random.default_rng(6).normal(size=(5, problem.X.shape[1]))
    ends = []
    for device in ("cpu", DEVICE):
        _, roots, solution = problem.fit(
            way, points, device, likelihood=likelihood, tol=1e-5
        )
        state = solution.state
        gp = FittedGP(
            problem.kernel,
            problem.X if points is None else problem.X[points],
            state.beta,
            [] if points is None else state.factors.cholesky,
            roots,
            state.factors.root if points is None else None,
            to_numpy(state.q.mu_T),
            to_numpy(state.q.var_T),
        )
        ends.append((solution, gp.moments(new)))
    (one, moments), (other, torch_moments) = ends
    assert other.history[-1].bound == pytest.approx(one.history[-1].bound, rel=1e-5)
    close(one.confidences, other.confidences, rtol=1e-5)
    for a, b in zip(moments, torch_moments, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-5)
