"""A report on the screen: the same words and tables, drawn with rich."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.columns import Columns
from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table as RichTable
from rich.text import Text

from tagsift.report.document import Mark, Report, Stat, Table, prose
from tagsift.visible import visible

__all__ = ["print_report", "rich_table"]

_TONES = {"good": "green", "bad": "red", "warn": "yellow", "plain": "dim"}


def rich_table(table: Table) -> RichTable:
    """Turn a table of a report into one of rich.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    rich.table.Table
        To be printed on a console.
    """
    drawn = RichTable(
        title=Text(visible(table.title), style="bold") if table.title else None,
        title_justify="left",
        caption=Text(visible(table.note), style="dim") if table.note else None,
        caption_justify="left",
        header_style="bold",
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        collapse_padding=True,
    )
    written = [[_shown(text) for text in row] for row in table.texts()]
    for j, column in enumerate(table.columns):
        right = column.side == "right"
        words = column.name.split() if right else []
        longest = max(len(text) for text in ["", *words, *(r[j] for r in written)])
        drawn.add_column(
            Text(visible(column.name)),
            justify="right" if right else "left",
            # Numbers are never broken, names rarely.
            min_width=longest if right else min(longest, 9),
            overflow="fold",
        )
    for i, (row, texts) in enumerate(zip(table.rows, written, strict=True)):
        cells = []
        for j, (cell, text) in enumerate(zip(row, texts, strict=True)):
            style = _TONES[cell.tone] if isinstance(cell, Mark) else ""
            cells.append(Text(text, style="bold" if (i, j) in table.strong else style))
        drawn.add_row(*cells)
    return drawn


def print_report(report: Report, *, console: Console | None = None) -> None:
    """Print a report: its words and its tables.

    Parameters
    ----------
    report : Report
        What to show.
    console : rich.console.Console, optional
        Where; standard output by default.
    """
    out = console or Console()
    out.print(Text(visible(report.title), style="bold"))
    _print_prose(out, report.summary)
    for notice in report.notices:
        out.print(Text.assemble(("note: ", "yellow"), _shown(notice)))
    if report.stats:
        out.print(Columns([_stat(stat) for stat in report.stats], padding=(0, 1)))
    for section in report.sections:
        if not section.tables and not section.text:
            continue
        out.print()
        out.print(Text(visible(section.title), style="bold underline"))
        _print_prose(out, section.text)
        for table in section.tables:
            out.print(Padding(rich_table(table), (1, 0, 0, 0)))


def _stat(stat: Stat) -> Panel:
    words = Text.assemble((visible(stat.value), "bold"), "\n", visible(stat.name))
    if stat.note:
        words.append(f"\n{visible(stat.note)}", style="dim")
    return Panel(words, expand=False, padding=(0, 1))


def _print_prose(out: Console, text: str) -> None:
    for part in prose(text):
        for line in part.lines:
            out.print(Text(("• " if part.bullets else "") + _shown(line)))


def _shown(text: str) -> str:
    """Text without the marks of code, its control characters made visible."""
    return visible(text.replace("`", ""))
