"""``tagsift report``: data, annotators, what was found and what to check, on a page."""

from __future__ import annotations

import time
from dataclasses import asdict, replace

import tagsift
from tagsift.cli._about import about, sizes
from tagsift.cli._models import (
    as_votes,
    check_columns,
    check_model_options,
    cleaned_of,
    load_tagger,
    read_for,
)
from tagsift.cli._options import Fitting, Json, Model, OutFile, Train, Training
from tagsift.cli._output import print_json, say
from tagsift.cli._reading import read_corpus

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
    tagger = None if model is None else load_tagger(model)
    fitting = replace(fitting, quiet=fitting.quiet or json)
    if tagger is None:
        corpus = as_votes(read_corpus(train, source))
    else:
        corpus = read_for(tagger, train, source)
    started = time.perf_counter()
    exact = corpus.candidate_codes is not None and not corpus.n_ambiguous
    if tagger is not None and exact:
        check_columns(tagger, train, corpus.rows, named=source.columns is not None)
        cleaned = tagsift.cleaned.tagged(corpus, tagger)
    else:
        cleaned = cleaned_of(corpus, train, source, fitting, model)
    seconds = None if tagger is not None else time.perf_counter() - started
    page = cleaned.report(out, **about(train, cleaned, fitting, model, seconds))
    if json:
        facts = {"method": cleaned.tagger.method.name, **sizes(corpus)}
        facts["out"] = str(out)
        if cleaned.marginals is not None:
            facts["expected_wrong"] = cleaned.outlook().left
        if cleaned.corpus.gold is not None:
            facts["recovery"] = asdict(cleaned.recovery())
        print_json(facts)
        return
    size = out.stat().st_size / 1e6
    say(f"{out}: {len(page.sections)} sections on one page, {size:.1f} MB.")
