"""A review that nobody serves: the command ends where it would begin to wait."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

__all__ = ["reviews_are_not_served"]


class _Idle:
    """A learner without a process, which never has an answer."""

    model, busy, failed = "", False, None

    def __init__(self, *about: Any, **more: Any) -> None:
        pass

    def learn(self, *about: Any) -> None:
        pass

    def close(self) -> None:
        pass


def _serve(
    desk: Any, taken: Any, *, password: str | None, ready: Callable[[str], None]
) -> None:
    ready("http://nobody.test/")


@contextlib.contextmanager
def reviews_are_not_served() -> Iterator[None]:
    """Inside, `tagsift review` does all but serve, fit, and open a browser."""
    with (
        mock.patch("tagsift.review.serving.serve", _serve),
        mock.patch("tagsift.review.Worker", _Idle),
        mock.patch("webbrowser.open"),
    ):
        yield
