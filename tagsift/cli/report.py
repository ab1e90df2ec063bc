"""``tagsift report``: data, annotators, what was found and what to check, on a page."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import tagsift
from tagsift.cli._options import Fitting, Json, Model, OutFile, Train, Training
from tagsift.cli._output import print_json, say
from tagsift.cli._pages import findings_in_text, page_of
from tagsift.cli._training import (
    TrainingData,
    as_votes,
    check_columns,
    check_model_options,
    read_training,
    recover,
)

if TYPE_CHECKING:
    from tagsift.base import SequenceTagger
    from tagsift.cleaned import Cleaned

__all__ = ["EXAMPLE", "PLACE", "run"]

PLACE = 85
EXAMPLE = "tagsift report votes.tsv --votes 2:6 -o report.html"


def run(
    train: Train,
    out: OutFile,
    *,
    model: Model = None,
    fitting: Fitting,
    source: Training,
    json: Json = False,
) -> None:
    """Write one HTML page about votes or candidates, and what is found in them.

    Labels at a glance, agreement, who is reliable and how annotators err, what to check
    first, how sure labels are, what differs from the majority vote, how the fit went.
    With --gold the labels found are scored as well; no fit looks at the truth. Where
    every token has one label, that is one annotator's, who may err; with --model it is
    the truth, and the model's own labels are scored and ranked.
    """
    check_model_options(model, fitting)
    known = None if model is None else tagsift.load(model)
    if known is not None and source.scheme == "auto":
        source = replace(source, scheme=known.scheme_)
    labels = None if known is None else [str(name) for name in known.classes_]
    training = read_training(train, source, labels)
    started = time.perf_counter()
    exact = training.votes is None and not training.partial.n_ambiguous
    if known is not None and exact:
        findings = _against(training, known)
    else:
        fitting = replace(fitting, quiet=fitting.quiet or json)
        findings = recover(as_votes(training), fitting, model)
    seconds = time.perf_counter() - started
    told: dict[str, Any] = {"seconds": seconds} if model is None else {"model": model}
    page = page_of(findings, train, seed=fitting.seed, **told)
    tagsift.report.write_html(out, page)
    if json:
        sure = findings.marginals is not None
        method = findings.tagger.method.name
        facts = {"method": method, **training.facts, "out": str(out)}
        facts |= {"expected_wrong": findings.outlook().left} if sure else {}
        print_json({**facts, **training.recovery(findings.sentences)})
        return
    size = out.stat().st_size / 1e6
    say(f"{out}: {len(page.sections)} sections on one page, {size:.1f} MB.")


def _against(training: TrainingData, model: SequenceTagger) -> Cleaned:
    """What a model says of text whose labels are known: they are the truth."""
    partial = training.partial
    check_columns(model, training.path, partial.rows, named=training.named)
    gold = partial.gold or [[min(names) for names in row] for row in partial.candidates]
    return findings_in_text(model, partial.rows, gold, training.documents)
