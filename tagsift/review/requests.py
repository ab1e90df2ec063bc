"""What requests say, checked: names, numbers, spans."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from tagsift.data import Span
from tagsift.review.corpus_view import CorpusView
from tagsift.review.http_errors import Refusal
from tagsift.review.store import ANSWERS

__all__ = [
    "action_of",
    "names_of",
    "object_of",
    "reviewer_of",
    "ruled_spans",
    "spans_of",
    "text_of",
    "whole_of",
]

#: What a request says.
Told: TypeAlias = Mapping[str, Any]
#: What can be decided.
_ACTIONS = (*ANSWERS, "skip", "flag")
#: Characters of a reviewer's name; items and spans that one request names.
_NAME, _MOST = 80, 1000


def object_of(body: bytes) -> dict[str, Any]:
    """The JSON object that a request carries."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        raise Refusal("bad", "expected a JSON object.") from None
    if not isinstance(told, dict):
        raise Refusal("bad", "expected a JSON object.")
    return told


def text_of(
    told: Told,
    name: str,
    least: int,
    most: int,
    default: str | None = None,
) -> str:
    """A text of some length; without a default it must be there."""
    value = told.get(name, default)
    if not isinstance(value, str) or not least <= len(value) <= most:
        raise Refusal("bad", f"expected {name!r}, a text of {least} to {most} letters.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Refusal("bad", f"expected {name!r} in whole characters.") from None
    return value


def reviewer_of(told: Told) -> str:
    """The name of whoever asks."""
    name = text_of(told, "reviewer", 1, _NAME).strip()
    if not name or not name.isprintable():
        raise Refusal("bad", "expected the reviewer's name in letters.")
    return name


def whole_of(
    told: Told,
    name: str,
    least: int,
    most: int,
    default: int | None = None,
) -> int:
    """A whole number in a range; without a default it must be there."""
    value = told.get(name, default)
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        value = int(value[:12])
    if not isinstance(value, int) or isinstance(value, bool):
        raise Refusal("bad", f"expected {name!r}, a whole number.")
    if not least <= value <= most:
        raise Refusal("bad", f"expected {name!r} between {least} and {most}.")
    return value


def names_of(told: Told, name: str) -> list[str]:
    """Names in a list, or joined by commas; none where nothing is said."""
    value = told.get(name) or []
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list) or len(value) > _MOST:
        raise Refusal("bad", f"expected {name!r}, a list of names.")
    if not all(isinstance(one, str) and len(one) < 100 for one in value):
        raise Refusal("bad", f"expected {name!r}, a list of names.")
    return value


def action_of(told: Told) -> str:
    """What was decided."""
    action = text_of(told, "action", 1, 20)
    if action not in _ACTIONS:
        raise Refusal("bad", f"expected an action among {', '.join(_ACTIONS)}.")
    return action


def spans_of(told: Told) -> list[Span] | None:
    """The spans that hold now; None where nothing is said of them."""
    value = told.get("spans")
    if value is None:
        return None
    if not isinstance(value, list) or len(value) > _MOST:
        raise Refusal("bad", "expected 'spans', a list.")
    made = []
    for one in value:
        if not isinstance(one, dict):
            raise Refusal("bad", "expected spans with start, end and label.")
        bounds = (whole_of(one, name, 0, 10**9) for name in ("start", "end"))
        made.append(Span(text_of(one, "label", 0, 200), *bounds))
    return made


def ruled_spans(
    view: CorpusView, lo: int, hi: int, ruled: Sequence[Span]
) -> list[Span]:
    """Spans that lie in a region of a sentence and do not overlap."""
    done, at = sorted(ruled, key=lambda one: one.start), lo
    for one in done:
        if not at <= one.start < one.end <= hi:
            raise Refusal(
                "bad", "expected spans inside the region that do not overlap."
            )
        if one.type not in view.types:
            raise Refusal("bad", "expected a label of the corpus.")
        if view.scheme == "plain" and one.end - one.start > 1:
            raise Refusal("bad", "expected one label a token.")
        at = one.end
    if "O" not in view.classes and len(done) < hi - lo:
        raise Refusal("bad", "expected a label for every token.")
    return done
