"""Small random problems that the tests of the Gaussian process share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tagsift.gp.kernels import RBF
from tagsift.sgppsl.alternating import alternate
from tagsift.sgppsl.carriers import Distances
from tagsift.sgppsl.expectations import Moments, expectation
from tagsift.sgppsl.labels import Labels, Settings
from tagsift.sgppsl.likelihoods import Chain, Piecewise
from tagsift.sgppsl.solver import Problem


@dataclass(frozen=True)
class Small:
    """Features, candidate sets and hyperparameters of a few sentences."""

    X: Any
    mask: Any
    offsets: Any
    kernel: RBF

    @property
    def n_labels(self):
        return self.mask.shape[1]

    @property
    def evidence(self):
        return np.where(self.mask, 0.0, -np.inf)

    def distances(self, points=None, device="cpu"):
        return Distances.of(self.X, points, device)

    def problem(self, way="jensen", points=None, device="cpu"):
        covariance, roots = self.distances(points, device).covariance(self.kernel)
        return Problem(covariance, expectation(way)), roots

    def labels(self, device="cpu"):
        return Labels.build(self.mask, self.offsets, device)

    def fit(
        self,
        way="jensen",
        points=None,
        device="cpu",
        tol=1e-9,
        max_iter=200,
        **settings,
    ):
        problem, roots = self.problem(way, points, device)
        solution = alternate(
            problem,
            self.labels(device),
            Settings(**settings),
            max_iter=max_iter,
            tol=tol,
        )
        return problem, roots, solution

    def piecewise(self):
        """Uniform confidences as weights."""
        C = self.labels().uniform()
        pairs = np.zeros((self.n_labels, self.n_labels))
        for s in range(len(self.offsets) - 1):
            for n in range(self.offsets[s] + 1, self.offsets[s + 1]):
                pairs += np.outer(C[n - 1], C[n])
        return Piecewise(C, pairs)

    def chain(self):
        return Chain(self.labels().layout, self.evidence)


def small(seed=0, lengths=(4, 3, 0, 1, 4), n_labels=3, amplitude=3.0, n_features=3):
    """Distinct rows; every token has its truth among one to all candidates."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    N = int(offsets[-1])
    X = rng.normal(size=(N, n_features))
    mask = rng.random((N, n_labels)) < 0.4
    mask[np.arange(N), rng.integers(n_labels, size=N)] = True
    theta = rng.uniform(0.2, 0.6, size=n_labels)
    amplitudes = amplitude * rng.uniform(0.7, 1.3, size=n_labels)
    return Small(X, mask, offsets, RBF(theta, amplitudes))


def random_moments(problem, seed=0, spread=1.0, var_T=0.3):
    """Means and variances that belong to no fit."""
    rng = np.random.default_rng(seed)
    shape, square = problem.mask.shape, (problem.n_labels,) * 2
    return Moments(
        rng.normal(size=shape),
        spread * rng.uniform(0.1, 1.5, size=shape),
        rng.normal(size=square),
        np.full(square, float(var_T)),
    )
