"""What a linear chain is fitted by: its penalised likelihood, and the gradient.

A sentence contributes log Z(f + e) − log Z(f): the lattice with the evidence e of its
labels added to the scores, against the free one. Candidate sets are the evidence 0
inside and −∞ outside. The gradient is the difference between the marginals of the two
lattices. A quadratic penalty, that is a Gaussian prior, keeps the weights small;
transitions and start scores may have a prior mean and a scale of their own, and what a
tag scheme forbids can be left out of both lattices. This is the conditional random
field on candidate sets, and in whitened coordinates the mode of a chain Gaussian
process.
"""

from __future__ import annotations

import copy
import itertools
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tagsift.backend import Device, asarray, namespace, to_numpy
from tagsift.chain.columns import MergedColumns
from tagsift.chain.lattice import Lattice, log_partition, packed_forward_backward
from tagsift.chain.layout import ChainLayout
from tagsift.chain.linear_chain import Allowed, LinearChain
from tagsift.chain.potentials import (
    Potentials,
    last_tokens,
    log_evidence,
    take_sentences,
    token_sentences,
)
from tagsift.features import FeatureMatrix
from tagsift.typing import Array, BoolArray, FloatArray, IntArray

__all__ = ["ChainObjective", "TransitionPrior"]


@dataclass(frozen=True)
class TransitionPrior:
    """Gaussian prior of transition, start and bias scores, relative to the penalty.

    Parameters
    ----------
    mean : ndarray of shape (n_labels, n_labels), optional
        Prior mean of the transition scores; 0 by default.
    mean_start : ndarray of shape (n_labels,), optional
        Prior mean of the start scores; 0 by default.
    scale, scale_bias : float
        Prior standard deviations of transition and start scores, and of the bias.
    """

    mean: FloatArray | None = None
    mean_start: FloatArray | None = None
    scale: float = 1.0
    scale_bias: float = 1.0


