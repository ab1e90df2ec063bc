"""Where the hyperparameters of SGPPSL come from: as given, or learnt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tagsift.base import TrainingSet
from tagsift.features.distances import median_distance
from tagsift.gp.inducing import choose_points
from tagsift.gp.kernels import RBF
from tagsift.sgppsl.alternating import Labels, Settings
from tagsift.sgppsl.distances import Distances
from tagsift.sgppsl.expectations import Expectation
from tagsift.sgppsl.hyperparameters import Freedom, climb_bound, search_evidence
from tagsift.sgppsl.likelihoods import Separate

__all__ = ["RBFChoice"]

#: Tokens and inducing points that the hyperparameters are learnt from.
_LEARN_TOKENS, _LEARN_POINTS = 3000, 300
#: Where the hyperparameters start: θ · median squared distance, and amplitude.
_START_THETA, _START_AMPLITUDE = 0.3, 20.0


@dataclass(frozen=True)
class RBFChoice:
    """Which hyperparameters are given, and how the others are learnt.

    Parameters
    ----------
    theta, amplitude : float or None
        As given; None where it is to be learnt.
    way : {"laplace", "bound", "fixed"}
        Laplace's evidence over one θ and one amplitude, the gradient of the paper's
        bound, or no learning.
    settings, expectation
        Readings, likelihood and expectation of the fit, for the bound.
    """

    theta: float | None
    amplitude: float | None
    way: str
    settings: Settings
    expectation: Expectation

    def choose(self, X: Any, train: TrainingSet, device: Any) -> RBF:
        """Return the hyperparameters of all labels.

        Parameters
        ----------
        X : csr_matrix or ndarray of shape (n_tokens, D)
            Features of the training tokens.
        train : TrainingSet
            The training sentences.
        device : device
            Where to compute.
        """
        kernel = self._start(X, train)
        if self.way == "fixed" or None not in (self.theta, self.amplitude):
            return kernel
        return self._learn(kernel, train, device)

    def _start(self, X: Any, train: TrainingSet) -> RBF:
        """Hyperparameters as given, or where learning starts."""
        theta = self.theta
        if theta is None:
            theta = _START_THETA / median_distance(X, train.seed)
        amplitude = _START_AMPLITUDE if self.amplitude is None else self.amplitude
        return RBF(
            np.full(train.n_labels, float(theta)),
            np.full(train.n_labels, float(amplitude)),
        )

    def _learn(self, kernel: RBF, train: TrainingSet, device: Any) -> RBF:
        """Learn θ and the amplitude on a seeded part of the training sentences."""
        part = train.draw(_LEARN_TOKENS, stream=0)
        X = part.features.stacked()  # [N', D]
        theta = float(kernel.theta[0])
        points = choose_points(X, part.mask, theta, _LEARN_POINTS, train.seed)
        distances = Distances.of(X, points, device)
        labels = Labels.build(part.log_evidence, part.offsets, device)
        free = Freedom(self.theta is None, self.amplitude is None)
        if self.way == "laplace":
            likelihood = Separate(labels.evidence)
            return search_evidence(
                kernel, distances, likelihood, labels.uniform(), free
            )
        return climb_bound(
            kernel, distances, labels, self.settings, self.expectation, free
        )[0]
