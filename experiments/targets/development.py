"""How wide ChainGP's priors start: the figures on which that was decided.

Sentences behind those of the paper, in parts of its size, with folds and candidates of
their own. The widths are constants of the method, so that this cannot be run again by
an option; the records are kept, and the table of docs/research.md is made of them.

    python -m experiments development --no-run
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Self

import numpy as np

from experiments.experiment import Experiment
from experiments.fitting import FOUR_SCORES
from experiments.records import Found, Record, pick
from experiments.tables import Tables, table
from tagsift.errors import InputError

RECORDS = Path(__file__).parents[1] / "records" / "development.jsonl"
RIVAL = "partial CRF"
N_FOLDS = 5


class Development(Experiment):
    """What was compared before the duel."""

    name = "development"
    title = "How wide the priors start"
    summary = (
        f"Mean leads over the {RIVAL}, whatever the direction of the score; "
        "variance of the weights of indicators, amplitude of the RBF parts."
    )

    @classmethod
    def from_options(cls, options: argparse.Namespace) -> Self:
        options.records = RECORDS
        return super().from_options(options)

    def cells(self) -> list[Any]:
        return []

    def run(self, cell: Any, needed: Record | None) -> dict[str, Any]:
        raise InputError("the widths of the priors are constants; nothing can be run.")

    def tables(self, found: Found) -> Tables:
        names, signs = zip(*((one.name, one.sign) for one in FOUR_SCORES), strict=True)
        scores: dict[tuple[Any, ...], dict[str, list[Any]]] = {}
        for record in found.values():
            place = tuple(pick(record["config"], "task", "part", "cl", "r", "p"))
            values = pick(record["scores"], *names)
            sides = scores.setdefault(place, {})
            sides.setdefault(record["config"]["start"], []).append(values)
        starts = sorted({start for sides in scores.values() for start in sides})
        means = np.array(
            [
                [np.mean(sides[start], axis=0) for start in starts]
                for sides in scores.values()
                if all(len(sides.get(start, ())) == N_FOLDS for start in starts)
            ]
        )  # [S, starts, scores]
        leads = (means - means[:, [starts.index(RIVAL)]]) * signs
        rows = []
        for start, lead in zip(starts, leads.swapaxes(0, 1), strict=True):
            told = zip(FOUR_SCORES, lead.mean(0), strict=True)
            first, *others = (score.number(value, "+") for score, value in told)
            if start != RIVAL:
                ahead = f"{(lead[:, 0] > 0).sum()} of {len(lead)}"
                rows.append((start, first, ahead, *others))
        f1, *rest = (f"{score.title}|>" for score in FOUR_SCORES)
        yield table(("start", f1, "ahead|>", *rest), rows)


EXPERIMENT = Development
