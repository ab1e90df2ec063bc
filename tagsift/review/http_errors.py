"""What the server refuses, and how it says so."""

from __future__ import annotations

from typing import Any

from tagsift.errors import TagsiftError

__all__ = ["Refusal"]

#: Status of the answer by the code that the page reads.
_STATUS = {
    "bad": 400,
    "token": 401,
    "password": 401,
    "origin": 403,
    "missing": 404,
    "method": 405,
    "stale": 409,
    "leased": 409,
    "nothing": 409,
    "large": 413,
    "type": 415,
    "often": 429,
    "fault": 500,
    "early": 503,
    "unstored": 507,
}


class Refusal(TagsiftError):  # noqa: N818
    """A request that is not granted: a code for the page, a sentence for people."""

    def __init__(self, code: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.code, self.more = code, more

    @property
    def status(self) -> int:
        """Status of the answer."""
        return _STATUS[self.code]

    @property
    def body(self) -> dict[str, Any]:
        """What is sent."""
        return {"error": self.code, "message": str(self), **self.more}
