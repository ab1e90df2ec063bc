"""By what the scores of a chain are divided, set on sentences that a fit left out."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from tagsift.base import TrainingSet
from tagsift.chain.linear_chain import LinearChain

__all__ = ["best_temperature", "held_out_likelihood"]

#: Prior standard deviation of the logarithm of the temperature: some hundred partly
#: labelled tokens do not know it better.
_SPREAD = 0.1


def held_out_likelihood(
    chain: LinearChain, unseen: TrainingSet, temperature: float
) -> float:
    """Log-likelihood of the candidate sets of sentences, at a temperature."""
    softer = chain.tempered(temperature)
    return float(softer.log_likelihood(unseen.features, unseen.log_evidence).sum())


def best_temperature(chain: LinearChain, unseen: TrainingSet) -> float:
    """Temperature of the highest likelihood times prior.

    The prior is log-normal around 1: the labels of the sentences may be as partial as
    all others, and say less about the temperature than exact ones would.
    """

    def loss(log_t: float) -> float:
        likelihood = held_out_likelihood(chain, unseen, float(np.exp(log_t)))
        return 0.5 * (log_t / _SPREAD) ** 2 - likelihood

    found = minimize_scalar(loss, bounds=(-1.0, 1.0), method="bounded")
    return float(np.exp(found.x))
