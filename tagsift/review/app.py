"""The web application: pages, the JSON that they ask for, and exports.

It needs the extra ``review`` (Starlette). No path of a request reaches the file system:
what can be asked for is listed when the application is made.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from hmac import compare_digest
from importlib import resources
from mimetypes import guess_type
from secrets import token_urlsafe
from time import monotonic
from typing import Any
from urllib.parse import parse_qsl

from tagsift._version import __version__
from tagsift.errors import MissingExtraError
from tagsift.report.palette import css_variables
from tagsift.review import exports, pages, requests
from tagsift.review.guard import COOKIE, App, Guard, known, locked
from tagsift.review.http_errors import Refusal
from tagsift.review.queue import Filter
from tagsift.review.session import Desk
from tagsift.visible import visible

try:
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import (
        HTMLResponse,
        RedirectResponse,
        Response,
    )
    from starlette.routing import Route
except ImportError:
    raise MissingExtraError.for_package(
        "starlette", extra="review", what="the review page"
    ) from None

__all__ = ["Json", "Site", "make_app"]

#: Items that are sent at a time.
_ITEMS = 10
#: Wrong passwords in a minute, after which nobody gets in for the rest of it.
_TRIES = 10
#: Characters of what is typed into the form.
_LONGEST = 5000


class Json(Response):
    """JSON in ASCII, whatever characters a corpus holds."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Bytes of the answer."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


