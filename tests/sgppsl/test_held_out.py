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
from tests.reference.problems import Small, small


def held_out(problem, rows, mask, way="jensen"):
    taken = expectation(way)
    return HeldOut(
        problem.distances(),
        problem.labels(),
        squared_distances(problem.X, rows),
        np.where(mask, 0.0, -np.inf),
        Settings(spread=taken.spread),
        taken,
    )


@pytest.mark.parametrize("way", ["jensen", "laplace"])
def test_the_score_is_what_the_fitted_model_says(way):
    # The same through the estimator, with marginals and a loop over the tokens.
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
        marginals = model.fit(X, y).predict_marginals([rows])[0]
    expected = sum(
        np.log(p[known].sum()) for p, known in zip(marginals, mask, strict=True)
    )
    found = held_out(problem, rows, mask, way).score(kernel)
    assert found == pytest.approx(expected, rel=1e-9)


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


def test_the_search_finds_the_best_of_its_steps(monkeypatch):
    # A hill in the logarithms: two steps up in the amplitude, one down in θ.
    kernel = RBF(np.ones(2), np.ones(2))
    tried = []

    class Hill:
        def score(self, trial):
            a, t = np.log([trial.amplitude[0], trial.theta[0]]) / np.log(3.0)
            tried.append((round(a), round(t)))
            return -((a - 5.0) ** 2) - (t + 1.0) ** 2

    found = search_held_out(kernel, Hill(), Freedom())
    np.testing.assert_allclose(found.amplitude, 9.0)  # no farther than two steps
    np.testing.assert_allclose(found.theta, 1 / 3)
    assert len(tried) == len(set(tried))


def test_certain_labels_ask_for_large_amplitudes():
    # Labels that change once along a line are certain; scattered ones are not.
    x, start = np.linspace(0, 4, 40)[:, None], RBF(np.full(2, 1.0), np.full(2, 4.0))
    chosen = []
    for labels in (x[:, 0] > 2, np.random.default_rng(0).random(40) < 0.5):
        mask = np.stack([labels, ~labels], axis=1)
        problem = Small(x[::2], mask[::2], np.array([0, 20]), start)
        found = search_held_out(
            start, held_out(problem, x[1::2], mask[1::2]), Freedom()
        )
        chosen.append(found.amplitude[0])
    assert chosen[0] > chosen[1]


def test_too_few_sentences_leave_the_start():
    X = [[["the"], ["cat"]], [["a"], ["dog"]]]
    y = [[{"D"}, {"N", "D"}], [{"D"}, {"N"}]]
    model = SGPPSL().fit(X, y)
    assert (model.kernel_.amplitude == 30.0).all()
    assert (replace(model.kernel_).theta > 0).all()
