"""Where the hyperparameters of SGPPSL come from: as given, or learnt."""

from __future__ import annotations

from typing import Any

import numpy as np

from tagsift.base import TrainingSet
from tagsift.features.distances import median_distance
from tagsift.gp.inducing import choose_points
from tagsift.gp.kernels import RBF
from tagsift.sgppsl.distances import Distances
from tagsift.sgppsl.expectations import Expectation
from tagsift.sgppsl.hyperparameters import Freedom, climb_bound, search_evidence
from tagsift.sgppsl.labels import Labels, Settings
from tagsift.sgppsl.likelihoods import Separate

__all__ = ["choose_kernel"]

#: Tokens and inducing points that the hyperparameters are learnt from.
_LEARN_TOKENS, _LEARN_POINTS = 3000, 300
#: Where the hyperparameters start: θ · median squared distance, and amplitude.
_START_THETA, _START_AMPLITUDE = 0.3, 20.0


def choose_kernel(
    X: Any,
    train: TrainingSet,
    device: Any,
    *,
    theta: float | None,
    amplitude: float | None,
    way: str,
    settings: Settings,
    expectation: Expectation,
) -> RBF:
    """Hyperparameters of all labels, learnt on a seeded part of the sentences.

    Parameters
    ----------
    X : csr_matrix or ndarray of shape (n_tokens, D)
        Features of the training tokens.
    train : TrainingSet
        The training sentences.
    device : device
        Where to compute.
    theta, amplitude : float or None
        As given; None where it is to be learnt.
    way : {"laplace", "bound", "fixed"}
        Laplace's evidence over one θ and one amplitude, the gradient of the paper's
        bound, or no learning.
    settings, expectation
        Readings, likelihood and expectation of the fit, for the bound.
    """
    free = Freedom(theta is None, amplitude is None)
    if theta is None:
        theta = _START_THETA / median_distance(X, train.seed)
    if amplitude is None:
        amplitude = _START_AMPLITUDE
    n_labels = train.n_labels
    kernel = RBF(np.full(n_labels, float(theta)), np.full(n_labels, float(amplitude)))
    if way == "fixed" or not (free.theta or free.amplitude):
        return kernel
    part = train.draw(_LEARN_TOKENS, stream=0)
    rows = part.features.stacked()  # [N', D]
    points = choose_points(rows, part.shares, float(theta), _LEARN_POINTS, train.seed)
    distances = Distances.of(rows, points, device)
    labels = Labels.build(part.log_evidence, part.offsets, device)
    if way == "laplace":
        likelihood = Separate(labels.evidence)
        return search_evidence(kernel, distances, likelihood, labels.uniform(), free)
    return climb_bound(kernel, distances, labels, settings, expectation, free)[0]
