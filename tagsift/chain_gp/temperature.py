"""By what the scores of a chain are divided, set on sentences that a fit left out."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from tagsift.base import TrainingSet
from tagsift.chain.linear_chain import LinearChain
from tagsift.typing import IntArray

__all__ = ["best_temperature", "held_out_likelihood", "hold_out"]

#: Share of the sentences that are left out, and how many there must be at least.
_SHARE, _FEWEST = 0.2, 10
#: Prior standard deviation of the logarithm of the temperature: some hundred partly
#: labelled tokens do not know it better.
_SPREAD = 0.1


def hold_out(train: TrainingSet) -> tuple[IntArray, IntArray] | None:
    """Seeded draw of sentences to fit and to leave out; None where there are too few.

    Parameters
    ----------
    train : TrainingSet
        All sentences.

    Returns
    -------
    seen, unseen : ndarrays of int
        Numbers of the sentences, in their order.
    """
    rng = np.random.default_rng([train.seed, 20])
    order = rng.permutation(np.flatnonzero(train.features.lengths))  # [S']
    n_out = round(_SHARE * len(order))
    if n_out < _FEWEST:
        return None
    return np.sort(order[n_out:]), np.sort(order[:n_out])


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
