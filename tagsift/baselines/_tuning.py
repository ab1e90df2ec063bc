"""Settings chosen on held-out training sequences, without a look at hidden labels.

A fifth of the training sequences is held out. Where enough of them are exactly
labelled, a setting is judged by its F1 on those, and at equal F1 by the share of all
held-out tokens whose prediction is a candidate. Where too few are, methods with a
likelihood are judged by that of the held-out candidate sets, and all others keep their
defaults.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from tagsift.base import SequenceTagger, TrainingSet, hold_out
from tagsift.metrics import span_scores, token_accuracy
from tagsift.progress import progress

__all__ = ["Trial", "Tuning", "tune"]

#: Number of exact held-out sequences from which on F1 is trusted.
_MIN_EXACT = 30


@dataclass(frozen=True)
class Trial:
    """One setting and how it did on the held-out sequences."""

    settings: dict[str, Any]
    score: float  # F1 on exact held-out sequences, or log-likelihood
    candidate_share: float  # of held-out tokens, how many predictions are candidates


@dataclass(frozen=True)
class Tuning:
    """What was chosen, and why."""

    settings: dict[str, Any]  # the best of the grid, or the estimator's own
    criterion: str  # "f1", "likelihood", or "defaults": too little to tune on
    n_exact: int  # exactly labelled held-out sequences
    trials: tuple[Trial, ...] = ()


def tune(
    estimator: SequenceTagger, train: TrainingSet, grid: Mapping[str, Sequence[Any]]
) -> Tuning:
    """Choose settings from all combinations of a grid, by fits of copies.

    Ties go to the estimator's own values, then to the earlier ones of the grid.
    """
    own = {name: getattr(estimator, name) for name in grid}
    rest, held_out = map(train.take_sequences, hold_out(train))
    n_exact = int(held_out.exact_sequences.sum())
    if n_exact >= _MIN_EXACT:
        criterion = "f1"
    elif hasattr(estimator, "_log_likelihood") and held_out.n_tokens and rest.n_tokens:
        criterion = "likelihood"
    else:
        return Tuning(own, "defaults", n_exact)
    settings = sorted(ParameterGrid(grid), key=lambda setting: setting != own)
    title = f"tuning {estimator.method.title}"
    trials = tuple(
        _try(estimator, setting, rest, held_out, criterion)
        for setting in progress(settings, title, enabled=bool(estimator.verbose))
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
    model = clone(estimator).set_params(features=None, labels=kept.classes, verbose=0)
    model.set_params(scheme=kept.scheme, random_state=kept.seed)
    if "tune" in estimator.settings:
        model.set_params(tune=False)
    model.set_params(**settings)
    known: Any = kept.mask if kept.evidence is None else kept.shares  # [N, L]
    model.fit(kept.features, kept.features.split(known), kept.sample_weight)
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
