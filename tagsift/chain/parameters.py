"""The parameters of a linear chain as one vector, and the penalty on it.

The vector holds sparse and dense emissions, bias, transitions and start scores of the
labels that take part, in whitened coordinates: a Gaussian prior of mean and scale makes
the same penalty ½ λ |w|² of all of them.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tagsift.backend import Device, asarray, to_numpy
from tagsift.chain.linear_chain import LinearChain
from tagsift.chain.merge_columns import ColumnGroups
from tagsift.chain.potentials import Allowed
from tagsift.typing import Array, BoolArray, FloatArray

__all__ = ["ChainParameters", "Penalised", "TransitionPrior", "banned_means"]

#: Prior mean of transitions that the tag scheme forbids.
_BANNED = -5.0


@dataclass(frozen=True)
class TransitionPrior:
    """Gaussian prior of transition, start and bias scores, relative to the penalty."""

    mean: FloatArray | None = None  # [L, L], of transition scores; 0 by default
    mean_start: FloatArray | None = None  # [L], of start scores; 0 by default
    scale: float = 1.0  # standard deviation of transition and start scores
    scale_bias: float = 1.0  # standard deviation of the bias


def banned_means(allowed: Allowed) -> tuple[FloatArray, FloatArray]:
    """Prior means with which what is forbidden starts far down, [L, L] and [L]."""
    between, first, _ = allowed
    return np.where(between, 0.0, _BANNED), np.where(first, 0.0, _BANNED)


@dataclass(frozen=True)
class ChainParameters:
    """Where the weights of a chain stand in one vector, and what they mean."""

    active: BoolArray  # [L], labels that are a candidate somewhere
    groups: ColumnGroups  # of the sparse columns
    sparse_columns: BoolArray  # [D], whether a column is sparse
    prior: TransitionPrior
    device: Device = "cpu"

    @cached_property
    def n_labels(self) -> int:
        return int(self.active.sum())

    @cached_property
    def sizes(self) -> list[int]:
        """Rows of sparse and dense emissions, bias, transitions and start scores."""
        n_dense = int((~self.sparse_columns).sum())
        return [self.groups.n_groups, n_dense, 1, self.n_labels, 1]

    @property
    def n_parameters(self) -> int:
        return sum(self.sizes) * self.n_labels

    @cached_property
    def mean_T(self) -> Array:  # noqa: N802
        """Prior mean of the transitions, [A, A]."""
        active, mean = self.active, self.prior.mean
        mean = np.zeros((len(active), len(active))) if mean is None else mean
        return asarray(mean[np.ix_(active, active)], device=self.device)

    @cached_property
    def mean_start(self) -> Array:
        """Prior mean of the start scores, [A]."""
        active, mean = self.active, self.prior.mean_start
        mean = np.zeros(len(active)) if mean is None else mean
        return asarray(mean[active], device=self.device)

    def split(self, w: Array) -> list[Array]:
        """Views of sparse and dense emissions, bias, transitions and start scores."""
        rows = w.reshape(-1, self.n_labels)  # [P / A, A]
        bounds = itertools.accumulate(self.sizes, initial=0)
        return [rows[lo:hi] for lo, hi in itertools.pairwise(bounds)]

    def vector(self, weights: LinearChain) -> Array:
        """Undo `weights`: the parameter vector of a chain, to start from.

        Where copies of one feature have different weights, their mean is taken; labels
        that are new here start at 0.
        """
        w = np.zeros(self.n_parameters)  # [P]
        E, E_dense, bias, T, start = self.split(w)
        active, prior = self.active, self.prior
        emissions = weights.emissions[:, active]  # [D, A]
        E[:] = self.groups.merge(emissions[self.sparse_columns])
        E_dense[:] = emissions[~self.sparse_columns]
        if prior.scale_bias > 0:
            bias[0] = np.nan_to_num(weights.bias[active], neginf=0.0) / prior.scale_bias
        if prior.scale > 0:
            transitions = weights.transitions[np.ix_(active, active)]  # [A, A]
            T[:] = (transitions - to_numpy(self.mean_T)) / prior.scale
            first = weights.start[active] - to_numpy(self.mean_start)  # [A]
            start[0] = first / prior.scale
        return asarray(w, device=self.device)

    def weights(self, w: Array) -> LinearChain:
        """Parameters in terms of all features and all labels, as NumPy arrays."""
        E, E_dense, bias, T, start = self.split(to_numpy(w))
        mean_T, mean_start = to_numpy(self.mean_T), to_numpy(self.mean_start)
        active, n_labels, prior = self.active, len(self.active), self.prior
        emissions = np.zeros((len(self.sparse_columns), n_labels))  # [D, L]
        emissions[np.ix_(self.sparse_columns, active)] = self.groups.expand(E)
        emissions[np.ix_(~self.sparse_columns, active)] = E_dense
        all_bias = np.full(n_labels, -np.inf)  # [L]
        all_bias[active] = prior.scale_bias * bias[0]
        transitions = np.zeros((n_labels, n_labels))  # [L, L]
        transitions[np.ix_(active, active)] = prior.scale * T + mean_T
        all_start = np.zeros(n_labels)  # [L]
        all_start[active] = prior.scale * start[0] + mean_start
        return LinearChain(emissions, all_bias, transitions, all_start)


class Penalised:
    """A sum over sentences and a penalty on the parameters, to be minimised."""

    parameters: ChainParameters
    l2: float

    def data_term(self, w: Array) -> tuple[float, Array]:
        """Negative log-likelihood of the sentences, and its gradient."""
        raise NotImplementedError

    def __call__(self, w: Array) -> tuple[float, Array]:
        """Value and gradient at a parameter vector."""
        value, gradient = self.data_term(w)
        gradient += self.l2 * w
        return float(value + 0.5 * self.l2 * (w @ w)), gradient

    @property
    def n_parameters(self) -> int:
        return self.parameters.n_parameters

    def weights(self, w: Array) -> LinearChain:
        """Parameters in terms of all features and all labels, as NumPy arrays."""
        return self.parameters.weights(w)

    def vector(self, weights: LinearChain) -> Array:
        """Undo `weights`: the parameter vector of a chain, to start from."""
        return self.parameters.vector(weights)
