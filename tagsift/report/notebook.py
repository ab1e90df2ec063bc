"""How a result shows itself: as a report, and in a cell of a notebook."""

from __future__ import annotations

from os import PathLike
from typing import Any

from markupsafe import Markup

from tagsift.cleaned import Cleaned, register
from tagsift.report.data import data_report
from tagsift.report.document import Report, Table
from tagsift.report.pages import shown, write_html

__all__ = ["ResultRenderer"]

#: Rows of a table in a cell of a notebook.
_ROWS = 10


class ResultRenderer:
    """What `Cleaned.report` and notebooks call."""

    def report(
        self, cleaned: Cleaned, path: str | PathLike[str] | None = None, **about: Any
    ) -> Report:
        """The report, with what `data_report` takes, and its page at a path."""
        what = "Votes" if cleaned.has_votes else "Candidates"
        made = data_report(cleaned, **{"title": f"{what}, cleaned", **about})
        if path is not None:
            write_html(path, made)
        return made

    def fragment(self, cleaned: Cleaned) -> str:
        """The first screen of the report, and what to check first."""
        made = data_report(cleaned, title="")
        lines = [Markup("<p>{}</p>").format(shown(made.summary))]
        tiles = (f"{one.name}: {one.value} ({one.note})" for one in made.stats)
        lines.append(_list(map(shown, tiles)))
        for section in made.sections:
            if section.title == "What to check first":
                lines.append(Markup("<p>{}</p>").format(section.title))
                lines.append(_table(section.tables[0]))
        return "\n".join(lines)


def _list(entries: Any) -> Markup:
    return Markup("<ul>{}</ul>").format(
        Markup("").join(Markup("<li>{}</li>").format(one) for one in entries)
    )


def _table(table: Table) -> Markup:
    def row(cells: Any, tag: str) -> Markup:
        made = (Markup(f"<{tag}>{{}}</{tag}>").format(shown(cell)) for cell in cells)
        return Markup("<tr>{}</tr>").format(Markup("").join(made))

    rows = [row((column.name for column in table.columns), "th")]
    rows += [row(cells, "td") for cells in table.texts()[:_ROWS]]
    return Markup("<table>{}</table>").format(Markup("").join(rows))


register(ResultRenderer())
