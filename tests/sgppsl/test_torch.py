"""NumPy and PyTorch say the same: single functions to 1e-8, whole fits to 1e-5."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tagsift.backend import asarray, to_numpy
from tagsift.features.distances import squared_distances
from tagsift.sgppsl.expectations import Jensen, Moments
from tagsift.sgppsl.hyperparameters import HeldOut, theta_gradient
from tagsift.sgppsl.labels import (
    Settings,
)
from tagsift.sgppsl.likelihoods import Piecewise
from tagsift.sgppsl.predictive import FittedGP
from tagsift.sgppsl.solver import start
from tests.reference.comparing import all_close
from tests.reference.problems import small

torch = pytest.importorskip("torch")
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
POINTS = np.array([0, 2, 3, 6, 9, 11])


def move(array):
    return asarray(array, device=DEVICE)


def close(one, other, rtol=1e-8):
    np.testing.assert_allclose(to_numpy(other), to_numpy(one), rtol=rtol, atol=1e-10)


def moved(q):
    return Moments(*(move(getattr(q, f.name)) for f in dataclasses.fields(q)))


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
    all_close(torch_moments, moments, rtol=1e-05, atol=1e-05)
