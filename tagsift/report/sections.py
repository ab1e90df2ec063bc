"""Ready sections: scores, recovered labels, calibration, a sentence, confusions."""

from __future__ import annotations

from collections.abc import Mapping
from operator import ne
from typing import Any

import numpy as np

from tagsift.metrics import CalibrationScores, Recovery, Scores, confusion_matrix
from tagsift.report.calibration import reliability_diagram, risk_coverage_plot
from tagsift.report.document import Badge, Section, Table, columns
from tagsift.report.matrices import confusion_plot, sentence_map
from tagsift.report.records import Tagged
from tagsift.typing import BoolArray, Label

__all__ = [
    "calibration_section",
    "confusion_section",
    "effort_tables",
    "recovery_section",
    "score_section",
    "sentence_section",
    "verdict",
]

_EFFORTS = (0.01, 0.02, 0.05, 0.10, 0.20, 0.50)


def score_section(scores: Scores) -> Section:
    """Spans and tokens in detail."""
    spans = scores.spans
    named: dict[str, Any] = {
        **{name or "(no type)": one for name, one in spans.per_type.items()},
        "all, micro": spans.micro,
        "all, macro": spans.macro,
        "all, strict reading": scores.spans_strict.micro,
    }
    figures = ("precision", "recall", "f1", "n_gold", "n_predicted")
    rows = tuple(
        (name, *(getattr(one, figure, None) for figure in figures))
        for name, one in named.items()
    )
    tokens, share = scores.tokens, dict.fromkeys(("precision", "recall", "F1"), ".1f%")
    return Section(
        "Scores",
        "A span is right when its type and both its ends are right (the rules of the "
        "CoNLL shared tasks). The strict reading drops spans with irregular tags.",
        (
            Table(
                columns({"type": "", **share, "gold": ",d", "given": ",d"}),
                rows,
                title="Spans",
                strong=frozenset({(len(rows) - 3, 3)}),
            ),
            Table(
                columns({"measure": "", "percent": ".2f%"}),
                (
                    ("token accuracy", tokens.accuracy),
                    ("sentences without an error", tokens.sentence_accuracy),
                    ("token-weighted F1, O included", tokens.weighted_f1),
                    ("token-macro F1", tokens.macro_f1),
                ),
                title="Tokens",
            ),
        ),
    )


def recovery_section(found: Mapping[str, Recovery]) -> Section:
    """How many hidden true labels were found among the candidates (as in Table II)."""
    counts = dict.fromkeys(("ambiguous tokens", "recovered"), ",d")
    shares = dict.fromkeys(("recovered %", "all tokens %"), ".1f%")
    rows = [
        (name, one.n_ambiguous, one.n_ambiguous_correct, one.ambiguous, one.overall)
        for name, one in found.items()
    ]
    return Section(
        "Training labels recovered",
        "For every training token the most confident candidate is taken and compared "
        "with the truth, which the fit has never seen.",
        (Table.best(columns({"method": "", **counts, **shares}), rows, higher=(3, 4)),),
    )


def calibration_section(parts: Mapping[str, CalibrationScores]) -> Section:
    """How far the probabilities can be trusted; the first method has the diagram."""
    first = next(iter(parts))
    title = "Reliability diagram" + (f" of {first}" if len(parts) > 1 else "")
    heads = {"method": "", "calibration error (ECE) %": ".2f%"}
    heads |= dict.fromkeys(("Brier score", "log loss", "risk–coverage area"), ".4f")
    rows = [(k, one.ece, one.brier, one.nll, one.aurc) for k, one in parts.items()]
    curves = {name: part.risk_coverage for name, part in parts.items()}
    return Section(
        "How far to trust the probabilities",
        "Every figure here judges the most probable label of each token.",
        (
            reliability_diagram(parts[first].reliability, title=title),
            risk_coverage_plot(curves),
            Table.best(columns(heads), rows, lower=(1, 2, 3, 4)),
        ),
    )


def sentence_section(tagged: Tagged) -> Section:
    """The probabilities of one of the least sure sentences, token by token."""
    s, marginals = tagged.example()
    words, given, gold = tagged.tokens[s], tagged.predicted[s], tagged.gold[s]
    wrong = sum(map(ne, given, gold))
    number = {0: "No label is", 1: "One label is"}.get(wrong, f"{wrong} labels are")
    text = f"Sentence {s + 1} of the text, one of the least sure: “{' '.join(words)}”."
    figure = sentence_map(words, marginals, tagged.classes, predicted=given, gold=gold)
    return Section("One sentence", f"{text} {number} wrong.", (figure,))


def confusion_section(tagged: Tagged) -> Section:
    """Which labels are taken for which."""
    labels, counts = confusion_matrix(tagged.gold, tagged.predicted)
    return Section("Confused labels", "", (confusion_plot(labels, counts),))


def verdict(label: Label, truth: Label) -> Badge:
    """Say whether a label is the true one, and else which is."""
    return Badge("right", "good") if label == truth else Badge(f"is {truth}", "bad")


def effort_tables(wrong: BoolArray, what: str = "tokens") -> list[Table]:
    """Wrong labels found when tokens are checked in this order; none without any."""
    errors = np.cumsum(wrong)  # [N]
    if not wrong.any():
        return []
    rows = []
    for share in _EFFORTS:
        checked = max(1, round(share * len(wrong)))
        found = int(errors[checked - 1])
        rows.append((share, checked, found, found / errors[-1]))
    heads = {f"{what} checked %": ".0f%", "tokens": ",d"}
    heads |= {"wrong labels among them": ",d", "of all wrong labels %": ".0f%"}
    note = (
        f"{errors[-1]:,} of {len(wrong):,} {what} have a wrong label; in random order, "
        "the share found would be the share checked."
    )
    return [Table(columns(heads), tuple(rows), "What checking brings", note)]
