"""What a suite asked for and what of it was run: gaps, failures, thinned methods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from experiments.folds import TASKS
from experiments.paper.grid import GridCell
from experiments.paper.results import Results
from experiments.paper.suite import Suite
from experiments.records import Found, Record
from experiments.tables import facts_of, table
from tagsift.report import Table

_TUNED = {"each fit": "in every fit", "first fold": "on the first fold", "": "–"}


@dataclass(frozen=True)
class Coverage:
    """What was asked for and what was run."""

    suite: Suite
    cells: tuple[GridCell, ...]  # its fits, or those of one table or figure
    records: Found
    command: str = ""  # that makes the page again

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
            if cell.on_head:
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
    def notices(self) -> Iterator[str]:
        """What a reader must not miss."""
        if self.missing:
            yield (
                f"{len(self.missing)} of the {len(self.cells)} cells have not been "
                "run; the figures are those of the others."
            )
        if self.failed:
            yield f"{len(self.failed)} cells failed; they are listed at the end."
        if self.thinned:
            methods = sorted({method for method, _, _ in self.thinned})
            yield (
                f"Run on fewer than {self.suite.n_folds} folds: {', '.join(methods)} "
                "(listed at the end). Methods are compared on common folds only."
            )

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

    def tables(self) -> Iterator[Table]:
        """How methods were set and tuned, which were thinned, and what failed."""
        settings = []
        for plan in self.suite.methods.values():
            params = ", ".join(f"{k} = {v}" for k, v in plan.params.items())
            tuned = _TUNED[plan.tuning]
            settings.append((Results.title(plan.name), params or "defaults", tuned))
        yield table(
            ("method", "settings", "tuned"),
            settings,
            title="Settings of the methods",
            note="Tuned on the first fold: on the training part of the first fold of "
            "every task and setting, then used for its other folds; SGPPSL and ChainGP "
            "by their evidence, the conditional random fields on held-out sequences. "
            "The other rivals have one setting for all tasks, the published one but "
            "for the penalty λ = 0.1 of CLPL and CLLP, which was chosen by held-out "
            "predictions inside the candidate sets: λ = 1 did worse.",
        )
        yield table(
            ("method", "task", "folds|d"),
            [(Results.title(m), TASKS[task].title, n) for m, task, n in self.thinned],
            title=f"Run on fewer than {self.suite.n_folds} folds",
        )
        failed = [(str(record["key"]), str(record["error"])) for record in self.failed]
        yield table(("cell", "error"), failed, title="Cells that failed")
