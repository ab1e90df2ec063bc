"""The mode of a chain Gaussian process, for any kernel, and how sure it is there.

With whitened features f = Φw and w ~ N(0, I), the diagonal of Laplace's posterior
precision is 1 + h_{dy} with h_{dy} = Σ_n φ_{nd}² p_{ny}(1 − p_{ny}), and a token's
variance Σ_d φ_d² / (1 + h_{dy}): large where its features were seldom or never seen.
Columns of inducing points vanish far from them, and their variance with them; what they
do not carry of the prior variance is the `rest` below, and is added.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from tagsift.backend import Device, asarray
from tagsift.base import TrainingSet
from tagsift.chain.lbfgs import Step, minimise
from tagsift.chain.linear_chain import LinearChain
from tagsift.chain.objective import ChainObjective, TransitionPrior
from tagsift.features import FeatureMatrix
from tagsift.gp.kernels import GroupKernel, InducingColumns, rbf_inputs, scaled_features
from tagsift.storage.state import Saved, array
from tagsift.typing import BoolArray, FloatArray

__all__ = ["ModeFinder", "Spread", "rbf_columns"]


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
        self, train: TrainingSet, kernel: GroupKernel
    ) -> tuple[dict[str, InducingColumns], FeatureMatrix]:
        """Choose the inducing points of the RBF parts, and whiten the features."""
        inputs = rbf_inputs(train.features)
        parts = {}
        for name, (_, theta) in kernel.rbf.items():
            X, shares = inputs[name], train.shares
            parts[name] = InducingColumns.choose(
                X, shares, theta, self.n_inducing, train.seed
            )
        columns = rbf_columns(parts, inputs, self.device)
        return parts, scaled_features(train.features, kernel, columns)

    def prior(self, kernel: GroupKernel) -> TransitionPrior:
        """Prior of transitions, start scores and bias."""
        return TransitionPrior(
            self.mean, self.mean_start, kernel.transition**0.5, kernel.bias**0.5
        )

    def objective(self, train: TrainingSet, kernel: GroupKernel) -> ChainObjective:
        """Minus log-posterior in whitened coordinates."""
        return ChainObjective(
            train.features,
            train.log_evidence,
            1.0,
            self.prior(kernel),
            sample_weight=train.sample_weight,
            single=True,
            device=self.device,
        )

    def find(
        self,
        train: TrainingSet,
        kernel: GroupKernel,
        *,
        tol: float,
        title: str,
        warn: bool = False,
    ) -> tuple[LinearChain, Step]:
        """The chain of all features and labels, and how the steps to it ended."""
        objective = self.objective(train, kernel)
        found = minimise(
            objective,
            asarray(np.zeros(objective.n_parameters), device=self.device),
            max_iter=self.max_iter,
            tol=tol,
            title=title,
            verbose=self.verbose,
            warn=warn,
        )
        return objective.weights(found.x), found


def rbf_columns(
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
        curvature = p * (1.0 - p)  # [N, L]
        h = np.vstack([_squared(block).T @ curvature for block in phi.blocks])  # [D, L]
        return cls(np.where(active, 1.0 + h, np.inf))

    def variance(self, phi: FeatureMatrix, rest: FloatArray) -> FloatArray:
        """Variance of every latent value, [M, L]; no column carries the `rest` [M]."""
        total = np.where(np.isfinite(self.precision[0]), rest[:, None], 0.0)  # [M, L]
        column = 0
        for block in phi.blocks:
            width = block.shape[1]
            total += _squared(block) @ (1.0 / self.precision[column : column + width])
            column += width
        return total

    def difference_variance(self, phi: FeatureMatrix, rest: FloatArray) -> FloatArray:
        """Variance of f_y − mean_y f, labels taken as independent, [M, L]."""
        v = self.variance(phi, rest)  # [M, L]
        known = np.isfinite(self.precision[0])  # [L]
        n = max(int(known.sum()), 1)
        shared = v.sum(axis=1, keepdims=True) / n**2  # [M, 1]
        return np.where(known, v * (1.0 - 2.0 / n) + shared, 0.0)  # [M, L]


def _squared(block: Any) -> Any:
    """Elementwise square, sparse or dense."""
    return block.multiply(block).tocsr() if sp.issparse(block) else block * block
