"""A report as a page: one HTML file that needs nothing but itself, or Markdown.

Style sheet and drawings are inside the HTML page; a content security policy in its head
forbids the browser to fetch anything. Light or dark follows the reader's system. The
drawings of a Markdown page, made for the documentation, go to files beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import count
from os import PathLike
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from tagsift._version import __version__
from tagsift.report.document import Figure, Report, Section, Table, prose, slug
from tagsift.report.drawing import standalone
from tagsift.report.palette import css_variables
from tagsift.storage import atomic_write
from tagsift.visible import visible

__all__ = [
    "render_html",
    "render_markdown",
    "shown",
    "write_html",
    "write_markdown",
]

#: Emphasis, links, HTML and references to characters. An underscore inside a word is
#: none, and what is markup only where a line begins never stands there.
_MARKUP = re.compile(r"[\\`*\[~<]|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])|!(?=\[)")
_BY_NAME = {"<": "&lt;", "&": "&amp;", "~": "&#126;"}


def render_html(report: Report) -> str:
    """Text of the HTML page of a report."""
    environment = _templates(autoescape=True, inline=_html, long=_long)
    style = environment.get_template("report.css").render(
        light=Markup(css_variables("light")), dark=Markup(css_variables("dark"))
    )
    keys = _keys(section.title for section in report.sections)
    page = environment.get_template("report.html").render(
        report=report,
        sections=[
            (section, key, _rows(section))
            for section, key in zip(report.sections, keys, strict=True)
        ],
        facts=(*report.facts, ("tagsift", __version__)),
        style=style,
        version=__version__,
    )
    return re.sub(r"\n\s*\n+", "\n", page) + "\n"


def write_html(path: str | PathLike[str], report: Report) -> None:
    """Write a report as one self-contained HTML file, whole or not at all."""
    text = render_html(report)
    with atomic_write(path) as stream:
        stream.write(text)


def render_markdown(report: Report, *, figures: str = "figures") -> str:
    """Text of the Markdown page, which names the drawings that lie in `figures`."""
    page = _templates(autoescape=False, inline=_markdown, cell=_cell, alt=_alt)
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
    for name, drawing in zip(_file_names(report), drawings, strict=True):
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(folder / name) as stream:
            stream.write(standalone(drawing))
    with atomic_write(path) as stream:
        stream.write(render_markdown(report, figures=figures))


def _templates(*, autoescape: bool, **filters: Callable[..., Any]) -> Environment:
    """The templates of pages, with filters for their text."""
    environment = Environment(
        loader=PackageLoader("tagsift.report"),
        autoescape=autoescape,
        undefined=StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"prose": prose, **filters}
    return environment


def shown(value: Any) -> Any:
    """Make signs visible that would turn the direction of writing, or are no text."""
    plain = isinstance(value, str) and not isinstance(value, Markup)
    return visible(value, keep="\n\t") if plain else value


def _html(text: str) -> Markup:
    """Escape prose, set what stands between backticks as code, and keep tags whole."""
    coded = re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(shown(text))))
    return Markup(re.sub(r"\b[BIES]-\w+", r'<span class="tag">\g<0></span>', coded))


def _keys(titles: Iterable[str]) -> list[str]:
    """Distinct anchors made of titles."""
    keys = ["content"]  # which the page itself has
    for title in titles:
        stem = slug(title) or "section"
        names = (f"{stem}-{number}" if number > 1 else stem for number in count(1))
        keys.append(next(name for name in names if name not in keys))
    return keys[1:]


def _rows(section: Section) -> list[list[Table | Figure]]:
    """What the section holds; neighbouring one-panel figures share a row."""
    rows: list[list[Table | Figure]] = []
    narrow_before = False
    for item in section.content:
        narrow = isinstance(item, Figure) and len(item.panels) == 1
        if narrow and narrow_before and len(rows[-1]) < 2:
            rows[-1].append(item)
        else:
            rows.append([item])
        narrow_before = narrow
    return rows


def _long(table: Table) -> list[bool]:
    """Which columns keep some width on a narrow screen: those with a long cell."""
    texts = table.texts()
    return [any(len(row[j]) > 24 for row in texts) for j in range(len(table.columns))]


def _file_names(report: Report) -> list[str]:
    """A distinct name for every drawing, in the order of the report."""
    return [
        f"{number:02d}-{slug(figure.title)[:40]}-{part}.svg"
        for number, figure in enumerate(report.figures, 1)
        for part, _ in enumerate(figure.drawings, 1)
    ]


def _markdown(text: str) -> str:
    """Escape what Markdown would read as markup, outside code between backticks."""
    parts = re.split(r"(`[^`]+`)", visible(text, keep="\n"))
    parts[::2] = [
        _MARKUP.sub(lambda sign: _BY_NAME.get(sign[0], f"\\{sign[0]}"), part)
        for part in parts[::2]
    ]
    return "".join(parts)


def _cell(text: str) -> str:
    return _markdown(text).replace("|", "\\|").replace("\n", " ")


def _alt(text: str) -> str:
    return visible(text).replace("[", "(").replace("]", ")")
