"""``tagsift audit``: sentences to look at, and a statement after the looks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tagsift
from tagsift.cli._audits import (
    Label,
    draw_parts,
    facts_of,
    is_finished,
    labelled,
    opened,
    parse_share,
    parts_of,
)
from tagsift.cli._models import check_model_options, cleaned_of
from tagsift.cli._options import Fitting, Json, Model, Training, argument, option
from tagsift.cli._output import print_json, say
from tagsift.cli._reading import read_corpus
from tagsift.errors import InputError

__all__ = ["EXAMPLE", "PLACE", "RENEWS", "run"]

PLACE = 86
RENEWS = ("looks",)
EXAMPLE = "tagsift audit votes.tsv --votes 2:6 -o audit.tsv --max-error 3%"


def run(
    file: Annotated[Path, argument("DATA", "Votes, candidates or finished labels.")],
    *,
    out: Annotated[
        Path | None, option("The sheet to fill in (default: audit.tsv).", "--out -o")
    ] = None,
    looks: Annotated[
        Path | None, option("A sheet that was filled in: state what it shows.")
    ] = None,
    max_error: Annotated[
        str | None, option("The aim: at most so many labels wrong (3% or 0.03).")
    ] = None,
    n: Annotated[int, option("Sentences to look at.", "--n -n", min=1)] = 60,
    more: Annotated[
        int | None, option("With --looks: so many more sentences to its sheet.", min=1)
    ] = None,
    by: Annotated[
        str | None,
        option("With --looks: also by label, annotator or document.", metavar="WHAT"),
    ] = None,
    label: Label = None,
    level: Annotated[float, option("How sure a statement is.")] = 0.95,
    model: Model = None,
    fitting: Fitting,
    source: Training,
    json: Json = False,
) -> None:
    """Draw sentences to look at; then state how many labels are wrong at most.

    The first run finds the labels, as clean does, and writes a sheet of sentences drawn
    by chance. Read them, write yes under looked beside each, mend what is wrong under
    right_label, and run again with --looks: the statement is about the labels as they
    were drawn, and holds whatever the model believes and whenever you stop looking.
    """
    aim = parse_share(max_error, "--max-error")
    source = labelled(file, source, label)
    if looks is not None:
        plan = opened(file, looks, source)
        if more is not None:
            plan.more(more).write(looks)
            say(f"{more} more sentences of the same draw → {looks}")
            return
        stated = plan.result(level)
        parts = {} if by is None else stated.by(by)
        if json:
            told = {} if by is None else {"by": by, "parts": parts_of(parts)}
            print_json({**facts_of(stated, aim), **told})
            return
        say(stated.sentence())
        if stated.waiting:
            say(f"{stated.waiting} looks wait for one that was drawn before them.")
        if by is not None:
            draw_parts(by, parts, level)
        if aim is not None:
            _say_aim(stated.errors.high <= aim, aim, stated.looks_until(aim))
        if stated.calibration is not None:
            before, after = (f"{100 * x:.1f} %" for x in stated.calibration)
            say(f"Confidences fitted to looks: calibration error {before} → {after}.")
        return
    for name, asked in (("--more", more), ("--by", by)):
        if asked is not None:
            raise InputError(f"{name} needs the sheet that it is for: --looks.")
    out = out or Path("audit.tsv")
    if out.exists():
        raise InputError(
            f"{out}: there is a file already, with looks perhaps; give another name by "
            "--out, or say --looks to read it."
        )
    tagsift.storage.check_writable(out)
    check_model_options(model, fitting)
    corpus = read_corpus(file, source)
    finished = is_finished(corpus) and model is None
    if finished:
        plan = tagsift.audit(corpus, n=n, seed=fitting.seed)
    else:
        cleaned = cleaned_of(corpus, file, source, fitting, model)
        plan = tagsift.audit(cleaned, n=n, seed=fitting.seed)
    plan.write(out)
    settled = int(plan.audited.settled_sentences.sum())
    facts = {"sentences": len(plan.audited.corpus), "settled": settled}
    if json:
        print_json({**facts, "looks": plan.sentences, "out": str(out)})
        return
    known = f" {settled:,} of them are known." if settled else ""
    say(
        f"{facts['sentences']:,} sentences.{known} For a statement at "
        f"{100 * level:g} %: look at {plan.size} sentences, drawn by chance"
        f"{'' if finished else ', the doubtful ones more often'}.\n  → {out}"
    )


def _say_aim(met: bool, aim: float, more: int | None) -> None:
    share = f"{100 * aim:g} %"
    if met:
        say(f"The aim, {share}, is met: you can stop.")
    elif more is None:
        say(f"The aim, {share}, is not met, and more looks would hardly meet it.")
    else:
        say(f"The aim, {share}, is not met; about {more:,} more looks would meet it.")
