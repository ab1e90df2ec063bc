"""The linear-chain model: scores that are linear in features, and their likelihood.

The score of a label sequence is linear: emissions of the features of each token, a bias
per label, transitions between neighbouring labels, and a start score. What is known of
a sentence is log evidence e of every label at every token, 0 or −∞ for candidate sets;
its likelihood is log Z(f + e) − log Z(f), Z the sum over all label sequences.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from tagsift.backend import Device, asarray, namespace, sparse_matmul, to_numpy
from tagsift.chain.lattice import log_partition
from tagsift.chain.layout import ChainLayout
from tagsift.chain.potentials import log_evidence
from tagsift.features import FeatureMatrix
from tagsift.typing import Array, BoolArray, FloatArray

__all__ = ["ChainWeights", "marginal_likelihood"]


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
    weights: ChainWeights,
    features: FeatureMatrix,
    evidence: BoolArray | FloatArray,
) -> FloatArray:
    """Log-likelihood log Z(f + e) − log Z(f) of every sentence that is not empty.

    A token none of whose candidates the model can predict counts as unlabelled.

    Parameters
    ----------
    weights : ChainWeights
        The model.
    features : FeatureMatrix
        The sentences.
    evidence : ndarray of shape (n_tokens, n_labels)
        Log evidence of every label, or a mask of candidates.

    Returns
    -------
    ndarray of shape (n_sentences,)
        In the order of the sentences, the empty ones left out.
    """
    layout = ChainLayout.from_offsets(features.offsets)
    U, T = weights.scores(features), weights.transitions  # [N, L], [L, L]
    e = log_evidence(evidence)  # [N, L]
    known = ((e > -np.inf) & weights.possible).any(axis=1, keepdims=True)  # [N, 1]
    restricted = log_partition(
        U, T, layout, start=weights.start, evidence=np.where(known, e, 0.0)
    )  # [S']
    free = log_partition(U, T, layout, start=weights.start)  # [S']
    found: FloatArray = to_numpy(restricted - free)  # [S'], longest sentence first
    value: FloatArray = found[np.argsort(layout.sentences)]  # [S']
    return value
