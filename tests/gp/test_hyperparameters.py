"""Climbing the bound: better than where it began, and only in what is free."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.gp.alternating import Settings
from tagsift.gp.expectations import Jensen, Tilted
from tagsift.gp.hyperparameters import learn_kernel
from tests.reference.problems import small


def learn(problem, points=None, way=None, **options):
    rounds = []
    kernel = learn_kernel(
        problem.kernel,
        problem.distances(points),
        problem.labels(),
        Settings(),
        way or Jensen(),
        n_rounds=options.pop("n_rounds", 2),
        n_steps=4,
        on_round=lambda bound, kernel: rounds.append((bound, kernel)),
        **options,
    )
    return kernel, rounds


def same_widths(problem):
    kernel = problem.kernel.replaced(
        np.full_like(problem.kernel.theta, 0.4),
        np.full_like(problem.kernel.amplitude, 3.0),
    )
    return type(problem)(problem.X, problem.mask, problem.offsets, kernel)


@pytest.mark.parametrize("points", [None, np.arange(6)], ids=["dense", "inducing"])
@pytest.mark.parametrize("way", [Jensen(), Tilted()], ids=["jensen", "tilted"])
def test_the_bound_rises(points, way):
    problem = same_widths(small(1))
    kernel, rounds = learn(problem, points, way, n_rounds=1)
    before = problem.fit("jensen" if way == Jensen() else "tilted", points)[2]
    assert rounds[0][0] > before.history[-1].bound
    assert kernel is rounds[-1][1]
    assert len(np.unique(kernel.theta)) == 1 and len(np.unique(kernel.amplitude)) == 1


def test_every_label_gets_its_own_in_the_last_round():
    problem = same_widths(small(2, lengths=(6, 6)))
    kernel, rounds = learn(problem, per_label=True)
    assert len(rounds) == 2
    assert len(np.unique(rounds[0][1].theta)) == 1
    assert len(np.unique(kernel.theta)) == 3


@pytest.mark.parametrize("fixed", ["amplitude", "theta", "both"])
def test_what_is_fixed_stays(fixed):
    problem = same_widths(small(3))
    kernel, rounds = learn(
        problem,
        learn_amplitude=fixed == "theta",
        learn_theta=fixed == "amplitude",
        n_rounds=1,
    )
    if fixed != "theta":
        np.testing.assert_allclose(kernel.amplitude, 3.0)
    if fixed != "amplitude":
        np.testing.assert_allclose(kernel.theta, 0.4)
    assert bool(rounds) == (fixed != "both")


def test_the_box_holds():
    problem = same_widths(small(4))
    kernel, _ = learn(problem)
    assert (np.abs(np.log(kernel.theta / 0.4)) <= 4.0 + 1e-9).all()
    assert (kernel.amplitude >= 1e-2 - 1e-12).all()
    assert (kernel.amplitude <= 1e4 * (1 + 1e-9)).all()
