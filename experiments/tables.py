"""Tables of records: columns in few words, and one page for a few tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from experiments.records import Found
from tagsift.report import Column, Report, Section, Table

#: What an experiment shows of its records.
Tables: TypeAlias = Iterator[Table]


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    title: str = "",
    note: str = "",
) -> Table:
    """Return a table whose head is words such as ``"task"``, ``"ECE %|.2f|100"``.

    A word is a name, the format of its numbers and what they are multiplied by; ``>``
    in place of the format is for text on the right.
    """
    columns = []
    for word in head:
        name, form, scale, *_ = [*word.split("|"), "", "", ""]
        side = Column(name, align="right") if form == ">" else None
        columns.append(side or Column(name, form, float(scale or 1)))
    return Table(tuple(columns), tuple(map(tuple, rows)), title=title, note=note)


def page(
    title: str, found: Found, tables: Iterable[Table], summary: str = ""
) -> Report:
    """A page of tables, with the commands and versions of their records."""
    filled = tuple(one for one in tables if one.rows)
    return Report(
        title=title,
        summary=summary if filled else "Nothing has been run yet.",
        sections=(Section("Tables", "", filled),) if filled else (),
        notices=tuple(mixed(found)),
        facts=facts_of(found),
    )


def mixed(found: Found) -> Iterator[str]:
    """Say that records come from several environments, and which."""
    counts = Counter(
        ", ".join(f"{k} {v}" for k, v in record["versions"].items() if k != "tagsift")
        for record in found.values()
        if "versions" in record
    )
    if len(counts) > 1:
        told = (f"{words} ({n} records)" for words, n in counts.most_common())
        yield f"The records come from {len(counts)} environments: {'; '.join(told)}."


def facts_of(found: Found, *, commands: bool = True) -> tuple[tuple[str, str], ...]:
    """Versions and commands of records."""
    facts: dict[str, set[str]] = {}
    for record in found.values():
        for name, value in record.get("versions", {}).items():
            facts.setdefault(name, set()).add(str(value))
        if commands and "command" in record:
            facts.setdefault("command", set()).add(f"`{record['command']}`")
    return tuple((name, ", ".join(sorted(values))) for name, values in facts.items())
