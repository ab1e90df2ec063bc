"""``tagsift clean``: the recovered label and its confidence for every token."""

from __future__ import annotations

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
    Model,
    Out,
    Quiet,
    Scheme,
    Seed,
    Settings,
    Votes,
    parse_settings,
)
from tagsift.cli._output import percent, print_json, say, write_columns
from tagsift.cli._training import read_training, recover

__all__ = ["EXAMPLE", "run"]

EXAMPLE = "tagsift clean votes.tsv --votes 2:6 -o cleaned.conll"


def run(
    train: Annotated[
        Path,
        typer.Argument(metavar="TRAIN", help="Column file of candidates or votes."),
    ],
    out: Out,
    method: MethodName = None,
    model: Model = None,
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
    """Write one label per training token: its columns, the label, the confidence.

    Methods without probabilities give no confidence column.
    """
    training = read_training(
        train,
        form=form,
        votes=votes,
        gold=gold,
        labels=labels,
        scheme=scheme,
        comments=comments,
    )
    found = recover(
        training,
        method=method,
        model_file=model,
        settings=parse_settings(settings),
        seed=seed,
        quiet=quiet or json,
    )
    partial = training.partial
    sure = found.chosen_confidences
    write_columns(
        out,
        (
            [
                (*row, label) if sure is None else (*row, label, f"{sure[s][t]:.6f}")
                for t, (row, label) in enumerate(
                    zip(partial.rows[s], labels_of_sentence, strict=True)
                )
            ]
            for s, labels_of_sentence in enumerate(found.labels)
        ),
    )
    facts = {
        "method": found.model.method.name,
        **training.facts,
        "confidence": sure is not None,
        "out": str(out),
    }
    if partial.gold is not None:
        facts["recovery"] = asdict(
            tagsift.metrics.recovery(partial.gold, found.labels, partial.candidates)
        )
    if json:
        print_json(facts)
        return
    say(
        f"{out}: {partial.n_tokens} tokens, {partial.n_ambiguous} of them were "
        f"ambiguous; labels by {found.model.method.title}"
        f"{'' if sure is not None else ', which gives no confidence'}."
    )
    if partial.gold is not None:
        say(
            f"Right for {percent(facts['recovery']['ambiguous'])} % of the ambiguous "
            f"tokens, {percent(facts['recovery']['overall'])} % of all."
        )
