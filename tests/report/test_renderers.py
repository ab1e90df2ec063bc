"""HTML, Markdown and screen show the same report."""

from __future__ import annotations

import re
import sys
from html import unescape
from html.parser import HTMLParser

import markdown
import pytest

from tagsift.errors import DataError
from tagsift.report import (
    Badge,
    Column,
    Report,
    Section,
    Stat,
    Table,
    render_html,
    render_markdown,
    scores_report,
    write_html,
    write_markdown,
)

VOID = {"meta", "br", "hr", "img", "input", "link", "path", "use", "circle"}


class Checker(HTMLParser):
    """Checks that tags are closed in order, and collects what matters."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        values = dict(attrs)
        if "id" in values:
            self.ids.append(values["id"])
        for name in ("href", "src", "xlink:href"):
            if name in values:
                self.links.append(values[name])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag


TABLE = Table(
    (Column("claim"), Column("verdict"), Column("F1", ".1f", 100)),
    (("a | b `c`", Badge("supported", "good"), 0.5), ("<i>", Badge("no", "bad"), None)),
    title="Claims & more",
    note="A note.",
    strong=frozenset({(0, 2)}),
)
SMALL = Report(
    "A <title>",
    (
        Section("One", "Text with `code` & <b>.\n\n- first\n- second", (TABLE,)),
        Section("One", "Again, read as B-NP."),
        Section("Content"),
    ),
    summary="In short.",
    stats=(Stat("span F1", "81.1 %", "of 10 spans"),),
    notices=("Mind `this`.",),
    facts=(("seed", "0"),),
)


@pytest.fixture
def report(tagged):
    return scores_report(tagged, method="SGPPSL")


def check(html: str) -> Checker:
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    assert len(checker.ids) == len(set(checker.ids))
    return checker


def test_html_is_one_well_formed_page_without_network(report):
    html = render_html(report)
    checker = check(html)
    anchors = {f"#{key}" for key in checker.ids}
    assert set(checker.links) <= anchors  # nothing points out of the page
    assert not re.search(r"url\((?!#)", html)
    assert "@import" not in html
    assert checker.seen.isdisjoint({"script", "link", "img", "iframe", "b", "i"})
    assert "default-src 'none'" in html
    assert html.count("<!doctype html>") == 1
    assert "prefers-color-scheme: dark" in html
    assert 'name="viewport"' in html
    assert html.count("<figure>") == 4
    assert html.count("<svg") >= 4


def test_html_repeats_to_the_letter(report, tagged):
    again = scores_report(tagged, method="SGPPSL")
    assert render_html(again) == render_html(report)


def test_html_escapes_and_marks():
    html = render_html(SMALL)
    checker = check(html)
    assert {"one", "one-2", "content-2", "content"} <= set(checker.ids)
    assert "A &lt;title&gt;" in html
    assert 'read as <span class="tag">B-NP</span>' in html  # does not break at "-"
    assert "<code>code</code> &amp; &lt;b&gt;" in html
    assert '<span class="mark good">supported</span>' in html
    assert '<td class="right strong">50.0</td>' in html
    assert "<li>first</li>" in html
    assert "Mind <code>this</code>." in html
    assert "81.1 %" in html
    assert "<dt>seed</dt><dd>0</dd>" in html


def test_html_without_matplotlib_says_what_to_install(monkeypatch, tagged):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    report = scores_report(tagged, method="SGPPSL")
    html = render_html(report)
    check(html)
    assert html.count("pip install &#39;.[plots]&#39;") == 1
    assert "<svg" not in html
    assert "<details>" not in html  # the numbers stand open
    assert render_markdown(report).count("'.[plots]'") == 1


def test_write_html_is_whole_or_not_at_all(tmp_path, report):
    path = tmp_path / "report.html"
    write_html(path, report)
    assert path.read_text(encoding="utf-8") == render_html(report)
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(DataError, match="directory"):
        write_html(tmp_path, report)


def test_markdown_by_eye():
    text = render_markdown(SMALL)
    assert text.startswith("# A &lt;title>\n\nIn short.\n\n> **Note:** Mind `this`.\n")
    assert "| span F1 | 81.1 % | of 10 spans |" in text
    assert "| claim | verdict | F1 |\n|---|---|---:|\n" in text
    assert "| a \\| b `c` | supported | **50.0** |" in text
    assert "- first\n- second\n" in text
    assert text.endswith("- seed: 0\n")


def test_markdown_shows_tokens_as_they_are():
    odd = ["*", "_a_", "snake_case", "``", "[x](y)", "<script>", "&lt;", "\\", "~~"]
    odd += ["|", "\x1b[1m", "![", "a*b*c", "__init__", "1_000", "AT&T"]
    table = Table((Column("token"),), tuple((token,) for token in odd))
    text = render_markdown(Report("R", (Section("S", "", (table,)),)))
    page = markdown.markdown(text, extensions=["tables"])
    cells = [unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", page)]
    assert cells == [token.replace("\x1b", "\\u001b") for token in odd]


def test_write_markdown_puts_every_drawing_beside_the_page(tmp_path, report):
    path = tmp_path / "page.md"
    write_markdown(path, report, figures="drawings")
    text = path.read_text(encoding="utf-8")
    named = re.findall(r"\]\((drawings/[^)]+)\)", text)
    assert len(named) >= 4
    assert len(named) == len(set(named))
    assert {f"drawings/{f.name}" for f in (tmp_path / "drawings").iterdir()} == set(
        named
    )
