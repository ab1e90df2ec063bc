"""``tagsift clean``: the recovered label and its confidence for every token."""

from __future__ import annotations

from tagsift.cli._options import Fitting, Json, Model, Out, Train, Training, grouped
from tagsift.cli._output import print_json, say, write_columns
from tagsift.cli._training import (
    check_model_options,
    read_training,
    recover,
    say_recovery,
)

__all__ = ["EXAMPLE", "PLACE", "run"]

PLACE = 60
EXAMPLE = "tagsift clean votes.tsv --votes 2:6 -o cleaned.conll"


@grouped
def run(
    train: Train,
    out: Out,
    *,
    model: Model = None,
    fitting: Fitting,
    source: Training,
    json: Json = False,
) -> None:
    """Write one label per training token: its columns, the label, the confidence.

    Methods without probabilities give no confidence column.
    """
    check_model_options(model, fitting)
    training = read_training(train, source)
    found = recover(training, fitting, model, quiet=json)
    partial = training.partial
    sure = found.chosen_confidences
    write_columns(
        out,
        (
            [
                (*row, label) if sure is None else (*row, label, f"{sure[s][t]:.6f}")
                for t, (row, label) in enumerate(zip(rows, labels, strict=True))
            ]
            for s, (rows, labels) in enumerate(
                zip(partial.rows, found.labels, strict=True)
            )
        ),
    )
    right = training.recovery(found.labels)
    if json:
        print_json(
            {
                "method": found.model.method.name,
                **training.facts,
                "confidence": sure is not None,
                "out": str(out),
                **right,
            }
        )
        return
    say(
        f"{out}: {partial.n_tokens} tokens, {partial.n_ambiguous} of them were "
        f"ambiguous; labels by {found.model.method.title}"
        f"{'' if sure is not None else ', which gives no confidence'}."
    )
    say_recovery(right)
