"""The text models of votes, fitted where the shards of the text are.

As in `tagsift.annotators.cross_fit`, every part of the sentences is scored by chains
that were fitted on the others. A shard holds an objective for each part of its own
sentences, and the chains of a part sum over the objectives of all others. Evidence and
scores, as many numbers as tokens times labels, stay with the driver.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from tagsift.annotators.cross_fit import TOL, TextScores, part_of, scored
from tagsift.annotators.rounds import Trail
from tagsift.base.sharded_set import ShardedSet
from tagsift.chain.checkpoint import Checkpoint
from tagsift.chain.engine import Shards, add_up
from tagsift.chain.lbfgs import minimise
from tagsift.chain.linear_chain import LinearChain
from tagsift.chain.objective import ChainObjective
from tagsift.chain.parameters import ChainParameters, Penalised, TransitionPrior
from tagsift.chain.potentials import Allowed
from tagsift.chain.sharded import ChainData, common_columns
from tagsift.typing import Array, FloatArray, IntArray

__all__ = ["KeptRounds", "ShardedChains"]


class ShardedChains:
    """Chains over shards, one for every penalty and part of the sentences."""

    def __init__(
        self,
        train: ShardedSet,
        penalties: Sequence[float],
        allowed: Allowed | None,
        n_parts: int,
        seed: int,
    ) -> None:
        self.shards, self.penalties, self.allowed = train.shards, penalties, allowed
        self.n_tokens, self.lengths = train.n_tokens, train.lengths
        part = part_of(len(self.lengths), n_parts, seed)  # [S]
        self.part, self.bounds = part, train.bounds
        self.rows = train.offsets[
            train.bounds
        ]  # [K+1], where the tokens of shards begin
        self.alone = n_parts == 1
        groups, sparse, sums = common_columns(self.shards)
        #: Tells these sentences and settings from others.
        self.key = hashlib.sha256(
            repr((penalties, n_parts, seed, len(self.shards))).encode()
            + np.ascontiguousarray(sums).tobytes()
        ).hexdigest()
        active = np.ones(train.n_labels, dtype=bool)  # [L]
        self.common = ChainParameters(active, groups, sparse, TransitionPrior())
        each = np.split(part, train.bounds[1:-1])
        self.shards.then(_by_part, self.common, allowed, each=each)
        n = self.common.n_parameters
        filled = np.unique(part[self.lengths > 0])
        self.w = {int(k): [np.zeros(n) for _ in penalties] for k in filled}

    @property
    def parameters(self) -> list[FloatArray]:
        """Where the next fit begins, chain by chain."""
        return [w for each in self.w.values() for w in each]

    @parameters.setter
    def parameters(self, each: list[FloatArray]) -> None:
        left = iter(each or [np.zeros_like(w) for w in self.parameters])
        self.w = {k: [next(left) for _ in mine] for k, mine in self.w.items()}

    def fit(self, evidence: FloatArray, max_iter: int) -> TextScores:
        """Fit every chain on the evidence of the sentences it does not score."""
        self._tell(evidence)
        parts = []
        for k, starts in self.w.items():
            without = None if self.alone or len(self.w) == 1 else k
            found = [
                self._minimum(l2, without, w, max_iter)
                for l2, w in zip(self.penalties, starts, strict=True)
            ]
            self.w[k] = found
            U = np.concatenate(self.shards.map(_scores, k, found))  # [N'', L]
            mine = self.part == k  # [S]
            rows = np.flatnonzero(np.repeat(mine, self.lengths))  # [N'']
            chains = [self.common.weights(w) for w in found]
            parts.append(scored(rows, U, chains, self.lengths[mine], self.allowed))
        return TextScores(parts, self.n_tokens)

    def whole(self, evidence: FloatArray, max_iter: int) -> LinearChain:
        """A chain of the first penalty, fitted to all sentences."""
        self._tell(evidence)
        start = np.zeros(self.common.n_parameters)  # [P]
        x = self._minimum(self.penalties[0], None, start, max_iter)
        return self.common.weights(x)

    def _tell(self, evidence: FloatArray) -> None:
        each = np.split(evidence, self.rows[1:-1])
        self.shards.then(_with_evidence, each=each)

    def _minimum(
        self, l2: float, without: int | None, w: Array, max_iter: int
    ) -> FloatArray:
        objective = _OfOthers(self.shards, self.common, l2, without)
        return np.asarray(minimise(objective, w, max_iter=max_iter, tol=TOL).x)


@dataclass(frozen=True)
class KeptRounds:
    """What is known between rounds, on disk: labels, texts, and their parameters."""

    checkpoint: Checkpoint
    chains: ShardedChains

    @classmethod
    def of(cls, checkpoint: Checkpoint, chains: ShardedChains, *told: Any) -> Self:
        """For a fit that `told`, arrays and what can be printed, tells from others."""
        digest = hashlib.sha256(chains.key.encode())
        for part in told:
            numbers = isinstance(part, np.ndarray)
            digest.update(part.tobytes() if numbers else repr(part).encode())
        return cls(checkpoint.of(digest.hexdigest()), chains)

    def write(self, trails: list[Trail]) -> None:
        """Keep what is known after a round."""
        told = [[one.name, one.history, len(one.chains)] for one in trails]
        arrays = [(one.log_pi, one.labels, one.text, *one.chains) for one in trails]
        flat = (part for row in arrays for part in row)
        self.checkpoint.keep({"trails": told}, *flat)

    def read(self) -> list[Trail]:
        """What was kept."""
        last = self.checkpoint.kept()
        if last is None:
            return []
        told, arrays = last
        left = iter(arrays)
        trails = []
        for name, history, n in told["trails"]:
            log_pi, labels, text = next(left), next(left), next(left)
            chains = [next(left) for _ in range(n)]
            trails.append(Trail(name, log_pi, labels, text, history, chains))
        return trails


class _OfOthers(Penalised):
    """The objective of the sentences of all parts but one."""

    def __init__(
        self,
        shards: Shards,
        parameters: ChainParameters,
        l2: float,
        without: int | None,
    ) -> None:
        self.shards, self.parameters = shards, parameters
        self.l2, self.without = l2, without

    def data_term(self, w: Array) -> tuple[float, Array]:
        """Negative log-likelihood of the sentences, and its gradient."""
        value, gradient = self.shards.sum(_data_term, self.without, w)
        return float(value), gradient


#: Objectives of the parts of a shard, and the stacked tokens of each.
Parts = dict[int, tuple[ChainObjective, IntArray]]


def _by_part(
    data: ChainData, common: ChainParameters, allowed: Allowed | None, part: IntArray
) -> Parts:
    features = data.features.side_by_side()
    found: Parts = {}
    for k in np.unique(part[features.lengths > 0]).tolist():
        chosen = np.flatnonzero(part == k)  # [S']
        rows = features.rows_of(chosen)  # [N']
        objective = ChainObjective(
            features.take_sequences(chosen),
            np.ones((len(rows), len(common.active)), dtype=bool),
            0.0,
            common.prior,
            allowed=allowed,
            single=True,
            common=common,
        )
        found[k] = objective, rows
    return found


def _with_evidence(parts: Parts, evidence: FloatArray) -> Parts:
    return {
        k: (o.with_evidence(evidence[rows]), rows) for k, (o, rows) in parts.items()
    }


def _data_term(parts: Parts, without: int | None, w: Array) -> tuple[float, Array]:
    terms = [o.data_term(w) for k, (o, _) in parts.items() if k != without]
    if not terms:
        return 0.0, np.zeros_like(w)
    value, gradient = add_up(terms)
    return float(value), gradient


def _scores(parts: Parts, k: int, found: Sequence[Array]) -> FloatArray:
    """Mean unary scores of the sentences of a part, [N'', L]."""
    if k not in parts:
        n_labels = next(iter(parts.values()))[0].parameters.n_labels
        return np.zeros((0, n_labels))
    objective, _ = parts[k]
    return np.asarray(np.mean([objective.scores(w)[0] for w in found], axis=0))
