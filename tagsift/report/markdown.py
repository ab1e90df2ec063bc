"""A report as Markdown, for the documentation; drawings go to files beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from tagsift.report.document import Report, Table, prose, slug
from tagsift.report.drawing import standalone
from tagsift.storage import atomic_write
from tagsift.visible import visible

__all__ = ["render_markdown", "write_markdown"]


def render_markdown(report: Report, *, figures: str = "figures") -> str:
    """Text of the Markdown page, which names the drawings that lie in `figures`."""
    lines = [f"# {_inline(report.title)}", "", *_prose(report.summary)]
    for notice in report.all_notices:
        lines += [f"> **Note:** {_inline(notice)}", ""]
    if report.stats:
        lines += ["| figure | value | |", "|---|---:|---|"]
        lines += [
            f"| {_cell(stat.name)} | {_cell(stat.value)} | {_cell(stat.note)} |"
            for stat in report.stats
        ]
        lines.append("")
    names = iter(_file_names(report))
    for section in report.sections:
        lines += [f"## {_inline(section.title)}", "", *_prose(section.text)]
        for item in section.content:
            if isinstance(item, Table):
                lines += _table(item)
                continue
            lines += [f"**{_inline(item.title)}.** {_inline(item.caption)}".strip(), ""]
            for number, _ in enumerate(item.drawings):
                alt = item.alt if number == 0 else item.title
                lines += [f"![{_alt(alt)}]({figures}/{next(names)})"]
            lines += ["", *_table(item.data, titled=False)]
    if report.facts:
        lines += ["## Facts", ""]
        lines += [
            f"- {_inline(name)}: {_inline(value)}" for name, value in report.facts
        ]
        lines.append("")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip("\n") + "\n"


def write_markdown(
    path: str | PathLike[str], report: Report, *, figures: str = "figures"
) -> None:
    """Write a report as Markdown, and its drawings into a folder beside it."""
    target = Path(path)
    for name, drawing in _files(report).items():
        folder = target.parent / figures
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(folder / name) as stream:
            stream.write(drawing)
    with atomic_write(target) as stream:
        stream.write(render_markdown(report, figures=figures))


def _file_names(report: Report) -> list[str]:
    """A distinct name for every drawing, in the order of the report."""
    return [
        f"{number:02d}-{slug(figure.title)[:40]}-{part}.svg"
        for number, figure in enumerate(report.figures, 1)
        for part, _ in enumerate(figure.drawings, 1)
    ]


def _files(report: Report) -> Mapping[str, str]:
    drawings = [drawing for figure in report.figures for drawing in figure.drawings]
    return dict(zip(_file_names(report), standalone(drawings), strict=True))


def _prose(text: str) -> list[str]:
    lines: list[str] = []
    for part in prose(text):
        bullet = "- " if part.bullets else ""
        lines += [f"{bullet}{_inline(line)}" for line in part.lines]
        lines.append("")
    return lines


def _inline(text: str) -> str:
    """Escape what Markdown would read as markup, outside code between backticks."""
    parts = re.split(r"(`[^`]+`)", visible(text, keep="\n"))
    return "".join(
        part if number % 2 else _MARKUP.sub(_escaped, part)
        for number, part in enumerate(parts)
    )


#: Emphasis, links, HTML and references to characters. An underscore inside a word is
#: none, and what is markup only where a line begins never stands there.
_MARKUP = re.compile(r"[\\`*\[~<]|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])|!(?=\[)")


def _escaped(found: re.Match[str]) -> str:
    by_name = {"<": "&lt;", "&": "&amp;", "~": "&#126;"}
    return by_name.get(found[0], f"\\{found[0]}")


def _cell(text: str) -> str:
    return _inline(text).replace("|", "\\|").replace("\n", " ")


def _alt(text: str) -> str:
    return visible(text).replace("[", "(").replace("]", ")")


def _table(table: Table, *, titled: bool = True) -> list[str]:
    lines = [f"**{_inline(table.title)}**", ""] if titled and table.title else []
    lines.append("| " + " | ".join(_cell(c.name) for c in table.columns) + " |")
    rules = ("---:" if column.side == "right" else "---" for column in table.columns)
    lines.append("|" + "|".join(rules) + "|")
    for i, row in enumerate(table.texts()):
        cells = [
            f"**{_cell(text)}**" if (i, j) in table.strong else _cell(text)
            for j, text in enumerate(row)
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return [*lines, "", *([_inline(table.note), ""] if table.note else [])]
