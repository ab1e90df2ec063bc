"""The report on votes: merged labels, annotators, and what to check again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from tagsift.annotators import (
    AnnotatorReport,
    Look,
    VoteTagger,
    annotators_against,
    corpus_agreement,
    habits,
)
from tagsift.data import VoteCorpus
from tagsift.metrics import Scores, evaluate
from tagsift.report.document import Cell, Column, Mark, Report, Section, Stat, Table
from tagsift.report.sections import calibration_section, score_section

__all__ = ["MergedScores", "votes_report"]

_EFFORTS = (0.01, 0.02, 0.05, 0.10, 0.20)
_AROUND = 5


@dataclass(frozen=True)
class MergedScores:
    """How good a method's labels and its tagger are."""

    labels: Scores  # of the labels it made of the votes
    tagger: Scores  # of its tagger on text that it has not seen


def votes_report(
    corpus: VoteCorpus,
    model: VoteTagger,
    *,
    title: str,
    compared: Mapping[str, MergedScores] | None = None,
    facts: Sequence[tuple[str, str]] = (),
    notices: Sequence[str] = (),
) -> Report:
    """Report on votes and what a tagger fitted on them made of them.

    With gold labels, everything is compared with them; `compared` names methods by
    title, the model's own first.
    """
    scores = None
    if corpus.gold is not None:
        scores = evaluate(
            corpus.gold,
            [[str(name) for name in row] for row in model.recovered_],
            scheme=corpus.scheme,
            marginals=model.confidences_,
            classes=model.classes_,
            unknown="wrong",
        )
    sections = [_compared(compared)] if compared else []
    sections += [_people(corpus, model), _looks(corpus, model)]
    if scores is not None and scores.calibration is not None:
        sections.append(calibration_section({"the labels": scores.calibration}))
    if compared:
        sections.append(score_section(next(iter(compared.values())).tagger))
    return Report(
        title,
        tuple(sections),
        summary=(
            f"{len(corpus.annotators)} annotators labelled {len(corpus):,} sentences "
            f"({corpus.n_tokens:,} tokens) and disagreed. tagsift learnt how each of "
            "them errs, let the text judge how much their votes are worth, and found "
            "one label for every token."
        ),
        stats=_stats(corpus, model, scores, compared),
        notices=tuple(notices),
        facts=tuple(facts),
    )


def _stats(
    corpus: VoteCorpus,
    model: VoteTagger,
    scores: Scores | None,
    compared: Mapping[str, MergedScores] | None,
) -> tuple[Stat, ...]:
    """Tiles of the first screen."""
    alpha = corpus_agreement(corpus).krippendorff_alpha
    stats = [
        Stat("agreement", f"{alpha:.2f}", "Krippendorff's alpha, 1 for full agreement"),
        Stat("weight of a vote", f"{model.temperature_:.2f}", "as the text judges it"),
    ]
    if scores is not None:
        note = "of the labels, against the truth"
        stats.insert(0, Stat("span F1", f"{100 * scores.span_f1:.1f} %", note))
    if compared:
        tagger = next(iter(compared.values())).tagger
        note = "span F1 on unseen text"
        stats.insert(1, Stat("tagger", f"{100 * tagger.span_f1:.1f} %", note))
    return tuple(stats)


