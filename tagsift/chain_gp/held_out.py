r"""Temperatures and span bonus of ChainGP, from sentences that fits left out.

Sentences are left out in turn, a fifth at a time, until they hold enough tokens, and
neighbours together, since new text is mostly of other documents. Their labels may be as
partial as all others. The temperature T of new text is judged by the chance of what is
known of every left-out token, and by what such temperatures are elsewhere.

Of sentences that the fit has seen it is surer still. Fits without them tell how much:
with q their marginals at T and c those of the whole fit, both given the candidates, c
comes nearest to q at the temperature

.. math:: T^* = \arg\max_t \sum_n \sum_y q(n, y) \log c_t(n, y).

But they know less than the whole fit does, and doubt more than it should: confidences
have the temperature T' between the two, log T' = (1 − a) log T + a log T*.

The bonus (`tagsift.chain.span_bonus`) follows from how good the labels of left-out
sentences are expected to be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil, exp, log
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from tagsift.base import AnyTrainingSet, TrainingSet, hold_out
from tagsift.chain import Allowed, LinearChain, expected_f1, span_bonus
from tagsift.chain_gp.mode import ModeFinder
from tagsift.gp import GroupKernel
from tagsift.typing import BoolArray

__all__ = [
    "FEW_TOKENS",
    "HeldOut",
    "best_bonus",
    "best_temperature",
    "leave_out",
    "log_chance",
    "temperature_of_seen",
]

_SHARE = 0.2  # of the sentences, left out at a time
_TOGETHER = 6  # neighbours that are left out together
FEW_TOKENS = 20_000  # most tokens that are looked at
_ENOUGH = 6_000  # tokens left out that are enough
_FEWEST = 10  # sentences that say anything
_USUAL = 1.25  # centre of the temperature's log-normal prior
_SPREAD = 0.2  # its width
_LIMITS = (-1.0, 2.0)  # of the logarithms of temperatures
_WITHOUT = 0.4  # share a of fits without a sentence in its temperature T'
_SEEN = 1.15  # T' / T where they cannot tell
#: Bonus without held-out sentences.
_BONUS = 0.5


class HeldOut(NamedTuple):
    """A chain, and sentences that it was not fitted to."""

    chain: LinearChain
    unseen: TrainingSet


def leave_out(
    finder: ModeFinder, train: AnyTrainingSet, kernel: GroupKernel, *, tol: float
) -> Iterator[HeldOut]:
    """Fit without some of the sentences, then without others; not if there are few.

    The features are whitened. Of a large corpus only some sentences are fitted.
    """
    sample = train.draw(FEW_TOKENS, stream=30)
    if np.count_nonzero(sample.features.lengths) < _FEWEST:
        return
    turns = min(ceil(_ENOUGH / (_SHARE * sample.n_tokens)), round(1 / _SHARE))
    for turn in range(turns):
        parts = hold_out(sample, share=_SHARE, turn=turn, together=_TOGETHER)
        seen, unseen = map(sample.take_sequences, parts)
        title = f"ChainGP: held out, {turn + 1} of {turns}"
        chain, _ = finder.find(seen, kernel, tol=tol, title=title)
        yield HeldOut(chain, unseen)


def best_temperature(held_out: Sequence[HeldOut]) -> float:
    """Temperature of the highest chance of what is known, times a log-normal prior."""

    def score(temperature: float) -> float:
        chance = sum(log_chance(one, temperature) for one in held_out)
        return chance - 0.5 * (log(temperature / _USUAL) / _SPREAD) ** 2

    return _highest(score) if held_out else _USUAL


def log_chance(held_out: HeldOut, temperature: float) -> float:
    """Log of the chance of what is known of a token, summed over tokens.

    A token none of whose candidates the chain can predict counts as unlabelled.
    """
    chain, unseen = held_out.chain.tempered(temperature), held_out.unseen
    likelihood = unseen.log_evidence  # [N, L]
    likelihood = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))  # [N, L]
    chance = (chain.marginals(unseen.features) * likelihood).sum(axis=1)  # [N]
    return float(np.log(chance[chance > 0]).sum())


def temperature_of_seen(
    held_out: Sequence[HeldOut],
    chain: LinearChain,
    temperature: float,
    n_tokens: int,
) -> float:
    """Temperature T' of sentences that the chain has seen.

    `chain` lives where those of `held_out` do, and was fitted to `n_tokens`. Where that
    is far more than they were, they cannot tell, and T' is what it usually is.
    """
    if not held_out or n_tokens > FEW_TOKENS:
        return _SEEN * temperature
    evidence = [(one.unseen.features, one.unseen.log_evidence) for one in held_out]
    softer = [one.chain.tempered(temperature) for one in held_out]
    without = [c.marginals(*told) for c, told in zip(softer, evidence, strict=True)]

    def score(mine: float) -> float:
        total, tempered = 0.0, chain.tempered(mine)
        for q, data in zip(without, evidence, strict=True):
            c = np.maximum(tempered.marginals(*data), np.finfo(float).tiny)  # [N, L]
            total += float((q * np.log(c)).sum())
        return total

    return exp((1 - _WITHOUT) * log(temperature) + _WITHOUT * log(_highest(score)))


def _highest(score: Callable[[float], float]) -> float:
    optimum = minimize_scalar(
        lambda log_t: -score(exp(log_t)),
        bounds=_LIMITS,
        method="bounded",
        options={"xatol": 1e-3},
    )
    return exp(optimum.x)


def best_bonus(
    held_out: Sequence[HeldOut],
    temperature: float,
    allowed: Allowed,
    inside: BoolArray,
) -> float:
    """Bonus at which F1 is highest; `inside` are the labels of spans, [L].

    What is known of the sentences enters the probabilities of their labels.
    """
    if not held_out:
        return _BONUS
    labels, p = [], []
    for one in held_out:
        chain, unseen = one.chain.tempered(temperature), one.unseen
        labels.append(chain.best(unseen.features, allowed))  # [N]
        p.append(chain.marginals(unseen.features, unseen.log_evidence))  # [N, L]
    f1 = expected_f1(np.concatenate(labels), np.concatenate(p), inside)
    return span_bonus(f1, temperature)
