"""The kinds of cases, and how often each is drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.fuzz import faults
from tests.fuzz.dice import Dice
from tests.fuzz.files import column_files, command_lines, exchange_formats
from tests.fuzz.matrices import feature_matrices, vote_matrices
from tests.fuzz.model_files import model_files

KINDS: dict[str, tuple[Callable[[Dice, Path], None], int]] = {
    "columns": (column_files, 3),
    "formats": (exchange_formats, 6),
    "arguments": (command_lines, 3),
    "models": (model_files, 4),
    "features": (feature_matrices, 3),
    "votes": (vote_matrices, 2),
    # Never drawn; they show that the harness notices.
    "crash": (faults.crash, 0),
    "endless": (faults.endless, 0),
    "asleep": (faults.asleep, 0),
    "large": (faults.large, 0),
}
