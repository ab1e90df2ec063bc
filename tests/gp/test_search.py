"""Both searches on functions whose top is known."""

from __future__ import annotations

import numpy as np

from tagsift.gp.search import maximise

TOP = np.array([1.3, -0.4])


def hill(x):
    return -float((x - TOP) @ (x - TOP)), -2 * (x - TOP), x.copy()


def test_climbing_finds_the_top():
    found = maximise(hill, np.zeros(2), [(-3, 3)] * 2)
    np.testing.assert_allclose(found, TOP, atol=1e-4)


def test_climbing_stays_in_the_box_and_in_its_budget():
    seen = []

    def watched(x):
        seen.append(x.copy())
        return hill(x)

    found = maximise(watched, np.zeros(2), [(-1, 1)] * 2, n_evaluations=3)
    assert len(seen) == 3
    assert (np.abs(seen) <= 1).all()
    assert hill(found)[0] == max(hill(x)[0] for x in seen)
