"""``tagsift fit``: train on candidates or votes."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

import tagsift
from tagsift.cli._options import (
    Comments,
    FileFormat,
    Format,
    Gold,
    Json,
    Labels,
    MethodName,
    Out,
    Quiet,
    Scheme,
    Seed,
    Settings,
    Votes,
    parse_settings,
)
from tagsift.cli._output import percent, print_json, say
from tagsift.cli._training import fit_model, read_training

__all__ = ["EXAMPLE", "run"]

EXAMPLE = "tagsift fit partial.conll -o model.tagsift --method chain-gp"


def run(
    train: Annotated[
        Path,
        typer.Argument(metavar="TRAIN", help="Column file of candidates or votes."),
    ],
    out: Out,
    method: MethodName = None,
    settings: Settings = None,
    form: Format = FileFormat.columns,
    votes: Votes = None,
    gold: Gold = False,
    labels: Labels = None,
    scheme: Scheme = "auto",
    comments: Comments = False,
    seed: Seed = 0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Train a tagger on candidate sets (last column) or on votes (--votes)."""
    training = read_training(
        train,
        form=form,
        votes=votes,
        gold=gold,
        labels=labels,
        scheme=scheme,
        comments=comments,
    )
    started = time.perf_counter()
    model = fit_model(
        training,
        method=method,
        settings=parse_settings(settings),
        seed=seed,
        quiet=quiet or json,
    )
    seconds = time.perf_counter() - started
    model.save(out)
    partial = training.partial
    facts = {
        "method": model.method.name,
        **training.facts,
        "seconds": seconds,
        "out": str(out),
        "bytes": out.stat().st_size,
    }
    if partial.gold is not None:
        facts["recovery"] = asdict(
            tagsift.metrics.recovery(partial.gold, model.recovered_, partial.candidates)
        )
    if json:
        print_json(facts)
        return
    say(
        f"{model.method.title}: {len(partial)} sentences, {partial.n_tokens} tokens "
        f"({partial.n_ambiguous} ambiguous), {len(partial.label_set)} labels, "
        f"{seconds:.1f} s."
    )
    if partial.gold is not None:
        say(
            f"Recovered {percent(facts['recovery']['ambiguous'])} % of the ambiguous "
            f"labels, {percent(facts['recovery']['overall'])} % of all."
        )
    say(f"{out}: {facts['bytes'] / 1e6:.2f} MB.")