def _compared(compared: Mapping[str, MergedScores]) -> Section:
    columns = (
        Column("method"),
        Column("labels: span F1", ".1f", 100),
        Column("log loss", ".3f"),
        Column("ECE", ".1f", 100),
        Column("tagger: span F1", ".1f", 100),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, one in compared.items():
        part = one.labels.calibration
        rows.append(
            (
                name,
                one.labels.span_f1,
                None if part is None else part.nll,
                None if part is None else part.ece,
                one.tagger.span_f1,
            )
        )
    return Section(
        "One label from many votes",
        "The labels made of the votes, and a tagger fitted on each, against the truth, "
        "which no method has seen.",
        (
            Table.best(
                columns,
                rows,
                higher=(1, 4),
                lower=(2, 3),
                note="In percent but for the log loss; the best of a column in bold.",
            ),
        ),
    )


def _people(corpus: VoteCorpus, model: VoteTagger) -> Section:
    """Who is reliable, as found and, where the truth is known, as it is."""
    true: dict[str, AnnotatorReport] = {}
    if corpus.gold is not None:
        found = annotators_against(corpus, corpus.gold)
        true = {one.name: one for one in found}
    columns = [
        Column("annotator"),
        Column("tokens", ",d"),
        Column("reliability found", ".1f", 100),
        *([Column("true", ".1f", 100)] if true else []),
        Column("precision", ".1f", 100),
        Column("recall", ".1f", 100),
        Column("habits"),
        Column("remarks"),
    ]
    rows: list[tuple[Cell, ...]] = []
    for one in sorted(model.annotators_, key=lambda one: -one.reliability):
        remarks: Cell = "; ".join(one.flags)
        rows.append(
            (
                one.name,
                one.tokens,
                one.reliability,
                *([true[one.name].reliability] if true else []),
                one.precision,
                one.recall,
                habits(one, model.classes_),
                Mark(str(remarks), "warn")
                if one.flags
                else ("abstains by O" if one.abstains else ""),
            )
        )
    return Section(
        "Who is reliable",
        "Every annotator against the labels found from all votes and the text. The "
        "reliability is the span F1; for a source that abstains, the precision.",
        (Table(tuple(columns), tuple(rows), title="Annotators, in percent"),),
    )


def _looks(corpus: VoteCorpus, model: VoteTagger, most: int = 15) -> Section:
    """What a person should check first, and what the checking would bring."""
    looks = list(model.looks())
    known = corpus.gold is not None
    columns = [
        Column("in context"),
        Column("sentence", "d"),
        Column("label"),
        Column("votes"),
        Column("why"),
        Column("chance of an error", ".0f", 100),
        *([Column("truth")] if known else []),
    ]
    rows = [_look_row(corpus, look) for look in islice(looks, most)]
    tables = [Table(tuple(columns), tuple(rows), title="The most doubtful tokens")]
    if known:
        tables.append(_effort(corpus, model, looks))
    return Section(
        "What to check again",
        "Tokens by the chance that their label is wrong. Tokens on which all "
        "annotators agree are among them: the text has not seen their votes.",
        tuple(tables),
    )


def _look_row(corpus: VoteCorpus, look: Look) -> tuple[Cell, ...]:
    words = corpus.tokens[look.sentence]
    around = (
        *words[max(look.start - _AROUND, 0) : look.start],
        f"[{words[look.start]}]",
        *words[look.end : look.end + _AROUND],
    )
    row: tuple[Cell, ...] = (
        " ".join(around),
        look.sentence + 1,
        str(look.label),
        " ".join(f"{name}:{count}" for name, count in look.tally.items()),
        look.reason,
        look.score,
    )
    if corpus.gold is None:
        return row
    truth = corpus.gold[look.sentence][look.start]
    right = truth == look.label
    return (*row, Mark("right" if right else f"is {truth}", "good" if right else "bad"))


def _effort(corpus: VoteCorpus, model: VoteTagger, looks: Sequence[Look]) -> Table:
    """Share of the wrong labels found when the most doubtful tokens are checked."""
    gold = corpus.gold or []
    wrong = np.array(
        [look.label != gold[look.sentence][look.start] for look in looks]
    )  # [N]
    total = max(int(wrong.sum()), 1)
    rows = []
    for share in _EFFORTS:
        n = max(1, round(share * len(wrong)))
        found = int(wrong[:n].sum())
        rows.append((f"{100 * share:g} %", n, found, found / total, share))
    return Table(
        (
            Column("tokens checked", align="right"),
            Column("tokens", ",d"),
            Column("wrong labels among them", ",d"),
            Column("of all wrong labels %", ".0f", 100),
            Column("in random order %", ".0f", 100),
        ),
        tuple(rows),
        title="What checking brings",
        note=f"{int(wrong.sum()):,} of {len(wrong):,} labels are wrong.",
    )
