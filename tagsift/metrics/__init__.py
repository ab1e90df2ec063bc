"""Scores: spans, tokens, recovered training labels, calibration, significance.

`evaluate` computes everything for one labelling; the other functions compute one family
each. All scores are fractions between 0 and 1 unless their docstring says otherwise.
"""

from tagsift.metrics.calibration import (
    Reliability,
    RiskCoverage,
    brier_score,
    calibration_error,
    log_loss,
    reliability,
    risk_coverage,
    stack_marginals,
    top_label,
)
from tagsift.metrics.recovery import Recovery, ambiguous_tokens, recovery
from tagsift.metrics.report import (
    CalibrationScores,
    Scores,
    dict_report,
    evaluate,
    json_report,
    report,
    text_report,
)
from tagsift.metrics.significance import (
    Friedman,
    Ranking,
    Wilcoxon,
    critical_difference,
    friedman,
    holm,
    mean_ranks,
    ranking,
    wilcoxon,
)
from tagsift.metrics.spans import SpanAverage, SpanScore, SpanScores, span_scores
from tagsift.metrics.tokens import (
    LabelScore,
    TokenScores,
    confusion_matrix,
    token_accuracy,
    token_scores,
)

__all__ = [
    "CalibrationScores",
    "Friedman",
    "LabelScore",
    "Ranking",
    "Recovery",
    "Reliability",
    "RiskCoverage",
    "Scores",
    "SpanAverage",
    "SpanScore",
    "SpanScores",
    "TokenScores",
    "Wilcoxon",
    "ambiguous_tokens",
    "brier_score",
    "calibration_error",
    "confusion_matrix",
    "critical_difference",
    "dict_report",
    "evaluate",
    "friedman",
    "holm",
    "json_report",
    "log_loss",
    "mean_ranks",
    "ranking",
    "recovery",
    "reliability",
    "report",
    "risk_coverage",
    "span_scores",
    "stack_marginals",
    "text_report",
    "token_accuracy",
    "token_scores",
    "top_label",
    "wilcoxon",
]
