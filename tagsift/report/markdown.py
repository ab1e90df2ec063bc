"""A report as Markdown, for the documentation; drawings go to files beside it."""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path

from tagsift.report.document import Report, slug
from tagsift.report.drawing import standalone
from tagsift.report.html import templates
from tagsift.storage import atomic_write
from tagsift.visible import visible

__all__ = ["render_markdown", "write_markdown"]

#: Emphasis, links, HTML and references to characters. An underscore inside a word is
#: none, and what is markup only where a line begins never stands there.
_MARKUP = re.compile(r"[\\`*\[~<]|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])|!(?=\[)")
_BY_NAME = {"<": "&lt;", "&": "&amp;", "~": "&#126;"}


def render_markdown(report: Report, *, figures: str = "figures") -> str:
    """Text of the Markdown page, which names the drawings that lie in `figures`."""
    page = templates(autoescape=False, inline=_inline, cell=_cell, alt=_alt)
    text = page.get_template("report.md").render(
        report=report, figures=figures, names=_file_names(report)
    )
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


def write_markdown(
    path: str | PathLike[str], report: Report, *, figures: str = "figures"
) -> None:
    """Write a report as Markdown, and its drawings into a folder beside it."""
    folder = Path(path).parent / figures
    drawings = [drawing for figure in report.figures for drawing in figure.drawings]
    for name, drawing in zip(_file_names(report), standalone(drawings), strict=True):
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(folder / name) as stream:
            stream.write(drawing)
    with atomic_write(path) as stream:
        stream.write(render_markdown(report, figures=figures))


def _file_names(report: Report) -> list[str]:
    """A distinct name for every drawing, in the order of the report."""
    return [
        f"{number:02d}-{slug(figure.title)[:40]}-{part}.svg"
        for number, figure in enumerate(report.figures, 1)
        for part, _ in enumerate(figure.drawings, 1)
    ]


def _inline(text: str) -> str:
    """Escape what Markdown would read as markup, outside code between backticks."""
    parts = re.split(r"(`[^`]+`)", visible(text, keep="\n"))
    return "".join(
        part if number % 2 else _MARKUP.sub(_escaped, part)
        for number, part in enumerate(parts)
    )


def _escaped(found: re.Match[str]) -> str:
    return _BY_NAME.get(found[0], f"\\{found[0]}")


def _cell(text: str) -> str:
    return _inline(text).replace("|", "\\|").replace("\n", " ")


def _alt(text: str) -> str:
    return visible(text).replace("[", "(").replace("]", ")")
