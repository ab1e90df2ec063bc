r"""Temperature and span bonus of ChainGP, from sentences that a fit left out.

Their labels may be as partial as all others: the temperature is judged by the
likelihood of what is known of them, and by what such temperatures are elsewhere: the
wider the prior of the weights, the surer are the scores, about as the tenth power of
its variance. The bonus follows from how good the labels of these
sentences are expected to be. With F the F1 that can be reached, F1 is highest when the
spans of probability above F / 2 are taken; the likeliest sequence takes those above
1 / 2. The difference of the log-odds, in scores that the temperature T has not divided,
is

.. math:: c = T \log\frac{2 - F}{F}
"""

from __future__ import annotations

from math import exp, log
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from tagsift.base import TrainingSet
from tagsift.base.training_set import AnyTrainingSet, hold_out
from tagsift.chain.linear_chain import LinearChain
from tagsift.chain.potentials import Allowed
from tagsift.chain_gp.mode import ModeFinder
from tagsift.gp.kernels import GroupKernel
from tagsift.typing import BoolArray

__all__ = [
    "HeldOut",
    "best_bonus",
    "best_temperature",
    "expected_f1",
    "held_out_likelihood",
    "usual_temperature",
]

#: Most tokens that are looked at, and fewest held-out sentences that say anything.
_MOST_TOKENS, _FEWEST = 20_000, 10
#: Log-normal prior of the temperature: its centre at weights of variance 1, the power
#: of that variance and where it holds, and its width.
_AT_ONE, _POWER, _KNOWN, _SPREAD = 1.15, 0.1, (1.0, 10.0), 0.1
#: Temperature and bonus without held-out sentences, and the largest bonus.
_FEW, _USUAL, _LARGEST = 1.2, 0.5, 2.0


class HeldOut(NamedTuple):
    """A chain, and sentences that it was not fitted to; None where these are few."""

    chain: LinearChain
    unseen: TrainingSet

    @classmethod
    def of(
        cls,
        finder: ModeFinder,
        train: AnyTrainingSet,
        kernel: GroupKernel,
        *,
        tol: float,
    ) -> HeldOut | None:
        """Leave out a fifth of the sentences, whose features are whitened."""
        part = train.draw(_MOST_TOKENS, stream=30)
        seen, unseen = map(part.take_sequences, hold_out(part))
        if unseen.features.n_sequences < _FEWEST:
            return None
        chain, _ = finder.find(seen, kernel, tol=tol, title="ChainGP: held out")
        return cls(chain, unseen)


def usual_temperature(kernel: GroupKernel) -> float:
    """Centre of the temperature's prior, by the variance that most groups have."""
    variance = np.clip(np.median(list(kernel.linear.values())), *_KNOWN)
    return float(_AT_ONE * variance**_POWER)


def best_temperature(held_out: HeldOut | None, usual: float) -> float:
    """Temperature of the highest likelihood times a log-normal prior."""
    if held_out is None:
        return _FEW

    def loss(log_t: float) -> float:
        shift = (log_t - log(usual)) / _SPREAD
        return 0.5 * shift**2 - held_out_likelihood(held_out, exp(log_t))

    found = minimize_scalar(loss, bounds=(-1.0, 1.0), method="bounded")
    return exp(found.x)


def held_out_likelihood(held_out: HeldOut, temperature: float) -> float:
    """Log-likelihood of what is known of the sentences, at a temperature."""
    chain, unseen = held_out.chain.tempered(temperature), held_out.unseen
    return float(chain.log_likelihood(unseen.features, unseen.log_evidence).sum())


def best_bonus(
    held_out: HeldOut | None, temperature: float, allowed: Allowed, inside: BoolArray
) -> float:
    """Bonus at which F1 is highest; `inside` are the labels of spans, [L]."""
    if held_out is None:
        return _USUAL
    f1 = expected_f1(held_out, temperature, allowed, inside)
    ratio = (2.0 - f1) / max(f1, 1e-3)
    return min(temperature * log(ratio), _LARGEST)


def expected_f1(
    held_out: HeldOut, temperature: float, allowed: Allowed, inside: BoolArray
) -> float:
    """F1 of the tokens in spans of the likeliest labels, by the model's own word.

    What is known of the sentences enters the probabilities of their labels.
    """
    chain, unseen = held_out.chain.tempered(temperature), held_out.unseen
    labels = chain.best(unseen.features, allowed)  # [N]
    p = chain.marginals(unseen.features, unseen.log_evidence)  # [N, L]
    taken = inside[labels]  # [N]
    hits = p[np.arange(len(p)), labels][taken].sum()
    return float(2.0 * hits / max(taken.sum() + p[:, inside].sum(), 1e-9))
