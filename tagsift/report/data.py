"""The report on somebody's own data: votes or candidate sets, and what was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from numbers import Number
from typing import Any

import numpy as np

from tagsift.annotators import Look, VoteTagger
from tagsift.cleaned import Cleaned
from tagsift.data import spans
from tagsift.metrics import Recovery, Scores, confusion_matrix
from tagsift.report import sections
from tagsift.report.bars import confidence_histogram
from tagsift.report.calibration import reliability_diagram, risk_coverage_plot
from tagsift.report.document import (
    Badge,
    Cell,
    Figure,
    Passage,
    Report,
    Section,
    Stat,
    Table,
    columns,
)
from tagsift.report.glance import glance_section
from tagsift.report.matrices import confusion_plot
from tagsift.report.records import Tagged
from tagsift.report.scores import tagged_sections
from tagsift.report.votes import agreement_section, changes_section, people_section
from tagsift.visible import count

__all__ = ["MethodScores", "data_report"]

#: Spans to look at, steps of a fit, candidate sets.
_LOOKS, _STEPS, _SETS = 50, 40, 20


@dataclass(frozen=True)
class MethodScores:
    """How good a method's labels and its tagger are, beside those of others."""

    labels: Scores | None  # of what it cleaned; None where it was given the truth
    tagger: Scores  # of its tagger on text that it has not seen
    recovery: Recovery | None = None  # labels found among candidates


def data_report(
    cleaned: Cleaned,
    *,
    title: str,
    compared: Mapping[str, MethodScores] | None = None,
    facts: Sequence[tuple[str, str]] = (),
    notices: Sequence[str] = (),
    tagged: Tagged | None = None,
) -> Report:
    """Report on votes or candidate sets, and what a model made of them.

    With gold labels, everything is compared with them; `compared` names methods by
    title, the model's own first, and `tagged` is what its tagger made of unseen text.
    """
    sure = cleaned.marginals is not None
    made = [_compared(compared, cleaned.has_votes)] if compared else []
    made.append(glance_section(cleaned))
    if cleaned.has_votes:
        made += [agreement_section(cleaned), people_section(cleaned)]
    if sure:
        made += [_looks(cleaned), _sure(cleaned)]
    made.append(
        _open_sets(cleaned) if not cleaned.has_votes else changes_section(cleaned)
    )
    made += _truth(cleaned)
    if tagged is not None:
        scores = {name: one.tagger for name, one in (compared or {}).items()}
        made += tagged_sections(tagged, scores or {cleaned.title: tagged.scores()})
    made.append(_fit(cleaned))
    told = list(notices)
    if not sure:
        told.append(
            f"{cleaned.title} gives no confidences, so that nothing is "
            "said of how sure labels are and what to check first."
        )
    if not cleaned.has_votes and cleaned.settled.all():
        told.append(
            "Every token has one label already, and nothing was left to find; "
            "`tagsift report` says which of such labels the text doubts."
        )
    return Report(
        title,
        tuple(one for one in made if one.text or one.content),
        summary=_summary(cleaned),
        stats=_stats(cleaned, compared),
        notices=tuple(told),
        facts=tuple(facts),
    )


def _summary(cleaned: Cleaned) -> str:
    given, title = cleaned.corpus, cleaned.title
    size = f"{len(given):,} sentences ({given.n_tokens:,} tokens)"
    if cleaned.has_votes:
        said = f"{count(len(given.annotators), 'annotator')} labelled {size}. "
        if isinstance(cleaned.tagger, VoteTagger):
            return said + (
                f"{title} learnt how each of them errs, let the text judge how much "
                "their votes are worth, and found one label for every token."
            )
        return said + f"{title} made one label of the votes on every token."
    open_ = int((~cleaned.settled).sum())
    return (
        f"{size}, of which {open_:,} tokens had several candidate labels. {title} "
        "found the most likely one of every token."
    )


