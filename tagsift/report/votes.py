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
from tagsift.report import sections
from tagsift.report.document import Cell, Mark, Report, Section, Stat, Table, columns
from tagsift.typing import Label
from tagsift.visible import in_context

__all__ = ["MergedScores", "annotator_table", "merged_scores", "votes_report"]


@dataclass(frozen=True)
class MergedScores:
    """How good a method's labels and its tagger are."""

    labels: Scores  # of the labels it made of the votes
    tagger: Scores  # of its tagger on text that it has not seen


def merged_scores(corpus: VoteCorpus, model: VoteTagger) -> Scores:
    """Every score of the labels that a tagger made of the votes, against the truth."""
    return evaluate(
        corpus.gold or [],
        [[str(name) for name in row] for row in model.recovered_],
        scheme=corpus.scheme,
        marginals=model.confidences_,
        classes=model.classes_,
        unknown="wrong",
    )


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
    scores = None if corpus.gold is None else merged_scores(corpus, model)
    made = [_compared(compared)] if compared else []
    made += [_people(corpus, model), _looks(corpus, model)]
    if scores is not None and scores.calibration is not None:
        made.append(sections.calibration_section({"the labels": scores.calibration}))
    if compared:
        made.append(sections.score_section(next(iter(compared.values())).tagger))
    return Report(
        title,
        tuple(made),
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
    stats = []
    if scores is not None:
        note = "of the labels, against the truth"
        stats.append(Stat.percent("span F1", scores.span_f1, note))
    if compared:
        tagger = next(iter(compared.values())).tagger
        stats.append(Stat.percent("tagger", tagger.span_f1, "span F1 on unseen text"))
    alpha = corpus_agreement(corpus).krippendorff_alpha
    return (
        *stats,
        Stat("agreement", f"{alpha:.2f}", "Krippendorff's alpha, 1 for full agreement"),
        Stat("weight of a vote", f"{model.temperature_:.2f}", "as the text judges it"),
    )


def _compared(compared: Mapping[str, MergedScores]) -> Section:
    heads = {"method": "", "labels: span F1": ".1f%", "log loss": ".3f"}
    heads |= {"ECE": ".1f%", "tagger: span F1": ".1f%"}
    rows = []
    for name, one in compared.items():
        labels = map(one.labels.headline().get, ("span_f1", "nll", "ece"))
        rows.append((name, *labels, one.tagger.span_f1))
    return Section(
        "One label from many votes",
        "The labels made of the votes, and a tagger fitted on each, against the truth, "
        "which no method has seen.",
        (
            Table.best(
                columns(heads),
                rows,
                higher=(1, 4),
                lower=(2, 3),
                note="In percent but for the log loss; the best of a column in bold.",
            ),
        ),
    )


def _people(corpus: VoteCorpus, model: VoteTagger) -> Section:
    """Who is reliable, as found and, where the truth is known, as it is."""
    gold = corpus.gold
    true = () if gold is None else annotators_against(corpus, gold)
    return Section(
        "Who is reliable",
        "Every annotator against the labels found from all votes and the text. The "
        "reliability is the span F1; for a source that abstains, the precision.",
        (annotator_table(model.annotators_, model.classes_, true),),
    )


def annotator_table(
    people: Sequence[AnnotatorReport],
    classes: Sequence[Label],
    true: Sequence[AnnotatorReport] = (),
) -> Table:
    """How reliable annotators are, and what they do; `true` is what gold labels say."""
    truth = {one.name: one.reliability for one in true}
    counted = any(one.tokens for one in people)  # a model file knows no counts

    def cells(one: AnnotatorReport) -> tuple[Cell, ...]:
        remarks: Cell = "abstains by O" if one.abstains else ""
        counts = (one.tokens, one.precision, one.recall, one.f1)
        return (
            one.name,
            one.reliability,
            *((truth[one.name],) if truth else ()),
            *(counts if counted else ()),
            habits(one, classes),
            Mark("; ".join(one.flags), "warn") if one.flags else remarks,
        )

    heads = {"annotator": "", "reliability": ".1f%"}
    heads |= {"true": ".1f%"} if truth else {}
    if counted:
        shares = dict.fromkeys(("precision", "recall", "F1"), ".1f%")
        heads |= {"tokens": ",d", **shares}
    heads |= {"habits": "", "remarks": ""}
    ranked = sorted(people, key=lambda one: -one.reliability)
    title = "Annotators, the most reliable first (percent)"
    return Table(columns(heads), tuple(map(cells, ranked)), title)


def _looks(corpus: VoteCorpus, model: VoteTagger, most: int = 15) -> Section:
    """What a person should check first, and what the checking would bring."""
    looks, gold = list(model.looks()), corpus.gold
    heads = {"in context": "", "sentence": "d", "label": "", "votes": "", "why": ""}
    heads |= {"error %": ".0f%"} | ({} if gold is None else {"truth": ""})

    def cells(look: Look) -> tuple[Cell, ...]:
        s, t = look.sentence, look.start
        return (
            in_context(corpus.tokens[s], t, look.end, 5),
            s + 1,
            str(look.label),
            " ".join(f"{name}:{count}" for name, count in look.tally.items()),
            look.reason,
            look.score,
            *(() if gold is None else (sections.verdict(look.label, gold[s][t]),)),
        )

    rows = tuple(map(cells, islice(looks, most)))
    tables = [Table(columns(heads), rows, "The most doubtful tokens")]
    if gold is not None:
        wrong = np.array([x.label != gold[x.sentence][x.start] for x in looks])  # [N]
        tables += sections.effort_tables(wrong)
    return Section(
        "What to check first",
        "Tokens by the chance that their label is wrong. Tokens on which all "
        "annotators agree are among them: the text has not seen their votes.",
        tuple(tables),
    )
