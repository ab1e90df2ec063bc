"""The linear-chain model: scores that are linear in features, and what they say.

The score of a label sequence is linear: emissions of the features of each token, a bias
per label, transitions between neighbouring labels, and a start score. What is known of
a sentence is log evidence e of every label at every token, 0 or −∞ for candidate sets;
its likelihood is log Z(f + e) − log Z(f), Z the sum over all label sequences. Every
chained method stands on this model; `tagsift.chain.objective` fits it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from tagsift.backend import Device, asarray, namespace, sparse_matmul, to_numpy
from tagsift.chain.lattice import forward_backward
from tagsift.chain.layout import ChainLayout
from tagsift.chain.potentials import Allowed, log_evidence
from tagsift.chain.viterbi import viterbi
from tagsift.features import FeatureMatrix
from tagsift.storage import Saved, array
from tagsift.typing import Array, BoolArray, FloatArray, IntArray

__all__ = ["LinearChain", "curvature", "squared"]


@dataclass(frozen=True)
class LinearChain:
    """Parameters of a linear chain."""

    emissions: Array  # [D, L], weight of every feature for every label
    bias: Array  # [L], score of a label at any token; −inf for labels that can never be
    transitions: Array  # [L, L], score of a label followed by another
    start: Array  # [L], score of the first label of a sentence

    saved: ClassVar[Saved] = {
        "emissions": array("P L"),
        "bias": array("L", infinite=-np.inf),
        "transitions": array("L L"),
        "start": array("L"),
    }

    def on(self, device: Device) -> LinearChain:
        return LinearChain(
            *(asarray(getattr(self, f.name), device=device) for f in fields(self))
        )

    def tempered(self, temperature: float) -> LinearChain:
        return LinearChain(*(getattr(self, f.name) / temperature for f in fields(self)))

    @property
    def possible(self) -> BoolArray:
        """Labels that can be predicted at all, [L]."""
        return np.asarray(np.isfinite(to_numpy(self.bias)))  # [L]

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

    def best(self, features: FeatureMatrix, allowed: Allowed | None = None) -> IntArray:
        """Label sequence of the highest score, among those allowed, [N]."""
        U, T = self.scores(features), self.transitions  # [N, L], [L, L]
        layout = ChainLayout.from_offsets(features.offsets)
        labels = viterbi(U, T, layout, start=self.start, allowed=allowed)  # [N]
        return np.asarray(to_numpy(labels))

    def marginals(
        self, features: FeatureMatrix, evidence: BoolArray | FloatArray | None = None
    ) -> FloatArray:
        """Probability of every label at every token, given what is known of them.

        Where the model can predict no candidate of a token, its candidates score alike.
        """
        U = self.scores(features)  # [N, L]
        e = None
        if evidence is not None:
            e = log_evidence(evidence)  # [N, L]
            reset = (e > -np.inf) & self._unknown(e)  # [N, L]
            xp = namespace(U)
            U = xp.where(asarray(reset, like=U), xp.zeros_like(U), U)  # [N, L]
        T, layout = self.transitions, ChainLayout.from_offsets(features.offsets)
        lattice = forward_backward(U, T, layout, start=self.start, evidence=e)
        return np.asarray(to_numpy(lattice.marginals))  # [N, L]

    def curvature(self, features: FeatureMatrix) -> FloatArray:
        """Σ_n x_{nd}² p_{ny} (1 − p_{ny}) of every feature and label, [D, L]."""
        return curvature(features, self.marginals(features))

    def recover(
        self, features: FeatureMatrix, evidence: BoolArray | FloatArray
    ) -> tuple[IntArray, FloatArray]:
        """Likeliest candidate of every token, [N], and all marginals, [N, L]."""
        marginals = self.marginals(features, evidence)  # [N, L]
        candidates = log_evidence(evidence) > -np.inf  # [N, L]
        return np.where(candidates, marginals, -1.0).argmax(axis=1), marginals

    def log_likelihood(
        self, features: FeatureMatrix, evidence: BoolArray | FloatArray
    ) -> FloatArray:
        """Log-likelihood log Z(f + e) − log Z(f) of every sentence that is not empty.

        In the order of the sentences, [S']. A token none of whose candidates the model
        can predict counts as unlabelled.
        """
        layout = ChainLayout.from_offsets(features.offsets)
        U, T = self.scores(features), self.transitions  # [N, L], [L, L]
        e = log_evidence(evidence)  # [N, L]
        e = np.where(self._unknown(e), 0.0, e)  # [N, L]
        restricted = forward_backward(U, T, layout, start=self.start, evidence=e)
        free = forward_backward(U, T, layout, start=self.start)
        values = to_numpy(restricted.log_z - free.log_z)  # [S'], longest sentence first
        return np.asarray(values[np.argsort(layout.sentences)])  # [S']

    def _unknown(self, evidence: FloatArray) -> BoolArray:
        """Tokens none of whose candidates the model can predict, [N, 1]."""
        inside = (evidence > -np.inf) & self.possible  # [N, L]
        return np.asarray(~inside.any(axis=1, keepdims=True))  # [N, 1]


def curvature(features: FeatureMatrix, p: FloatArray) -> FloatArray:
    """Σ_n x_{nd}² p_{ny} (1 − p_{ny}) for probabilities p [N, L], [D, L]."""
    q = p * (1.0 - p)  # [N, L]
    return np.vstack([squared(block).T @ q for block in features.blocks])  # [D, L]


def squared(block: Any) -> Any:
    return block.multiply(block).tocsr() if sp.issparse(block) else block * block
