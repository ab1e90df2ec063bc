"""What a suite asked for and what of it was run: gaps, failures, thinned methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from experiments.folds import TASKS
from experiments.paper.grid import GridCell
from experiments.paper.suite import Suite
from experiments.records import Record
from tagsift.report import Column, Table

__all__ = ["Coverage"]


@dataclass(frozen=True)
class Coverage:
    """What was asked for and what was run.

    Parameters
    ----------
    suite : Suite
        What was asked for.
    cells : tuple of GridCell
        Its cells, or those of one table or figure.
    records : mapping of str to record
        What was found, by key.
    command : str
        How to make the page again.
    """

    suite: Suite
    cells: tuple[GridCell, ...]
    records: Mapping[str, Record]
    command: str = ""

    @property
    def missing(self) -> list[GridCell]:
        """Cells without a record."""
        return [cell for cell in self.cells if cell.key not in self.records]

    @property
    def failed(self) -> list[Record]:
        """Records of cells that failed."""
        mine = (self.records.get(cell.key) for cell in self.cells)
        return [record for record in mine if record is not None and "error" in record]

    @property
    def thinned(self) -> list[tuple[str, str, int]]:
        """Method, task and folds run, where these are fewer than the suite has."""
        rows = []
        for method in self.suite.methods:
            for task in self.suite.tasks:
                mine = [
                    cell
                    for cell in self.cells
                    if (cell.method, cell.task, cell.subset) == (method, task, "head")
                    and not cell.watch
                ]
                folds = {
                    cell.fold
                    for cell in mine
                    if "scores" in self.records.get(cell.key, {})
                }
                if mine and len(folds) < self.suite.n_folds:
                    rows.append((method, task, len(folds)))
        return rows

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
        facts = [
            ("suite", self.suite.name),
            ("cells", f"{len(self.cells) - len(self.missing)} of {len(self.cells)}"),
            ("folds", str(self.suite.n_folds)),
            ("seed", str(self.suite.seed)),
        ]
        if self.command:
            facts.append(("command", f"`{self.command}`"))
        for name, values in _versions(self.records.values()).items():
            if name != "tagsift":
                facts.append((name, ", ".join(sorted(values))))
        return tuple(facts)

    def tables(self, names: Mapping[str, str]) -> list[Table]:
        """How methods were set and tuned, which were thinned, and what failed.

        Parameters
        ----------
        names : mapping
            Titles of methods.
        """
        tuned = {"each fit": "in every fit", "first fold": "on the first fold", "": "–"}
        found = [
            Table(
                (Column("method"), Column("settings"), Column("tuned")),
                tuple(
                    (
                        names.get(plan.name, plan.name),
                        ", ".join(f"{k} = {v}" for k, v in plan.params.items())
                        or "defaults",
                        tuned[plan.tuning],
                    )
                    for plan in self.suite.methods.values()
                ),
                title="Settings of the methods",
                note="Tuned on the first fold: on the training part of the first fold "
                "of every task and setting, then used for its other folds; SGPPSL and "
                "ChainGP by their evidence, the conditional random fields on held-out "
                "sequences. The other rivals have one setting for all tasks, the "
                "published one but for the penalty λ = 0.1 of CLPL and CLLP, which was "
                "chosen by held-out predictions inside the candidate sets: λ = 1 did "
                "worse.",
            )
        ]
        if self.thinned:
            found.append(
                Table(
                    (Column("method"), Column("task"), Column("folds", "d")),
                    tuple(
                        (names.get(method, method), TASKS[task].title, folds)
                        for method, task, folds in self.thinned
                    ),
                    title=f"Run on fewer than {self.suite.n_folds} folds",
                )
            )
        if self.failed:
            found.append(
                Table(
                    (Column("cell"), Column("error")),
                    tuple(
                        (str(record["key"]), str(record["error"]))
                        for record in self.failed
                    ),
                    title="Cells that failed",
                )
            )
        return found


def _versions(found: Iterable[Record]) -> dict[str, set[str]]:
    versions: dict[str, set[str]] = {}
    for record in found:
        for name, value in record.get("versions", {}).items():
            versions.setdefault(name, set()).add(value)
    return versions
