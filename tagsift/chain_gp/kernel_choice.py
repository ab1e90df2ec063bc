"""Where kernel and temperature of ChainGP come from.

Kernels are as given, or learnt by Laplace's evidence. Among those learnt, and for the
temperature, sentences judge that a fit left out. Their labels may be as partial as all
others: what is judged is the likelihood of what is known of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from tagsift.base import TrainingSet
from tagsift.base.training_set import hold_out
from tagsift.chain.linear_chain import LinearChain
from tagsift.chain_gp.mode import ModeFinder
from tagsift.errors import InputError
from tagsift.features import FeatureMatrix
from tagsift.gp.evidence import GroupEvidence, learn_groups
from tagsift.gp.kernels import GroupKernel, InducingColumns
from tagsift.progress import progress
from tagsift.typing import FloatArray

__all__ = [
    "JudgedKernel",
    "best_kernel",
    "best_temperature",
    "held_out_likelihood",
    "learn_kernels",
    "read_kernel",
]

#: Tokens that the hyperparameters are learnt from, and evaluations of the evidence.
_LEARN_TOKENS, _TRIALS = 1000, 6
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


def read_kernel(stored: Mapping[str, Any], features: FeatureMatrix) -> GroupKernel:
    """Hyperparameters as a user gives them, checked against the features."""
    try:
        kernel = GroupKernel.from_dict(stored)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            "kernel must be what kernel_.as_dict() gives (linear, rbf, transition, "
            f"bias); got {stored!r}."
        ) from error
    if set(kernel.linear) != set(features.names):
        raise InputError(
            f"kernel has the feature groups {sorted(kernel.linear)}, the data has "
            f"{sorted(features.names)}; they must be the same."
        )
    return kernel


def learn_kernels(
    train: TrainingSet,
    mean: FloatArray,
    mean_start: FloatArray,
    *,
    rbf: bool,
    enabled: bool = False,
) -> tuple[list[GroupKernel], float, list[dict[str, Any]]]:
    """Climb the evidence of a seeded part of the sentences.

    Gives the learnt kernel, the middle to the start, and the start; the evidence of the
    learnt one; and evidence and hyperparameters of every trial.
    """
    start = GroupKernel.start(train.features, train.seed, rbf=rbf)
    part = train.draw(_LEARN_TOKENS, stream=10)
    evidence = GroupEvidence(part.features, part.log_evidence, start, mean, mean_start)
    history: list[dict[str, Any]] = []
    steps = iter(progress(range(_TRIALS), "ChainGP: evidence", enabled=enabled))
    next(steps)

    def record(value: float, trial: GroupKernel) -> None:
        history.append({"evidence": value, "kernel": trial.as_dict()})
        next(steps, None)

    learnt, value = learn_groups(evidence, start, n_steps=_TRIALS, on_step=record)
    for _ in steps:  # an early end completes the bar
        pass
    middle = 0.5 * (evidence.pack(learnt) + evidence.pack(start))  # [H]
    return [learnt, evidence.unpack(middle), start], value, history


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
        chain, _ = finder.find(seen, kernel, tol=tol, title="ChainGP: held out")
        chosen = temperature or best_temperature(chain, unseen)
        likelihood = held_out_likelihood(chain, unseen, chosen)
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
    """Temperature of the highest likelihood times a log-normal prior around 1."""

    def loss(log_t: float) -> float:
        likelihood = held_out_likelihood(chain, unseen, float(np.exp(log_t)))
        return 0.5 * (log_t / _SPREAD) ** 2 - likelihood

    found = minimize_scalar(loss, bounds=(-1.0, 1.0), method="bounded")
    return float(np.exp(found.x))
