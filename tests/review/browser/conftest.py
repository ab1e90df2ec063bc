"""A real browser, the distribution's Chromium, driven by Playwright; and a server."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

import tagsift
from tagsift.data import VoteCorpus, simulate_votes
from tagsift.review.desk import Desk
from tagsift.review.learning import Student
from tagsift.review.material import Material
from tagsift.review.store import Store

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


class Pupil:
    """A learner in a thread, which learns by counting when it is allowed to."""

    def __init__(self, material: Material) -> None:
        self.student = Student(material, tagsift.make("majority"))
        self.busy, self.failed, self.allowed = False, None, Event()
        self.allowed.set()

    def learn(self, exact: Any, then: Callable[[Any], None]) -> None:
        self.busy = True
        Thread(target=self._study, args=(dict(exact), then), daemon=True).start()

    def _study(self, exact: Any, then: Callable[[Any], None]) -> None:
        self.allowed.wait(20)
        found = self.student.study(exact)
        self.busy = False
        then(found)


@dataclass
class Review:
    """A server with its desk, and people who sit at browsers."""

    browser: Any
    desk: Desk
    address: str
    pupil: Pupil
    opened: list[Any] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def decisions(self) -> list[Any]:
        """Everything that was ever decided."""
        return list(self.desk.store.decisions())

    def open(self, name: str | None = "Mira", *, width: int = 1280, **more: Any) -> Any:
        """Open the page as somebody; faults of its scripts are kept."""
        size = {"width": width, "height": 844}
        context = self.browser.new_context(viewport=size, **more)
        self.opened.append(context)
        if name is not None:
            remembered = f"localStorage.setItem('tagsift-name', {name!r})"
            context.add_init_script(remembered)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", self._listen)
        page.on("dialog", self._close)
        page.goto(self.address)
        if name is not None:
            page.wait_for_selector("body[data-state=item]")
        return page

    def _close(self, dialog: Any) -> None:
        if dialog.type != "beforeunload":  # which guards what is not sent yet
            self.faults.append(dialog.message)
        dialog.accept()

    def _listen(self, said: Any) -> None:
        if said.type == "error" and "409" not in said.text:
            self.faults.append(said.text)

    def wait(self, count: int) -> list[Any]:
        """Wait until so many decisions are in the store."""
        end = time.monotonic() + 10
        while len(self.decisions) < count and time.monotonic() < end:
            time.sleep(0.02)
        assert len(self.decisions) == count
        return self.decisions


@pytest.fixture
def review(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Review]]:
    """Start reviews; nothing may go wrong in the scripts of their pages."""
    uvicorn = pytest.importorskip("uvicorn", reason="no uvicorn here")
    from tagsift.review.app import Site, make_app
    from tagsift.review.serving import listen

    begun: list[tuple[Review, Any, Thread, Store]] = []

    def begin(votes: VoteCorpus | None = None, *, fitted: bool = True) -> Review:
        votes = votes or simulate_votes(tagsift.bundled("ner").with_columns(1)[:40])
        material = Material(votes.candidates(), votes, title="votes.tsv")
        store = Store.open(tmp_path / f"{len(begun)}.db", material.fingerprint)
        pupil = Pupil(material)
        desk = Desk(material, store, pupil, every=0)
        if fitted:
            desk.install(pupil.student.study({}))
        taken = listen("127.0.0.1", 0)
        port = taken.getsockname()[1]
        app = make_app(Site(desk, "token", port), frozenset(["127.0.0.1"]))
        config = uvicorn.Config(app, log_level="warning", lifespan="off", ws="none")
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True)
        thread.start()
        address = f"http://127.0.0.1:{port}/?token=token"
        made = Review(browser, desk, address, pupil)
        begun.append((made, server, thread, store))
        return made

    yield begin
    faults = []
    for made, server, thread, store in begun:
        for context in made.opened:
            context.close()
        server.should_exit = True
        thread.join(10)
        store.close()
        faults += made.faults
    assert faults == []
