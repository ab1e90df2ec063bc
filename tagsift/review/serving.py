"""A review on the network: where it listens, and who gets the token."""

from __future__ import annotations

import secrets
import socket
import stat
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path

from tagsift.errors import InputError, MissingExtraError
from tagsift.review.app import Site, make_app
from tagsift.review.session import Desk

try:
    import uvicorn
except ImportError:
    raise MissingExtraError.for_package(
        "uvicorn", extra="review", what="the review page"
    ) from None

__all__ = ["is_loopback", "listen", "read_password", "serve"]

#: Letters of a password at least, and requests at a time at most.
_SHORTEST, _BUSY = 8, 500


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def listen(host: str, port: int) -> socket.socket:
    """Take an address; port 0 is any that is free."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        # Answers are sent at once only where the protocol is said to be TCP.
        taken = socket.socket(family, kind, protocol)
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(address)
            taken.listen(1024)  # from now on those who come wait, and are not refused
        except BaseException:
            taken.close()
            raise
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"cannot listen on {host}, port {port} ({reason.lower()}); choose another "
            "by --host and --port."
        ) from error
    return taken


def read_password(path: Path) -> str:
    """The first line of a file that nobody else can read."""
    try:
        if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise InputError(
                f"{path}: expected a password file that nobody else can read, found "
                f"one that others can; say: chmod 600 {path}"
            )
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise InputError(
            f"{path}: cannot read the password file ({reason.lower()})."
        ) from error
    if not lines or len(lines[0]) < _SHORTEST:
        raise InputError(
            f"{path}: expected a password of {_SHORTEST} letters or more in its first "
            "line."
        )
    return lines[0]


def serve(
    desk: Desk,
    taken: socket.socket,
    *,
    password: str | None = None,
    ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve a review until somebody stops it; `ready` is told its address."""
    host, port = taken.getsockname()[:2]
    named = f"[{host}]" if ":" in host else host
    hosts = frozenset({named, "localhost", "127.0.0.1", "[::1]"})
    token = secrets.token_urlsafe(24)
    site = Site(desk, token, port, password)
    hidden = is_loopback(host) and password is None  # a proxy has a name of its own
    app = make_app(site, hosts if hidden else None)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="off",
        ws="none",
        limit_concurrency=_BUSY,
        timeout_keep_alive=60,
        timeout_graceful_shutdown=3,
    )
    server = uvicorn.Server(config)
    shown = "" if password is not None else f"?token={token}"
    ready(f"http://{named}:{port}/{shown}")
    server.run(sockets=[taken])
