r"""What the labels say about the latent values: the piecewise likelihood.

Equations (2)–(3):

.. math::

    p(y_a | x_a, f) = \frac{\exp f(x_a, y_a)}{\sum_{y'} \exp f(x_a, y')}, \qquad
    p(Y | X, f) = \prod_i \prod_a \prod_{y_a^j \in S_{ia}}
                  C_{ia}^j \, p(y_{ia}^j | x_{ia}, f)

A likelihood is two log-partition functions of the unary scores U [N, L] and transition
scores T [L, L], *restricted* to what is known of the labels and *free*; log p is their
difference. The solver and the expectations see only `Partition`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from tagsift.backend import log_softmax_parts, namespace, positive_part
from tagsift.chain import ChainLayout, Lattice, forward_backward
from tagsift.typing import Array

__all__ = ["Chain", "Likelihood", "Partition", "Piecewise"]


@dataclass(frozen=True)
class Partition:
    """A log-partition function and its gradient."""

    value: float  # summed over all sentences
    unary: Array  # [N, L], derivative in U: expected label counts
    pairs: Array  # [L, L], derivative in T: expected transition counts
    curvature: Array  # [N, L], second derivatives in U: variances of label counts


@dataclass(frozen=True)
class Piecewise:
    r"""Equation (3) with weights on the pieces (Reading R1).

    With weights w (the confidences, or 1 for every candidate in the literal reading),

    .. math:: \sum_{n,y} w_{ny} \log p(y | x_n, f)
              + \sum_{y,y'} W_{yy'} \log p(y' | y, f)
    """

    weights: Array  # [N, L], of unary pieces
    pair_weights: Array  # [L, L], of transition pieces, summed over all neighbours

    def free(self, U: Array, T: Array) -> Partition:
        """Weighted sum of the log-normalisers of all pieces."""
        xp = namespace(U)
        tokens = xp.sum(self.weights, axis=1)  # [N]
        lefts = xp.sum(self.pair_weights, axis=1)  # [L]
        norms, p = log_softmax_parts(U)  # [N], [N, L]
        norms_T, p_T = log_softmax_parts(T)  # [L], [L, L]
        value = xp.sum(tokens * norms) + xp.sum(lefts * norms_T)  # []
        return Partition(
            float(value),
            tokens[:, None] * p,  # [N, L]
            lefts[:, None] * p_T,  # [L, L]
            tokens[:, None] * (p * (1.0 - p)),  # [N, L]
        )

    def restricted(self, U: Array, T: Array) -> Partition:
        """Weighted sum of the latent values of the candidates: linear."""
        xp = namespace(U)
        value = xp.sum(self.weights * U) + xp.sum(self.pair_weights * T)  # []
        return Partition(
            float(value), self.weights, self.pair_weights, xp.zeros_like(U)
        )


@dataclass(frozen=True)
class Chain:
    r"""The likelihood of whole sentences, :math:`\exp(\log Z_S(f) - \log Z(f))`.

    Forward–backward on the lattice of the candidates and on the full one, each in
    O(m L²): the l^m candidate sequences are never listed.
    """

    layout: ChainLayout
    evidence: Array  # [N, L], log evidence; 0 and −inf for candidate sets

    def free(self, U: Array, T: Array) -> Partition:
        """Sum of log Z over all label sequences."""
        return _as_partition(forward_backward(U, T, self.layout))

    def restricted(self, U: Array, T: Array) -> Partition:
        """Sum of log Z_S over the label sequences that the candidates allow."""
        return _as_partition(
            forward_backward(U, T, self.layout, evidence=self.evidence)
        )


#: Two log-partition functions of the scores, `free` and `restricted`.
Likelihood: TypeAlias = Piecewise | Chain


def _as_partition(lattice: Lattice) -> Partition:
    """Sum log Z over the sentences; the counts of one token vary as p(1 − p)."""
    p = lattice.marginals  # [N, L]
    value = float(namespace(p).sum(lattice.log_z))
    return Partition(value, p, lattice.pairs, positive_part(p * (1.0 - p)))
