"""What a file of `targets` must offer: an experiment, in cells.

A cell is a frozen dataclass with a ``key``: one piece of work that is run or not run,
and recorded once. The command line finds the class under the name ``EXPERIMENT``.
"""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from experiments.folds import TASKS, data_folder
from experiments.records import Found, Record, is_done
from experiments.tables import page
from tagsift.errors import DataError, InputError
from tagsift.report import Report, Table


class KeyedCell:
    """A cell whose key is written in its fields; the same for all runs."""

    form: ClassVar[str]  # such as "{task}/{method}"

    @property
    def key(self) -> str:
        """Name of the cell, distinct in its experiment."""
        return self.form.format(**vars(self))


class Option(NamedTuple):
    """An option of the command line that is a field of its experiment."""

    default: Any
    words: str
    kind: Any = str
    choices: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Experiment(ABC):
    """Cells, what one of them gives, and a page made of the records.

    An experiment is sent to the workers, so it holds plain values only.
    """

    name: ClassVar[str]  # what follows ``python -m experiments``
    title: ClassVar[str] = ""  # of the page
    summary: ClassVar[str] = ""  # prose under it
    package: ClassVar[str] = "experiments"  # of the command
    home: ClassVar[Path] = Path("runs")  # folder of pages and records
    #: Whether every cell gets a process of its own, so that its peak memory is its own.
    separate: ClassVar[bool] = False
    #: Threads of the linear algebra; None to leave that to the package and the user.
    threads: ClassVar[int | None] = 1
    options: ClassVar[dict[str, Option]] = {}  # of its own, by the names of fields
    #: Whether there is nothing to run without the corpora.
    needs_corpora: ClassVar[bool] = False

    data: Path | None  # folder of the corpora; None for the bundled corpus

    @abstractmethod
    def cells(self) -> Sequence[Any]:
        """List the cells in an order that makes part of a run useful."""

    @abstractmethod
    def run(self, cell: Any) -> dict[str, Any]:
        """Run a cell in this process."""

    def files(self, cell: Any) -> Iterable[str]:
        """Name the files that a cell reads, below the folder of the corpora."""
        task = TASKS.get(getattr(cell, "task", ""))
        return () if task is None else (task.path,)

    def check_corpora(self, cells: Sequence[Any]) -> None:
        """Refuse a folder without the files that cells read, before any is run."""
        layout = "docs/experiments.md has the layout of their folder"
        if self.data is None:
            if self.needs_corpora and cells:
                raise InputError(
                    f"{self.name} needs the corpora; name their folder with --data "
                    f"(or TAGSIFT_DATA); {layout}."
                )
            return
        wanted = dict.fromkeys(name for cell in cells for name in self.files(cell))
        missing = [name for name in wanted if not (self.data / name).is_file()]
        if missing:
            raise DataError(
                f"expected the corpora, found no {missing[0]} among them; {layout}, "
                "which --data (or TAGSIFT_DATA) names.",
                self.data,
            )

    def tables(self, found: Found) -> Iterable[Table]:
        """Make the tables of the page; those without rows are left out."""
        return ()

    def report(self, found: Found) -> Report:
        """Make the page of the records."""
        made = page(self.title, found, self.tables(found), self.summary)
        return replace(made, notices=(*self.old(found), *made.notices))

    def old(self, found: Found) -> Iterator[str]:
        """Say how many records are of other settings; they count until made again."""
        cells = [cell for cell in self.cells() if cell.key in found]
        old = [x.key for x in cells if not is_done(found[x.key], self.config(x))]
        if old:
            what = sorted({found[key]["config"].get("method", key) for key in old})
            yield (
                f"{len(old)} records are of older settings and wait to be made again, "
                f"such as hyperparameters of the first fold: {', '.join(what)}."
            )

    def finished(self, found: Found) -> Iterator[tuple[Any, Record]]:
        """Yield the cells that have been run and did not fail, with their records."""
        for cell in self.cells():
            record = found.get(cell.key)
            if record is not None and "error" not in record:
                yield cell, record

    def prepare(self, todo: Sequence[Any]) -> None:
        """Make what several cells need, before the first of them is run."""
        return

    def config(self, cell: Any) -> dict[str, Any]:
        """Return everything that decides the scores of a cell, as plain values."""
        return asdict(cell)

    def falls_short(self, found: Found) -> list[str]:
        """Name what is short of what was asked, such as a value outside a tolerance."""
        return []

    # The command line ----------------------------------------------------------

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        """Declare the options of this experiment."""
        for name, (default, words, kind, choices) in cls.options.items():
            flag = f"--{name.replace('_', '-')}"
            add = parser.add_argument
            add(flag, default=default, help=words, type=kind, choices=choices)

    @classmethod
    def from_options(cls, options: argparse.Namespace) -> Self:
        """Build the experiment from what the command line says."""
        own = {name: getattr(options, name) for name in cls.options}
        return cls(data_folder(options.data), **own)

    @classmethod
    def place(cls, options: argparse.Namespace) -> Path:
        """Folder of pages and records where none is named."""
        return cls.home / cls.name

    @property
    def command(self) -> str:
        """The command that makes the records again."""
        said = [
            f" --{name.replace('_', '-')} {getattr(self, name)}"
            for name, option in self.options.items()
            if option.kind is not Path and getattr(self, name) != option.default
        ]
        return f"python -m {self.package} {self.name}{''.join(said)}"


def choose(cells: Sequence[Any], conditions: Mapping[str, str]) -> list[Any]:
    """Keep the cells that meet all conditions: field → values joined by ``+``."""
    kept = list(cells)
    known = [field.name for field in fields(kept[0])] if kept else [*conditions]
    for name, values in conditions.items():
        if name not in known:
            raise InputError(f"cells are chosen by {', '.join(known)}; found {name!r}.")
        there = {_plain(getattr(cell, name)): None for cell in cells}
        wanted = [_plain(value) for value in values.split("+")]
        if unknown := [value for value in wanted if cells and value not in there]:
            raise InputError(
                f"{name} of a cell is one of {', '.join(there)}; found {unknown[0]!r}."
            )
        kept = [cell for cell in kept if _plain(getattr(cell, name)) in wanted]
    return kept


def _plain(value: Any) -> str:
    """Write values in one way: 100.0 is 100."""
    text = str(value).lower()
    try:
        return f"{float(text):g}"
    except ValueError:
        return text
