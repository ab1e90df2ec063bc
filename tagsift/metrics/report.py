"""All scores of one labelling in one record, and its text, dict and JSON forms."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy.typing as npt

from tagsift.errors import InputError
from tagsift.metrics._pairs import check_pairs, label_indices
from tagsift.metrics.calibration import (
    Reliability,
    RiskCoverage,
    brier_score,
    log_loss,
    reliability,
    risk_coverage,
    stack_marginals,
    top_label,
)
from tagsift.metrics.spans import SpanScore, SpanScores, resolve_scheme, span_scores
from tagsift.metrics.tokens import TokenScores, token_scores
from tagsift.typing import Label

__all__ = [
    "CalibrationScores",
    "Scores",
    "dict_report",
    "evaluate",
    "json_report",
    "report",
    "text_report",
]

_COVERAGES = (0.5, 0.8, 0.9, 0.95, 1.0)


@dataclass(frozen=True)
class CalibrationScores:
    """How far the marginals can be trusted.

    Parameters
    ----------
    ece, mce : float
        Expected and maximum calibration error of the top label.
    brier : float
        Brier score summed over labels, between 0 and 2.
    nll : float
        Mean negative log-probability of the truth, in nats.
    aurc : float
        Area under the risk–coverage curve of the top label.
    n_bins : int
        Bins behind `ece`.
    reliability : Reliability
        The table of the bins.
    risk_coverage : RiskCoverage
        The curve.
    """

    ece: float
    mce: float
    brier: float
    nll: float
    aurc: float
    n_bins: int
    reliability: Reliability
    risk_coverage: RiskCoverage


@dataclass(frozen=True)
class Scores:
    """Every score of one labelling.

    Parameters
    ----------
    spans, spans_strict : SpanScores
        Span scores by the lenient CoNLL reading and by the strict one.
    tokens : TokenScores
        Accuracies and token F1.
    calibration : CalibrationScores or None
        None when no marginals were given.
    scheme : str
        How the tags were read.
    """

    spans: SpanScores
    spans_strict: SpanScores
    tokens: TokenScores
    calibration: CalibrationScores | None
    scheme: str

    @property
    def span_f1(self) -> float:
        """Micro span F1, lenient CoNLL reading."""
        return self.spans.micro.f1

    def headline(self) -> dict[str, float]:
        """The few figures that tables compare, by name; no entry where there is none.

        Returns
        -------
        dict of str to float
            ``span_f1``, ``span_f1_strict``, ``token_weighted_f1``, ``token_macro_f1``,
            ``token_accuracy``, ``sentence_accuracy`` and, with marginals, ``ece``,
            ``brier``, ``nll``, ``aurc``.
        """
        figures = {
            "span_f1": self.spans.micro.f1,
            "span_f1_strict": self.spans_strict.micro.f1,
            "token_weighted_f1": self.tokens.weighted_f1,
            "token_macro_f1": self.tokens.macro_f1,
            "token_accuracy": self.tokens.accuracy,
            "sentence_accuracy": self.tokens.sentence_accuracy,
        }
        if self.calibration is not None:
            for name in ("ece", "brier", "nll", "aurc"):
                figures[name] = getattr(self.calibration, name)
        return figures

    def as_dict(self) -> dict[str, Any]:
        """Everything as nested dicts, lists and numbers, ready for JSON."""
        return dict_report(self)

    def as_json(self) -> str:
        """The same as JSON text."""
        return json_report(self)

    def as_text(self) -> str:
        """A table to read."""
        return text_report(self)


def evaluate(
    gold: Sequence[Sequence[Label]],
    predicted: Sequence[Sequence[Label]],
    *,
    scheme: str = "auto",
    marginals: Sequence[npt.ArrayLike] | None = None,
    classes: Sequence[Label] | None = None,
    unknown: Literal["error", "wrong"] = "error",
    n_bins: int = 15,
) -> Scores:
    """Score a labelling by spans, by tokens and, with marginals, by calibration.

    Parameters
    ----------
    gold, predicted : sequences of sequences of labels
        The truth and the labels to judge.
    scheme : {"auto", "iob1", "iob2", "iobes", "plain"}
        How the tags are written; ``"auto"`` looks at the gold labels.
    marginals : sequence of arrays of shape (length, n_classes), optional
        Probabilities of every label for every token. They are judged by themselves:
        the top label is their largest, which a decoder need not have chosen.
    classes : sequence of labels, optional
        The label set, in the order of the columns of `marginals` (needed with them).
    unknown : {"error", "wrong"}
        What to do with gold labels outside `classes`: stop, or count them as wrong
        and, in the calibration part, as labels of probability 0. Predicted labels
        outside `classes` are always an error.
    n_bins : int
        Bins of the calibration error.

    Returns
    -------
    Scores
        One frozen record.
    """
    if unknown not in ("error", "wrong"):
        raise InputError(f"unknown must be 'error' or 'wrong'; got {unknown!r}.")
    check_pairs(gold, predicted)
    if marginals is not None and classes is None:
        raise InputError(
            "Marginals need classes, the labels of their columns in order; give "
            "classes=model.classes_."
        )
    scheme = resolve_scheme(gold, scheme)
    calibration = None
    labels: list[Label] | None = None
    if classes is not None:
        missing = -1 if unknown == "wrong" else None
        truth = label_indices(gold, classes, name="gold", missing=missing)  # [N]
        label_indices(predicted, classes, name="predicted")
        known = set(classes)
        extra = {label for labels in gold for label in labels if label not in known}
        labels = [*classes, *sorted(extra, key=str)]
        if marginals is not None:
            lengths = [len(sentence) for sentence in gold]
            stacked = stack_marginals(marginals, lengths, len(classes))  # [N, L]
            calibration = _calibration(stacked, truth, n_bins)
    return Scores(
        spans=span_scores(gold, predicted, scheme=scheme),
        spans_strict=span_scores(gold, predicted, scheme=scheme, reading="strict"),
        tokens=token_scores(gold, predicted, labels),
        calibration=calibration,
        scheme=scheme,
    )


def _calibration(
    stacked: npt.ArrayLike, truth: npt.ArrayLike, n_bins: int
) -> CalibrationScores:
    bins = reliability(stacked, truth, n_bins=n_bins)
    curve = risk_coverage(*top_label(stacked, truth))
    return CalibrationScores(
        ece=bins.ece,
        mce=bins.mce,
        brier=brier_score(stacked, truth),
        nll=log_loss(stacked, truth),
        aurc=curve.aurc,
        n_bins=n_bins,
        reliability=bins,
        risk_coverage=curve,
    )


def dict_report(scores: Scores) -> dict[str, Any]:
    """Everything as nested dicts, lists and numbers, ready for JSON.

    The risk–coverage curve, one point per token, is given at a few coverages only; an
    empty bin has None for its confidence and accuracy.
    """
    result: dict[str, Any] = {
        "scheme": scores.scheme,
        "headline": scores.headline(),
        "spans": _span_dict(scores.spans),
        "spans_strict": _span_dict(scores.spans_strict),
        "tokens": {
            **asdict(scores.tokens),
            "per_label": {
                str(label): asdict(score)
                for label, score in scores.tokens.per_label.items()
            },
        },
        "calibration": None,
    }
    if scores.calibration is not None:
        part = scores.calibration
        result["calibration"] = {
            "ece": part.ece,
            "mce": part.mce,
            "brier": part.brier,
            "nll": part.nll,
            "aurc": part.aurc,
            "n_bins": part.n_bins,
            "reliability": {
                "edges": part.reliability.edges.tolist(),
                "counts": part.reliability.counts.tolist(),
                "confidence": _numbers(part.reliability.confidence.tolist()),
                "accuracy": _numbers(part.reliability.accuracy.tolist()),
            },
            "risk_at_coverage": {
                f"{coverage:g}": part.risk_coverage.risk_at(coverage)
                for coverage in _COVERAGES
            },
        }
    return result


def _numbers(values: list[float]) -> list[float | None]:
    """Replace NaN, which JSON does not know, by None."""
    return [None if math.isnan(value) else value for value in values]


def _span_dict(scores: SpanScores) -> dict[str, Any]:
    return {
        "reading": scores.reading,
        "micro": _score_dict(scores.micro),
        "macro": asdict(scores.macro),
        "per_type": {
            name: _score_dict(score) for name, score in scores.per_type.items()
        },
    }


def _score_dict(score: SpanScore) -> dict[str, float | int]:
    return {
        "precision": score.precision,
        "recall": score.recall,
        "f1": score.f1,
        **asdict(score),
    }


def json_report(scores: Scores) -> str:
    """The dict report as JSON text."""
    return json.dumps(dict_report(scores), indent=2, ensure_ascii=False)


def text_report(scores: Scores) -> str:
    """A table to read, in percent with two decimals as the CoNLL script prints."""
    tokens = scores.tokens
    rows = [("spans (CoNLL)", scores.spans.micro, scores.spans.micro.n_gold)]
    rows += [
        (f"  {name or '(no type)'}", score, score.n_gold)
        for name, score in scores.spans.per_type.items()
    ]
    rows += [("spans (strict)", scores.spans_strict.micro, rows[0][2])]
    width = max(len(name) for name, _, _ in rows)
    lines = [
        f"{tokens.n_tokens} tokens in {tokens.n_sentences} sentences, "
        f"scheme {scores.scheme}",
        "",
        f"{'':{width}}  precision  recall      F1    gold",
    ]
    lines += [
        f"{name:{width}}  {100 * score.precision:9.2f}  {100 * score.recall:6.2f}  "
        f"{100 * score.f1:6.2f}  {support:6d}"
        for name, score, support in rows
    ]
    lines += [
        f"{'macro over types':{width}}  {100 * scores.spans.macro.precision:9.2f}  "
        f"{100 * scores.spans.macro.recall:6.2f}  {100 * scores.spans.macro.f1:6.2f}",
        "",
        f"token accuracy      {100 * tokens.accuracy:6.2f}",
        f"sentence accuracy   {100 * tokens.sentence_accuracy:6.2f}",
        f"token-weighted F1   {100 * tokens.weighted_f1:6.2f}",
        f"token-macro F1      {100 * tokens.macro_f1:6.2f}",
    ]
    if scores.calibration is not None:
        part = scores.calibration
        lines += [
            "",
            f"calibration error   {100 * part.ece:6.2f}  (ECE, {part.n_bins} bins)",
            f"Brier score         {part.brier:6.4f}",
            f"log loss            {part.nll:6.4f}",
            f"risk–coverage area  {part.aurc:6.4f}",
        ]
    return "\n".join(lines) + "\n"


_REPORTERS: dict[str, Callable[[Scores], Any]] = {
    "text": text_report,
    "dict": dict_report,
    "json": json_report,
}


def report(scores: Scores, form: Literal["text", "dict", "json"] = "text") -> Any:
    """Give scores as text, as a dict or as JSON.

    Parameters
    ----------
    scores : Scores
        What `evaluate` returned.
    form : {"text", "dict", "json"}
        Which form.

    Returns
    -------
    str or dict
        The report.
    """
    if form not in _REPORTERS:
        raise InputError(
            f"A report is 'text', 'dict' or 'json'; got {form!r}. Choose one of them."
        )
    return _REPORTERS[form](scores)
