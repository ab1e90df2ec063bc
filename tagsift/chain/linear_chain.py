"""Scores that are linear in features, and their penalised marginal likelihood.

The score of a label sequence is linear: emissions of the features of each token, a bias
per label, transitions between neighbouring labels, and a start score. A sentence with
candidate sets S contributes log Z_S − log Z, where Z sums over all label sequences and
Z_S over those inside the sets. The gradient is the difference between the marginals of
the two lattices. A quadratic penalty, that is a Gaussian prior, keeps the weights
small; transitions and start scores may have a prior mean and a scale of their own. This
is the conditional random field on candidate sets, and in whitened coordinates the mode
of a chain Gaussian process.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tagsift.backend import sparse_matmul
from tagsift.chain.columns import MergedColumns
from tagsift.chain.lattice import log_partition, packed_forward_backward
from tagsift.chain.layout import ChainLayout
from tagsift.chain.potentials import Potentials, take_sentences
from tagsift.features import FeatureMatrix
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["ChainObjective", "ChainWeights", "TransitionPrior", "marginal_likelihood"]


@dataclass(frozen=True)
class ChainWeights:
    """Parameters of a linear chain.

    Parameters
    ----------
    emissions : ndarray of shape (n_features, n_labels)
        Weight of every feature for every label.
    bias : ndarray of shape (n_labels,)
        Score of a label at any token; −inf for labels that can never be.
    transitions : ndarray of shape (n_labels, n_labels)
        Score of a label followed by another.
    start : ndarray of shape (n_labels,)
        Score of the first label of a sentence.
    """

    emissions: FloatArray
    bias: FloatArray
    transitions: FloatArray
    start: FloatArray

    def scores(self, features: FeatureMatrix) -> FloatArray:
        """Unary scores of every token, [N, L]."""
        U = np.tile(self.bias, (features.n_tokens, 1))  # [N, L]
        column = 0
        for block in features.blocks:
            width = block.shape[1]
            weights = self.emissions[column : column + width]  # [D_b, L]
            U += sparse_matmul(block, weights)  # [N, L]
            column += width
        return U

    @property
    def possible(self) -> BoolArray:
        """Labels that can be predicted at all, [L]."""
        return np.isfinite(self.bias)  # [L]


def marginal_likelihood(
    weights: ChainWeights, features: FeatureMatrix, mask: BoolArray
) -> FloatArray:
    """Log-likelihood log Z_S − log Z of every sentence that is not empty.

    A token none of whose candidates the model can predict counts as unlabelled.

    Parameters
    ----------
    weights : ChainWeights
        The model.
    features : FeatureMatrix
        The sentences.
    mask : ndarray of bool, shape (n_tokens, n_labels)
        The candidate sets.

    Returns
    -------
    ndarray of shape (n_sentences,)
        In the order of the sentences, the empty ones left out.
    """
    layout = ChainLayout.from_offsets(features.offsets)
    U, T = weights.scores(features), weights.transitions  # [N, L], [L, L]
    unknown = ~(mask & weights.possible).any(axis=1, keepdims=True)  # [N, 1]
    restricted = log_partition(
        U, T, layout, start=weights.start, mask=mask | unknown
    )  # [S']
    free = log_partition(U, T, layout, start=weights.start)  # [S']
    value: FloatArray = (restricted - free)[np.argsort(layout.sentences)]  # [S']
    return value


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
    mask : ndarray of bool, shape (n_tokens, n_labels)
        Candidate sets.
    l2 : float
        Weight λ of the penalty ½ λ |w|².
    prior : TransitionPrior, optional
        Means and scales of transitions, start scores and bias.
    single : bool
        Whether dense features are kept and multiplied in single precision.
    """

    def __init__(
        self,
        features: FeatureMatrix,
        mask: BoolArray,
        l2: float = 1.0,
        prior: TransitionPrior | None = None,
        *,
        single: bool = False,
    ) -> None:
        self.l2 = l2
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.layout = layout = ChainLayout.from_offsets(features.offsets)
        self.active: BoolArray = np.asarray(mask.any(axis=0))  # [L]
        self.n_labels = int(self.active.sum())
        self._read_prior(prior or TransitionPrior())
        self._read_features(features, layout)
        ambiguous = np.concatenate([[0], np.cumsum(mask.sum(axis=1) != 1)])  # [N + 1]
        inside = np.diff(ambiguous[features.offsets])  # [S]
        exact = (inside == 0)[layout.sentences]  # [S']
        packed = mask[layout.order][:, self.active]  # [N, A]
        self.exact_rows, exact_layout = take_sentences(layout, exact)  # [N₁]
        self.exact_labels = packed[self.exact_rows].argmax(axis=1)  # [N₁]
        self.exact_pairs = _count_pairs(
            self.exact_labels, exact_layout, self.n_labels
        )  # [A, A]
        self.rows, self.ambiguous = take_sentences(layout, ~exact)  # [N₂]
        self.mask = packed[self.rows]  # [N₂, A]

    def _read_prior(self, prior: TransitionPrior) -> None:
        kept = self.active
        n_labels = len(kept)
        mean = np.zeros((n_labels, n_labels)) if prior.mean is None else prior.mean
        first = np.zeros(n_labels) if prior.mean_start is None else prior.mean_start
        self.mean_T = mean[np.ix_(kept, kept)]  # [A, A]
        self.mean_start = first[kept]  # [A]
        self.scale, self.scale_bias = prior.scale, prior.scale_bias

    def _read_features(self, features: FeatureMatrix, layout: ChainLayout) -> None:
        sparse, dense = features.sparse, features.dense
        self.sparse_columns = np.concatenate(
            [np.full(block.shape[1], sp.issparse(block)) for block in features.blocks]
        )  # [D]
        n = features.n_tokens
        matrix = sp.csr_matrix((n, 0)) if sparse is None else sparse.stacked()
        self.merged = MergedColumns.of(matrix[layout.order])
        self.X = self.merged.X  # [N, G]
        self.X_T = sp.csr_matrix(self.X.T)  # [G, N]
        width = 0 if dense is None else dense.n_features
        self.V = np.empty((n, width), dtype=self.dtype)  # [N, V]
        column = 0
        for block in () if dense is None else dense.blocks:
            last = column + block.shape[1]
            self.V[:, column:last] = block[layout.order]
            column = last

    @property
    def n_parameters(self) -> int:
        """Length of the parameter vector."""
        rows = self.X.shape[1] + self.V.shape[1] + 1 + self.n_labels + 1
        return int(rows * self.n_labels)

    def split(self, w: FloatArray) -> list[FloatArray]:
        """Views of sparse and dense emissions, bias, transitions and start scores."""
        rows = w.reshape(-1, self.n_labels)  # [P / A, A]
        sizes = [self.X.shape[1], self.V.shape[1], 1, self.n_labels, 1]
        return np.split(rows, np.cumsum(sizes)[:-1])

    def __call__(self, w: FloatArray) -> tuple[float, FloatArray]:
        """Value and gradient at a parameter vector."""
        E, E_dense, bias, T, start = self.split(w)
        T = self.scale * T + self.mean_T  # [A, A]
        start = self.scale * start + self.mean_start  # [1, A]
        bias = self.scale_bias * bias  # [1, A]
        W = self.X @ E  # [N, A]
        if self.V.shape[1]:
            W += self.V @ E_dense.astype(self.dtype, copy=False)
        W += bias
        n_sentences = len(self.layout.sentences)
        W[:n_sentences] += start
        full = packed_forward_backward(Potentials(W, T, self.layout))
        allowed = np.where(self.mask, W[self.rows], -np.inf)  # [N₂, A]
        part = packed_forward_backward(Potentials(allowed, T, self.ambiguous))
        exact = W[self.exact_rows, self.exact_labels].sum()
        exact += (T * self.exact_pairs).sum()
        value = full.log_z.sum() - part.log_z.sum() - exact
        value += 0.5 * self.l2 * (w @ w)

        G = full.marginals  # [N, A], full minus restricted from here on
        G[self.exact_rows, self.exact_labels] -= 1.0
        G[self.rows] -= part.marginals
        gradient = self.l2 * w  # [P]
        dE, dE_dense, d_bias, dT, d_start = self.split(gradient)
        dE += self.X_T @ G
        if self.V.shape[1]:
            dE_dense += self.V.T @ G.astype(self.dtype, copy=False)
        d_bias += self.scale_bias * G.sum(axis=0)
        dT += self.scale * (full.pairs - part.pairs - self.exact_pairs)
        d_start += self.scale * G[:n_sentences].sum(axis=0)
        return float(value), gradient

    def scores(self, w: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Unary scores in stacked order, transitions and start, active labels only."""
        E, E_dense, bias, T, start = self.split(w)
        packed = self.X @ E + self.scale_bias * bias  # [N, A]
        if self.V.shape[1]:
            packed += self.V @ E_dense.astype(self.dtype, copy=False)
        U = np.empty_like(packed)  # [N, A]
        U[self.layout.order] = packed
        return (
            U,
            self.scale * T + self.mean_T,
            self.scale * start[0] + self.mean_start,
        )

    def weights(self, w: FloatArray) -> ChainWeights:
        """Parameters in terms of all features and all labels."""
        E, E_dense, bias, T, start = self.split(w)
        active, n_labels = self.active, len(self.active)
        emissions = np.zeros((len(self.sparse_columns), n_labels))  # [D, L]
        emissions[np.ix_(self.sparse_columns, active)] = self.merged.expand(E)
        emissions[np.ix_(~self.sparse_columns, active)] = E_dense
        all_bias = np.full(n_labels, -np.inf)  # [L]
        all_bias[active] = self.scale_bias * bias[0]
        transitions = np.zeros((n_labels, n_labels))  # [L, L]
        transitions[np.ix_(active, active)] = self.scale * T + self.mean_T
        all_start = np.zeros(n_labels)  # [L]
        all_start[active] = self.scale * start[0] + self.mean_start
        return ChainWeights(emissions, all_bias, transitions, all_start)


def _count_pairs(labels: IntArray, layout: ChainLayout, n_labels: int) -> FloatArray:
    """How often a label follows another; labels in packed order, [L, L]."""
    counts = np.zeros((n_labels, n_labels))  # [L, L]
    steps = layout.steps
    for t in range(1, layout.max_length):
        lo, hi, before = steps[t], steps[t + 1], steps[t - 1]
        np.add.at(counts, (labels[before : before + hi - lo], labels[lo:hi]), 1.0)
    return counts
