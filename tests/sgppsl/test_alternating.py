"""The loop of section III-D: what it records, when it stops, what C may do."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.gp.kernels import RBF
from tagsift.sgppsl.alternating import alternate
from tagsift.sgppsl.labels import (
    Settings,
    build_likelihood,
    confidence,
    literal_confidence,
)
from tagsift.sgppsl.solver import start
from tests.reference.problems import small


@pytest.mark.parametrize("likelihood", ["piecewise", "chain"])
@pytest.mark.parametrize("way", ["jensen", "tilted", "sampled", "laplace"])
def test_it_settles(likelihood, way):
    problem = small(1)
    _, _, solution = problem.fit(way, likelihood=likelihood, tol=1e-5)
    C = solution.confidences
    np.testing.assert_allclose(C.sum(axis=1), 1.0)
    assert (C[~problem.mask] == 0).all()
    single = problem.mask.sum(axis=1) == 1
    np.testing.assert_allclose(C[single], problem.mask[single])
    assert solution.converged and solution.history[-1].refreshed
    assert all(np.isfinite(step.bound) for step in solution.history)


def test_the_chain_begins_where_the_pieces_end():
    fixed, _ = small(1).problem()
    labels, settings = small(1).labels(), Settings(likelihood="chain")
    begun = alternate(fixed, labels, settings.in_pieces(), max_iter=50, tol=1e-4)
    one = {"max_iter": 1, "tol": 1e-4}
    warm = alternate(fixed, labels, settings, state=begun.state, **one)
    own = alternate(fixed, labels, settings, max_iter=50, tol=1e-4)
    zero = start(fixed, labels.uniform(), labels.n_labels)
    cold = alternate(fixed, labels, settings, state=zero, **one)
    assert own.history[0].bound == pytest.approx(warm.history[0].bound)
    assert own.history[0].bound > cold.history[0].bound


def test_confidences_at_the_end_are_equation_17():
    problem = small(2)
    _, _, solution = problem.fit()
    q = solution.state.q
    expected = confidence(q.mu, q.var, problem.evidence)
    np.testing.assert_array_equal(solution.confidences, expected)
    _, _, printed = problem.fit(measure="literal")
    q = printed.state.q
    expected = literal_confidence(q.mu, q.var, problem.evidence)
    np.testing.assert_array_equal(printed.confidences, expected)


def test_history_watches_tokens():
    problem = small(3)
    fixed, _ = problem.problem()
    watch = np.array([4, 0])
    solution = alternate(
        fixed,
        problem.labels(),
        Settings(),
        max_iter=5,
        tol=0.0,
        watch=watch,
    )
    assert len(solution.history) == 5 and not solution.converged
    last = solution.history[-1]
    np.testing.assert_array_equal(last.watched, solution.confidences[watch])
    assert last.mean_confidence == pytest.approx(
        solution.confidences.max(axis=1).mean()
    )
    assert solution.history[0].refreshed
    assert all(step.watched.shape == (2, 3) for step in solution.history)
    blind = alternate(fixed, problem.labels(), Settings(), max_iter=2)
    assert blind.history[0].watched.shape == (0, 3)


def test_a_warm_start_goes_on_where_it_stood():
    problem = small(4)
    fixed, _, solution = problem.fit()
    again = alternate(
        fixed, problem.labels(), Settings(), state=solution.state, tol=1e-6
    )
    assert len(again.history) <= 4
    np.testing.assert_allclose(again.confidences, solution.confidences, atol=1e-4)


def test_the_literal_weights_are_the_candidates():
    problem = small(6)
    labels = problem.labels()
    fixed, _ = problem.problem()
    state = start(fixed, labels.uniform(), problem.n_labels)
    literal = build_likelihood(
        Settings(weighting="literal"), state.q, labels, labels.uniform()
    )
    np.testing.assert_array_equal(literal.weights, problem.mask.astype(float))
    np.testing.assert_array_equal(literal.pair_weights, labels.left.T @ labels.right)


def test_exact_labels_need_no_confidences():
    # With singletons the readings of R1 and R2 all describe the supervised model.
    problem = small(7)
    exact = np.zeros_like(problem.mask)
    exact[np.arange(len(exact)), problem.mask.argmax(axis=1)] = True
    problem = type(problem)(problem.X, exact, problem.offsets, problem.kernel)
    _, _, base = problem.fit(tol=1e-11)
    for settings in ({"weighting": "literal"}, {"measure": "literal"}):
        _, _, other = problem.fit(tol=1e-11, **settings)
        np.testing.assert_allclose(other.state.q.mu, base.state.q.mu, atol=1e-4)
        np.testing.assert_allclose(other.state.q.var, base.state.q.var, atol=1e-4)
    np.testing.assert_array_equal(base.confidences, exact.astype(float))


def test_renaming_the_labels_changes_nothing():
    problem = small(8)
    order = np.array([2, 0, 1])
    kernel = RBF(problem.kernel.theta[order], problem.kernel.amplitude[order])
    other = type(problem)(problem.X, problem.mask[:, order], problem.offsets, kernel)
    _, _, one = problem.fit()
    _, _, two = other.fit()
    np.testing.assert_allclose(two.confidences, one.confidences[:, order], atol=1e-7)


@pytest.mark.parametrize("way", ["jensen", "tilted", "sampled", "laplace"])
def test_a_single_label_is_certain(way):
    problem = small(9, n_labels=1)
    _, _, solution = problem.fit(way)
    np.testing.assert_array_equal(solution.confidences, 1.0)
    assert solution.converged
