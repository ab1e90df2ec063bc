"""Where the hyperparameters of ChainGP come from: as given, or learnt by evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tagsift.base import TrainingSet
from tagsift.errors import InputError
from tagsift.features import FeatureMatrix
from tagsift.gp.evidence import GroupEvidence, learn_groups
from tagsift.gp.groups import GroupKernel
from tagsift.progress import progress
from tagsift.typing import FloatArray

__all__ = ["LearntKernels", "learn_kernels", "read_kernel"]

#: Tokens that the hyperparameters are learnt from, and evaluations of the evidence.
_LEARN_TOKENS, _TRIALS = 1000, 6


@dataclass(frozen=True)
class LearntKernels:
    """What the evidence says."""

    kernels: list[GroupKernel]  # the learnt one, the middle to the start, and the start
    evidence: float  # of the learnt one
    history: list[dict[str, Any]]  # evidence and hyperparameters of every trial


def learn_kernels(
    train: TrainingSet,
    mean: FloatArray,
    mean_start: FloatArray,
    *,
    rbf: bool,
    enabled: bool = False,
) -> LearntKernels:
    """Climb the evidence of a seeded part of the sentences.

    `mean` and `mean_start` are the prior means of transition and start scores.
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
    return LearntKernels([learnt, evidence.unpack(middle), start], value, history)


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
