"""``tagsift report``: votes, annotators and what to check, on one page."""

from __future__ import annotations

from dataclasses import replace

import tagsift
from tagsift.cli._options import Fitting, Json, Out, Train, Training
from tagsift.cli._output import print_json, say
from tagsift.cli._training import fit_model, read_training
from tagsift.errors import InputError

__all__ = ["EXAMPLE", "PLACE", "run"]

PLACE = 85
EXAMPLE = "tagsift report votes.tsv --votes 2:6 -o report.html"


def run(
    train: Train, out: Out, *, fitting: Fitting, source: Training, json: Json = False
) -> None:
    """Write one HTML page about votes: agreement, who is reliable, what to check.

    With --gold the labels found are scored as well; no fit looks at the truth.
    """
    training = read_training(train, source)
    if training.votes is None:
        raise InputError("a report is on votes: say which columns by --votes.")
    model = fit_model(training, replace(fitting, quiet=fitting.quiet or json))
    if not isinstance(model, tagsift.VoteTagger):
        raise InputError(
            f"a report shows what VoteTagger finds, not {model.method.title}; "
            "leave out --method, or take chain-gp or partial-crf."
        )
    page = tagsift.report.votes_report(
        training.votes,
        model,
        title=f"Votes in {train.name}",
        facts=[("file", train.name), ("seed", str(fitting.seed))],
    )
    tagsift.report.write_html(out, page)
    if json:
        facts = {"method": model.method.name, **training.facts, "out": str(out)}
        print_json({**facts, **training.recovery(model.recovered_)})
        return
    say(f"{out}: {len(training.votes.annotators)} annotators on one page.")
