"""Tables of records: columns in few words, and one page for a few tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from experiments.records import Found, Record, pick
from tagsift.report import Column, Report, Section, Table
from tagsift.visible import count

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


def means(values: Iterable[tuple[Any, Any, float]]) -> dict[Any, dict[Any, float]]:
    """Means of values by their rows and then by their columns."""
    rows: dict[Any, dict[Any, list[float]]] = {}
    for row, column, value in values:
        rows.setdefault(row, {}).setdefault(column, []).append(value)
    return {
        row: {column: float(np.mean(mine)) for column, mine in one.items()}
        for row, one in rows.items()
    }


def by_columns(
    records: Iterable[Record], columns: Mapping[str, str], *order: str, **about: str
) -> Table:
    """Return a table of what columns show of records, in the order of some places."""
    done = [record for record in records if "error" not in record]
    done.sort(key=lambda record: pick(record, *order))
    return table(list(columns), [pick(x, *columns.values()) for x in done], **about)


def page(
    title: str, found: Found, tables: Iterable[Table], summary: str = ""
) -> Report:
    """A page of tables, with the commands and versions of their records."""
    filled = tuple(one for one in tables if one.rows)
    return Report(
        title=title,
        summary=summary if filled else nothing(found),
        sections=(Section("Tables", "", filled),) if filled else (),
        notices=tuple(mixed(found)),
        facts=facts_of(found),
    )


def nothing(found: Found) -> str:
    """Say why there is nothing to show."""
    failed = sum("error" in record for record in found.values())
    if failed:
        return f"Nothing to show: {failed} of {count(len(found), 'cell')} failed."
    return "Nothing to show of what was run." if found else "Nothing has been run yet."


def mixed(found: Found) -> Iterator[str]:
    """Say in what the environments of records differ, and what they share."""
    counts = environments(found)
    shared = [f"{name} {min(one)}" for name, one in counts.items() if len(one) == 1]
    differing = [
        f"{name}: "
        + " or ".join(f"{v} ({count(n, 'record')})" for v, n in one.most_common())
        for name, one in counts.items()
        if len(one) > 1
    ]
    if differing:
        start = f"All records are of {', '.join(shared)}. " if shared else ""
        yield f"{start}They differ in {'; '.join(differing)}."


def environments(found: Found) -> dict[str, Counter[str]]:
    """Count the versions of everything that records hang on, but of tagsift."""
    made = [record["versions"] for record in found.values() if "versions" in record]
    names = dict.fromkeys(name for one in made for name in one if name != "tagsift")
    return {name: Counter(one.get(name, "not said") for one in made) for name in names}


def facts_of(found: Found, *, commands: bool = True) -> tuple[tuple[str, str], ...]:
    """Versions and commands of records."""
    facts: dict[str, set[str]] = {}
    for record in found.values():
        for name, value in record.get("versions", {}).items():
            facts.setdefault(name, set()).add(str(value))
        if commands and "command" in record:
            facts.setdefault("command", set()).add(f"`{record['command']}`")
    return tuple((name, ", ".join(sorted(values))) for name, values in facts.items())
