"""How labels speak to the latent values: the readings asked for, and what is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tagsift.backend import asarray, namespace
from tagsift.chain.layout import ChainLayout, neighbours
from tagsift.chain.potentials import log_evidence
from tagsift.sgppsl.confidence import (
    confidence,
    literal_confidence,
    pair_confidence_sums,
)
from tagsift.sgppsl.expectations import Moments
from tagsift.sgppsl.likelihoods import Chain, Likelihood, Piecewise
from tagsift.typing import Array, BoolArray, FloatArray, IntArray

__all__ = ["Labels", "Settings", "build_likelihood", "measure"]


@dataclass(frozen=True)
class Settings:
    """How labels speak to the latent values."""

    weighting: str = "confidence"  # R1: confidences weight the bound, or "literal"
    measure: str = "softmax"  # R2: Equation (17) in the form of (27), or "literal"
    likelihood: str = "piecewise"  # factor-as-piece, or "chain": whole sentences

    @property
    def literal_pieces(self) -> bool:
        """Whether every candidate is a piece of weight 1, whatever its confidence."""
        return self.likelihood == "piecewise" and self.weighting == "literal"

    @property
    def weighted_pieces(self) -> bool:
        """Whether pieces are weighted by confidences that the loop keeps up to date."""
        return self.likelihood == "piecewise" and self.weighting == "confidence"


@dataclass(frozen=True)
class Labels:
    """What is known of the labels, in the forms the loop needs."""

    evidence: Array  # [N, L], log weights of the labels; 0 and −inf for sets
    weights: Array  # [N, L], their exponentials, at most 1
    left: Array  # [P, L], weights of tokens that have a right neighbour
    right: Array  # [P, L], weights of these neighbours
    layout: ChainLayout

    @classmethod
    def build(
        cls, known: BoolArray | FloatArray, offsets: IntArray, device: Any = "cpu"
    ) -> Labels:
        """Prepare the log evidence, or the candidate sets, of stacked tokens."""
        second = neighbours(offsets)  # [P]
        evidence = log_evidence(known)  # [N, L]
        weights = np.exp(evidence - evidence.max(axis=1, keepdims=True))  # [N, L]
        return cls(
            asarray(evidence, device=device),
            asarray(weights, device=device),
            asarray(weights[second - 1], device=device),
            asarray(weights[second], device=device),
            ChainLayout.from_offsets(offsets),
        )

    @property
    def n_labels(self) -> int:
        """Number of labels, L."""
        return int(self.weights.shape[1])

    def uniform(self) -> Array:
        """Equal confidence for all candidates of a token, or their weights, [N, L]."""
        weights = self.weights  # [N, L]
        return weights / namespace(weights).sum(weights, axis=1)[:, None]  # [N, L]


def measure(settings: Settings, q: Moments, labels: Labels) -> Array:
    """Equation (17) by the reading asked for, [N, L]."""
    way = literal_confidence if settings.measure == "literal" else confidence
    return way(q.mu, q.var, labels.evidence)


def build_likelihood(
    settings: Settings, q: Moments, labels: Labels, C: Array
) -> Likelihood:
    """Build the likelihood of the next ascent."""
    if settings.likelihood == "chain":
        return Chain(labels.layout, labels.evidence)
    if settings.literal_pieces:
        return Piecewise(labels.weights, labels.left.T @ labels.right)
    sums, _ = pair_confidence_sums(q.mu_T, q.var_T, labels.left, labels.right)
    return Piecewise(C, sums)