@dataclass
class Site:
    """The pages of one review.

    With a password, those who give it get in until they log out; else those who come
    with the token.
    """

    desk: Desk
    token: str
    port: int
    password: str | None = None
    _failed: list[float] = field(default_factory=list)  # times of wrong passwords
    _logins: set[str] = field(default_factory=set)  # tokens of those who gave it

    def fits(self, shown: str) -> bool:
        """Whether a token is right."""
        return any(_same(shown, right) for right in (self.token, *self._logins))

    # Pages -------------------------------------------------------------------------

    async def home(self, request: Request) -> Response:
        """The page, for those who have shown the token; the others are told how."""
        if known(request.scope):
            return self._page("review.html")
        shown = request.query_params.get("token", "")
        if self.password is None and shown and _same(shown, self.token):
            return self._let_in(request, self.token)
        if self.password is not None:
            return self._page("login.html", 401)
        raise locked(password=False)

    async def login(self, request: Request) -> Response:
        """Let somebody in who knows the password."""
        if self.password is None:
            raise Refusal("missing", "there is no password here.")
        if request.method != "POST":  # the page again, after a wrong one
            return RedirectResponse("./", status_code=303)
        self._failed[:] = [t for t in self._failed if t > monotonic() - 60]
        if len(self._failed) >= _TRIES:
            raise Refusal("often", "too many wrong passwords; wait a minute.")
        body = (await request.body()).decode(errors="replace")
        fields = dict(parse_qsl(body[:_LONGEST]))
        if _same(fields.get("password", ""), self.password):
            self._logins.add(token := token_urlsafe(24))
            return self._let_in(request, token)
        self._failed.append(monotonic())
        return self._page("login.html", 401, wrong=True)

    async def logout(self, request: Request) -> Response:
        """Let somebody in no longer who had given the password."""
        if self.password is None:
            raise Refusal("missing", "there is no password here.")
        cookie = COOKIE.format(port=self.port)
        self._logins.discard(request.cookies.get(cookie, ""))
        answer = RedirectResponse("./", status_code=303)
        answer.delete_cookie(cookie, httponly=True, samesite="strict")
        return answer

    def _let_in(self, request: Request, token: str) -> Response:
        answer = RedirectResponse("./", status_code=303)
        answer.set_cookie(
            COOKIE.format(port=self.port),
            token,
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="strict",
        )
        return answer

    def _page(self, name: str, status: int = 200, **more: Any) -> Response:
        told = {"version": __version__, "password": self.password is not None}
        told |= {"title": self.desk.view.title, "wrong": False, **more}
        return HTMLResponse(pages.page(name, **told), status)

    async def static(self, request: Request) -> Response:
        """A style sheet or a script of the page, by its name."""
        found = _static().get(request.path_params["name"])
        if found is None:
            raise Refusal("missing", "there is no such file.")
        kind, content = found
        return Response(content, media_type=kind)

    # What is asked -----------------------------------------------------------------

    async def corpus(self, request: Request) -> Response:
        """What hardly changes: labels, annotators, kinds of disagreement, formats."""
        return await self._do(self.desk.about, formats=exports.formats())

    async def items(self, request: Request) -> Response:
        """The next items for a reviewer."""
        told = dict(request.query_params)
        return await self._do(
            self.desk.next_items,
            requests.reviewer_of(told),
            requests.whole_of(told, "count", 1, _ITEMS, default=1),
            requests.names_of(told, "have"),
            Filter.of(told),
        )

    async def item(self, request: Request) -> Response:
        """One item by its name."""
        who = requests.reviewer_of(request.query_params)
        name = request.path_params["name"]
        found = await run_in_threadpool(self.desk.one_item, who, name)
        return Json({"item": found})

    async def search(self, request: Request) -> Response:
        """A page of items to choose from."""
        told = dict(request.query_params)
        page = requests.whole_of(told, "page", 0, 10**6, default=0)
        who, wanted = requests.reviewer_of(told), Filter.of(told)
        return await self._do(self.desk.browse, who, wanted, page)

    async def progress(self, request: Request) -> Response:
        """How far the review is."""
        return await self._do(self.desk.progress)

    # What is decided ---------------------------------------------------------------

    async def decide(self, request: Request) -> Response:
        """Keep a decision, and send what comes next."""
        told = requests.object_of(await request.body())
        return await self._do(self._decide, told)

    def _decide(self, told: Mapping[str, Any]) -> dict[str, Any]:
        who, action = requests.reviewer_of(told), requests.action_of(told)
        wanted = (
            requests.whole_of(told, "count", 0, _ITEMS, default=0),
            requests.names_of(told, "have"),
            Filter.of(told.get("filters") or {}),
        )
        bounds = [
            requests.whole_of(told, name, 0, 10**9)
            for name in ("start", "end")
            if told.get(name) is not None
        ]
        try:
            made = self.desk.decide(
                who,
                requests.text_of(told, "key", 8, 64),
                requests.text_of(told, "item", 1, 64),
                requests.whole_of(told, "version", 0, 2**53),
                action,
                region=(bounds[0], bounds[1]) if len(bounds) == 2 else None,
                ruled=requests.spans_of(told),
                revision=requests.whole_of(told, "revision", -1, 2**53, default=-1),
                note=requests.text_of(told, "note", 0, 500, default="") or None,
            )
        except Refusal as refusal:
            if refusal.code in ("stale", "leased"):
                refusal.more |= self.desk.next_items(who, *wanted)
            raise
        return {
            "decision": made.id,
            "version": self.desk.ledger.version(made.sentence),
            **self.desk.next_items(who, *wanted),
            "progress": (progress := self.desk.progress()),
            "refitting": progress["refitting"],
        }

    async def undo(self, request: Request) -> Response:
        """Take a decision back."""
        told = requests.object_of(await request.body())
        return await self._do(self._undo, told)

    def _undo(self, told: Mapping[str, Any]) -> dict[str, Any]:
        who, number = requests.reviewer_of(told), told.get("decision")
        if number is not None:
            number = requests.whole_of(told, "decision", 1, 2**53)
        made, taken = self.desk.undo(who, requests.text_of(told, "key", 8, 64), number)
        name = f"{taken.sentence}:{taken.start}-{taken.end}"
        return {
            "decision": made.id,
            "undone": taken.id,
            "action": taken.action,
            "item": self.desk.one_item(who, name),
            "progress": self.desk.progress(),
        }

    async def release(self, request: Request) -> Response:
        """End leases."""
        told = requests.object_of(await request.body())
        named = requests.names_of(told, "items") if "items" in told else None
        count = await run_in_threadpool(
            self.desk.release, requests.reviewer_of(told), named
        )
        return Json({"released": count})

    async def refit(self, request: Request) -> Response:
        """Fit again, now."""
        requests.reviewer_of(requests.object_of(await request.body()))
        await run_in_threadpool(self.desk.refit)
        return Json({"refitting": True}, 202)

    # What can be saved -------------------------------------------------------------

    async def export(self, request: Request) -> Response:
        """A file with what the review gave."""
        kind, asked = request.path_params["kind"], request.query_params
        made = await run_in_threadpool(
            self.desk.export, kind, asked.get("format", ""), asked.get("layers", "")
        )
        headers = {"Content-Disposition": f'attachment; filename="{made.name}"'}
        if made.losses:
            text = visible("; ".join(made.losses)[:2000])  # a header is one line
            headers["X-Tagsift-Losses"] = text.encode("ascii", "replace").decode()
        kind = guess_type(made.name)[0] or "application/octet-stream"
        return Response(made.content, media_type=kind, headers=headers)

    async def _do(
        self, work: Callable[..., dict[str, Any]], *told: Any, **more: Any
    ) -> Response:
        """Do something beside the event loop."""
        return Json(await run_in_threadpool(work, *told, **more))


