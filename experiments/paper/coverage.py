"""What a suite asked for and what of it was run: gaps, failures, thinned methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from experiments.folds import TASKS
from experiments.paper.grid import GridCell
from experiments.paper.results import Results
from experiments.paper.suite import Suite
from experiments.records import Record
from experiments.tables import facts_of, table
from tagsift.report import Table


@dataclass(frozen=True)
class Coverage:
    """What was asked for and what was run.

    Parameters
    ----------
    suite : Suite
        What was asked for.
    cells : tuple of GridCell
        Its fits, or those of one table or figure.
    records : mapping of str to record
        What was found, by key.
    command : str
        How to make the page again.
    """

    suite: Suite
    cells: tuple[GridCell, ...]
    records: Mapping[str, Record]
    command: str = ""

    @cached_property
    def missing(self) -> list[GridCell]:
        """Cells without a record."""
        return [cell for cell in self.cells if cell.key not in self.records]

    @cached_property
    def failed(self) -> list[Record]:
        """Records of cells that failed."""
        mine = (self.records.get(cell.key, {}) for cell in self.cells)
        return [record for record in mine if "error" in record]

    @cached_property
    def thinned(self) -> list[tuple[str, str, int]]:
        """Method, task and folds run, where these are fewer than the suite has."""
        folds: dict[tuple[str, str], set[int]] = {}
        for cell in self.cells:
            if cell.subset == "head" and not cell.watch:
                mine = folds.setdefault((cell.method, cell.task), set())
                if "scores" in self.records.get(cell.key, {}):
                    mine.add(cell.fold)
        order = [(method, task) for method in self.suite.methods for task in TASKS]
        return [
            (*place, len(folds[place]))
            for place in order
            if place in folds and len(folds[place]) < self.suite.n_folds
        ]

    @property
    def notices(self) -> tuple[str, ...]:
        """What a reader must not miss."""
        notices = []
        if self.missing:
            notices.append(
                f"{len(self.missing)} of the {len(self.cells)} cells have not been "
                "run; the figures are those of the others."
            )
        if self.failed:
            notices.append(
                f"{len(self.failed)} cells failed; they are listed at the end."
            )
        if self.thinned:
            methods = sorted({method for method, _, _ in self.thinned})
            notices.append(
                f"Run on fewer than {self.suite.n_folds} folds: {', '.join(methods)} "
                "(listed at the end). Methods are compared on common folds only."
            )
        return tuple(notices)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Settings and versions, for the end of the page."""
        about = {
            "suite": self.suite.name,
            "cells": f"{len(self.cells) - len(self.missing)} of {len(self.cells)}",
            "folds": str(self.suite.n_folds),
            "seed": str(self.suite.seed),
            "command": f"`{self.command}`",
        }
        versions = facts_of(self.records, commands=False)
        return (*about.items(), *((k, v) for k, v in versions if k != "tagsift"))

    def tables(self) -> list[Table]:
        """How methods were set and tuned, which were thinned, and what failed."""
        tuned = {"each fit": "in every fit", "first fold": "on the first fold", "": "–"}
        settings = [
            (
                Results.title(plan.name),
                ", ".join(f"{k} = {v}" for k, v in plan.params.items()) or "defaults",
                tuned[plan.tuning],
            )
            for plan in self.suite.methods.values()
        ]
        thinned = [
            (Results.title(method), TASKS[task].title, folds)
            for method, task, folds in self.thinned
        ]
        failed = [(str(record["key"]), str(record["error"])) for record in self.failed]
        return [
            table(
                ("method", "settings", "tuned"),
                settings,
                title="Settings of the methods",
                note="Tuned on the first fold: on the training part of the first fold "
                "of every task and setting, then used for its other folds; SGPPSL and "
                "ChainGP by their evidence, the conditional random fields on held-out "
                "sequences. The other rivals have one setting for all tasks, the "
                "published one but for the penalty λ = 0.1 of CLPL and CLLP, which was "
                "chosen by held-out predictions inside the candidate sets: λ = 1 did "
                "worse.",
            ),
            table(
                ("method", "task", "folds|d"),
                thinned,
                title=f"Run on fewer than {self.suite.n_folds} folds",
            ),
            table(("cell", "error"), failed, title="Cells that failed"),
        ]
