"""Arrays of several sentences, or several parts, compared one by one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


def all_close(found: Iterable[Any], expected: Iterable[Any], **tolerance: Any) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, **tolerance)


def all_equal(found: Iterable[Any], expected: Iterable[Any]) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
