"""``tagsift demo``: the main job on the bundled corpus."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import tagsift
from tagsift.cli._demo_jobs import RIVALS, Speech, run_candidates, run_votes
from tagsift.cli._options import Json, MethodName, Quiet, Seed, option
from tagsift.errors import InputError

__all__ = ["EXAMPLE", "NEEDS_ARGUMENTS", "PLACE", "Job", "run"]

PLACE = 10
NEEDS_ARGUMENTS = False
EXAMPLE = "tagsift demo --out runs/demo/report.html"

_SYNTHETIC = (
    "The bundled corpus is synthetic: its sentences were made by a grammar and only "
    "look like newswire. Scores on it say that the parts work, not how well a method "
    "does on real text."
)


class Job(StrEnum):
    """What the demo shows."""

    votes = "votes"
    candidates = "candidates"


def run(
    job: Annotated[
        Job,
        option(
            "votes: five simulated annotators disagree; candidates: every token "
            "has several candidate labels."
        ),
    ] = Job.votes,
    method: MethodName = None,
    against: Annotated[
        list[str] | None,
        option(
            "Method to compare with; repeat for more (candidates). Default: "
            f"{', '.join(RIVALS)}."
        ),
    ] = None,
    task: Annotated[
        str | None, option("Which labels: chunk, ner or pos (candidates).")
    ] = None,
    cl: Annotated[
        int | None, option("Length of the candidate lists (candidates).")
    ] = None,
    p: Annotated[
        float | None, option("Share of the sentences that stay exact (candidates).")
    ] = None,
    out: Annotated[Path, option("The HTML report to write.", "--out -o")] = Path(
        "runs/demo/report.html"
    ),
    seed: Seed = 0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Do the main job on the bundled corpus: a table, and an HTML report.

    Annotators of different quality label two thirds of it and disagree; their votes
    become clean labels and a tagger, which tags the rest.
    """
    choices: dict[str, Any] = {
        "method": method,
        "against": against,
        "task": task,
        "cl": cl,
        "p": p,
    }
    choices = {name: value for name, value in choices.items() if value is not None}
    if job is Job.votes and choices:
        raise InputError(
            f"--{next(iter(choices))} is for --job candidates; the demo on votes has "
            "no such choice."
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    tagsift.storage.check_writable(out)
    speech = Speech(seed, quiet, json, _SYNTHETIC)
    if job is Job.votes:
        run_votes(out, speech)
    else:
        run_candidates(out, speech, **choices)
