"""Settings chosen on held-out training sequences, without a look at hidden labels.

A fifth of the training sequences is held out. Where enough of them are exactly
labelled, a setting is judged by its F1 on those, and at equal F1 by the share of all
held-out tokens whose prediction is a candidate. Where too few are, methods with a
likelihood are judged by that of the held-out candidate sets, and all others keep their
defaults.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from sklearn.base import clone

from tagsift.base import SequenceTagger, TrainingSet
from tagsift.base.hold_out import hold_out
from tagsift.metrics import span_scores, token_accuracy
from tagsift.progress import progress

__all__ = ["HasLikelihood", "Trial", "Tuning", "tune"]

#: Number of exact held-out sequences from which on F1 is trusted.
_MIN_EXACT = 30


@runtime_checkable
class HasLikelihood(Protocol):
    """A method that can judge held-out candidate sets by their likelihood."""

    def _log_likelihood(self, held_out: TrainingSet) -> float:
        """Return the log-likelihood of the candidate sets of sentences not seen."""
        ...


@dataclass(frozen=True)
class Trial:
    """One setting and how it did on the held-out sequences.

    Parameters
    ----------
    settings : dict
        The settings tried.
    score : float
        F1 on exact held-out sequences, or held-out log-likelihood.
    candidate_share : float
        Share of all held-out tokens whose predicted label is a candidate.
    """

    settings: dict[str, Any]
    score: float
    candidate_share: float


@dataclass(frozen=True)
class Tuning:
    """What was chosen, and why.

    Parameters
    ----------
    settings : dict
        The best settings of the grid, or the estimator's own.
    criterion : {"f1", "likelihood", "defaults"}
        How settings were judged; ``"defaults"`` where there was too little to tune on.
    n_exact : int
        Number of exactly labelled held-out sequences.
    trials : tuple of Trial
        Every setting tried; empty for ``"defaults"``.
    """

    settings: dict[str, Any]
    criterion: str
    n_exact: int
    trials: tuple[Trial, ...] = ()


def tune(
    estimator: SequenceTagger,
    train: TrainingSet,
    grid: Mapping[str, Sequence[Any]],
) -> Tuning:
    """Choose settings from a grid.

    Parameters
    ----------
    estimator : SequenceTagger
        Not changed: copies of it are fitted. A setting called ``tune`` is switched off
        in the copies.
    train : TrainingSet
        What the estimator was given.
    grid : mapping of str to sequence
        Values to try for every setting; all combinations are tried.

    Returns
    -------
    Tuning
        ``settings`` for `set_params`. Ties go to the estimator's own values, then to
        the earlier ones of the grid.
    """
    own = {name: getattr(estimator, name) for name in grid}
    kept, held_out = map(train.take_sequences, hold_out(train))
    n_exact = int(held_out.exact_sequences.sum())
    if n_exact >= _MIN_EXACT:
        criterion = "f1"
    elif isinstance(estimator, HasLikelihood) and held_out.n_tokens and kept.n_tokens:
        criterion = "likelihood"
    else:
        return Tuning(own, "defaults", n_exact)
    settings = [
        dict(zip(grid, values, strict=True))
        for values in itertools.product(*grid.values())
    ]
    settings.sort(key=lambda setting: setting != own)  # stable: own values first
    trials = tuple(
        _try(estimator, setting, kept, held_out, criterion)
        for setting in progress(
            settings,
            f"tuning {estimator.method.title}",
            enabled=bool(estimator.verbose),
        )
    )
    best = max(trials, key=lambda trial: (trial.score, trial.candidate_share))
    return Tuning(best.settings, criterion, n_exact, trials)


def _try(
    estimator: SequenceTagger,
    settings: dict[str, Any],
    kept: TrainingSet,
    held_out: TrainingSet,
    criterion: str,
) -> Trial:
    """Fit a copy with the settings, and judge it on the held-out sequences."""
    fixed: dict[str, Any] = {
        "features": None,
        "labels": kept.classes,
        "scheme": kept.scheme,
        "random_state": kept.seed,
        "verbose": 0,
    }
    if "tune" in estimator.get_params(deep=False):
        fixed["tune"] = False
    model = clone(estimator).set_params(**(fixed | settings))
    known = kept.mask if kept.evidence is None else kept.shares  # [N, L]
    y = [known[lo:hi] for lo, hi in itertools.pairwise(kept.offsets)]
    model.fit(kept.features, y, kept.sample_weight)
    predicted = model._predict(held_out.features)  # [N']
    inside = held_out.mask[np.arange(held_out.n_tokens), predicted]  # [N']
    if criterion == "likelihood":
        score = model._log_likelihood(held_out)
    else:
        score = _f1(held_out, predicted)
    return Trial(settings, score, float(inside.mean()))


def _f1(held_out: TrainingSet, predicted: Any) -> float:
    """Span F1 on the exact sequences; token accuracy for plain tags."""
    pieces = held_out.features.split(predicted)
    truth = held_out.features.split(held_out.mask.argmax(axis=1))
    names = held_out.classes
    chosen = np.flatnonzero(held_out.exact_sequences)
    answers = [[names[k] for k in pieces[s]] for s in chosen]
    gold = [[names[k] for k in truth[s]] for s in chosen]
    if held_out.scheme == "plain":
        return float(token_accuracy(gold, answers))
    return float(span_scores(gold, answers, scheme=held_out.scheme).f1)
