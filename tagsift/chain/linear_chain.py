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

import itertools
from dataclasses import dataclass, fields

import numpy as np
import scipy.sparse as sp

from tagsift.backend import Device, asarray, namespace, sparse_matmul, to_numpy
from tagsift.chain.columns import MergedColumns
from tagsift.chain.lattice import log_partition, packed_forward_backward
from tagsift.chain.layout import ChainLayout
from tagsift.chain.potentials import Potentials, take_sentences
from tagsift.features import FeatureMatrix
from tagsift.typing import Array, BoolArray, FloatArray, IntArray

__all__ = ["ChainObjective", "ChainWeights", "TransitionPrior", "marginal_likelihood"]


@dataclass(frozen=True)
class ChainWeights:
    """Parameters of a linear chain.

    Parameters
    ----------
    emissions : array of shape (n_features, n_labels)
        Weight of every feature for every label.
    bias : array of shape (n_labels,)
        Score of a label at any token; −inf for labels that can never be.
    transitions : array of shape (n_labels, n_labels)
        Score of a label followed by another.
    start : array of shape (n_labels,)
        Score of the first label of a sentence.
    """

    emissions: Array
    bias: Array
    transitions: Array
    start: Array

    def on(self, device: Device) -> ChainWeights:
        """Return the same parameters, living on `device`."""
        return ChainWeights(
            *(asarray(getattr(self, f.name), device=device) for f in fields(self))
        )

    def scores(self, features: FeatureMatrix) -> Array:
        """Unary scores of every token, where the parameters live, [N, L]."""
        U = namespace(self.bias).tile(self.bias, (features.n_tokens, 1))  # [N, L]
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
        possible: BoolArray = np.isfinite(to_numpy(self.bias))  # [L]
        return possible


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
    found: FloatArray = to_numpy(restricted - free)  # [S'], longest sentence first
    value: FloatArray = found[np.argsort(layout.sentences)]  # [S']
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
    device : "cpu" or torch.device
        Where the arrays live, and the parameter vectors that it is called with.
    """

    def __init__(
        self,
        features: FeatureMatrix,
        mask: BoolArray,
        l2: float = 1.0,
        prior: TransitionPrior | None = None,
        *,
        single: bool = False,
        device: Device = "cpu",
    ) -> None:
        self.l2 = l2
        self.device = device
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
        exact_rows, exact_layout = take_sentences(layout, exact)  # [N₁]
        labels = packed[exact_rows].argmax(axis=1)  # [N₁]
        pairs = _count_pairs(labels, exact_layout, self.n_labels)  # [A, A]
        rows, self.ambiguous = take_sentences(layout, ~exact)  # [N₂]
        self.exact_rows = asarray(exact_rows, device=device)  # [N₁]
        self.exact_labels = asarray(labels, device=device)  # [N₁]
        self.exact_pairs = asarray(pairs, device=device)  # [A, A]
        self.rows = asarray(rows, device=device)  # [N₂]
        self.mask = asarray(packed[rows], device=device)  # [N₂, A]
        self.ban = asarray(np.array([-np.inf]), device=device)  # [1]

    def _read_prior(self, prior: TransitionPrior) -> None:
        kept = self.active
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
        full = packed_forward_backward(Potentials(W, T, self.layout))
        allowed = xp.where(self.mask, W[self.rows], self.ban)  # [N₂, A]
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
            dE_dense += self.V.T @ xp.astype(G, self.V.dtype, copy=False)
        d_bias += self.scale_bias * G.sum(axis=0)
        dT += self.scale * (full.pairs - part.pairs - self.exact_pairs)
        d_start += self.scale * G[:n_sentences].sum(axis=0)
        return float(value), gradient

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

    def weights(self, w: Array) -> ChainWeights:
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
        return ChainWeights(emissions, all_bias, transitions, all_start)


def _count_pairs(labels: IntArray, layout: ChainLayout, n_labels: int) -> FloatArray:
    """How often a label follows another; labels in packed order, [L, L]."""
    counts = np.zeros((n_labels, n_labels))  # [L, L]
    steps = layout.steps
    for t in range(1, layout.max_length):
        lo, hi, before = steps[t], steps[t + 1], steps[t - 1]
        np.add.at(counts, (labels[before : before + hi - lo], labels[lo:hi]), 1.0)
    return counts
