"""How wide ChainGP's priors start: the figures on which that was decided.

Sentences behind those of the paper, in parts of its size, with folds and candidates of
their own. The widths are constants of the method, so that this cannot be run again by
an option; the records are kept, and the table of docs/research.md is made of them.

    python -m experiments development --no-run
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from experiments.experiment import Experiment
from experiments.fitting import FOUR_SCORES
from experiments.records import Record
from tagsift.errors import InputError

if TYPE_CHECKING:
    from tagsift.report import Report

__all__ = ["EXPERIMENT", "Development"]

RIVAL = "partial CRF"
N_FOLDS = 5


@dataclass(frozen=True)
class Development(Experiment):
    """What was compared before the duel."""

    name = "development"

    @classmethod
    def from_options(cls, options: argparse.Namespace) -> Self:
        """Look for the records where they are kept."""
        if options.records is None:
            options.records = Path(__file__).parents[1] / "records/development.jsonl"
        return cls()

    def cells(self) -> list[Any]:
        """None: see above."""
        return []

    def run(self, cell: Any, needed: Record | None) -> dict[str, Any]:
        """Refuse."""
        raise InputError("the widths of the priors are constants; nothing can be run.")

    def report(self, found: Mapping[str, Record]) -> Report:
        """Mean leads over the tuned CRF, in the settings that all variants ran."""
        from experiments.tables import page, table

        scores: dict[tuple[Any, ...], dict[str, list[dict[str, float]]]] = {}
        for record in found.values():
            config = record["config"]
            place = tuple(config[name] for name in ("task", "part", "cl", "r", "p"))
            sides = scores.setdefault(place, {})
            sides.setdefault(config["start"], []).append(record["scores"])
        starts = sorted({start for sides in scores.values() for start in sides})
        common = [
            sides
            for sides in scores.values()
            if all(len(sides.get(start, ())) == N_FOLDS for start in starts)
        ]

        def leads(start: str, name: str, sign: int) -> Any:
            means = [
                [np.mean([fold[name] for fold in sides[side]]) for sides in common]
                for side in (start, RIVAL)
            ]
            return sign * (np.array(means[0]) - np.array(means[1]))  # [S]

        rows = []
        for start in starts:
            if start != RIVAL:
                ours = {s.name: leads(start, s.name, s.sign) for s in FOUR_SCORES}
                ahead = int((ours["span_f1"] > 0).sum())
                told = [s.number(ours[s.name].mean(), "+") for s in FOUR_SCORES]
                rows.append((start, told[0], f"{ahead} of {len(common)}", *told[1:]))
        first, *others = (f"{score.title}|>" for score in FOUR_SCORES)
        return page(
            "How wide the priors start",
            found,
            [table(("start", first, "ahead|>", *others), rows)],
            f"Mean leads over the {RIVAL}, whatever the direction of the score; "
            "variance of the weights of indicators, amplitude of the RBF parts.",
        )


EXPERIMENT = Development
