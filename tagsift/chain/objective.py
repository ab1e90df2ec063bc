"""What a linear chain is fitted by: its penalised likelihood, and the gradient.

A sentence contributes log Z(f + e) − log Z(f): the lattice with the evidence e of its
labels added to the scores, 0 and −∞ for candidate sets, against the free one; the
gradient is the difference between their marginals. A Gaussian prior keeps the weights
small. This is the conditional random field on candidate sets, and in whitened
coordinates the mode of a chain Gaussian process.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from tagsift.backend import Device, asarray, namespace, to_numpy
from tagsift.chain.lattice import Lattice, forward_backward, packed_forward_backward
from tagsift.chain.layout import ChainLayout
from tagsift.chain.merge_columns import merge_columns
from tagsift.chain.parameters import (
    ChainParameters,
    Penalised,
    TransitionPrior,
    banned_means,
)
from tagsift.chain.potentials import Allowed, Potentials, log_evidence
from tagsift.features import FeatureMatrix, compact
from tagsift.typing import Array, BoolArray, FloatArray, IntArray

__all__ = ["ChainObjective", "ChainProblem", "TransitionPrior", "banned_means"]


@dataclass(frozen=True)
class ChainProblem:
    """A chain to be fitted, conditional random field or Gaussian process alike."""

    features: FeatureMatrix
    l2: float
    prior: TransitionPrior | None = None
    allowed: Allowed | None = None

    def take_sequences(self, sentences: IntArray) -> ChainProblem:
        return replace(self, features=self.features.take_sequences(sentences))

    def objective(self, evidence: BoolArray | FloatArray) -> ChainObjective:
        """What is to be minimised, given the evidence on the sentences."""
        return ChainObjective(
            self.features,
            evidence,
            self.l2,
            self.prior,
            allowed=self.allowed,
            single=True,
        )


class ChainObjective(Penalised):
    """Penalised negative log-likelihood of partly labelled sentences, and its gradient.

    All tokens are kept in packed order, identical feature columns are merged, and the
    restricted lattice is run only for sentences that are not exactly labelled: there it
    has a single path. Labels that are a candidate nowhere take no part. A sentence
    whose candidates leave no way through what is allowed counts as unlabelled. With
    `single` dense features are kept and multiplied in single precision. As one shard of
    a corpus it has parameters in `common` with the others, and compact features.
    """

    def __init__(
        self,
        features: FeatureMatrix,
        evidence: BoolArray | FloatArray,
        l2: float = 1.0,
        prior: TransitionPrior | None = None,
        *,
        allowed: Allowed | None = None,
        sample_weight: FloatArray | None = None,
        single: bool = False,
        device: Device = "cpu",
        common: ChainParameters | None = None,
    ) -> None:
        self.l2 = l2
        self._common = common
        self.device = device
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.layout = ChainLayout.from_offsets(features.offsets)
        self.prior, self.allowed = prior or TransitionPrior(), allowed
        self._read_features(features)
        self._read_weights(sample_weight)
        self._read_labels(log_evidence(evidence))

    def with_evidence(self, evidence: BoolArray | FloatArray) -> ChainObjective:
        """Build the objective of the same sentences with other evidence, cheaply."""
        other = copy.copy(self)
        other._read_labels(log_evidence(evidence))
        return other

    def _on_device(self, x: FloatArray | IntArray) -> Array:
        return asarray(x, device=self.device)

    def _read_weights(self, sample_weight: FloatArray | None) -> None:
        """Weights of sentences, and of their tokens in packed order."""
        self.sentence_weights = self.token_weights = None
        if sample_weight is not None:
            of_sentence = sample_weight[self.layout.sentences]  # [S']
            of_token = of_sentence[self.layout.token_sentences]  # [N]
            self.sentence_weights = self._on_device(of_sentence)  # [S']
            self.token_weights = self._on_device(of_token[:, None])  # [N, 1]

    def _read_labels(self, evidence: FloatArray) -> None:
        """Part the sentences into exactly labelled ones and the rest."""
        layout = self.layout
        self.parameters = self._parameters(evidence)
        active = self.parameters.active  # [L]
        packed = evidence[layout.order][:, active]  # [N, A]
        self.bans: list[Array] | None = None
        if self.allowed is not None:
            packed = self._passable(packed, self.allowed)
        ambiguous = (packed > -np.inf).sum(axis=1) != 1  # [N]
        exact = np.ones(layout.n_sentences, dtype=bool)  # [S']
        exact[layout.token_sentences[ambiguous]] = False
        exact_rows, exact_layout = layout.take(exact)  # [N₁]
        labels = packed[exact_rows].argmax(axis=1)  # [N₁]
        of_exact = self.weights_ambiguous = None
        if self.sentence_weights is not None:
            weights = to_numpy(self.sentence_weights)  # [S']
            of_exact = weights[exact]  # [S₁]
            self.weights_ambiguous = self._on_device(weights[~exact])  # [S₂]
        pairs = _count_pairs(labels, exact_layout, packed.shape[1], of_exact)
        rows, self.ambiguous = layout.take(~exact)  # [N₂]
        self.exact_rows = self._on_device(exact_rows)  # [N₁]
        self.exact_labels = self._on_device(labels)  # [N₁]
        self.exact_pairs = self._on_device(pairs)  # [A, A]
        self.rows = self._on_device(rows)  # [N₂]
        self.evidence = self._on_device(packed[rows])  # [N₂, A]

    def _passable(self, packed: FloatArray, allowed: Allowed) -> FloatArray:
        """Evidence in which sentences without a permitted way count as unlabelled."""
        active, layout = self.parameters.active, self.layout
        between, first, last = allowed
        inside = between[np.ix_(active, active)], first[active], last[active]
        self.bans = [self._on_device(log_evidence(part)) for part in inside]
        self.last = self._on_device(layout.last_tokens)  # [S']
        U, T = layout.unpack(packed), np.zeros((packed.shape[1],) * 2)
        log_z = forward_backward(U, T, layout, allowed=inside).log_z  # [S']
        blocked = (log_z == -np.inf)[layout.token_sentences]  # [N]
        return np.where(blocked[:, None], 0.0, packed)  # [N, A]

    def _parameters(self, evidence: FloatArray) -> ChainParameters:
        if self._common is not None:
            return self._common
        active = np.asarray((evidence > -np.inf).any(axis=0))  # [L]
        return ChainParameters(
            active, self.groups, self.sparse_columns, self.prior, self.device
        )

    def _read_features(self, features: FeatureMatrix) -> None:
        sparse, dense, order = features.sparse, features.dense, self.layout.order
        self.sparse_columns = np.concatenate(
            [np.full(block.shape[1], sp.issparse(block)) for block in features.blocks]
        )  # [D]
        n = features.n_tokens
        matrix = sp.csr_matrix((n, 0)) if sparse is None else sparse.stacked()
        if self._common is None:
            self.groups, X = merge_columns(matrix[order])
        else:
            self.groups = self._common.groups
            self.sparse_columns = self._common.sparse_columns
            X = compact(self.groups.take_rows(matrix[order]))
        on_cpu = isinstance(self.device, str)
        self.X = X if on_cpu else self._on_device(X)  # [N, G]
        self.X_T = X.T if on_cpu else self._on_device(X.T)  # [G, N]
        width = 0 if dense is None else dense.n_features
        V = np.empty((n, width), dtype=self.dtype)  # [N, V]
        column = 0
        for block in () if dense is None else dense.blocks:
            last = column + block.shape[1]
            V[:, column:last] = block[order]
            column = last
        self.V = self._on_device(V)  # [N, V]

    def data_term(self, w: Array) -> tuple[float, Array]:
        """Negative log-likelihood of the sentences, and its gradient."""
        xp = namespace(w)
        W, T, start = self._packed_scores(w)
        n_sentences = self.layout.n_sentences
        W[:n_sentences] += start
        exact = W[self.exact_rows, self.exact_labels]  # [N₁]
        full, part = self._lattices(W, T)
        G = full.marginals  # [N, A], full minus restricted from here on
        G[self.exact_rows, self.exact_labels] -= 1.0
        G[self.rows] -= part.marginals
        free, restricted = full.log_z, part.log_z  # [S'], [S'']
        if self.token_weights is not None:
            G *= self.token_weights
            exact *= self.token_weights[self.exact_rows, 0]
            free, restricted = (
                self.sentence_weights * free,
                self.weights_ambiguous * restricted,
            )
        chosen = exact.sum() + (T * self.exact_pairs).sum()
        value = free.sum() - restricted.sum() - chosen

        prior, gradient = self.prior, xp.zeros_like(w)  # [P]
        dE, dE_dense, d_bias, dT, d_start = self.parameters.split(gradient)
        dE += self.X_T @ G
        if self.V.shape[1]:
            dE_dense += self.V.T @ xp.astype(G, self.V.dtype, copy=False)
        d_bias += prior.scale_bias * G.sum(axis=0)
        dT += prior.scale * (full.pairs - part.pairs - self.exact_pairs)
        d_start += prior.scale * G[:n_sentences].sum(axis=0)
        return value, gradient

    def _lattices(self, W: Array, T: Array) -> tuple[Lattice, Lattice]:
        """Forward–backward without and with the evidence, ambiguous sentences only."""
        if self.bans is not None:
            between, first, last = self.bans
            T = T + between  # [A, A]
            W[: self.layout.n_sentences] += first
            W[self.last] += last
        restricted = W[self.rows] + self.evidence  # [N₂, A]
        whole = Potentials(W, T, self.layout, self.sentence_weights)
        part = Potentials(restricted, T, self.ambiguous, self.weights_ambiguous)
        return packed_forward_backward(whole), packed_forward_backward(part)

    def _packed_scores(self, w: Array) -> tuple[Array, Array, Array]:
        """Unary scores [N, A], transitions [A, A] and start scores [A]."""
        parameters, prior = self.parameters, self.prior
        E, E_dense, bias, T, start = parameters.split(w)
        W = self.X @ E  # [N, A]
        if self.V.shape[1]:
            W += self.V @ namespace(w).astype(E_dense, self.V.dtype, copy=False)
        W += prior.scale_bias * bias
        start = prior.scale * start[0] + parameters.mean_start  # [A]
        return W, prior.scale * T + parameters.mean_T, start

    def marginals(self, w: Array) -> Array:
        """Probability of every label that takes part, packed, without evidence."""
        W, T, start = self._packed_scores(w)  # [N, A]
        W[: self.layout.n_sentences] += start
        return packed_forward_backward(Potentials(W, T, self.layout)).marginals

    def recovered(self, w: Array) -> tuple[IntArray, FloatArray]:
        """Likeliest candidate of every token, [N], and marginals of all labels, [N, L].

        What is allowed has no say here.
        """
        W, T, start = self._packed_scores(w)  # [N, A]
        W[: self.layout.n_sentences] += start
        restricted = Potentials(W[self.rows] + self.evidence, T, self.ambiguous)
        inside = np.zeros(W.shape, dtype=bool)  # [N, A]
        marginals_of_active = np.zeros(W.shape)  # [N, A]
        marginals_of_active[self.exact_rows, self.exact_labels] = 1.0
        inside[self.exact_rows, self.exact_labels] = True
        marginals_of_active[self.rows] = to_numpy(
            packed_forward_backward(restricted).marginals
        )
        inside[self.rows] = to_numpy(self.evidence) > -np.inf
        active = np.flatnonzero(self.parameters.active)  # [A]
        labels = active[
            np.where(inside, marginals_of_active, -1.0).argmax(axis=1)
        ]  # [N]
        marginals = np.zeros((len(W), len(self.parameters.active)))  # [N, L]
        marginals[:, active] = marginals_of_active
        return self.layout.unpack(labels), self.layout.unpack(marginals)

    def scores(self, w: Array) -> tuple[Array, Array, Array]:
        """Unary scores in stacked order, transitions and start, active labels only."""
        packed, T, start = self._packed_scores(w)
        return self.layout.unpack(packed), T, start


def _count_pairs(
    labels: IntArray, layout: ChainLayout, n_labels: int, weights: FloatArray | None
) -> FloatArray:
    """How often a label follows another; labels in packed order, [L, L]."""
    counts = np.zeros((n_labels, n_labels))  # [L, L]
    for lo, hi, before in layout.steps_after_first:
        pairs = labels[before : before + hi - lo], labels[lo:hi]  # [S_t], [S_t]
        np.add.at(counts, pairs, 1.0 if weights is None else weights[: hi - lo])
    return counts