class ChainObjective:
    """Penalised negative log-likelihood of partly labelled sentences, and its gradient.

    All tokens are kept in packed order, identical feature columns are merged, and the
    restricted lattice is run only for sentences that are not exactly labelled: there it
    has a single path. Labels that are a candidate nowhere take no part.

    Parameters
    ----------
    features : FeatureMatrix
        Features of the sentences.
    evidence : ndarray of shape (n_tokens, n_labels)
        Log evidence of every label, up to a constant per token and −inf where it is no
        candidate; or a mask of candidates.
    l2 : float
        Weight λ of the penalty ½ λ |w|².
    prior : TransitionPrior, optional
        Means and scales of transitions, start scores and bias.
    allowed : tuple of ndarrays of bool, shapes (L, L), (L,) and (L,), optional
        Which label may follow which, begin and end a sentence: all else is left out of
        both lattices. A sentence whose candidates leave no way through counts as
        unlabelled.
    sample_weight : ndarray of shape (n_sentences,), optional
        How much every sentence counts; 1 by default.
    single : bool
        Whether dense features are kept and multiplied in single precision.
    device : "cpu" or torch.device
        Where the arrays live, and the parameter vectors that it is called with.
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
    ) -> None:
        self.l2 = l2
        self.device = device
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.layout = ChainLayout.from_offsets(features.offsets)
        self.prior, self.allowed = prior or TransitionPrior(), allowed
        self._read_features(features, self.layout)
        self._read_weights(sample_weight)
        self._read_labels(log_evidence(evidence))

    def with_evidence(self, evidence: BoolArray | FloatArray) -> ChainObjective:
        """Build the objective of the same sentences with other evidence, cheaply."""
        other = copy.copy(self)
        other._read_labels(log_evidence(evidence))
        return other

    def _read_weights(self, sample_weight: FloatArray | None) -> None:
        """Weights of sentences, and of their tokens in packed order."""
        self.sentence_weights = self.token_weights = None
        if sample_weight is not None:
            of_sentence = sample_weight[self.layout.sentences]  # [S']
            of_token = of_sentence[token_sentences(self.layout)]  # [N]
            self.sentence_weights = asarray(of_sentence, device=self.device)  # [S']
            self.token_weights = asarray(of_token[:, None], device=self.device)  # [N,1]

    def _read_labels(self, evidence: FloatArray) -> None:
        """Part the sentences into exactly labelled ones and the rest."""
        layout, device = self.layout, self.device
        self.active: BoolArray = np.asarray((evidence > -np.inf).any(axis=0))  # [L]
        self.n_labels = int(self.active.sum())
        self._read_prior()
        packed = evidence[layout.order][:, self.active]  # [N, A]
        self._read_bans()
        if self.ban_T is not None:
            packed = self._passable(packed)
        of_token = token_sentences(layout)  # [N]
        ambiguous = (packed > -np.inf).sum(axis=1) != 1  # [N]
        exact = np.bincount(of_token, ambiguous, len(layout.sentences)) == 0  # [S']
        exact_rows, exact_layout = take_sentences(layout, exact)  # [N₁]
        labels = packed[exact_rows].argmax(axis=1)  # [N₁]
        self.weights_exact = self.weights_ambiguous = None
        if self.sentence_weights is not None:
            weights = to_numpy(self.sentence_weights)  # [S']
            self.weights_exact = weights[exact]
            self.weights_ambiguous = asarray(weights[~exact], device=device)
        pairs = _count_pairs(labels, exact_layout, self.n_labels, self.weights_exact)
        rows, self.ambiguous = take_sentences(layout, ~exact)  # [N₂]
        self.exact_rows = asarray(exact_rows, device=device)  # [N₁]
        self.exact_labels = asarray(labels, device=device)  # [N₁]
        self.exact_pairs = asarray(pairs, device=device)  # [A, A]
        self.rows = asarray(rows, device=device)  # [N₂]
        self.evidence = asarray(packed[rows], device=device)  # [N₂, A]

    def _read_bans(self) -> None:
        """Scores 0 and −inf of what is allowed and what is not, active labels only."""
        self.ban_T = self.ban_start = self.ban_end = None
        if self.allowed is not None:
            kept = self.active
            between, first, last = (log_evidence(part) for part in self.allowed)
            self.ban_T = asarray(between[np.ix_(kept, kept)], device=self.device)
            self.ban_start = asarray(first[kept], device=self.device)  # [A]
            self.ban_end = asarray(last[kept], device=self.device)  # [A]
            self.last = asarray(last_tokens(self.layout), device=self.device)  # [S']

    def _passable(self, packed: FloatArray) -> FloatArray:
        """Evidence in which sentences without a permitted way count as unlabelled."""
        bans = [to_numpy(part) for part in (self.ban_T, self.ban_start, self.ban_end)]
        layout = self.layout
        stacked = np.empty_like(packed)  # [N, A]
        stacked[layout.order] = packed
        log_z = log_partition(stacked, bans[0], layout, start=bans[1], end=bans[2])
        blocked = (log_z == -np.inf)[token_sentences(layout)]  # [N]
        return np.where(blocked[:, None], 0.0, packed)  # [N, A]

    def _read_prior(self) -> None:
        prior, kept = self.prior, self.active
        n_labels = len(kept)
        mean = np.zeros((n_labels, n_labels)) if prior.mean is None else prior.mean
        first = np.zeros(n_labels) if prior.mean_start is None else prior.mean_start
        self.mean_T = asarray(mean[np.ix_(kept, kept)], device=self.device)  # [A, A]
        self.mean_start = asarray(first[kept], device=self.device)  # [A]
        self.scale, self.scale_bias = prior.scale, prior.scale_bias

    def _read_features(self, features: FeatureMatrix, layout: ChainLayout) -> None:
        sparse, dense = features.sparse, features.dense
        self.sparse_columns = np.concatenate(
            [np.full(block.shape[1], sp.issparse(block)) for block in features.blocks]
        )  # [D]
        n = features.n_tokens
        matrix = sp.csr_matrix((n, 0)) if sparse is None else sparse.stacked()
        self.merged = MergedColumns.of(matrix[layout.order])
        self.X = asarray(self.merged.X, device=self.device)  # [N, G]
        self.X_T = asarray(sp.csr_matrix(self.merged.X.T), device=self.device)  # [G, N]
        width = 0 if dense is None else dense.n_features
        V = np.empty((n, width), dtype=self.dtype)  # [N, V]
        column = 0
        for block in () if dense is None else dense.blocks:
            last = column + block.shape[1]
            V[:, column:last] = block[layout.order]
            column = last
        self.V = asarray(V, device=self.device)  # [N, V]

    @property
    def n_parameters(self) -> int:
        """Length of the parameter vector."""
        rows = self.X.shape[1] + self.V.shape[1] + 1 + self.n_labels + 1
        return int(rows * self.n_labels)

    def split(self, w: Array) -> list[Array]:
        """Views of sparse and dense emissions, bias, transitions and start scores."""
        rows = w.reshape(-1, self.n_labels)  # [P / A, A]
        sizes = [self.X.shape[1], self.V.shape[1], 1, self.n_labels, 1]
        bounds = itertools.accumulate(sizes, initial=0)
        return [rows[lo:hi] for lo, hi in itertools.pairwise(bounds)]

    def __call__(self, w: Array) -> tuple[float, Array]:
        """Value and gradient at a parameter vector."""
        xp = namespace(w)
        E, E_dense, bias, T, start = self.split(w)
        T = self.scale * T + self.mean_T  # [A, A]
        start = self.scale * start + self.mean_start  # [1, A]
        bias = self.scale_bias * bias  # [1, A]
        W = self.X @ E  # [N, A]
        if self.V.shape[1]:
            W += self.V @ xp.astype(E_dense, self.V.dtype, copy=False)
        W += bias
        n_sentences = len(self.layout.sentences)
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
        value = free.sum() - restricted.sum() - chosen + 0.5 * self.l2 * (w @ w)

        gradient = self.l2 * w  # [P]
        dE, dE_dense, d_bias, dT, d_start = self.split(gradient)
        dE += self.X_T @ G
        if self.V.shape[1]:
            dE_dense += self.V.T @ xp.astype(G, self.V.dtype, copy=False)
        d_bias += self.scale_bias * G.sum(axis=0)
        dT += self.scale * (full.pairs - part.pairs - self.exact_pairs)
        d_start += self.scale * G[:n_sentences].sum(axis=0)
        return float(value), gradient

    def _lattices(self, W: Array, T: Array) -> tuple[Lattice, Lattice]:
        """Forward–backward without and with the evidence, ambiguous sentences only."""
        if self.ban_T is not None:
            T = T + self.ban_T  # [A, A]
            W[: len(self.layout.sentences)] += self.ban_start
            W[self.last] += self.ban_end
        known = W[self.rows] + self.evidence  # [N₂, A]
        return (
            packed_forward_backward(
                Potentials(W, T, self.layout, self.sentence_weights)
            ),
            packed_forward_backward(
                Potentials(known, T, self.ambiguous, self.weights_ambiguous)
            ),
        )

    def scores(self, w: Array) -> tuple[Array, Array, Array]:
        """Unary scores in stacked order, transitions and start, active labels only."""
        xp = namespace(w)
        E, E_dense, bias, T, start = self.split(w)
        packed = self.X @ E + self.scale_bias * bias  # [N, A]
        if self.V.shape[1]:
            packed += self.V @ xp.astype(E_dense, self.V.dtype, copy=False)
        U = xp.empty_like(packed)  # [N, A]
        U[asarray(self.layout.order, like=packed)] = packed
        return (
            U,
            self.scale * T + self.mean_T,
            self.scale * start[0] + self.mean_start,
        )

    def vector(self, weights: LinearChain) -> Array:
        """Undo `weights`: the parameter vector of a chain, to start from.

        Where copies of one feature have different weights, their mean is taken; labels
        that are new here start at 0.
        """
        w = np.zeros(self.n_parameters)  # [P]
        E, E_dense, bias, T, start = self.split(w)
        active = self.active
        emissions = weights.emissions[:, active]  # [D, A]
        E[:] = self.merged.merge(emissions[self.sparse_columns])
        E_dense[:] = emissions[~self.sparse_columns]
        if self.scale_bias > 0:
            bias[0] = np.nan_to_num(weights.bias[active], neginf=0.0) / self.scale_bias
        if self.scale > 0:
            transitions = weights.transitions[np.ix_(active, active)]  # [A, A]
            T[:] = (transitions - to_numpy(self.mean_T)) / self.scale
            first = weights.start[active] - to_numpy(self.mean_start)  # [A]
            start[0] = first / self.scale
        return asarray(w, device=self.device)

    def weights(self, w: Array) -> LinearChain:
        """Parameters in terms of all features and all labels, as NumPy arrays."""
        E, E_dense, bias, T, start = self.split(to_numpy(w))
        mean_T, mean_start = to_numpy(self.mean_T), to_numpy(self.mean_start)
        active, n_labels = self.active, len(self.active)
        emissions = np.zeros((len(self.sparse_columns), n_labels))  # [D, L]
        emissions[np.ix_(self.sparse_columns, active)] = self.merged.expand(E)
        emissions[np.ix_(~self.sparse_columns, active)] = E_dense
        all_bias = np.full(n_labels, -np.inf)  # [L]
        all_bias[active] = self.scale_bias * bias[0]
        transitions = np.zeros((n_labels, n_labels))  # [L, L]
        transitions[np.ix_(active, active)] = self.scale * T + mean_T
        all_start = np.zeros(n_labels)  # [L]
        all_start[active] = self.scale * start[0] + mean_start
        return LinearChain(emissions, all_bias, transitions, all_start)


def _count_pairs(
    labels: IntArray,
    layout: ChainLayout,
    n_labels: int,
    weights: FloatArray | None,
) -> FloatArray:
    """How often a label follows another; labels in packed order, [L, L]."""
    counts = np.zeros((n_labels, n_labels))  # [L, L]
    steps = layout.steps
    for t in range(1, layout.max_length):
        lo, hi, before = steps[t], steps[t + 1], steps[t - 1]
        pairs = labels[before : before + hi - lo], labels[lo:hi]  # [S_t], [S_t]
        np.add.at(counts, pairs, 1.0 if weights is None else weights[: hi - lo])
    return counts
