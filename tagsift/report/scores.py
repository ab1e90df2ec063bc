"""Whole reports: on a tagging, and on the main job that the demo runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tagsift.metrics import Recovery, Scores
from tagsift.report import sections
from tagsift.report.document import Report, Section, Stat
from tagsift.report.records import Cleaned, Tagged

__all__ = ["demo_report", "scores_report"]


def scores_report(
    tagged: Tagged,
    *,
    method: str = "the model",
    title: str = "Scores",
    facts: Sequence[tuple[str, str]] = (),
) -> Report:
    """Report on labels given to a text whose true labels are known."""
    scores = tagged.scores()
    made = [sections.score_section(scores)]
    if scores.calibration is not None:
        made.append(sections.calibration_section({method: scores.calibration}))
        made.append(sections.sentence_section(tagged))
    made.append(sections.confusion_section(tagged))
    tokens = scores.tokens
    return Report(
        title,
        tuple(made),
        summary=f"{tokens.n_tokens:,} tokens in {tokens.n_sentences:,} sentences, "
        f"tagged by {method}; tags are read as {scores.scheme}.",
        stats=_stats(scores),
        facts=tuple(facts),
    )


def demo_report(
    tagged: Tagged,
    training: Cleaned,
    *,
    method: str,
    corpus: str,
    rivals: Mapping[str, tuple[Scores, Recovery | None]] | None = None,
    facts: Sequence[tuple[str, str]] = (),
    notices: Sequence[str] = (),
) -> Report:
    """Report on the main job: candidates in, a tagger and cleaned labels out."""
    scores, found = tagged.scores(), training.recovery()
    others = rivals or {}
    all_scores = {method: scores, **{name: pair[0] for name, pair in others.items()}}
    all_found = {method: found, **{name: pair[1] for name, pair in others.items()}}
    made: list[Section] = []
    if others:
        made.append(sections.comparison_section(all_scores, recovered=all_found))
    elif found is not None:
        made.append(sections.recovery_section({method: found}))
    if training.confidences is not None:
        made.append(sections.review_section(training))
    parts = {name: one.calibration for name, one in all_scores.items()}
    calibrated = {name: part for name, part in parts.items() if part is not None}
    if scores.calibration is not None:
        made.append(sections.calibration_section(calibrated))
        made.append(sections.sentence_section(tagged))
    made += [sections.score_section(scores), sections.confusion_section(tagged)]
    ambiguous = training.ambiguous
    sizes = [len(set(entry)) for sentence in training.candidates for entry in sentence]
    open_sizes = [size for size in sizes if size > 1]
    mean = sum(open_sizes) / len(open_sizes) if open_sizes else 1.0
    return Report(
        f"{method} on {corpus}",
        tuple(made),
        summary=(
            f"{method} was trained on {len(training.tokens):,} sentences "
            f"({len(sizes):,} tokens). {int(ambiguous.sum()):,} of the tokens "
            f"({100 * ambiguous.mean():.0f} %) carried several candidate labels, "
            f"{mean:.1f} on average, and the truth was hidden among them. It then "
            f"found the most likely label of every training token and tagged "
            f"{len(tagged.tokens):,} sentences it had not seen."
        ),
        stats=_stats(scores, found),
        notices=tuple(notices),
        facts=tuple(facts),
    )


def _stats(scores: Scores, found: Recovery | None = None) -> tuple[Stat, ...]:
    """Tiles of the first screen."""
    micro, tokens, part = scores.spans.micro, scores.tokens, scores.calibration
    stats = []
    if scores.scheme != "plain":
        note = f"{micro.n_correct:,} of {micro.n_gold:,} spans found"
        stats.append(Stat.percent("span F1", micro.f1, note))
    note = f"{tokens.n_tokens:,} tokens of unseen text"
    stats.append(Stat.percent("token accuracy", tokens.accuracy, note))
    if found is not None and found.n_ambiguous:
        note = f"of {found.n_ambiguous:,} ambiguous tokens"
        stats.append(Stat.percent("training labels recovered", found.ambiguous, note))
    if part is not None:
        kept, whole = (part.risk_coverage.risk_at(share) for share in (0.9, 1.0))
        note = "between confidence and accuracy"
        stats.append(Stat.percent("calibration error", part.ece, note))
        note = f"{100 * whole:.1f} % among all"
        stats.append(Stat.percent("wrong among the surest 90 %", kept, note))
    return tuple(stats)
