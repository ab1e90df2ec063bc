"""``tagsift fit``: train on candidates or votes."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import tagsift
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
from tagsift.cli._pages import page_of
from tagsift.cli._scaling import fit_pieces, forget_steps, is_large
from tagsift.cli._training import (
    check_model_options,
    fit_model,
    fitted_labels,
    read_training,
    say_recovery,
    update_model,
)
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
    training = read_training(train, source, method=fitting.method)
    started = time.perf_counter()
    if update is None:
        model = fit_model(training, fitting)
    else:
        model = update_model(training, update, quiet=fitting.quiet)
    seconds = time.perf_counter() - started
    if html is not None:
        findings = fitted_labels(model, training)
        page = page_of(findings, train, seed=fitting.seed, seconds=seconds)
    model.save(out)
    if html is not None:
        tagsift.report.write_html(html, page)
    partial = training.partial
    right = training.recovery(model.transduction_)
    size = out.stat().st_size
    if json:
        print_json(
            {
                "method": model.method.name,
                **training.facts,
                "seconds": seconds,
                "out": str(out),
                "bytes": size,
                **right,
            }
        )
        return
    say(
        f"{model.method.title}: {len(partial)} sentences, {partial.n_tokens} tokens "
        f"({partial.n_ambiguous} ambiguous), {len(partial.label_set)} labels, "
        f"{seconds:.1f} s."
    )
    say_recovery(right)
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
