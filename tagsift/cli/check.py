"""``tagsift check``: whether few enough labels are wrong, for a data set's CI."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated
from xml.sax.saxutils import quoteattr

import typer

import tagsift
from tagsift.cli._audits import Label, facts_of, labelled, opened, parse_share
from tagsift.cli._options import Json, Training, argument, option
from tagsift.cli._output import print_json, say
from tagsift.errors import InputError

__all__ = ["EXAMPLE", "PLACE", "run"]

PLACE = 87
EXAMPLE = "tagsift check votes.tsv --votes 2:6 --looks audit.tsv --max-error 3%"


def run(
    file: Annotated[Path, argument("DATA", "What was audited, as it was.")],
    *,
    looks: Annotated[Path, option("The sheet that people filled in.")],
    max_error: Annotated[str, option("At most so many labels wrong (3% or 0.03).")],
    label: Label = None,
    level: Annotated[float, option("How sure a statement is.")] = 0.95,
    junit: Annotated[
        Path | None, option("Also write the outcome as JUnit XML.", metavar="FILE")
    ] = None,
    source: Training,
    json: Json = False,
) -> None:
    """End with status 0 if at most so many labels are wrong, and else with 1.

    The sheet is that of tagsift audit; its plan stands beside it. Nothing is fitted.
    Data that have changed since the sentences were drawn are refused with status 2.
    """
    aim = parse_share(max_error, "--max-error")
    source = labelled(file, source, label)
    if aim is None:
        raise InputError("--max-error: expected a share such as 3% or 0.03.")
    stated = opened(file, looks, source).result(level)
    met = stated.errors.high <= aim
    line = f"{'passed' if met else 'failed'}: {stated.sentence()} The aim is "
    line += f"{100 * aim:g} %, after {len(stated.looks)} looks."
    if junit is not None:
        failure = "" if met else f"<failure message={quoteattr(line)}/>"
        with tagsift.storage.atomic_write(junit) as stream:
            stream.write(
                '<?xml version="1.0" encoding="UTF-8"?>\n'
                f'<testsuite name="tagsift check" tests="1" failures="{int(not met)}">'
                f'<testcase classname="tagsift" name={quoteattr(str(file))}>{failure}'
                f"<system-out>{stated.sentence()}</system-out></testcase></testsuite>\n"
            )
    if json:
        print_json(facts_of(stated, aim))
    else:
        say(line)
    if not met:
        raise typer.Exit(1)
