"""What a report is made of: frozen records that three renderers read.

A `Report` has a few `Stat` tiles and a list of sections; a section has a title, prose,
tables and figures. The prose may hold ``code`` between backticks, paragraphs between
blank lines and lists of lines that begin with a dash; nothing else is markup.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from tagsift.errors import InputError, MissingExtraError

__all__ = [
    "Badge",
    "Cell",
    "Column",
    "Figure",
    "Passage",
    "Prose",
    "Report",
    "Section",
    "Stat",
    "Table",
    "Tone",
    "columns",
    "prose",
    "slug",
]

#: Said once in a report whose figures could not be drawn.
_PLOTS_HINT = (
    "The figures are given as tables, because matplotlib is not installed; to have "
    f"them drawn, install it with: {MissingExtraError.remedy('plots', tick='`')}."
)

#: Most letters of a word, and words of a span, in a passage.
_MOST_LETTERS, _MOST_WORDS = 32, 12
#: How a mark is coloured; its text says the same in words.
Tone: TypeAlias = Literal["good", "bad", "warn", "plain"]


@dataclass(frozen=True)
class Badge:
    """A word in a cell that is shown as a coloured badge."""

    text: str  # what it says; colour is never the only carrier of the meaning
    tone: Tone = "plain"  # which colour


@dataclass(frozen=True)
class Passage:
    """Words of a sentence in a cell, with those around them."""

    before: str
    words: str  # that stand out
    after: str

    @classmethod
    def of(
        cls, tokens: Sequence[str], start: int, end: int, around: int = 6
    ) -> Passage:
        """Take a span out of its sentence; long words and spans are cut."""
        inside = list(map(_cut, tokens[start:end]))
        if len(inside) > _MOST_WORDS:
            inside[_MOST_WORDS - 2 : -1] = ["…"]
        before = map(_cut, tokens[max(start - around, 0) : start])
        after = map(_cut, tokens[end : end + around])
        return cls(" ".join(before), " ".join(inside), " ".join(after))

    @property
    def text(self) -> str:
        """All of it, the words in question between brackets."""
        return " ".join(filter(None, (self.before, f"[{self.words}]", self.after)))


def _cut(word: str) -> str:
    return word if len(word) <= _MOST_LETTERS else word[: _MOST_LETTERS - 1] + "…"


#: What a cell of a table may hold.
Cell: TypeAlias = str | int | float | Badge | Passage | None


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str  # its head
    form: str = ""  # format of its numbers, such as ``".1f"``; empty for text
    scale: float = 1.0  # of its numbers: 100 turns shares into percent
    align: Literal["left", "right"] | None = None  # by default numbers to the right

    @property
    def side(self) -> Literal["left", "right"]:
        """Where the cells are aligned."""
        return self.align or ("right" if self.form else "left")

    def text(self, cell: Cell) -> str:
        """Write a cell; a dash stands for nothing."""
        if cell is None or (isinstance(cell, float) and math.isnan(cell)):
            return "–"
        if isinstance(cell, Badge | Passage):
            return cell.text
        if isinstance(cell, str) or not self.form:
            return str(cell)
        return format(cell * self.scale if self.scale != 1.0 else cell, self.form)


def columns(forms: Mapping[str, str]) -> tuple[Column, ...]:
    """Columns by name, with the form of their numbers; ``".1f%"`` is in percent."""
    return tuple(
        Column(name, form.rstrip("%"), 100.0 if form.endswith("%") else 1.0)
        for name, form in forms.items()
    )


@dataclass(frozen=True)
class Table:
    """A table: columns, rows, and which cells stand out."""

    columns: tuple[Column, ...]  # the first one names the rows
    rows: tuple[tuple[Cell, ...], ...]  # as long as the columns
    title: str = ""  # what it shows
    note: str = ""  # a line below it
    strong: frozenset[tuple[int, int]] = frozenset()  # (row, column) of cells in bold

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise InputError(
                    f"Row {number} (counted from 0) of the table {self.title!r} has "
                    f"{len(row)} cells and the table {len(self.columns)} columns; give "
                    "one cell per column."
                )

    def texts(self) -> list[list[str]]:
        """Every cell as text, row by row."""
        return [
            [column.text(cell) for column, cell in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]

    @classmethod
    def best(
        cls,
        columns: Sequence[Column],
        rows: Sequence[Sequence[Cell]],
        *,
        higher: Sequence[int] = (),
        lower: Sequence[int] = (),
        title: str = "",
        note: str = "",
    ) -> Table:
        """Build a table in which the best values of columns, as printed, stand out."""
        table = cls(tuple(columns), tuple(tuple(row) for row in rows), title, note)
        strong: set[tuple[int, int]] = set()
        for j in (*higher, *lower):
            numbers = {
                i: cell
                for i, row in enumerate(table.rows)
                if isinstance(cell := row[j], int | float) and not math.isnan(cell)
            }
            if len(numbers) > 1:
                best = (max if j in higher else min)(numbers.values())
                write = columns[j].text
                strong |= {(i, j) for i in numbers if write(numbers[i]) == write(best)}
        return replace(table, strong=frozenset(strong))


@dataclass(frozen=True)
class Figure:
    """A drawing, its words, and the numbers behind it."""

    title: str  # what it shows
    alt: str  # the drawing in words, for those who cannot see it
    panels: tuple[str, ...]  # SVG drawings side by side; none without matplotlib
    data: Table  # the same as numbers
    caption: str = ""  # how to read it
    legend: str | None = None  # SVG of the legend of all panels

    @property
    def drawings(self) -> tuple[str, ...]:
        """The panels, and the legend after them."""
        return self.panels + ((self.legend,) if self.legend else ())


@dataclass(frozen=True)
class Stat:
    """A figure of merit on the first screen."""

    name: str  # what it is
    value: str  # the number, as it shall be read
    note: str = ""  # a few words of context

    @classmethod
    def percent(cls, name: str, share: float, note: str) -> Stat:
        """Show a share in percent."""
        return cls(name, f"{100 * share:.1f} %", note)


@dataclass(frozen=True)
class Section:
    """A part of a report."""

    title: str  # its heading
    text: str = ""  # prose
    content: tuple[Table | Figure, ...] = ()  # what follows the prose, in this order

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables among the content."""
        return tuple(item for item in self.content if isinstance(item, Table))

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The figures among the content."""
        return tuple(item for item in self.content if isinstance(item, Figure))


@dataclass(frozen=True)
class Report:
    """A whole report."""

    title: str  # the heading of the page
    sections: tuple[Section, ...]  # its parts
    summary: str = ""  # prose under the heading
    stats: tuple[Stat, ...] = ()  # tiles on the first screen
    notices: tuple[str, ...] = ()  # what a reader must not miss
    facts: tuple[tuple[str, str], ...] = ()  # settings, versions and seeds, at the end

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The figures of all sections."""
        return tuple(f for section in self.sections for f in section.figures)

    @property
    def all_notices(self) -> tuple[str, ...]:
        """The notices, and what is missing where a figure could not be drawn."""
        drawn = all(figure.panels for figure in self.figures)
        return self.notices if drawn else (*self.notices, _PLOTS_HINT)


@dataclass(frozen=True)
class Prose:
    """A paragraph or a list."""

    lines: tuple[str, ...]  # one line for a paragraph, one per entry for a list
    bullets: bool  # whether it is a list


def prose(text: str) -> list[Prose]:
    r"""Split prose into paragraphs and lists.

    Examples
    --------
    >>> [(part.bullets, part.lines) for part in prose("One\ntwo.\n\n- a\n- b")]
    [(False, ('One two.',)), (True, ('a', 'b'))]
    """
    parts: list[Prose] = []
    for chunk in text.strip().split("\n\n"):
        lines = [line.strip() for line in chunk.splitlines() if line.strip()]
        if not lines:
            continue
        if all(line.startswith("- ") for line in lines):
            parts.append(Prose(tuple(line[2:] for line in lines), True))
        else:
            parts.append(Prose((" ".join(lines),), False))
    return parts


def slug(title: str) -> str:
    """A title as part of a file name or an address.

    Examples
    --------
    >>> slug("Risk–coverage curve (dev)")
    'risk-coverage-curve-dev'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
