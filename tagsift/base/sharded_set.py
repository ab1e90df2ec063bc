"""Training sentences in shards: a training set that is nowhere in one piece.

What `tagsift.base.training_set` says of sentences in memory, this says of the shards of
an engine, for the methods that minimise the objective of a chain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagsift.backend import Device
from tagsift.base.training_set import TrainingSet, drawn
from tagsift.chain import (
    ChainData,
    Checkpoint,
    LinearChain,
    ShardedObjective,
    Shards,
    TransitionPrior,
)
from tagsift.data import offsets_of
from tagsift.errors import InputError
from tagsift.features import FeatureMatrix, PackedFeatures
from tagsift.typing import BoolArray, FloatArray, IntArray, Label

__all__ = ["ShardedSet"]


@dataclass
class ShardedSet:
    """Shards of `ChainData`, and what is known of all of them together."""

    shards: Shards
    columns: tuple[tuple[str, int, bool], ...]  # name, width and kind of every block
    lengths: IntArray  # [S], tokens of every sentence
    bounds: IntArray  # [K+1], shard k holds the sentences bounds[k]:bounds[k + 1]
    seen: BoolArray  # [L], labels that are a candidate somewhere
    classes: tuple[Label, ...]
    scheme: str
    seed: int
    has_exact: bool  # whether some sentence is exactly labelled
    first_ambiguous: tuple[str, int] | None  # place, and number of candidates
    checkpoint: Checkpoint | None = None
    keeps_labels: bool = True  # whether the labels of all tokens are wanted

    @cached_property
    def offsets(self) -> IntArray:
        """Where each sentence begins, [S + 1]."""
        return offsets_of(self.lengths)

    @property
    def n_tokens(self) -> int:
        return int(self.lengths.sum())

    @property
    def n_labels(self) -> int:
        return len(self.classes)

    def weighted(self, sample_weight: FloatArray | None) -> ShardedSet:
        if sample_weight is not None:
            each = np.split(sample_weight, self.bounds[1:-1])
            self.shards.then(_with_weights, each=each)
        return self

    def close(self) -> None:
        self.shards.close()

    def transform(self, work: Callable[..., FeatureMatrix], *args: Any) -> ShardedSet:
        """The same sentences, with features that a function makes of theirs."""
        self.shards.then(_transformed, work, args)
        columns = self.shards.map(_columns, only=[0])[0]
        return replace(self, columns=columns)

    def draw(self, n_tokens: int, *, stream: int) -> TrainingSet:
        """Seeded draw of sentences that hold about `n_tokens` tokens, in their order.

        The same sentences as `TrainingSet.draw` takes.
        """
        chosen = np.arange(len(self.lengths))  # [S']
        if self.n_tokens > n_tokens:
            chosen = drawn(self.lengths, n_tokens, self.seed, stream)
        cuts = np.searchsorted(chosen, self.bounds)  # [K+1]
        pairs = zip(cuts[:-1], cuts[1:], self.bounds[:-1], strict=True)
        each = [chosen[lo:hi] - first for lo, hi, first in pairs]
        features, evidence, weights = zip(
            *self.shards.map(_taken, each=each), strict=True
        )
        stacked = np.concatenate(evidence)  # [N', L]
        hard = stacked.dtype == np.bool_
        return TrainingSet(
            _one_below_the_other(features),
            stacked if hard else stacked > -np.inf,
            self.classes,
            self.scheme,
            self.seed,
            None if hard else stacked,
            None if weights[0] is None else np.concatenate(weights),
        )

    def objective(
        self,
        l2: float,
        prior: TransitionPrior,
        *,
        single: bool = False,
        device: Device = "cpu",
    ) -> ShardedObjective:
        """What a chain for these sentences minimises; the shards hold it from then."""
        if device != "cpu":
            raise InputError("an engine works on NumPy arrays; leave device='cpu'.")
        self._objective = ShardedObjective(self.shards, l2, prior, single=single)
        if self.checkpoint is not None:
            self.checkpoint = self.checkpoint.of(self._objective.key)
        return self._objective

    def recover(self, chain: LinearChain) -> tuple[IntArray | None, FloatArray | None]:
        """Likeliest candidate of every token, [N], and all marginals, [N, L]."""
        return self._objective.recover(chain) if self.keeps_labels else (None, None)

    def curvature(self, chain: LinearChain) -> FloatArray:
        """As `LinearChain.curvature`, of all sentences, [D, L]."""
        return self._objective.curvature(chain)


def _with_weights(data: ChainData, weights: FloatArray) -> ChainData:
    return replace(data, sample_weight=weights)


def _transformed(
    data: ChainData, work: Callable[..., FeatureMatrix], args: tuple[Any, ...]
) -> ChainData:
    features = work(data.features.open(), *args)
    return replace(data, features=PackedFeatures.of(features))


def _columns(data: ChainData) -> tuple[tuple[str, int, bool], ...]:
    return data.features.columns


def _taken(
    data: ChainData, chosen: IntArray
) -> tuple[FeatureMatrix, BoolArray | FloatArray, FloatArray | None]:
    mine = np.split(np.arange(data.features.offsets[-1]), data.features.offsets[1:-1])
    rows = np.concatenate([np.zeros(0, np.int64), *(mine[s] for s in chosen)])
    weight = None if data.sample_weight is None else data.sample_weight[chosen]
    features = data.features.take_sequences(chosen)
    return features, np.asarray(data.evidence[rows]), weight


def _one_below_the_other(parts: tuple[FeatureMatrix, ...]) -> FeatureMatrix:
    """The sentences of several matrices with the same blocks."""
    blocks = []
    for pieces in zip(*(part.blocks for part in parts), strict=True):
        sparse = sp.issparse(pieces[0])
        blocks.append(sp.vstack(pieces, "csr") if sparse else np.vstack(pieces))
    lengths = np.concatenate([part.lengths for part in parts])  # [S]
    return FeatureMatrix(parts[0].names, tuple(blocks), offsets_of(lengths))
