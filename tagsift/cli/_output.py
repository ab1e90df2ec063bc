"""How results reach the screen and files."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich.table
from rich.console import Console
from rich.text import Text

import tagsift
from tagsift.visible import visible

if TYPE_CHECKING:
    from tagsift.report import Cell, Table

__all__ = [
    "command",
    "complain",
    "draw",
    "draw_rows",
    "note",
    "number",
    "percent",
    "print_json",
    "say",
    "write_columns",
    "write_lines",
]


def complain(sentence: str, *, kind: str = "error") -> None:
    """Print one sentence on standard error."""
    colour = "red" if kind == "error" else "yellow"
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    console.print(Text.assemble("tagsift: ", (kind, colour), ": ", visible(sentence)))


@dataclass(frozen=True)
class _Command:
    """How the command that runs speaks."""

    beside: bool = False  # standard output is for data: what is said goes beside it
    quiet: bool = False  # no notes
    noted: set[str] = field(default_factory=set)  # what its notes were about


_COMMAND: ContextVar[_Command | None] = ContextVar("_COMMAND", default=None)


@contextmanager
def command(*, beside: bool, quiet: bool) -> Iterator[None]:
    """Run one command: data or words on standard output, with notes or without."""
    before = _COMMAND.set(_Command(beside, quiet))
    try:
        yield
    finally:
        _COMMAND.reset(before)


def _command() -> _Command:
    return _COMMAND.get() or _Command()


def note(sentence: str, *, about: str | None = None) -> None:
    """Print a note on standard error, once a command; none where it is quiet."""
    now, about = _command(), about or sentence
    if not now.quiet and about not in now.noted:
        now.noted.add(about)
        complain(sentence, kind="note")


def say(text: str = "", *, end: str = "\n") -> None:
    """Print text on standard output, its control characters made visible."""
    stream = sys.stderr if _command().beside else sys.stdout
    print(visible(text, keep="\n"), end=end, flush=True, file=stream)


def print_json(value: Any) -> None:
    """Print one JSON value; numbers that JSON does not know become null."""
    say(json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def _plain(value: Any) -> Any:
    """Turn arrays, tuples and sets into lists, and NaN and infinities into None."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (set, frozenset)):
        value = sorted(value)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def draw(table: Table, *, title: str = "", most: int | None = None) -> None:
    """Draw a table of a report on standard output; no cell is read as markup."""
    heading = Text(title or table.title, style="bold")
    drawn = rich.table.Table(title=heading, title_justify="left")
    for column in table.columns:
        name = Text(visible(column.name))
        drawn.add_column(name, justify=column.side, overflow="fold")
    for row in table.texts()[:most]:
        drawn.add_row(*(Text(visible(cell)) for cell in row))
    width = None if sys.stdout.isatty() else 120
    Console(stderr=_command().beside, width=width, highlight=False).print(drawn)


def draw_rows(
    title: str, columns: Mapping[str, str], rows: Iterable[tuple[Cell, ...]]
) -> None:
    """Draw rows by the forms of their columns, as `tagsift.report.columns` has them."""
    heads = tagsift.report.columns(columns)
    draw(tagsift.report.Table(heads, tuple(rows), title))


def number(value: float) -> str:
    """Show a number with four digits, or a dash where there is none."""
    return f"{value:.4f}" if math.isfinite(value) else "–"


def percent(value: float, unit: str = "") -> str:
    """Show a fraction in percent, or a dash where there is none."""
    return f"{100 * value:.2f}{unit}" if math.isfinite(value) else "–"


def write_columns(
    path: Path | None, sentences: Iterable[Sequence[Sequence[str]]]
) -> None:
    """Write a column file, or print it where there is no path."""
    write_lines(path, tagsift.io.column_lines(sentences, allow_empty=True))


def write_lines(path: Path | None, lines: Iterable[str]) -> None:
    """Write a file of data, gzipped by its name, or print it where there is no path."""
    if path is None:
        _print_lines(lines)
    else:
        with tagsift.io.open_target(path) as file:
            file.writelines(lines)


def _print_lines(lines: Iterable[str]) -> None:
    """Print lines of data: visibly to a person, as UTF-8 to another program."""
    if sys.stdout.isatty():
        sys.stdout.writelines(visible(line, keep="\n\t") for line in lines)
    elif hasattr(sys.stdout, "buffer"):
        sys.stdout.flush()
        sys.stdout.buffer.writelines(line.encode() for line in lines)
        sys.stdout.buffer.flush()
    else:  # standard output was replaced by an object that only knows text
        sys.stdout.writelines(lines)
