"""How tests wait: for what they wait for, and not for a clock.

A busy machine may take any time; `LIMIT` only ends what would never come.
"""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["LIMIT", "until"]

#: Seconds after which a test has hung.
LIMIT = 600.0


def until(true: Callable[[], object]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + LIMIT
    while not true():
        assert time.monotonic() < end, f"it took more than {LIMIT:.0f} s"
        time.sleep(0.01)
