"""Held-out candidate sets: their probability, and what the search makes of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tagsift.features.distances import squared_distances
from tagsift.gp.kernels import RBF
from tagsift.sgppsl import SGPPSL
from tagsift.sgppsl.expectations import expectation
from tagsift.sgppsl.hyperparameters import Freedom, HeldOut, search_held_out
from tagsift.sgppsl.labels import Settings
from tests.reference.problems import small


def held_out(problem, rows, mask, way="jensen", cuts=()):
    taken = expectation(way)
    return HeldOut(
        problem.distances(),
        problem.labels(),
        squared_distances(problem.X, rows),
        np.where(mask, 0.0, -np.inf),
        np.array([0, *cuts, len(rows)]),
        Settings(spread=taken.spread),
        taken,
    )


@pytest.mark.parametrize("way", ["jensen", "laplace"])
def test_the_score_is_what_the_fitted_model_says(way):
    # The same through the estimator, with its means and loops over all of them.
    rng = np.random.default_rng(0)
    problem = small(0, lengths=(5, 6, 4))
    rows = rng.normal(size=(4, 3))
    mask = np.eye(3, dtype=bool)[[0, 1, 2, 0]] | (rng.random((4, 3)) < 0.3)
    kernel = RBF(np.full(3, 0.4), np.full(3, 8.0))
    cut = problem.offsets
    X, y = (
        [a[lo:hi] for lo, hi in zip(cut, cut[1:], strict=False)]
        for a in (problem.X, problem.mask)
    )
    about = {
        "theta": 0.4,
        "amplitude": 8.0,
        "expectation": way,
        "labels": ("a", "b", "c"),
    }
    model = SGPPSL(**about, max_iter=20, tol=1e-3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "tagsift.sgppsl.estimator.scale_features",
            lambda features: _unscaled(features),
        )
        means = model.fit(X, y).predict_latent([rows])[0][0]
    totals = []
    for t in (0.5, 0.5**0.5, 1.0, 2.0**0.5, 2.0, 2.0**1.5, 4.0, 2.0**2.5):
        powers = [np.exp(mu / t) for mu in means]
        pairs = zip(powers, mask, strict=True)
        each = [np.log(p[known].sum() / p.sum()) for p, known in pairs]
        totals.append((sum(each), sum(each[:3]), each[3]))
    found = held_out(problem, rows, mask, way, cuts=[3]).score(kernel)
    np.testing.assert_allclose(found, max(totals)[1:], rtol=1e-9)


def _unscaled(features):
    from tagsift.features.scaling import scale_features

    return scale_features(features, "none")


@pytest.mark.parametrize("fixed", ["amplitude", "theta"])
def test_what_is_fixed_stays(fixed):
    problem = small(6)
    free = Freedom(theta=fixed != "theta", amplitude=fixed != "amplitude")
    kernel = search_held_out(
        problem.kernel, held_out(problem, problem.X, problem.mask), free
    )
    still = getattr(kernel, fixed), getattr(problem.kernel, fixed)
    np.testing.assert_array_equal(*still)


class Hill:
    """Scores of two sentences that rise with one number and differ by `noise`."""

    def __init__(self, name, top, noise=0.0):
        self.name, self.top, self.noise, self.tried = name, top, noise, []

    def score(self, trial):
        at = np.log(getattr(trial, self.name)[0]) / np.log(3.0)
        self.tried.append(round(at))
        return -((at - self.top) ** 2) + at * self.noise * np.array([1.0, -1.0])


@pytest.mark.parametrize(
    ("name", "top", "end"),
    [
        ("amplitude", -5.0, -2),
        ("amplitude", -1.2, -1),
        ("amplitude", 1.0, 0),  # it only falls
        ("theta", 5.0, 2),
        ("theta", 1.0, 1),
        ("theta", 0.1, 0),
        ("theta", -1.2, -1),
    ],
)
def test_the_search_finds_the_best_of_its_steps(name, top, end):
    # A hill in the logarithms, of which no more than two steps are climbed.
    kernel, hill = RBF(np.ones(2), np.ones(2)), Hill(name, top)
    free = Freedom(theta=True, amplitude=name == "amplitude")
    found = search_held_out(kernel, hill, free)
    np.testing.assert_allclose(getattr(found, name), 3.0**end)
    other = "theta" if name == "amplitude" else "amplitude"
    np.testing.assert_array_equal(getattr(found, other), 1.0)
    assert len(hill.tried) == len(set(hill.tried))


def test_a_gain_within_its_error_is_none():
    # The first step gains 2 · (4 − 1) = 6; what the two sentences gain spreads by
    # `noise`, and the error of their sum is that times √2. The second gains only 2.
    kernel = RBF(np.ones(2), np.ones(2))
    for noise, amplitude in ((4.2, 1 / 3), (4.3, 1.0)):
        found = search_held_out(kernel, Hill("amplitude", -2.0, noise), Freedom())
        np.testing.assert_allclose(found.amplitude, amplitude)


def test_too_few_sentences_leave_the_start():
    X = [[["the"], ["cat"]], [["a"], ["dog"]]]
    y = [[{"D"}, {"N", "D"}], [{"D"}, {"N"}]]
    model = SGPPSL().fit(X, y)
    assert (model.kernel_.amplitude == 100.0).all()
    assert (replace(model.kernel_).theta > 0).all()
