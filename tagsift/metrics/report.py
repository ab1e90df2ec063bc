"""All scores of one labelling in one record, as text and as a dict for JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy.typing as npt

from tagsift.errors import InputError
from tagsift.metrics._pairs import Tally, check_pairs, label_indices
from tagsift.metrics.calibration import (
    CalibrationScores,
    calibration_scores,
    stack_marginals,
)
from tagsift.metrics.spans import SpanAverage, SpanScores, resolve_scheme, span_scores
from tagsift.metrics.tokens import TokenScores, token_scores
from tagsift.typing import Label, Labels

__all__ = ["Scores", "dict_report", "evaluate", "text_report"]

_COVERAGES = (0.5, 0.8, 0.9, 0.95, 1.0)


@dataclass(frozen=True)
class Scores:
    """Every score of one labelling."""

    spans: SpanScores  # by the lenient CoNLL reading
    spans_strict: SpanScores
    tokens: TokenScores  # accuracies and token F1
    calibration: CalibrationScores | None  # none when no marginals were given
    scheme: str  # how the tags were read

    @property
    def span_f1(self) -> float:
        """Micro span F1, lenient CoNLL reading."""
        return self.spans.micro.f1

    def headline(self) -> dict[str, float]:
        """The few figures that tables compare; calibration only with marginals."""
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


def evaluate(
    gold: Labels,
    predicted: Labels,
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
        strict = unknown == "error"
        truth = label_indices(gold, classes, name="gold", strict=strict)  # [N]
        label_indices(predicted, classes, name="predicted")
        names = set(classes)
        extra = {label for labels in gold for label in labels if label not in names}
        labels = [*classes, *sorted(extra, key=str)]
        if marginals is not None:
            lengths = [len(sentence) for sentence in gold]
            stacked = stack_marginals(marginals, lengths, len(classes))  # [N, L]
            calibration = calibration_scores(stacked, truth, n_bins=n_bins)
    return Scores(
        spans=span_scores(gold, predicted, scheme=scheme),
        spans_strict=span_scores(gold, predicted, scheme=scheme, reading="strict"),
        tokens=token_scores(gold, predicted, labels),
        calibration=calibration,
        scheme=scheme,
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
                str(label): _shares(counts) | {"support": counts.n_gold}
                for label, counts in scores.tokens.per_label.items()
            },
        },
        "calibration": None,
    }
    if scores.calibration is not None:
        part, bins = scores.calibration, scores.calibration.reliability
        names = ("ece", "brier", "nll", "aurc")
        result["calibration"] = {name: getattr(part, name) for name in names} | {
            "mce": bins.mce,
            "n_bins": len(bins.counts),
            "reliability": {  # JSON does not know NaN
                name: [None if math.isnan(x) else x for x in values.tolist()]
                for name, values in vars(bins).items()
            },
            "risk_at_coverage": {
                f"{share:g}": part.risk_coverage.risk_at(share) for share in _COVERAGES
            },
        }
    return result


def _span_dict(scores: SpanScores) -> dict[str, Any]:
    return {
        "reading": scores.reading,
        "micro": _shares(scores.micro) | asdict(scores.micro),
        "macro": asdict(scores.macro),
        "per_type": {k: _shares(t) | asdict(t) for k, t in scores.per_type.items()},
    }


def _shares(counts: Tally) -> dict[str, float]:
    return {name: getattr(counts, name) for name in ("precision", "recall", "f1")}


def text_report(scores: Scores) -> str:
    """A table to read, in percent with two decimals as the CoNLL script prints."""
    spans, tokens = scores.spans, scores.tokens
    rows: list[tuple[str, Tally | SpanAverage]] = [
        ("spans (CoNLL)", spans.micro),
        *((f"  {name or '(no type)'}", one) for name, one in spans.per_type.items()),
        ("spans (strict)", scores.spans_strict.micro),
        ("macro over types", spans.macro),
    ]
    width = max(len(name) for name, _ in rows)
    lines = [
        f"{tokens.n_tokens} tokens in {tokens.n_sentences} sentences, "
        f"scheme {scores.scheme}",
        "",
        f"{'':{width}}  precision  recall      F1    gold",
    ]
    for name, one in rows:
        p, r, f = 100 * one.precision, 100 * one.recall, 100 * one.f1
        n_gold = f"  {one.n_gold:6d}" if isinstance(one, Tally) else ""
        lines.append(f"{name:{width}}  {p:9.2f}  {r:6.2f}  {f:6.2f}{n_gold}")
    lines += [
        "",
        f"token accuracy      {100 * tokens.accuracy:6.2f}",
        f"sentence accuracy   {100 * tokens.sentence_accuracy:6.2f}",
        f"token-weighted F1   {100 * tokens.weighted_f1:6.2f}",
        f"token-macro F1      {100 * tokens.macro_f1:6.2f}",
    ]
    if scores.calibration is not None:
        part, n_bins = scores.calibration, len(scores.calibration.reliability.counts)
        lines += [
            "",
            f"calibration error   {100 * part.ece:6.2f}  (ECE, {n_bins} bins)",
            f"Brier score         {part.brier:6.4f}",
            f"log loss            {part.nll:6.4f}",
            f"risk–coverage area  {part.aurc:6.4f}",
        ]
    return "\n".join(lines) + "\n"
