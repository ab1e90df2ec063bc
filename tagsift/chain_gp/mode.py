"""The mode of a chain Gaussian process, for any kernel, and how sure it is there.

With whitened features f = Φw and w ~ N(0, I), the diagonal of Laplace's posterior
precision is 1 + h_{dy} with h_{dy} = Σ_n φ_{nd}² p_{ny}(1 − p_{ny}), and a token's
variance Σ_d φ_d² / (1 + h_{dy}): large where its features were seldom or never seen.
Columns of inducing points vanish far from them, and their variance with them; what they
do not carry of the prior variance is the `rest` below, and is added.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from tagsift.backend import Device, asarray
from tagsift.base import AnyTrainingSet, TrainingSet
from tagsift.chain import (
    LinearChain,
    Penalised,
    Step,
    TransitionPrior,
    curvature,
    minimise,
    squared,
)
from tagsift.features import FeatureMatrix
from tagsift.gp import GroupKernel, InducingColumns, rbf_inputs, scaled_features
from tagsift.storage import Saved, array
from tagsift.typing import BoolArray, FloatArray

__all__ = ["ModeFinder", "Spread", "a_sample", "whitened"]

#: Tokens of shards among which inducing points are chosen.
_SAMPLE = 20_000


@dataclass(frozen=True)
class ModeFinder:
    """How modes are found."""

    mean: FloatArray  # [L, L], prior mean of transition scores
    mean_start: FloatArray  # [L], prior mean of start scores
    n_inducing: int  # of every RBF part
    max_iter: int
    device: Device = "cpu"
    verbose: bool = False

    def whiten(
        self, train: AnyTrainingSet, kernel: GroupKernel
    ) -> tuple[dict[str, InducingColumns], AnyTrainingSet]:
        """Choose the inducing points of the RBF parts, and whiten the features.

        In shards the points are chosen among some of the tokens.
        """
        sample = a_sample(train)
        inputs = rbf_inputs(sample.features)
        parts = {}
        for name, (_, theta) in kernel.rbf.items():
            X, shares = inputs[name], sample.shares
            parts[name] = InducingColumns.choose(
                X, shares, theta, self.n_inducing, train.seed
            )
        whitening = kernel, parts, self.device
        if isinstance(train, TrainingSet):
            return parts, replace(train, features=whitened(train.features, *whitening))
        return parts, train.transform(whitened, *whitening)

    def prior(self, kernel: GroupKernel) -> TransitionPrior:
        return TransitionPrior(
            self.mean, self.mean_start, kernel.transition**0.5, kernel.bias**0.5
        )

    def objective(self, train: AnyTrainingSet, kernel: GroupKernel) -> Penalised:
        """Minus log-posterior in whitened coordinates."""
        return train.objective(1.0, self.prior(kernel), single=True, device=self.device)

    def find(
        self,
        train: AnyTrainingSet,
        kernel: GroupKernel,
        *,
        tol: float,
        title: str,
        warn: bool = False,
    ) -> tuple[LinearChain, Step]:
        """The chain of all features and labels, and how the steps to it ended."""
        objective = self.objective(train, kernel)
        optimum = minimise(
            objective,
            asarray(np.zeros(objective.n_parameters), device=self.device),
            max_iter=self.max_iter,
            tol=tol,
            title=title,
            verbose=self.verbose,
            warn=warn,
            checkpoint=train.checkpoint,
        )
        return objective.weights(optimum.x), optimum


def a_sample(train: AnyTrainingSet) -> TrainingSet:
    """The sentences themselves, or some of those in shards."""
    if isinstance(train, TrainingSet):
        return train
    return train.draw(_SAMPLE, stream=31)


def whitened(
    features: FeatureMatrix,
    kernel: GroupKernel,
    parts: Mapping[str, InducingColumns],
    device: Device,
) -> FeatureMatrix:
    """Whitened features, linear parts and columns of the inducing points."""
    columns = _rbf_columns(parts, rbf_inputs(features), device)
    return scaled_features(features, kernel, columns)


def _rbf_columns(
    parts: Mapping[str, InducingColumns], inputs: Mapping[str, Any], device: Device
) -> dict[str, Any]:
    """Columns of the RBF parts at unit amplitude."""
    return {name: part.columns(inputs[name], device) for name, part in parts.items()}


@dataclass(frozen=True)
class Spread:
    """Diagonal posterior precision of the whitened weights."""

    precision: FloatArray  # [D, L], 1 + h; infinite where never a candidate

    saved: ClassVar[Saved] = {"precision": array("P L", least=1, infinite=np.inf)}

    @classmethod
    def at_mode(cls, phi: FeatureMatrix, p: FloatArray, active: BoolArray) -> Spread:
        """Collect the curvature of all training tokens, with marginals p [N, L]."""
        return cls.of(curvature(phi, p), active)

    @classmethod
    def of(cls, h: FloatArray, active: BoolArray) -> Spread:
        """From the curvature h of the likelihood, [D, L]."""
        return cls(np.where(active, 1.0 + h, np.inf))

    def variance(self, phi: FeatureMatrix, rest: FloatArray) -> FloatArray:
        """Variance of every latent value, [M, L]; no column carries the `rest` [M]."""
        total = np.where(np.isfinite(self.precision[0]), rest[:, None], 0.0)  # [M, L]
        column = 0
        for block in phi.blocks:
            width = block.shape[1]
            total += squared(block) @ (1.0 / self.precision[column : column + width])
            column += width
        return total

    def difference_variance(self, phi: FeatureMatrix, rest: FloatArray) -> FloatArray:
        """Variance of f_y − mean_y f, labels taken as independent, [M, L]."""
        v = self.variance(phi, rest)  # [M, L]
        possible = np.isfinite(self.precision[0])  # [L]
        n = max(int(possible.sum()), 1)
        shared = v.sum(axis=1, keepdims=True) / n**2  # [M, 1]
        return np.where(possible, v * (1.0 - 2.0 / n) + shared, 0.0)  # [M, L]
