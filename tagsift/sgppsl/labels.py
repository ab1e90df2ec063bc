r"""How labels speak to the latent values: what is known, and how sure we are.

Equation (17), Reading R2 (the exponential closes after ½V, as in Equation (27)):

.. math:: c_a^j \propto \exp(\mu(x_a, y_a^j) + \tfrac12 V(x_a, y_a^j))

over the candidates j of a piece. Where the labels come with weights instead of sets,
every exponential is multiplied by the weight of its label (Reading R10).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tagsift.backend import asarray, namespace, softmax
from tagsift.chain import ChainLayout, log_evidence, neighbours
from tagsift.sgppsl.expectations import Moments
from tagsift.sgppsl.likelihoods import Chain, Likelihood, Piecewise
from tagsift.typing import Array, BoolArray, FloatArray, IntArray

__all__ = [
    "Labels",
    "Settings",
    "build_likelihood",
    "confidence",
    "literal_confidence",
    "measure",
    "pair_confidence_sums",
]


@dataclass(frozen=True)
class Settings:
    """How labels speak to the latent values."""

    weighting: str = "confidence"  # R1: confidences weight the bound, or "literal"
    measure: str = "softmax"  # R2: Equation (17) in the form of (27), or "literal"
    likelihood: str = "piecewise"  # factor-as-piece, or "chain": whole sentences
    spread: float = 0.5  # share of V in a score: none at the mode

    @property
    def literal_pieces(self) -> bool:
        """Whether every candidate is a piece of weight 1, whatever its confidence."""
        return self.likelihood == "piecewise" and self.weighting == "literal"

    @property
    def weighted_pieces(self) -> bool:
        """Whether pieces are weighted by confidences that the loop keeps up to date."""
        return self.likelihood == "piecewise" and self.weighting == "confidence"

    def in_pieces(self) -> Settings:
        """The same with the paper's likelihood, weighted by confidences."""
        return replace(self, likelihood="piecewise", weighting="confidence")


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
        return int(self.weights.shape[1])

    def uniform(self) -> Array:
        """Equal confidence for all candidates of a token, or their weights, [N, L]."""
        weights = self.weights  # [N, L]
        return weights / namespace(weights).sum(weights, axis=1)[:, None]  # [N, L]


def confidence(mu: Array, var: Array, evidence: Array) -> Array:
    """Softmax of μ + ½V over the candidates; Equation (17), Readings R2 and R10."""
    return softmax(mu + 0.5 * var + evidence, axis=1)  # [N, L]


def literal_confidence(mu: Array, var: Array, evidence: Array) -> Array:
    """Equation (17) as printed: (exp(μ) + ½V) over its sum on the candidates.

    Both parts are divided by the row's largest exp(μ), which leaves the ratio as it is
    and keeps it finite; labels with weights as in `confidence`.
    """
    xp = namespace(mu)
    weights = xp.exp(evidence)  # [N, L]
    candidates = xp.where(weights > 0, mu, xp.full_like(mu, -xp.inf))  # [N, L]
    top = xp.max(candidates, axis=1, keepdims=True)  # [N, 1]
    wide = 0.5 * var * xp.exp(-xp.clip(top, -50.0, 700.0))  # [N, L]
    score = weights * (xp.exp(candidates - top) + wide)  # [N, L]
    return score / xp.sum(score, axis=1, keepdims=True)  # [N, L]


def pair_confidence_sums(
    mu_T: Array, var_T: Array, left: Array, right: Array
) -> tuple[Array, Array]:
    """Equation (17) for transitions, summed over all neighbouring tokens, [L, L].

    These have the label weights `left` and `right`, [P, L]. With the sums comes how
    many pairs have (y, y') among their candidates.
    """
    xp = namespace(mu_T)
    score = mu_T + 0.5 * var_T  # [L, L]
    weight = xp.exp(score - xp.max(score))  # [L, L]
    norm = xp.sum((left @ weight) * right, axis=1)  # [P]
    tiny = xp.where(norm > 0, norm, xp.ones_like(norm))  # [P]
    sums = weight * (left.T @ (right / tiny[:, None]))  # [L, L]
    present = [xp.astype(side > 0, side.dtype) for side in (left, right)]  # [P, L]
    return sums, present[0].T @ present[1]


def measure(settings: Settings, q: Moments, labels: Labels) -> Array:
    """Equation (17) by the reading asked for, [N, L]."""
    way = literal_confidence if settings.measure == "literal" else confidence
    return way(q.mu, 2.0 * settings.spread * q.var, labels.evidence)


def build_likelihood(
    settings: Settings, q: Moments, labels: Labels, C: Array
) -> Likelihood:
    if settings.likelihood == "chain":
        return Chain(labels.layout, labels.evidence)
    if settings.literal_pieces:
        return Piecewise(labels.weights, labels.left.T @ labels.right)
    sums, _ = pair_confidence_sums(q.mu_T, q.var_T, labels.left, labels.right)
    return Piecewise(C, sums)
