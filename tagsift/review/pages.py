"""Pages, and what is refused: a page for browsers, JSON for scripts."""

from __future__ import annotations

import json
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from tagsift.review.http_errors import Refusal

__all__ = ["page", "refused"]

_TEMPLATES = Environment(
    loader=PackageLoader("tagsift.review", "templates"),
    autoescape=True,
    undefined=StrictUndefined,
)


def page(name: str, **told: Any) -> str:
    """A page by the name of its template."""
    return _TEMPLATES.get_template(name).render(told)


def refused(refusal: Refusal, path: str, accept: str) -> tuple[str, bytes]:
    """What is sent where something is refused, and its type.

    `accept` is what whoever asks can read: a page is for those who open an address.
    """
    if "text/html" not in accept.lower():
        return "application/json", json.dumps(refusal.body).encode()
    text = str(refusal)
    home = "../" * (path.count("/") - 1) or "./"
    told = {"text": text[:1].upper() + text[1:], "home": home, "code": refusal.code}
    made = page("refused.html", **told).encode(errors="replace")
    return "text/html; charset=utf-8", made
