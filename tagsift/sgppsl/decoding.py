"""From the scores of SGPPSL to labels: its decoders, and what they look up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tagsift.chain.layout import ChainLayout
from tagsift.chain.viterbi import neighbour_factor, weighted_viterbi
from tagsift.errors import NotSupportedError
from tagsift.features.distances import Reference, nearest
from tagsift.storage.state import Saved, array, matrix, part
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["Decoding", "Neighbours"]


@dataclass(frozen=True)
class Neighbours:
    """The training tokens among which Equation (29) finds the nearest."""

    features: Any  # [N, D], csr or dense
    confidences: FloatArray  # [N, L], Equation (17)
    mask: BoolArray  # [N, L], candidate sets

    saved: ClassVar[Saved] = {
        "features": matrix("N D"),
        "confidences": array("N L", least=0, sums=1),
        "mask": array("N L", "bool"),
    }


@dataclass(frozen=True)
class Decoding:
    """What the training data says about new sentences beside the latent values."""

    prior: FloatArray  # [L], mean confidence of every label
    available: BoolArray  # [L], a candidate somewhere; no other label is predicted
    tau_T: FloatArray  # [L, L], mean confidence of every transition
    neighbours: Neighbours | None  # training tokens, where they were kept

    saved: ClassVar[Saved] = {
        "prior": array("L", least=0, sums=1),
        "available": array("L", "bool"),
        "tau_T": array("L L", least=0),
        "neighbours": part(Neighbours, training=True, optional=True),
    }

    def best(
        self,
        emission: FloatArray,
        transition: FloatArray,
        offsets: IntArray,
        tau: FloatArray | None = None,
    ) -> IntArray:
        """Equations (30)–(31) over the scores (27) and (28), [M]; τ = 1 by default."""
        return weighted_viterbi(
            np.where(self.available, emission, -np.inf),
            transition,
            ChainLayout.from_offsets(offsets),
            tau=None if tau is None else np.where(self.available, tau, 1.0),
            tau_T=None if tau is None else self.tau_T,
        )

    def best_log(
        self, emission: FloatArray, transition: FloatArray, offsets: IntArray
    ) -> IntArray:
        """Maximise Σ log S(y, x) + log S(y', y) − log π(y), [M]."""
        with np.errstate(divide="ignore"):
            unary = np.log(emission) - np.log(np.maximum(self.prior, 1e-12))  # [M, L]
            return self.best(unary, np.log(transition), offsets)

    def factor(self, X: Any, n_neighbours: int, floor: str) -> FloatArray:
        """Equation (29) for new tokens, [M, L]."""
        known = self.neighbours
        if known is None:
            raise NotSupportedError(
                "this model was saved without its training neighbours, which "
                "decoder='weighted' needs; set decoder='log' or 'viterbi', or save it "
                "again with neighbours=True."
            )
        found, _ = nearest(Reference(known.features), X, n_neighbours)  # [M, Q]
        return neighbour_factor(found, known.confidences, known.mask, floor=floor)
