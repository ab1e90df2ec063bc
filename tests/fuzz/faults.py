"""Cases that fail, to see whether the harness notices."""

from __future__ import annotations

import ctypes
import time
from pathlib import Path

import numpy as np

from tests.fuzz.dice import Dice


def crash(dice: Dice, folder: Path) -> None:
    """Read where there is no memory."""
    ctypes.string_at(0)


def endless(dice: Dice, folder: Path) -> None:
    """Work without an end."""
    while True:
        pass


def asleep(dice: Dice, folder: Path) -> None:
    """Wait without an end."""
    time.sleep(3600)


def large(dice: Dice, folder: Path) -> None:
    """Ask for more memory than a case may have."""
    np.ones(3 * 1024**3, dtype=np.uint8)