def make_app(site: Site, hosts: frozenset[str] | None) -> App:
    """The whole application; `hosts` are the names that it answers to, None for any."""
    paths: dict[str, tuple[Any, str]] = {
        "/": (site.home, "GET"),
        "/login": (site.login, "GET POST"),
        "/logout": (site.logout, "POST"),
        "/static/{name}": (site.static, "GET"),
        "/api/corpus": (site.corpus, "GET"),
        "/api/items": (site.items, "GET"),
        "/api/item/{name}": (site.item, "GET"),
        "/api/search": (site.search, "GET"),
        "/api/progress": (site.progress, "GET"),
        "/api/decisions": (site.decide, "POST"),
        "/api/undo": (site.undo, "POST"),
        "/api/release": (site.release, "POST"),
        "/api/refit": (site.refit, "POST"),
        "/export/{kind}": (site.export, "GET"),
    }
    routes = [Route(path, do, methods=how.split()) for path, (do, how) in paths.items()]
    handlers = {Refusal: _refused, HTTPException: _unknown, Exception: _fault}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False
    return Guard(app, site.fits, site.port, hosts, site.password is not None)


@cache
def _static() -> dict[str, tuple[str, bytes]]:
    """Kind and content of every file that the page may ask for."""
    found = {}
    for one in resources.files("tagsift.review").joinpath("static").iterdir():
        kind = guess_type(one.name)[0]
        if one.is_file() and kind is not None:
            found[one.name] = kind, one.read_bytes()
    light, dark = css_variables("light"), css_variables("dark")
    palette = (
        f":root {{ {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
        f":root[data-theme=light] {{ {light} }}\n"
        f":root[data-theme=dark] {{ {dark} }}\n"
    )
    return found | {"palette.css": ("text/css", palette.encode())}


def _same(shown: str, right: str) -> bool:
    return compare_digest(shown.encode(errors="replace"), right.encode())


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    accept = request.headers.get("accept", "")
    kind, body = pages.refused(error, request.url.path, accept)
    return Response(body, error.status, media_type=kind)


async def _unknown(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = "method" if error.status_code == 405 else "missing"
    text = "there is nothing here." if code == "missing" else "not by this method."
    return await _refused(request, Refusal(code, text))


async def _fault(request: Request, error: Exception) -> Response:
    text = f"a fault in tagsift itself ({type(error).__name__}); see its terminal."
    return await _refused(request, Refusal("fault", text))
