"""The report on a tagging: labels given to text whose true labels are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tagsift.metrics import Scores
from tagsift.report import sections
from tagsift.report.document import Report, Section, Stat
from tagsift.report.records import Tagged

__all__ = ["scores_report", "tagged_sections"]


def scores_report(
    tagged: Tagged,
    *,
    method: str = "the model",
    title: str = "Scores",
    facts: Sequence[tuple[str, str]] = (),
) -> Report:
    """Report on labels given to a text whose true labels are known."""
    scores = tagged.scores()
    tokens = scores.tokens
    return Report(
        title,
        tuple(tagged_sections(tagged, {method: scores})),
        summary=f"{tokens.n_tokens:,} tokens in {tokens.n_sentences:,} sentences, "
        f"tagged by {method}; tags are read as {scores.scheme}.",
        stats=_stats(scores),
        facts=tuple(facts),
    )


def tagged_sections(tagged: Tagged, scores: Mapping[str, Scores]) -> list[Section]:
    """Sections on a tagging by the first of some methods, and on all probabilities."""
    first = next(iter(scores.values()))
    made = [sections.score_section(first)]
    if first.calibration is not None:
        parts = {name: one.calibration for name, one in scores.items()}
        known = {name: part for name, part in parts.items() if part is not None}
        made.append(sections.calibration_section(known))
        made.append(sections.sentence_section(tagged))
    return [*made, sections.confusion_section(tagged)]


def _stats(scores: Scores) -> tuple[Stat, ...]:
    """Tiles of the first screen."""
    micro, tokens, part = scores.spans.micro, scores.tokens, scores.calibration
    stats = []
    if scores.scheme != "plain":
        note = f"{micro.n_correct:,} of {micro.n_gold:,} spans found"
        stats.append(Stat.percent("span F1", micro.f1, note))
    note = f"{tokens.n_tokens:,} tokens of unseen text"
    stats.append(Stat.percent("token accuracy", tokens.accuracy, note))
    if part is not None:
        kept, whole = (part.risk_coverage.risk_at(share) for share in (0.9, 1.0))
        note = "between confidence and accuracy"
        stats.append(Stat.percent("calibration error", part.ece, note))
        note = f"{100 * whole:.1f} % among all"
        stats.append(Stat.percent("wrong among the surest 90 %", kept, note))
    return tuple(stats)
