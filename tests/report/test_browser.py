"""The page of a report in a real browser: width, theme, and that nothing runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tagsift.report import data_report, write_html
from tests.reference.annotators import table_of
from tests.report.test_data import counted


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    words = ["<script>alert(1)</script>", "\u202egnp.exe", "A" * 3000, "שלום", "Bonn"]
    votes = np.random.default_rng(0).integers(3, size=(120, 5))
    names = ("<img src=x onerror=alert(1)>", *(f"annotator-{k}" for k in range(4)))
    kinds, more = ("B-<img src=x>", "B-LOC", "O"), {"gold": [["O"] * 120]}
    flat = table_of(votes, kinds, names, rows=[words * 24], **more).corpus
    corpus = replace(flat, bounds=np.arange(0, 121, 20))
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_html(path, data_report(counted(corpus), title="Votes <b>in a file</b>"))
    return path


def test_the_page_fits_the_screen_follows_the_theme_and_runs_nothing(browser, path):
    grounds, asked, said = set(), [], []
    for width, scheme in ((390, "dark"), (1280, "light")):
        size = {"width": width, "height": 800}
        page = browser.new_page(viewport=size, color_scheme=scheme)
        page.on("request", lambda request: asked.append(request.url))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == width
        grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert page.locator("h1").inner_text() == "Votes <b>in a file</b>"
        assert page.locator("main script, main img").count() == 0
        links = page.locator("nav a")
        assert links.count() == page.locator("main section").count() > 6
        page.context.close()
    assert len(grounds) == 2 and not said
    assert set(asked) == {path.as_uri()}
