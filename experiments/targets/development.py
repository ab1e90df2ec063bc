"""How wide ChainGP's priors are, and what a span adds: the figures that decided it.

Corpora that no reported figure is measured on; docs/research.md names them. The widths
are constants of the method, so that this cannot be run again by an option; the records
are kept, and the table of docs/research.md is made of them.

    python -m experiments development --no-run
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Self

import numpy as np

from experiments.experiment import Experiment
from experiments.fitting import FOUR_SCORES
from experiments.records import Found, pick
from experiments.tables import Tables, table
from tagsift.errors import InputError

RECORDS = Path(__file__).parents[1] / "records" / "development.jsonl"
RIVAL = "partial CRF"


class Development(Experiment):
    """What was compared before the duel."""

    name = "development"
    title = "How wide the priors are"
    summary = (
        f"Mean leads over the {RIVAL}, whatever the direction of the score; "
        "variance of the weights of indicators, bonus of a span."
    )

    @classmethod
    def from_options(cls, options: argparse.Namespace) -> Self:
        options.records = RECORDS
        return super().from_options(options)

    def cells(self) -> list[Any]:
        return []

    def run(self, cell: Any) -> dict[str, Any]:
        raise InputError("the widths of the priors are constants; nothing can be run.")

    def tables(self, found: Found) -> Tables:
        scores: dict[str, dict[tuple[Any, ...], list[Any]]] = {}
        for record in found.values():
            place = tuple(pick(record["config"], "part", "cl", "r", "p"))
            sides = scores.setdefault(record["config"]["start"], {})
            values = pick(record["scores"], *(one.name for one in FOUR_SCORES))
            sides.setdefault(place, []).append(values)
        common = [x for x in scores[RIVAL] if all(x in one for one in scores.values())]
        means = {
            start: np.array([np.mean(one[place], axis=0) for place in common])
            for start, one in scores.items()
        }  # [S, scores] each
        rows = []
        for start in sorted(means.keys() - {RIVAL}):
            lead = means[start] - means[RIVAL]  # [S, scores]
            told = zip(FOUR_SCORES, lead.mean(axis=0), strict=True)
            first, *rest = (one.number(x * one.sign, "+") for one, x in told)
            ahead = f"{(lead[:, 0] > 0).sum()} of {len(lead)}"
            rows.append((start, first, ahead, *rest))
        f1, *rest = (f"{score.title}|>" for score in FOUR_SCORES)
        yield table(("variance, bonus", f1, "ahead|>", *rest), rows)


EXPERIMENT = Development
