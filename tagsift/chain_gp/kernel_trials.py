"""How well kernels do on sentences that a fit left out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tagsift.base import TrainingSet
from tagsift.base.hold_out import hold_out
from tagsift.chain_gp.mode import ModeFinder
from tagsift.chain_gp.temperature import best_temperature, held_out_likelihood
from tagsift.features import FeatureMatrix
from tagsift.gp.groups import GroupKernel, InducingColumns

__all__ = ["Trial", "best_trial", "untried"]

#: How many sentences must be held out at least.
_FEWEST = 10


@dataclass(frozen=True)
class Trial:
    """A kernel, its temperature and Φ, and how likely it makes held-out labels.

    Parameters
    ----------
    kernel : GroupKernel
        Hyperparameters.
    temperature : float
        The one in force with it.
    likelihood : float
        Log-likelihood of the candidate sets of the held-out sentences.
    columns : dict of str to InducingColumns
        Its RBF parts.
    phi : FeatureMatrix
        Whitened features of all sentences, held out or not.
    """

    kernel: GroupKernel
    temperature: float
    likelihood: float
    columns: dict[str, InducingColumns]
    phi: FeatureMatrix


def untried(
    finder: ModeFinder, train: TrainingSet, kernel: GroupKernel, temperature: float
) -> Trial:
    """Take a kernel and a temperature as they are."""
    return Trial(kernel, temperature, 0.0, *finder.whiten(train, kernel))


def best_trial(
    finder: ModeFinder,
    train: TrainingSet,
    kernels: Iterable[GroupKernel],
    *,
    temperature: float | None,
    tol: float,
) -> Trial:
    """Find the kernel that makes held-out labels likeliest.

    The labels of the held-out sentences may be as partial as all others. Where there
    are too few sentences to hold any out, the first kernel is taken.

    Parameters
    ----------
    finder : ModeFinder
        Finds the modes.
    train : TrainingSet
        All sentences.
    kernels : iterable of GroupKernel
        What to choose from.
    temperature : float, optional
        The temperature, where it is given; by default the best of each kernel.
    tol : float
        When the fits without the held-out sentences stop.
    """
    best: Trial | None = None
    for kernel in kernels:
        trial = _try(finder, train, kernel, temperature, tol)
        if best is None or trial.likelihood > best.likelihood:
            best = trial
    assert best is not None  # there is at least one kernel
    return best


def _try(
    finder: ModeFinder,
    train: TrainingSet,
    kernel: GroupKernel,
    temperature: float | None,
    tol: float,
) -> Trial:
    """Fit without the held-out sentences, and judge by them."""
    parts = hold_out(train)
    if len(parts[1]) < _FEWEST:
        return untried(finder, train, kernel, temperature or 1.0)
    columns, phi = finder.whiten(train, kernel)
    whole = replace(train, features=phi)
    seen, unseen = (whole.take_sequences(part) for part in parts)
    title = "ChainGP: held out"
    mode = finder.find(seen, kernel, tol=tol, title=title)
    chosen = temperature or best_temperature(mode.weights, unseen)
    likelihood = held_out_likelihood(mode.weights, unseen, chosen)
    return Trial(kernel, chosen, likelihood, columns, phi)
