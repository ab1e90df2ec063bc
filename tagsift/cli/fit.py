"""``tagsift fit``: train on candidates or votes."""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import tagsift
from tagsift.cli._about import about, say_recovery, sizes
from tagsift.cli._models import check_model_options, cleaned_of, update_tagger
from tagsift.cli._options import (
    Fitting,
    Html,
    Json,
    OutFile,
    Scaling,
    Train,
    Training,
    option,
)
from tagsift.cli._output import print_json, say
from tagsift.cli._reading import read_corpus
from tagsift.cli._scaling import fit_pieces, forget_steps, is_large
from tagsift.errors import InputError

__all__ = ["EXAMPLE", "PLACE", "RENEWS", "run"]

PLACE = 30
EXAMPLE = "tagsift fit votes.tsv --votes 2:6 -o model.tagsift"
RENEWS = ("update",)


def run(
    train: Train,
    out: OutFile,
    *,
    update: Annotated[
        Path | None,
        option(
            "Start from this model of votes: TRAIN holds all votes there are now, "
            "and what is known of the annotators is kept as the start.",
            metavar="MODEL",
        ),
    ] = None,
    html: Html = None,
    fitting: Fitting,
    source: Training,
    scaling: Scaling,
    json: Json = False,
) -> None:
    """Train a tagger on candidate sets (last column) or on votes (--votes)."""
    check_model_options(update, fitting, option="--update")
    fitting = replace(fitting, quiet=fitting.quiet or json)
    if is_large(scaling):
        if update is not None or html is not None:
            raise InputError("--update and --html work in memory; leave out engines.")
        _fit_large(train, out, source, fitting, scaling, json)
        return
    corpus = read_corpus(train, source)
    started = time.perf_counter()
    if update is None:
        cleaned = cleaned_of(corpus, train, source, fitting)
    else:
        tagger = update_tagger(corpus, train, update, quiet=fitting.quiet)
        cleaned = tagsift.cleaned.transduced(corpus, tagger)
    seconds, tagger = time.perf_counter() - started, cleaned.tagger
    page = None
    if html is not None:
        page = cleaned.report(**about(train, cleaned, fitting, seconds=seconds))
    tagger.save(out)
    if html is not None and page is not None:
        tagsift.report.write_html(html, page)
    known = cleaned.corpus.gold is not None
    recovery = asdict(cleaned.recovery()) if known else None
    facts, size = sizes(corpus), out.stat().st_size
    if json:
        facts |= {"seconds": seconds, "out": str(out), "bytes": size}
        facts |= {} if recovery is None else {"recovery": recovery}
        print_json({"method": tagger.method.name, **facts})
        return
    say(
        f"{tagger.method.title}: {len(corpus)} sentences, {corpus.n_tokens} tokens "
        f"({facts['ambiguous_tokens']} ambiguous), {len(corpus.label_set)} labels, "
        f"{seconds:.1f} s."
    )
    say_recovery(recovery)
    say(f"{out}: {size / 1e6:.2f} MB.")


def _fit_large(
    train: Path,
    out: Path,
    source: Training,
    fitting: Fitting,
    scaling: Scaling,
    json: bool,
) -> None:
    """Fit without holding the file in memory."""
    started = time.perf_counter()
    model = fit_pieces(train, source, fitting, scaling)
    seconds = time.perf_counter() - started
    model.save(out)
    forget_steps(scaling)
    size, n_features = out.stat().st_size, model.n_features_in_
    if json:
        print_json(
            {
                "method": model.method.name,
                "labels": list(model.classes_),
                "scheme": model.scheme_,
                "features": n_features,
                "seconds": seconds,
                "out": str(out),
                "bytes": size,
            }
        )
        return
    say(
        f"{model.method.title}: {n_features} features, {len(model.classes_)} labels, "
        f"{seconds:.1f} s."
    )
    say(f"{out}: {size / 1e6:.2f} MB.")
