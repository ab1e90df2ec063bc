"""Audits as two verbs read them: the aim, the labels, and the answers of a sheet."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tagsift
from tagsift.cli._options import Training, option
from tagsift.cli._output import draw_rows, say
from tagsift.cli._reading import read_corpus
from tagsift.errors import InputError

if TYPE_CHECKING:
    from tagsift import Corpus
    from tagsift.cleaned import AuditPlan, Estimate, Statement

__all__ = [
    "Label",
    "draw_parts",
    "facts_of",
    "is_finished",
    "labelled",
    "opened",
    "parse_share",
    "parts_of",
]


Label = Annotated[
    str | None,
    option(
        "Labels that are finished, of which nothing is to be found: their column, "
        "counted from 1, or its name.",
        metavar="COLUMN",
    ),
]


def parse_share(text: str | None, option: str) -> float | None:
    """Read ``3%`` or ``0.03``; a bare ``3`` could be either, and is refused."""
    if text is None:
        return None
    number, percent = text.strip().removesuffix("%"), text.strip().endswith("%")
    try:
        share = float(number) / (100 if percent else 1)
    except ValueError:
        share = math.nan
    if not 0 < share < 1:
        raise InputError(f"{option}: expected 3% or 0.03, for example; got {text!r}.")
    return share


def is_finished(corpus: Corpus) -> bool:
    """Whether labels are there that nobody has to find."""
    return corpus.candidate_codes is not None and not corpus.n_ambiguous


def labelled(file: Path, source: Training, label: str | None) -> Training:
    """Which column is the finished label: its number, or its name where it has one."""
    if label is None:
        return source
    if not label.isdecimal():
        return replace(source, label_key=label)
    if source.columns is not None or source.votes is not None:
        raise InputError(
            "--label: leave out --columns and --votes, which name it, too."
        )
    with tagsift.io.open_source(file) as stream:
        line = next((x for x in stream if x.strip()), b"").decode(errors="replace")
    cells = line.split("\t") if "\t" in line else line.split()
    place = int(label) - 1
    if not 0 < place < len(cells):
        raise InputError(
            f"--label: expected a column from 2 to {len(cells)}, found {label}."
        )
    names = ["token", *["-"] * (len(cells) - 1)]
    names[place] = "label"
    return replace(source, columns=",".join(names))


def opened(file: Path, looks: Path, source: Training) -> AuditPlan:
    """The plan beside a sheet, with its answers; nothing is fitted."""
    return tagsift.cleaned.AuditPlan.open(looks, read_corpus(file, source))


def facts_of(stated: Statement, aim: float | None) -> dict[str, Any]:
    """A statement as one JSON object."""
    shares = ("errors", "span_f1", "precision", "recall")
    facts: dict[str, Any] = {
        "looks": len(stated.looks),
        "waiting": stated.waiting,
        "level": stated.level,
        "calibration_error": stated.calibration,
        **{name: asdict(getattr(stated, name)) for name in shares},
    }
    if aim is not None:
        facts |= {"aim": aim, "met": stated.errors.high <= aim}
    return facts


def parts_of(parts: Mapping[str, Estimate]) -> dict[str, Any]:
    """The parts of a statement as JSON."""
    return {name: asdict(one) for name, one in parts.items()}


def draw_parts(by: str, parts: Mapping[str, Estimate], level: float) -> None:
    """Draw a statement part by part, and say that all of it holds at once."""
    if not parts:
        say(f"Too few sentences were drawn of any {by} to state something.")
        return
    wrong = ("wrong %", "at least %", "at most %")
    rows = ((name, one.value, one.low, one.high) for name, one in parts.items())
    draw_rows(f"Wrong by {by}", {by: "", **dict.fromkeys(wrong, ".1f%")}, rows)
    say(f"All bounds of the last column hold at once, {100 * level:g} % sure.")
