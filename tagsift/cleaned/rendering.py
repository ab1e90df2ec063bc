"""How a result is shown: by the room of reports, which stands above this one.

It registers what renders results when it is imported.
"""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from typing import Any, Protocol

__all__ = ["Renderer", "register", "renderer"]

_REGISTERED: list[Renderer] = []


class Renderer(Protocol):
    """What shows a result."""

    def report(
        self, cleaned: Any, path: str | PathLike[str] | None, **about: Any
    ) -> Any:
        """A report, and its page at a path."""

    def fragment(self, cleaned: Any) -> str:
        """HTML for a cell of a notebook."""


def register(renderer: Renderer) -> None:
    """Let results be shown by `renderer`."""
    _REGISTERED[:] = [renderer]


def renderer() -> Renderer:
    """What shows results; the room of reports is imported where it is not yet."""
    if not _REGISTERED:
        import_module("tagsift.report")
    return _REGISTERED[0]
