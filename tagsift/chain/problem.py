"""A linear chain to be fitted: features in the model's own coordinates, and its prior.

What the conditional random field and the chain Gaussian process have in common, so that
whoever fits many chains on parts of the same sentences need not know which it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tagsift.chain.linear_chain import Allowed
from tagsift.chain.objective import ChainObjective, TransitionPrior
from tagsift.features import FeatureMatrix
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["ChainProblem"]


@dataclass(frozen=True)
class ChainProblem:
    """Features and prior of a chain whose weights are to be found.

    Parameters
    ----------
    features : FeatureMatrix
        Features of all sentences, in the coordinates of the model.
    l2 : float
        Weight of the penalty ½ λ |w|².
    prior : TransitionPrior, optional
        Means and scales of transitions, start scores and bias.
    allowed : tuple of ndarrays of bool, optional
        What the tag scheme allows; all else is left out of the lattices.
    """

    features: FeatureMatrix
    l2: float
    prior: TransitionPrior | None = None
    allowed: Allowed | None = None

    def take_sequences(self, sentences: IntArray) -> ChainProblem:
        """Keep the chosen sentences."""
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
