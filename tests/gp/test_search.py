"""Both searches on functions whose top is known."""

from __future__ import annotations

import numpy as np
import pytest

from tagsift.gp.search import climb, pattern_search

TOP = np.array([1.3, -0.4])


def hill(x):
    return -float((x - TOP) @ (x - TOP)), -2 * (x - TOP), x.copy()


def test_climbing_finds_the_top():
    found = climb(hill, np.zeros(2), [(-3, 3)] * 2)
    np.testing.assert_allclose(found, TOP, atol=1e-4)


def test_climbing_stays_in_the_box_and_in_its_budget():
    seen = []

    def watched(x):
        seen.append(x.copy())
        return hill(x)

    found = climb(watched, np.zeros(2), [(-1, 1)] * 2, n_evaluations=3)
    assert len(seen) == 3
    assert (np.abs(seen) <= 1).all()
    assert hill(found)[0] == max(hill(x)[0] for x in seen)


@pytest.mark.parametrize("free", [(True, True), (True, False), (False, True)])
def test_patterns_find_the_best_point_of_the_free_axes(free):
    seen = []

    def value(x):
        seen.append(tuple(x))
        return hill(x)[0]

    found = pattern_search(value, free, max_trials=9)
    assert len(seen) == len(set(seen)) <= 9
    assert hill(found)[0] == max(hill(np.array(x))[0] for x in seen)
    np.testing.assert_array_equal(found[~np.array(free)], 0.0)
