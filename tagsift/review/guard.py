"""Who may ask what: token, host, origin, methods, sizes, and headers of every answer.

Browsers send what any page tells them to, so a request counts only if its cookie (or
its bearer token) is right *and* it comes from the page itself.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from time import perf_counter
from typing import Any, TypeAlias

from tagsift.review import pages
from tagsift.review.http_errors import Refusal

__all__ = ["COOKIE", "LARGEST", "Guard", "known", "locked"]

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Name of the cookie; cookies are shared by all ports of a host, hence the port.
COOKIE = "tagsift_{port}"
#: Bytes of a request's body.
LARGEST = 256 * 1024
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # without any, forms come from the origin null
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_ADDED = [(k.lower().encode(), v.encode()) for k, v in _HEADERS.items()]
#: Where those may go who have shown no token: a way in, and nothing of the corpus.
_OPEN = ("/", "/login")
#: Where forms are sent.
_FORMS = ("/login", "/logout")


@dataclass(frozen=True)
class Guard:
    """An application that lets through what the other one should see."""

    app: App
    fits: Callable[[str], bool]  # whether a token opens the door
    port: int
    hosts: frozenset[str] | None = None  # names it answers to; None for any
    password: bool = False  # whether that is what people come in by

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] != "http":
            return
        began, pairs = perf_counter(), scope["headers"]
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in pairs}

        async def safe_send(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                taken = f"all;dur={1e3 * (perf_counter() - began):.1f}".encode()
                own = message.get("headers", ())
                message["headers"] = [*own, *_ADDED, (b"server-timing", taken)]
            await send(message)

        try:
            self._check(scope, headers)
        except Refusal as refusal:
            await _refuse(refusal, scope["path"], headers, safe_send)
            return
        await self.app(scope, _limited(receive), safe_send)

    def _check(self, scope: Scope, headers: dict[str, str]) -> None:
        host, path, method = headers.get("host", ""), scope["path"], scope["method"]
        name = re.sub(r":\d*$", "", host.lower())  # a tunnel may have another port
        if self.hosts is not None and name not in self.hosts:
            raise Refusal("origin", "this server does not answer to that name.")
        if method not in ("GET", "HEAD", "POST"):
            raise Refusal("method", "only GET and POST are known here.")
        _check_origin(scope, headers, host)
        if method == "POST":
            _check_body(path, headers)
        scope["tagsift.known"] = self._shows_token(headers)
        if not (known(scope) or path in _OPEN or path.startswith("/static/")):
            raise locked(self.password)

    def _shows_token(self, headers: dict[str, str]) -> bool:
        kind, _, shown = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and self.fits(shown.strip()):
            return True
        cookies: SimpleCookie = SimpleCookie()
        try:
            cookies.load(headers.get("cookie", ""))
        except CookieError:
            return False
        cookie = cookies.get(COOKIE.format(port=self.port))
        return cookie is not None and self.fits(cookie.value)


def known(scope: Scope) -> bool:
    """Whether a request came with the token."""
    return bool(scope.get("tagsift.known"))


def locked(password: bool) -> Refusal:
    """What those are told who have not come in."""
    if password:
        return Refusal("password", "log in first: this review has a password.")
    text = "open the address that the server has printed: it holds the token."
    return Refusal("token", text)


def _check_origin(scope: Scope, headers: dict[str, str], host: str) -> None:
    """Refuse what another page made a browser send."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    own = f"{scope['scheme']}://{host}"
    coming = scope["method"] == "GET" and scope["path"] == "/"  # by a link, say
    strange = site not in (None, "same-origin", "none") and not coming
    if (origin is not None and origin.lower() != own.lower()) or strange:
        raise Refusal("origin", "requests of other pages are not answered.")
    trusted = "authorization" in headers or origin is not None or site is not None
    if scope["method"] == "POST" and not trusted:
        raise Refusal("origin", "expected a request that says where it comes from.")


def _check_body(path: str, headers: dict[str, str]) -> None:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    form = "application/x-www-form-urlencoded"
    wanted = form if path in _FORMS else "application/json"
    if kind != wanted:
        raise Refusal("type", f"expected {wanted} as the type of the content.")
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > LARGEST:
        raise Refusal("large", f"expected at most {LARGEST // 1024} KiB.")


def _limited(receive: Receive) -> Receive:
    """Stop a body that goes on for longer than it said."""
    size = 0

    async def counted() -> MutableMapping[str, Any]:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > LARGEST:
            raise Refusal("large", f"expected at most {LARGEST // 1024} KiB.")
        return message

    return counted


async def _refuse(
    refusal: Refusal, path: str, asked: dict[str, str], send: Send
) -> None:
    kind, body = pages.refused(refusal, path, asked.get("accept", ""))
    headers = [
        (b"content-type", kind.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),  # what is left of the body is not read
    ]
    await send(
        {"type": "http.response.start", "status": refusal.status, "headers": headers}
    )
    await send({"type": "http.response.body", "body": body})
