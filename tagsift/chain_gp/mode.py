"""The mode of a chain Gaussian process, for any kernel and any sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagsift.backend import Device, asarray
from tagsift.base import TrainingSet
from tagsift.chain.lbfgs import minimise
from tagsift.chain.linear_chain import LinearChain
from tagsift.chain.objective import ChainObjective, TransitionPrior
from tagsift.features import FeatureMatrix
from tagsift.gp.groups import GroupKernel, InducingColumns, rbf_inputs, scaled_features
from tagsift.typing import FloatArray

__all__ = ["Mode", "ModeFinder", "rbf_columns"]

#: Share of the inducing points that the RBF part of the sparse groups gets.
_SPARSE_SHARE = 1 / 3


@dataclass(frozen=True)
class Mode:
    """Where the quasi-Newton steps ended."""

    weights: LinearChain  # in terms of all whitened features and all labels
    log_posterior: float  # up to a constant
    n_iter: int


@dataclass(frozen=True)
class ModeFinder:
    """How modes are found."""

    mean: FloatArray  # [L, L], prior mean of transition scores
    mean_start: FloatArray  # [L], prior mean of start scores
    n_inducing: int  # of the RBF part of a dense group
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
            share = _SPARSE_SHARE if sp.issparse(inputs[name]) else 1.0
            parts[name] = InducingColumns.choose(
                inputs[name],
                train.shares,
                theta,
                max(1, round(share * self.n_inducing)),
                train.seed,
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
    ) -> Mode:
        """Run quasi-Newton steps from zero until the objective changes little."""
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
        return Mode(objective.weights(found.x), -found.value, found.n_iter)


def rbf_columns(
    parts: Mapping[str, InducingColumns], inputs: Mapping[str, Any], device: Device
) -> dict[str, Any]:
    """Columns of the RBF parts at unit amplitude."""
    return {name: part.columns(inputs[name], device) for name, part in parts.items()}
