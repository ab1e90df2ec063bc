"""``tagsift clean``: the label found for every token, and its confidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import tagsift
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
from tagsift.cli._pages import page_of
from tagsift.cli._sources import Tally, format_to, write_labels
from tagsift.cli._training import (
    TrainingData,
    check_model_options,
    read_training,
    recover,
    say_recovery,
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
        format_to(out, to, None)
    training = read_training(train, source, method=fitting.method)
    fitting = replace(fitting, quiet=fitting.quiet or json)
    found = recover(training, fitting, model)
    if found.marginals is None and min_confidence:
        raise InputError(
            f"--min-confidence: {found.tagger.method.title} gives no confidences; take "
            "a method that does (see: tagsift methods)."
        )
    page = None
    if html is not None:
        page = page_of(found, train, seed=fitting.seed, model=model)
    tally = None if training.votes is None else _tallies(found)
    name = format_to(out, to, training.documents)
    if name is None:
        write_columns(out, _lines(training, found, tally, min_confidence))
    else:
        write_labels(
            out,
            name,
            training.documents,
            training.votes or training.partial,
            found.sentences,
            found.confidence_sentences,
            source,
            shape=shape,
            least=min_confidence,
            tally=tally,
        )
    if html is not None and page is not None:
        tagsift.report.write_html(html, page)
    facts = _facts(training, found, tally, min_confidence)
    if name is not None and "left_open" in facts:
        facts |= _unsure_spans(found, min_confidence)
    if json:
        method = found.tagger.method.name
        print_json({"method": method, **training.facts, "out": str(out), **facts})
        return
    _say_what_was_done(out, training, found, facts)


def _lines(
    training: TrainingData, found: Cleaned, tally: Tally | None, least: float
) -> Iterator[list[tuple[str, ...]]]:
    """The rows of every sentence, with what was found."""
    sure, labels = found.confidence_sentences, found.sentences
    for s, rows in enumerate(training.partial.rows):
        lines = []
        for t, row in enumerate(rows):
            label, more = labels[s][t], []
            if sure is not None:
                more.append(f"{sure[s][t]:.6f}")
                label = label if sure[s][t] >= least else "?"
            if tally is not None:
                more.extend(tally[s][t])
            lines.append((*row, label, *more))
        yield lines


def _tallies(found: Cleaned) -> Tally:
    """The votes on every token, and whether its label differs from most of them."""
    tallies = [found.corpus.tally_text(n) for n in range(found.corpus.n_tokens)]
    flags = ["differs" if one else "-" for one in found.changed.tolist()]
    pairs = list(zip(tallies, flags, strict=True))
    return tagsift.data.stacking.split_at(pairs, found.corpus.bounds)


def _facts(
    training: TrainingData, found: Cleaned, tally: Tally | None, least: float
) -> dict[str, object]:
    """What is said about the labels, for people and machines."""
    sure = found.confidence_sentences
    facts: dict[str, object] = {"confidence": sure is not None}
    if sure is not None and least:
        facts["left_open"] = sum(p < least for row in sure for p in row)
    if tally is not None:
        facts["differs"] = sum(flag == "differs" for row in tally for _, flag in row)
    return {**facts, **training.recovery(found.sentences), **training.scores(found)}


def _unsure_spans(found: Cleaned, least: float) -> dict[str, int]:
    """How many spans there are, and how many have a token that is less sure."""
    assert found.confidence_sentences is not None
    lowest = [
        min(sure[span.start : span.end])
        for sure, spans in zip(found.confidence_sentences, found.spans, strict=True)
        for span in spans
    ]
    return {"spans": len(lowest), "spans_left_out": sum(p < least for p in lowest)}


def _say_what_was_done(
    out: object, training: TrainingData, found: Cleaned, facts: dict[str, object]
) -> None:
    partial, title = training.partial, found.tagger.method.title
    if training.votes is None:
        say(
            f"{out}: {partial.n_tokens} tokens, {partial.n_ambiguous} of them were "
            f"ambiguous; labels by {title}"
            f"{'' if facts['confidence'] else ', which gives no confidence'}."
        )
        say_recovery(facts)
    else:
        say(
            f"{out}: {partial.n_tokens} tokens, labels of "
            f"{count(len(training.votes.annotators), 'annotator')} merged "
            f"by {title}; "
            f"{facts['differs']} labels differ from the majority."
        )
    if "spans_left_out" in facts:
        say(
            f"{facts['spans_left_out']} of {facts['spans']} spans are less sure than "
            "asked for, and were left out as a whole."
        )
    elif "left_open" in facts:
        say(f"{facts['left_open']} labels are less sure than asked for and became ?.")
    scores = facts.get("scores")
    if isinstance(scores, dict):
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