def _stats(
    cleaned: Cleaned, compared: Mapping[str, MethodScores] | None
) -> tuple[Stat, ...]:
    """Tiles of the first screen."""
    stats = []
    scores = None if cleaned.corpus.gold is None else cleaned.scores()
    if scores is not None and scores.scheme == "plain":
        note = "of the labels, against the truth"
        stats.append(Stat.percent("accuracy", scores.tokens.accuracy, note))
    elif scores is not None:
        note = "of the labels, against the truth"
        stats.append(Stat.percent("span F1", scores.span_f1, note))
    if compared:
        tagger = next(iter(compared.values())).tagger
        stats.append(Stat.percent("tagger", tagger.span_f1, "span F1 on unseen text"))
    if cleaned.marginals is not None and not cleaned.settled.all():
        ahead = cleaned.outlook()
        low, high = ahead.left_range
        note = f"labels of tokens; {low:,.0f} to {high:,.0f}, nine times in ten; "
        note += "an estimate that nobody has checked: tagsift audit does"
        stats.append(Stat("expected to be wrong", f"{ahead.left:,.0f}", note))
    if cleaned.has_votes:
        from_most = int(cleaned.changed.sum())
        note = "labels that most votes do not give"
        stats.append(Stat("changed", f"{from_most:,}", note))
    else:
        note = "of the tokens had several candidates"
        stats.append(Stat.percent("open", float((~cleaned.settled).mean()), note))
    if isinstance(cleaned.tagger, VoteTagger) and cleaned.has_votes:
        weight = f"{cleaned.tagger.vote_weight_:.2f}"
        stats.append(Stat("weight of a vote", weight, "as the text judges it"))
        calm = f"{cleaned.tagger.temperature_:.2f}"
        stats.append(Stat("factor of scores", calm, "for honest confidences"))
    return tuple(stats)


def _compared(compared: Mapping[str, MethodScores], of_votes: bool) -> Section:
    """Several methods side by side, on the same data and the same unseen text."""
    rows = []
    for name, one in compared.items():
        labels = {} if one.labels is None else one.labels.headline()
        tagger = one.tagger.headline()
        share = None if one.recovery is None else one.recovery.ambiguous
        rows.append(
            (
                name,
                share,
                *map(labels.get, ("span_f1", "nll", "ece")),
                *map(tagger.get, ("span_f1", "token_weighted_f1", "nll", "ece")),
            )
        )
    heads = {"method": "", "open labels found": ".1f%", "labels: span F1": ".1f%"}
    heads |= {"log loss": ".3f", "ECE": ".1f%", "tagger: span F1": ".1f%"}
    heads |= {"tagger: token F1": ".1f%", "tagger: log loss": ".3f"}
    heads |= {"tagger: ECE": ".1f%"}
    kept = [k for k in range(len(heads)) if any(row[k] is not None for row in rows)]
    shown = [columns(heads)[k] for k in kept]
    low = [k for k, one in enumerate(shown) if one.name.endswith(("loss", "ECE"))]
    return Section(
        "One label from many votes" if of_votes else "Methods compared",
        "The labels made of the same votes or candidates, and a tagger fitted on each, "
        "against the truth, which no method has seen unless it says so.",
        (
            Table.best(
                shown,
                [tuple(row[k] for k in kept) for row in rows],
                higher=[k for k in range(1, len(shown)) if k not in low],
                lower=low,
                note="In percent but for the log loss; the best of a column in bold. A "
                "dash: the method gives no probabilities, or was given the truth.",
            ),
        ),
    )


def _looks(cleaned: Cleaned) -> Section:
    """What a person should check first, and what the checking would bring."""
    first = list(islice(cleaned.ranking(), _LOOKS))
    gold = cleaned.corpus.gold
    said = "votes" if cleaned.has_votes else "candidates"
    heads = dict.fromkeys(("in context", *cleaned.place_heads, "label"), "")
    heads |= {"error %": ".0f%"}
    heads |= dict.fromkeys((said, "likely", "why"), "")
    heads |= {} if gold is None else {"truth": ""}
    rows = tuple(_look_cells(cleaned, look) for look in first)
    content: list[Table | Figure] = [
        Table(columns(heads), rows, f"The {len(rows)} most doubtful spans and tokens")
    ]
    if gold is not None:
        flat = np.array(list(chain.from_iterable(gold)), dtype=object)  # [N]
        names = np.array(cleaned.classes, dtype=object)  # [L]
        order = np.argsort(-cleaned.chance_wrong, kind="stable")  # [N]
        content += sections.effort_tables((names[cleaned.codes] != flat)[order])
    expected = sum(look.score for look in first)
    return Section(
        "What to check first",
        "Spans, and tokens outside all spans, by the chance that their label is wrong"
        + (
            ". Those on which all annotators agree are among them: the text has not "
            "seen their votes."
            if cleaned.has_votes
            else "."
        )
        + f" Of the {len(rows)} below, {expected:.0f} are expected to be wrong.",
        tuple(content),
    )


def _look_cells(cleaned: Cleaned, look: Look) -> tuple[Cell, ...]:
    """One row of what to check."""
    s, t, given = look.sentence, look.start, cleaned.corpus
    said = " ".join(f"{name}:{count}" for name, count in look.tally.items())
    if not cleaned.has_votes and given.candidates is not None:
        names = sorted(given.candidates[s][t])
        said = " ".join(names[:12]) + " …" * (len(names) > 12)
    likely = list(look.probabilities.items())[:3]
    truth: tuple[Cell, ...] = ()
    if given.gold is not None:
        truth = (_verdict(look, given.gold[s], given.scheme),)
    return (
        Passage.of(given.tokens[s], t, look.end),
        *cleaned.place(s, t),
        str(look.label),
        look.score,
        said,
        " ".join(f"{name} {100 * p:.0f}" for name, p in likely),
        look.reason,
        *truth,
    )


