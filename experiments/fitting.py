"""Fit, tag and score: what every experiment does with a fold and its candidates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from experiments.folds import Fold
from experiments.measuring import Timed, peak_mib, timed
from tagsift import registry
from tagsift.data import PartialCorpus
from tagsift.metrics import Recovery, evaluate, recovery

__all__ = ["FOUR_SCORES", "Fitted", "Score", "fit", "make_model", "rounded"]

#: What a test label is that the model has never seen.
Unknown: TypeAlias = Literal["error", "wrong"]
#: Digits kept of every score: enough for tables, few enough for small files.
DIGITS = 6


@dataclass(frozen=True)
class Score:
    """A score, and how tables write it.

    Parameters
    ----------
    name, title : str
        In records, and in tables.
    scale : float
        What values are multiplied by.
    digits : int
        Digits behind the point.
    more : bool
        Whether more is better.
    """

    name: str
    title: str
    scale: float
    digits: int
    more: bool

    @property
    def sign(self) -> int:
        """What makes a difference positive where it is an advantage."""
        return 1 if self.more else -1

    def number(self, value: float | None, sign: str = "") -> str:
        """Write one value, or a dash where there is none."""
        if value is None:
            return "–"
        return f"{self.scale * value:{sign}.{self.digits}f}"

    def text(self, values: Any, sign: str = "") -> str:
        """Write mean ± standard error."""
        n = len(values)
        error = np.std(values, ddof=1) / np.sqrt(n) if n > 1 else 0.0
        return f"{self.number(np.mean(values), sign)} ± {self.number(error)}"


#: What fits with hidden labels are judged by.
FOUR_SCORES = (
    Score("span_f1", "span F1", 100, 2, True),
    Score("recovery", "recovery", 100, 2, True),
    Score("nll", "NLL", 1, 4, False),
    Score("ece", "ECE", 100, 2, False),
)


def rounded(scores: Mapping[str, float]) -> dict[str, float | None]:
    """Scores with a fixed number of digits; None where there is no number."""
    return {
        name: round(float(value), DIGITS) if math.isfinite(value) else None
        for name, value in scores.items()
    }


@dataclass(frozen=True)
class Fitted:
    """A fitted model, what it tagged, and what that cost.

    Parameters
    ----------
    model : SequenceTagger
        Fitted to the training part.
    fold : Fold
        Whose test part was tagged.
    partial : PartialCorpus
        What it was fitted to.
    fitting, tagging : Timed
        Seconds of both, and the labels given.
    before_mib, peak_mib : float
        Most memory held before the fit, and up to the end of the tagging.
    """

    model: Any
    fold: Fold
    partial: PartialCorpus
    fitting: Timed
    tagging: Timed
    before_mib: float
    peak_mib: float

    def scores(self, *, unknown: Unknown = "error") -> dict[str, float]:
        """Every score of the test part, those of probabilities where there are some.

        Parameters
        ----------
        unknown : {"error", "wrong"}
            What a test label is that the model has never seen.
        """
        marginals = None
        if self.model.method.probabilities:
            marginals = self.model.predict_marginals(self.fold.test_features)
        return evaluate(
            self.fold.test.labels,
            self.tagging.result,
            scheme=self.fold.test.scheme,
            marginals=marginals,
            classes=self.model.classes_,
            unknown=unknown,
        ).headline()

    def recovery(self) -> Recovery:
        """How many true labels of the training part were found again."""
        return recovery(
            self.partial.gold or [], self.model.recovered_, self.partial.candidates
        )

    def four_scores(self, *, unknown: Unknown = "error") -> dict[str, float | None]:
        """Span F1, log loss, calibration error, and recovery where labels were hidden.

        Parameters
        ----------
        unknown : {"error", "wrong"}
            As in `scores`.
        """
        scores = self.scores(unknown=unknown)
        found = {name: scores[name] for name in ("span_f1", "nll", "ece")}
        if not self.model.method.exact_only:
            found["recovery"] = self.recovery().ambiguous
        return rounded(found)

    def decoded(self, decoders: Iterable[str]) -> dict[str, dict[str, float | None]]:
        """Scores of the same fit under other decoders."""
        found = {}
        for decoder in decoders:
            self.model.set_params(decoder=decoder)
            predicted = self.model.predict(self.fold.test_features)
            test = self.fold.test
            scores = evaluate(test.labels, predicted, scheme=test.scheme)
            found[decoder] = rounded(scores.headline())
        return found


def make_model(method: str, fold: Fold, params: Mapping[str, Any], seed: int) -> Any:
    """Return an estimator that knows the labels and the scheme of a fold."""
    return registry.make(
        method,
        **params,
        labels=tuple(fold.label_set),
        scheme=fold.train.scheme,
        random_state=seed,
    )


def fit(
    method: str,
    fold: Fold,
    partial: PartialCorpus,
    params: Mapping[str, Any],
    seed: int = 0,
) -> Fitted:
    """Fit a method to candidates and tag the test part.

    Parameters
    ----------
    method : str
        Its table name.
    fold, partial : Fold and PartialCorpus
        Features, and the candidates of the training part.
    params : mapping
        Settings.
    seed : int
        Of the method.
    """
    model = make_model(method, fold, params, seed)
    before = peak_mib()
    fitting = timed(lambda: model.fit(fold.train_features, partial.candidates))
    tagging = timed(lambda: model.predict(fold.test_features))
    return Fitted(model, fold, partial, fitting, tagging, before, peak_mib())
