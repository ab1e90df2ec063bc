"""Climbing the bound: better than where it began, and only in what is free."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.gp.kernels import RBF
from tagsift.sgppsl.expectations import Jensen, Tilted
from tagsift.sgppsl.hyperparameters import Freedom, climb_bound
from tagsift.sgppsl.labels import Settings
from tests.reference.problems import small

SOME = np.arange(6)


def learn(problem, points=SOME, way=None, free=None, **options):
    return climb_bound(
        problem.kernel,
        problem.distances(points),
        problem.labels(),
        Settings(),
        way or Jensen(),
        free or Freedom(),
        n_steps=4,
        **options,
    )


def same_widths(problem):
    n_labels = problem.n_labels
    kernel = RBF(np.full(n_labels, 0.4), np.full(n_labels, 3.0))
    return type(problem)(problem.X, problem.mask, problem.offsets, kernel)


@pytest.mark.parametrize("points", [np.arange(12), np.arange(6)], ids=["all", "some"])
@pytest.mark.parametrize("way", [Jensen(), Tilted()], ids=["jensen", "tilted"])
def test_the_bound_rises(points, way):
    problem = same_widths(small(1))
    _, bound = learn(problem, points, way, n_rounds=1)
    before = problem.fit("jensen" if way == Jensen() else "tilted", points)[2]
    assert bound > before.history[-1].bound


def test_every_label_gets_its_own_in_the_last_round():
    problem = same_widths(small(2, lengths=(6, 6)))
    kernel, _ = learn(problem, n_rounds=2)
    assert len(np.unique(kernel.theta)) == 3


@pytest.mark.parametrize("fixed", ["amplitude", "theta"])
def test_what_is_fixed_stays(fixed):
    problem = same_widths(small(3))
    free = Freedom(theta=fixed != "theta", amplitude=fixed != "amplitude")
    kernel, _ = learn(problem, free=free, n_rounds=1)
    if fixed == "amplitude":
        np.testing.assert_allclose(kernel.amplitude, 3.0)
    else:
        np.testing.assert_allclose(kernel.theta, 0.4)


def test_the_box_holds():
    problem = same_widths(small(4))
    kernel, _ = learn(problem, n_rounds=2)
    assert (np.abs(np.log(kernel.theta / 0.4)) <= 4.0 + 1e-9).all()
    assert (kernel.amplitude >= 1e-2 - 1e-12).all()
    assert (kernel.amplitude <= 1e4 * (1 + 1e-9)).all()