def _verdict(look: Look, gold: Sequence[str], scheme: str) -> Badge:
    """Whether a span is a true one, or what is there."""
    true = [x for x in spans(gold, scheme) if x.start < look.end and look.start < x.end]
    if not true:
        return sections.verdict(look.label, "O")
    same = [x.type for x in true if (x.start, x.end) == (look.start, look.end)]
    if same:
        return sections.verdict(look.label, same[0])
    return Badge(f"is {true[0].type}, other bounds", "bad")


def _sure(cleaned: Cleaned) -> Section:
    """How sure labels are, and whether they may be."""
    left = ~cleaned.settled  # [N]
    if not left.any():
        return Section("How sure the labels are")
    content: list[Table | Figure] = [
        confidence_histogram(
            cleaned.confidence[left], title="Confidence of the labels", what="tokens"
        )
    ]
    text = "The confidence of a label is its probability by text and votes together."
    if not cleaned.has_votes:
        text = "The confidence of a label is its probability among the candidates."
    told = cleaned.calibration
    if told is not None:
        by, scores = told
        content.append(reliability_diagram(scores.reliability))
        if cleaned.corpus.gold is not None:
            curve = {cleaned.title: scores.risk_coverage}
            content.append(risk_coverage_plot(curve))
        else:
            text += (
                " Tokens that somebody has checked are mostly doubtful ones, and "
                "labels among them are wrong more often than among all."
            )
        text += f" The diagram compares it with {by}."
    return Section("How sure the labels are", text, tuple(content))


def _open_sets(cleaned: Cleaned) -> Section:
    """Which candidate sets became which labels."""
    given = cleaned.corpus
    assert given.candidates is not None
    full = len(given.label_set)
    became: Counter[tuple[str, str]] = Counter()
    for row, labels in zip(given.candidates, cleaned.sentences, strict=True):
        for names, label in zip(row, labels, strict=True):
            if len(names) > 1:
                every = len(names) == full and full > 4
                became["any label" if every else " ".join(sorted(names)), label] += 1
    rows = tuple(
        (names if len(names) < 80 else names[:79] + "…", label, count)
        for (names, label), count in became.most_common(_SETS)
    )
    if not rows:
        return Section("What the candidates became")
    heads = {"candidates": "", "label found": "", "tokens": ",d"}
    note = f"The commonest of {len(became):,}." if len(became) > _SETS else ""
    return Section(
        "What the candidates became", "", (Table(columns(heads), rows, note=note),)
    )


def _truth(cleaned: Cleaned) -> list[Section]:
    """Scores of the labels, where the truth is known."""
    if cleaned.corpus.gold is None:
        return []
    made = [sections.score_section(cleaned.scores())]
    if not cleaned.has_votes and cleaned.corpus.candidates is not None:
        right = cleaned.recovery()
        if right.n_ambiguous:
            made.insert(0, sections.recovery_section({cleaned.title: right}))
    names, counts = confusion_matrix(cleaned.corpus.gold, cleaned.sentences)
    made.append(Section("Confused labels", "", (confusion_plot(names, counts),)))
    return made


def _fit(cleaned: Cleaned) -> Section:
    """How the fit went, step by step, and what it was told."""
    model = cleaned.tagger
    if model is None:
        return Section("How the fit went")
    content: list[Table] = []
    steps = [
        {k: v for k, v in step.items() if isinstance(v, Number)}
        for step in getattr(model, "history_", None) or ()
    ]
    names = {"temper": "weight of a vote", "judge": "judge's score"}
    names |= {"changed": "labels changed"}
    if steps:
        keys = [key for key in steps[0] if not isinstance(steps[0][key], bool)]
        forms = {names.get(k, k.replace("_", " ")): ".4g" for k in keys}
        kept = np.unique(np.linspace(0, len(steps) - 1, _STEPS).round().astype(int))
        rows = tuple((int(k) + 1, *map(steps[k].get, keys)) for k in kept)
        content.append(Table(columns({"round": "d", **forms}), rows, "Step by step"))
    told = {**model.get_params(deep=False)}
    rows = tuple(
        (name, _setting(value)) for name, value in told.items() if value is not None
    )
    content.append(Table(columns({"setting": "", "value": ""}), rows, "Settings"))
    taken = getattr(model, "n_iter_", None)
    text = "" if taken is None else f"{model.method.title} took {taken} steps."
    return Section("How the fit went", text, tuple(content))


def _setting(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 120 else text[:119] + "…"
