"""Scores: spans, tokens, recovered labels, calibration, significance, agreement.

`evaluate` computes everything for one labelling; the other functions compute one family
each. All scores are fractions between 0 and 1 unless their docstring says otherwise.
"""

from tagsift.metrics._pairs import label_indices
from tagsift.metrics.agreement import (
    DawidSkene,
    PairwiseAgreement,
    dawid_skene,
    encode_votes,
    fleiss_kappa,
    krippendorff_alpha,
    pairwise_agreement,
)
from tagsift.metrics.annotators import Agreement, Annotator, annotator_agreement
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
from tagsift.metrics.review import (
    SentenceRanking,
    doubt,
    entropy,
    rank_sentences,
    rank_tokens,
    vote_disagreement,
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
    "Agreement",
    "Annotator",
    "CalibrationScores",
    "DawidSkene",
    "Friedman",
    "LabelScore",
    "PairwiseAgreement",
    "Ranking",
    "Recovery",
    "Reliability",
    "RiskCoverage",
    "Scores",
    "SentenceRanking",
    "SpanAverage",
    "SpanScore",
    "SpanScores",
    "TokenScores",
    "Wilcoxon",
    "ambiguous_tokens",
    "annotator_agreement",
    "brier_score",
    "calibration_error",
    "confusion_matrix",
    "critical_difference",
    "dawid_skene",
    "dict_report",
    "doubt",
    "encode_votes",
    "entropy",
    "evaluate",
    "fleiss_kappa",
    "friedman",
    "holm",
    "json_report",
    "krippendorff_alpha",
    "label_indices",
    "log_loss",
    "mean_ranks",
    "pairwise_agreement",
    "rank_sentences",
    "rank_tokens",
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
    "vote_disagreement",
    "wilcoxon",
]
