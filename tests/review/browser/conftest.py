"""A real browser: the distribution's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tagsift

STATIC = Path(tagsift.__file__).parent / "review" / "static"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
KINDS = {".js": "text/javascript", ".css": "text/css"}


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Start the browser once, or skip the tests."""
    driver = pytest.importorskip("playwright.sync_api", reason="no playwright here")
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip(f"no browser: none of {', '.join(PROGRAMS)} is installed")
    with driver.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program)
        yield started
        started.close()


@pytest.fixture
def scripts(browser: Any) -> Iterator[Callable[[str, Any], Any]]:
    """Run a function of the page's own scripts, which gets them by their names."""
    page = browser.new_page()

    def serve(route: Any) -> None:
        name = route.request.url.rsplit("/", 1)[1]
        kind = KINDS.get(Path(name).suffix)
        text = (STATIC / name).read_text("utf-8") if kind else "<!doctype html>"
        route.fulfill(content_type=kind or "text/html", body=text)

    page.route("http://scripts.test/**", serve)
    page.goto("http://scripts.test/")

    def run(code: str, given: Any = None) -> Any:
        return page.evaluate(code, given)

    yield run
    page.close()
