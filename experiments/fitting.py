"""Fit, tag and score: what every experiment does with a fold and its candidates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from experiments.folds import Fold
from experiments.measuring import Timed, peak_mib, timed
from tagsift import registry
from tagsift.data.corpus import Corpus
from tagsift.metrics import Recovery, evaluate, recovery
from tagsift.report.records import Tagged

#: Digits kept of every score: enough for tables, few enough for small files.
DIGITS = 6


@dataclass(frozen=True)
class Score:
    """A score: its name in records and tables, how it is written, and who is ahead."""

    name: str  # in records
    title: str  # in tables
    scale: float  # what values are multiplied by
    digits: int  # behind the point
    sign: int  # makes a difference positive where it is an advantage: 1 or -1

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
    Score("span_f1", "span F1", 100, 2, 1),
    Score("recovery", "recovery", 100, 2, 1),
    Score("nll", "NLL", 1, 4, -1),
    Score("ece", "ECE", 100, 2, -1),
)


def rounded(scores: Mapping[str, float]) -> dict[str, float | None]:
    """Scores with a fixed number of digits; None where there is no number."""
    return {
        name: round(float(value), DIGITS) if math.isfinite(value) else None
        for name, value in scores.items()
    }


@dataclass(frozen=True)
class Fitted:
    """A fitted model, what it tagged, and what that cost."""

    model: Any
    fold: Fold  # whose test part was tagged
    partial: Corpus  # what it was fitted to
    fitting: Timed
    tagging: Timed  # and the labels given
    before_mib: float  # most memory held before the fit
    peak_mib: float  # and up to the end of the tagging

    def scores(self) -> dict[str, float]:
        """Every score of the test part, those of probabilities where there are some.

        A label that is not in the training part is wrong whatever was said.
        """
        test, model, marginals = self.fold.test, self.model, None
        if model.method.probabilities:
            marginals = model.predict_proba(self.fold.test_features)
        about = (test.labels, self.tagging.result, model.classes_, marginals)
        return Tagged(test.tokens, *about, test.scheme).scores().headline()

    def recovery(self) -> Recovery:
        """How many true labels of the training part were found again."""
        return recovery(
            self.partial.gold or [],
            self.model.transduction_,
            self.partial.candidates or [],
        )

    def likeliest(self) -> Recovery:
        """The same of the surest candidates, token by token, as the paper has it."""
        names = self.model.classes_
        labels = [[names[k] for k in c.argmax(axis=1)] for c in self.model.confidences_]
        return recovery(self.partial.gold or [], labels, self.partial.candidates or [])

    def four_scores(self) -> dict[str, float | None]:
        """Span F1, log loss, calibration error, and recovery if labels were hidden."""
        scores = self.scores()
        found = {name: scores[name] for name in ("span_f1", "nll", "ece")}
        if not self.model.method.exact_only:
            found["recovery"] = self.recovery().ambiguous
        return rounded(found)

    def decoded(self, decoders: Iterable[str]) -> dict[str, dict[str, float | None]]:
        """Scores of the same fit under other decoders."""
        found, test = {}, self.fold.test
        for decoder in decoders:
            self.model.set_params(decoder=decoder)
            predicted = self.model.predict(self.fold.test_features)
            scores = evaluate(test.labels, predicted, scheme=test.scheme)
            found[decoder] = rounded(scores.headline())
        return found

    def costs(self) -> dict[str, float]:
        """Seconds and memory, for a table of costs."""
        n_tokens, tagging = self.fold.test_features.n_tokens, self.tagging
        return {
            "fit_cpu_s": round(self.fitting.cpu, 2),
            "fit_s": round(self.fitting.wall, 2),
            "tag_tokens_per_cpu_s": round(n_tokens / max(tagging.cpu, 1e-3)),
            "tag_tokens_per_s": round(n_tokens / max(tagging.wall, 1e-3)),
            "fit_peak_mib": self.peak_mib,
            "before_fit_mib": self.before_mib,
        }


def make_model(method: str, fold: Fold, params: Mapping[str, Any], seed: int) -> Any:
    """Return an estimator that knows the labels and the scheme of a fold."""
    about = {"labels": tuple(fold.label_set), "scheme": fold.train.scheme}
    return registry.make(method, **params, **about, random_state=seed)


def fit(
    method: str,
    fold: Fold,
    partial: Corpus,
    params: Mapping[str, Any],
    seed: int = 0,
) -> Fitted:
    """Fit a method to the candidates of the training part and tag the test part."""
    model = make_model(method, fold, params, seed)
    before = peak_mib()
    fitting = timed(lambda: model.fit(fold.train_features, partial))
    tagging = timed(lambda: model.predict(fold.test_features))
    return Fitted(model, fold, partial, fitting, tagging, before, peak_mib())


# Settings that a fit finds itself, in its own training part -----------------------


class Tuner(NamedTuple):
    """How a method is tuned; the estimators do it themselves."""

    ask: Mapping[str, Any]  # settings that make a fit tune itself
    read: Callable[[Any], dict[str, Any]]  # fitted model → the settings found


_PENALTY = Tuner({"tune": True}, lambda model: {"l2": float(model.l2_)})
#: Methods that can be tuned, by table name.
TUNERS: dict[str, Tuner] = {
    "sgppsl": Tuner(
        {},
        lambda model: {
            name: float(np.median(getattr(model.kernel_, name)))  # alike for all labels
            for name in ("theta", "amplitude")
        },
    ),
    "chain-gp": Tuner({}, lambda model: {"kernel": model.kernel_.as_dict()}),
    "partial-crf": _PENALTY,
    "crf": _PENALTY,
}


def tuner_of(method: str) -> Tuner:
    """Return how `method` is tuned; most are not."""
    return TUNERS.get(method, Tuner({}, lambda model: {}))
