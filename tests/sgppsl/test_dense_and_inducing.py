"""One solver, two posteriors: with Z = X on distinct rows they are the same."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.sgppsl.predictive import FittedGP
from tagsift.sgppsl.solver import ascend, start
from tests.reference.comparing import all_close
from tests.reference.problems import small


def fitted(problem, roots, solution, points):
    state = solution.state
    return FittedGP(
        problem.kernel,
        problem.X,
        state.beta,
        [] if points is None else state.factors.cholesky,
        roots,
        state.factors.root if points is None else None,
        state.q.mu_T,
        state.q.var_T,
    )


@pytest.mark.parametrize("likelihood", ["piecewise", "chain"])
@pytest.mark.parametrize("way", ["jensen", "laplace"])
@pytest.mark.parametrize("amplitude", [1.0, 20.0])
def test_they_agree(likelihood, way, amplitude):
    problem = small(1, amplitude=amplitude)
    everything = np.arange(len(problem.X))
    fits = {
        name: problem.fit(way, points, likelihood=likelihood, max_iter=40)
        for name, points in (("dense", None), ("inducing", everything))
    }
    dense, inducing = fits["dense"][2], fits["inducing"][2]
    assert inducing.history[-1].bound == pytest.approx(
        dense.history[-1].bound, rel=1e-6, abs=1e-6
    )
    for name in ("mu", "var", "mu_T", "var_T"):
        np.testing.assert_allclose(
            getattr(inducing.state.q, name), getattr(dense.state.q, name), atol=1e-6
        )
    np.testing.assert_allclose(inducing.confidences, dense.confidences, atol=1e-6)
    new = np.random.default_rng(0).normal(size=(6, problem.X.shape[1]))
    one = fitted(problem, [], dense, None).moments(new)
    other = fitted(problem, fits["inducing"][1], inducing, everything).moments(new)
    all_close(one, other, atol=1e-06)


def test_fewer_points_only_lower_the_bound():
    problem = small(2)
    likelihood = problem.piecewise()
    bounds = []
    for size in (2, 5, 9, len(problem.X)):
        fixed, _ = problem.problem("jensen", np.arange(size))
        state = start(fixed, likelihood.weights, problem.n_labels)
        bounds.append(ascend(fixed, likelihood, state, n_mean=20, n_variance=20)[1][-1])
    assert bounds == sorted(bounds)
