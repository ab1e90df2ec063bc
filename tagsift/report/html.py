"""A report as one HTML file that needs nothing but itself.

Style sheet and drawings are inside the page; a content security policy in its head
forbids the browser to fetch anything. Light or dark follows the reader's system.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from os import PathLike
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from tagsift._version import __version__
from tagsift.report.document import Figure, Report, Section, Table, prose, slug
from tagsift.report.palette import css_variables
from tagsift.storage import atomic_write

__all__ = ["render_html", "templates", "write_html"]


def templates(*, autoescape: bool, **filters: Callable[..., Any]) -> Environment:
    """The templates of pages, with filters for their text."""
    environment = Environment(
        loader=PackageLoader("tagsift.report"),
        autoescape=autoescape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"prose": prose, **filters}
    return environment


def render_html(report: Report) -> str:
    """Text of the HTML page of a report."""
    environment = templates(autoescape=True, inline=_inline, long=_long)
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


def _inline(text: str) -> Markup:
    """Escape prose, and set what stands between backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _keys(titles: Iterable[str]) -> list[str]:
    """Distinct anchors made of titles."""
    keys: list[str] = []
    for title in titles:
        stem = slug(title) or "section"
        key, number = stem, 1
        while key in keys or key == "content":
            number += 1
            key = f"{stem}-{number}"
        keys.append(key)
    return keys


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
