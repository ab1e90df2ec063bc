"""Tables of records: columns in few words, and one page for a few tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tagsift.report import Column, Report, Section, Table

if TYPE_CHECKING:
    from experiments.records import Record


def columns(*words: str) -> tuple[Column, ...]:
    """Columns from words such as ``"task"``, ``"cl|d"``, ``"ECE %|.2f|100"``.

    Parameters
    ----------
    *words : str
        Name, format of numbers and what they are multiplied by; ``>`` in place of the
        format for text on the right.
    """
    found = []
    for word in words:
        name, form, scale, *_ = [*word.split("|"), "", "", ""]
        if form == ">":
            found.append(Column(name, align="right"))
        else:
            found.append(Column(name, form, float(scale or 1)))
    return tuple(found)


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    title: str = "",
    note: str = "",
) -> Table:
    """Return a table, its head in the words of `columns`."""
    return Table(columns(*head), tuple(map(tuple, rows)), title=title, note=note)


def page(
    title: str, found: Mapping[str, Record], tables: Iterable[Table], summary: str = ""
) -> Report:
    """A page of tables, with the commands and versions of their records.

    Parameters
    ----------
    title, summary : str
        Heading, and prose under it.
    found : mapping of str to record
        What the tables are made of.
    tables : iterable of Table
        What to show; those without rows are left out.
    """
    filled = tuple(one for one in tables if one.rows)
    return Report(
        title=title,
        summary=summary if filled else "Nothing has been run yet.",
        sections=(Section("Tables", "", filled),) if filled else (),
        facts=facts_of(found),
    )


def facts_of(
    found: Mapping[str, Record], *, commands: bool = True
) -> tuple[tuple[str, str], ...]:
    """Versions and commands of records."""
    facts: dict[str, set[str]] = {}
    for record in found.values():
        for name, value in record.get("versions", {}).items():
            facts.setdefault(name, set()).add(str(value))
        if commands and "command" in record:
            facts.setdefault("command", set()).add(f"`{record['command']}`")
    return tuple((name, ", ".join(sorted(values))) for name, values in facts.items())
