"""A server, and people at browsers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

import tagsift
from tagsift.data import simulate_votes
from tagsift.data.corpus import Corpus
from tagsift.review.corpus_view import CorpusView
from tagsift.review.learning import Student
from tagsift.review.session import Desk
from tagsift.review.store import Store
from tests.waiting import LIMIT, until

STATIC = Path(tagsift.__file__).parent / "review" / "static"
#: So that a test that is slow can read them.
NOTICES_STAY = """window.setTimeout = ((later) => (work, time, ...more) =>
  time === 7000 ? null : later(work, time, ...more))(window.setTimeout);"""
KINDS = {".js": "text/javascript", ".css": "text/css"}


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
    page.context.close()


class Pupil:
    """A learner in a thread, which learns by counting when it is allowed to."""

    def __init__(self, view: CorpusView) -> None:
        self.student = Student(view, tagsift.make("majority"))
        self.busy, self.failed, self.allowed = False, None, Event()
        self.model = "majority"
        self.allowed.set()

    def learn(self, exact: Any, then: Callable[[Any], None], revision: int) -> None:
        self.busy, self.student.revision = True, revision
        Thread(target=self._study, args=(dict(exact), then), daemon=True).start()

    def _study(self, exact: Any, then: Callable[[Any], None]) -> None:
        assert self.allowed.wait(LIMIT)
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
        context.add_init_script(NOTICES_STAY)
        page = context.new_page()
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", self._listen)
        page.on("dialog", self._close)
        page.goto(self.address)
        if name is not None and "token" in self.address:
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
        until(lambda: len(self.decisions) >= count)
        assert len(self.decisions) == count
        return self.decisions


@pytest.fixture
def review(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Review]]:
    """Start reviews; nothing may go wrong in the scripts of their pages."""
    uvicorn = pytest.importorskip("uvicorn", reason="no uvicorn here")
    from tagsift.review.app import Site, make_app
    from tagsift.review.serving import listen

    begun: list[tuple[Review, Any, Thread, Store]] = []

    def begin(
        votes: Corpus | None = None,
        *,
        fitted: bool = True,
        password: str | None = None,
    ) -> Review:
        if votes is None:
            text = tagsift.bundled("ner").with_columns(1)[:40]
            votes = simulate_votes(text)
        view = CorpusView(votes, title="votes.tsv")
        store = Store.open(tmp_path / f"{len(begun)}.db", view.fingerprint)
        pupil = Pupil(view)
        desk = Desk(view, store, pupil, every=0)
        if fitted:
            desk.install(pupil.student.study({}))
        taken = listen("127.0.0.1", 0)
        port = taken.getsockname()[1]
        app = make_app(Site(desk, "token", port, password), frozenset(["127.0.0.1"]))
        config = uvicorn.Config(app, log_level="warning", lifespan="off", ws="none")
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True)
        thread.start()
        shown = "" if password else "?token=token"
        address = f"http://127.0.0.1:{port}/{shown}"
        made = Review(browser, desk, address, pupil)
        begun.append((made, server, thread, store))
        return made

    yield begin
    faults = []
    for made, server, thread, store in begun:
        for context in made.opened:
            context.close()
        server.should_exit = True
        thread.join(LIMIT)
        store.close()
        faults += made.faults
    assert faults == []
