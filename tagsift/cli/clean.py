"""``tagsift clean``: the label found for every token, and its confidence."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tagsift
from tagsift.cli._about import about, say_recovery, sizes
from tagsift.cli._models import check_model_options, cleaned_of
from tagsift.cli._options import (
    Fitting,
    Html,
    Json,
    Model,
    Out,
    Shape,
    To,
    Train,
    Training,
    option,
)
from tagsift.cli._output import number, percent, print_json, say, write_columns
from tagsift.cli._reading import (
    exchange_options,
    format_back,
    read_corpus,
    say_losses,
)
from tagsift.errors import InputError
from tagsift.visible import count

if TYPE_CHECKING:
    from tagsift.cleaned import Cleaned

__all__ = ["EXAMPLE", "PLACE", "run"]

PLACE = 60
EXAMPLE = "tagsift clean votes.tsv --votes 2:6 -o cleaned.tsv"


def run(
    train: Train,
    out: Out,
    *,
    min_confidence: Annotated[
        float,
        option(
            "Write ? for labels that are less sure than this; in documents, leave out "
            "spans whose least sure token is.",
            min=0.0,
            max=1.0,
        ),
    ] = 0.0,
    to: To = None,
    shape: Shape = None,
    html: Html = None,
    model: Model = None,
    fitting: Fitting,
    source: Training,
    json: Json = False,
) -> None:
    """Write one label per training token: its columns, the label, the confidence.

    For votes, what they were (B-LOC:3 O:1) and "differs" where most of the annotators
    gave another label follow. Methods without probabilities give no confidence. With
    --gold the labels are scored; no fit looks at the truth. Documents of other formats
    get the labels as one more annotator, in OUT's own format where its ending is that
    of TRAIN; --to label-studio gives them alone, as predictions to import, with the ids
    and offsets of TRAIN (--shape full: beside the annotators').
    """
    check_model_options(model, fitting)
    if to is not None:
        tagsift.io.format_to_write(out, to)
    corpus = read_corpus(train, source)
    fitting = replace(fitting, quiet=fitting.quiet or json)
    cleaned = cleaned_of(corpus, train, source, fitting, model)
    if cleaned.marginals is None and min_confidence:
        raise InputError(
            f"--min-confidence: {cleaned.title} gives no confidences; take a method "
            "that does (see: tagsift methods)."
        )
    form = format_back(out, to, train, source, corpus)
    page = None
    if html is not None:
        page = cleaned.report(**about(train, cleaned, fitting, model))
    if form is None:
        write_columns(out, cleaned.columns(min_confidence))
    else:
        options = exchange_options(source, shape=shape, min_confidence=min_confidence)
        say_losses(cleaned.write(out, form, **options))
    if html is not None and page is not None:
        tagsift.report.write_html(html, page)
    facts = _facts(cleaned, min_confidence, as_spans=form is not None)
    if json:
        method = cleaned.tagger.method.name
        print_json({"method": method, **sizes(corpus), "out": str(out), **facts})
        return
    _say_what_was_done(out, cleaned, facts)


def _facts(cleaned: Cleaned, least: float, *, as_spans: bool) -> dict[str, Any]:
    """What is said about the labels, for people and machines."""
    facts: dict[str, Any] = {"confidence": cleaned.marginals is not None}
    if least:
        facts["left_open"] = int((cleaned.confidence < least).sum())
    if least and as_spans:
        starts = cleaned.corpus.bounds.tolist()
        lowest = [
            cleaned.confidence[first + one.start : first + one.end].min()
            for first, spans in zip(starts, cleaned.spans, strict=False)
            for one in spans
        ]
        facts["spans"] = len(lowest)
        facts["spans_left_out"] = sum(bool(p < least) for p in lowest)
    if cleaned.has_votes:
        facts["differs"] = int(cleaned.changed.sum())
    if cleaned.corpus.gold is None:
        return facts
    facts["recovery"] = asdict(cleaned.recovery())
    if cleaned.has_votes:
        scores = cleaned.scores()
        facts["scores"] = {
            "span_f1": scores.span_f1,
            "token_accuracy": scores.tokens.accuracy,
        }
        if scores.calibration is not None:
            known = {"log_loss": scores.calibration.nll, "ece": scores.calibration.ece}
            facts["scores"] |= known
        facts["scores"]["majority_span_f1"] = cleaned.majority_scores().f1
    return facts


def _say_what_was_done(out: Path, cleaned: Cleaned, facts: dict[str, Any]) -> None:
    corpus, title = cleaned.corpus, cleaned.title
    if not cleaned.has_votes:
        say(
            f"{out}: {corpus.n_tokens} tokens, {corpus.n_ambiguous} of them were "
            f"ambiguous; labels by {title}"
            f"{'' if facts['confidence'] else ', which gives no confidence'}."
        )
        say_recovery(facts.get("recovery"))
    else:
        say(
            f"{out}: {corpus.n_tokens} tokens, labels of "
            f"{count(len(corpus.annotators), 'annotator')} merged by {title}; "
            f"{facts['differs']} labels differ from the majority."
        )
    if "spans_left_out" in facts:
        say(
            f"{facts['spans_left_out']} of {facts['spans']} spans are less sure than "
            "asked for, and were left out as a whole."
        )
    elif "left_open" in facts:
        say(f"{facts['left_open']} labels are less sure than asked for and became ?.")
    if "scores" in facts:
        scores = facts["scores"]
        parts = [f"span F1 {percent(scores['span_f1'])}"]
        if "log_loss" in scores:
            parts += [
                f"log-loss {number(scores['log_loss'])}",
                f"calibration error {percent(scores['ece'])} %",
            ]
        say(
            f"Against gold: {', '.join(parts)}; majority vote: span F1 "
            f"{percent(scores['majority_span_f1'])}."
        )
