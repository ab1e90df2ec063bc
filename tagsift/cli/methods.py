"""``tagsift methods``: every method with its family, settings and source."""

from __future__ import annotations

import tagsift
from tagsift.cli._options import Json
from tagsift.cli._output import draw_rows, print_json

__all__ = ["EXAMPLE", "NEEDS_ARGUMENTS", "PLACE", "run"]

PLACE = 90
NEEDS_ARGUMENTS = False
EXAMPLE = "tagsift methods --json"


def run(json: Json = False) -> None:
    """List every method with its family, settings and source."""
    found = tagsift.methods()
    if json:
        print_json([method.as_dict() for method in found])
        return
    columns = ("name", "family", "candidates", "chain", "prob.", "settings", "source")
    draw_rows(
        "Methods (--method NAME)",
        dict.fromkeys(columns, ""),
        (
            (
                method.name,
                method.family,
                "none: exact labels" if method.exact_only else method.disambiguation,
                "yes" if method.structured else "no",
                "yes" if method.probabilities else "no",
                method.settings,
                method.source,
            )
            for method in found
        ),
    )
