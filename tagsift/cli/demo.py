"""``tagsift demo``: the main job on the bundled corpus."""

from __future__ import annotations

import tagsift

__all__ = ["EXAMPLE", "run"]

EXAMPLE = "tagsift demo"


def run() -> None:
    """Corrupt, fit, recover, tag and score on the bundled corpus."""
    tagsift.methods()
