"""For all tests: where the real corpora are, how many threads, a browser, no clocks."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.waiting import LIMIT

# Before NumPy is imported: the workers of pytest-xdist share the cores.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

#: Whether an example is slow says something of the machine.
SLOW = HealthCheck.too_slow, HealthCheck.function_scoped_fixture
settings.register_profile("tagsift", deadline=None, suppress_health_check=SLOW)
settings.load_profile("tagsift")

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


class Browser:
    """The distribution's Chromium; whatever is waited for may take its time."""

    def __init__(self, started: Any) -> None:
        self._started = started

    def new_context(self, **how: Any) -> Any:
        """Make somebody who has not been anywhere."""
        context = self._started.new_context(**how)
        context.set_default_timeout(1000 * LIMIT)
        return context

    def new_page(self, **how: Any) -> Any:
        """Open a page of somebody new."""
        return self.new_context(**how).new_page()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Start the browser once, or skip the tests."""
    driver = pytest.importorskip("playwright.sync_api", reason="no playwright here")
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip(f"no browser: none of {', '.join(PROGRAMS)} is installed")
    with driver.sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=program, timeout=1000 * LIMIT
        )
        yield Browser(started)
        started.close()


@pytest.fixture(scope="session")
def corpora() -> Path:
    """Return the folder of the real corpora, or skip the test."""
    value = os.environ.get("TAGSIFT_DATA")
    if not value:
        pytest.skip("TAGSIFT_DATA is not set: no real corpora to read")
    folder = Path(value)
    if not folder.is_dir():
        pytest.skip(f"TAGSIFT_DATA names {value!r}, which is not a folder")
    return folder
