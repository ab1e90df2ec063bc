"""The objective of a linear chain as a sum over shards, wherever they are.

Columns are merged over the whole corpus: their random sums, too, are sums over shards.
The parameter vector, the penalty and the minimiser are those of one machine, so the
steps are the same but for rounding, and the same to the bit for a number of shards.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagsift.chain.engine import Shards
from tagsift.chain.linear_chain import LinearChain, squared
from tagsift.chain.merge_columns import ColumnGroups, column_sums, n_different
from tagsift.chain.objective import ChainObjective
from tagsift.chain.parameters import ChainParameters, Penalised, TransitionPrior
from tagsift.chain.potentials import Allowed, log_evidence
from tagsift.features import CompactRows, PackedFeatures
from tagsift.typing import Array, BoolArray, FloatArray, IntArray

__all__ = ["ChainData", "ShardedObjective", "common_columns"]


@dataclass(frozen=True)
class ChainData:
    """The sentences of a shard, ready for a chain."""

    features: PackedFeatures
    evidence: BoolArray | FloatArray  # [N, L], candidates, or log evidence
    sample_weight: FloatArray | None = None  # [S]


class ShardedObjective(Penalised):
    """Penalised negative log-likelihood, with shards of `ChainData`.

    The shards hold objectives from then on, not the data they were made of.
    """

    def __init__(
        self,
        shards: Shards,
        l2: float,
        prior: TransitionPrior | None = None,
        *,
        allowed: Allowed | None = None,
        single: bool = False,
    ) -> None:
        self.shards, self.l2 = shards, l2
        prior = prior or TransitionPrior()
        counts, sums_of_evidence = shards.sum(_label_counts)  # [L], [L]
        groups, sparse, sums = common_columns(shards)
        self.parameters = ChainParameters(counts > 0, groups, sparse, prior)
        settings = repr((l2, prior.scale, prior.scale_bias, single, len(shards)))
        means = [prior.mean, prior.mean_start, *(allowed or ())]
        arrays = [
            counts,
            sums_of_evidence,
            sums,
            *(part for part in means if part is not None),
        ]
        digest = hashlib.sha256(settings.encode())
        for array in arrays:
            digest.update(np.ascontiguousarray(array).tobytes())
        #: Tells this objective from those of other data or settings.
        self.key = digest.hexdigest()
        shards.then(_objective, self.parameters, allowed, single)

    def data_term(self, w: Array) -> tuple[float, Array]:
        """Negative log-likelihood of the sentences, and its gradient."""
        value, gradient = self.shards.sum(_data_term, w)
        return float(value), gradient

    def recover(self, chain: LinearChain) -> tuple[IntArray, FloatArray]:
        """Likeliest candidate of every token, [N], and all marginals, [N, L]."""
        parts = self.shards.map(_recovered, self.vector(chain))
        labels, marginals = zip(*parts, strict=True)
        return np.concatenate(labels), np.concatenate(marginals)

    def curvature(self, chain: LinearChain) -> FloatArray:
        """As `LinearChain.curvature`, of all sentences, [D, L]."""
        parameters = self.parameters
        merged, dense = self.shards.sum(_curvature, self.vector(chain))
        h = np.zeros((len(parameters.sparse_columns), len(parameters.active)))  # [D, L]
        each = parameters.groups.expand(
            merged / np.sqrt(parameters.groups.size)[:, None]
        )
        h[np.ix_(parameters.sparse_columns, parameters.active)] = each
        h[np.ix_(~parameters.sparse_columns, parameters.active)] = dense
        return h


def common_columns(shards: Shards) -> tuple[ColumnGroups, BoolArray, FloatArray]:
    """Groups of the sparse columns, which columns are sparse [D], and sums [D, 3]."""
    sparse = shards.map(_sparse_columns, only=[0])[0]  # [D]
    sums = shards.sum(_column_sums, each=range(len(shards)))  # [D, 3]
    groups = ColumnGroups.of_sums(sums)
    if shards.sum(_n_different, groups):
        groups = ColumnGroups.apart(sums)
    return groups, sparse, sums


def _label_counts(data: ChainData) -> tuple[IntArray, FloatArray]:
    """How often every label is a candidate, and the sum of the evidence for it."""
    e, weights = np.asarray(log_evidence(data.evidence)), data.sample_weight  # [N, L]
    finite = np.where(e > -np.inf, e, 0.0)  # [N, L]
    if weights is not None:
        finite = (1.0 + finite) * np.repeat(weights, data.features.lengths)[:, None]
    return (e > -np.inf).sum(axis=0), finite.sum(axis=0)  # [L], [L]


def _sparse_columns(data: ChainData) -> BoolArray:
    kinds = [np.full(width, sparse) for _, width, sparse in data.features.columns]
    return np.concatenate(kinds)  # [D]


def _rows(data: ChainData) -> Any:
    sparse = data.features.side_by_side().sparse
    n_tokens = int(data.features.offsets[-1])
    return sp.csr_matrix((n_tokens, 0)) if sparse is None else sparse.blocks[0]


def _column_sums(data: ChainData, number: int) -> FloatArray:
    return column_sums(_rows(data), number)


def _n_different(data: ChainData, groups: ColumnGroups) -> int:
    return n_different(sp.csc_matrix(_rows(data)), groups)


def _objective(
    data: ChainData, common: ChainParameters, allowed: Allowed | None, single: bool
) -> ChainObjective:
    return ChainObjective(
        data.features.side_by_side(),
        data.evidence,
        0.0,
        common.prior,
        allowed=allowed,
        sample_weight=data.sample_weight,
        single=single,
        common=common,
    )


def _data_term(objective: ChainObjective, w: Array) -> tuple[float, Array]:
    value, gradient = objective.data_term(w)
    return float(value), gradient


def _recovered(objective: ChainObjective, w: Array) -> tuple[IntArray, FloatArray]:
    return objective.recovered(w)


def _curvature(objective: ChainObjective, w: Array) -> tuple[FloatArray, FloatArray]:
    """Curvature of merged and of dense columns, labels that take part, [·, A]."""
    p = objective.marginals(w)  # [N, A], packed
    p *= 1.0 - p
    X = objective.X
    if isinstance(X, CompactRows):
        X_squared: Any = replace(X, values=X.values**2)  # [N, G]
    else:
        X_squared = squared(X)  # [N, G]
    return np.asarray(X_squared.T @ p), np.asarray(squared(objective.V).T @ p)
