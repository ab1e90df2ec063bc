"""Kernels and temperatures judged by sentences that a fit left out.

The labels of these sentences may be as partial as all others: what is judged is the
likelihood of what is known of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar

from tagsift.base import TrainingSet
from tagsift.base.hold_out import hold_out
from tagsift.chain.linear_chain import LinearChain
from tagsift.chain_gp.mode import ModeFinder
from tagsift.features import FeatureMatrix
from tagsift.gp.groups import GroupKernel, InducingColumns

__all__ = ["JudgedKernel", "best_kernel", "best_temperature", "held_out_likelihood"]

#: Fewest sentences that say anything when they are left out.
_FEWEST = 10
#: Prior standard deviation of the logarithm of the temperature: some hundred partly
#: labelled tokens do not know it better.
_SPREAD = 0.1


@dataclass(frozen=True)
class JudgedKernel:
    """A kernel, its temperature and Φ, and how likely it makes held-out labels."""

    kernel: GroupKernel
    temperature: float
    likelihood: float  # log-likelihood of the held-out sentences; 0 without any
    columns: dict[str, InducingColumns]  # its RBF parts
    phi: FeatureMatrix  # of all sentences, held out or not


def best_kernel(
    finder: ModeFinder,
    train: TrainingSet,
    kernels: Iterable[GroupKernel],
    *,
    temperature: float | None,
    tol: float,
) -> JudgedKernel:
    """Find the kernel that makes held-out labels likeliest.

    A fifth of the sentences is held out; where that is too few, the first kernel is
    taken. A temperature that is not given is the best of each kernel.
    """
    best: JudgedKernel | None = None
    for kernel in kernels:
        columns, phi = finder.whiten(train, kernel)
        whole = replace(train, features=phi)
        seen, unseen = map(whole.take_sequences, hold_out(train))
        if unseen.features.n_sequences < _FEWEST:
            return JudgedKernel(kernel, temperature or 1.0, 0.0, columns, phi)
        mode = finder.find(seen, kernel, tol=tol, title="ChainGP: held out")
        chosen = temperature or best_temperature(mode.weights, unseen)
        likelihood = held_out_likelihood(mode.weights, unseen, chosen)
        if best is None or likelihood > best.likelihood:
            best = JudgedKernel(kernel, chosen, likelihood, columns, phi)
    assert best is not None  # there is at least one kernel
    return best


def held_out_likelihood(
    chain: LinearChain, unseen: TrainingSet, temperature: float
) -> float:
    """Log-likelihood of what is known of sentences, at a temperature."""
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
