"""What the experiments with cells share: their records, and what a command does."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tagsift.storage import atomic_write


class Records:
    """The records of a run: one JSON line a cell, rewritten whole at every change.

    Parameters
    ----------
    path : Path
        The file; there need be none.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: dict[str, dict[str, Any]] = {}
        if path.exists():
            for line in path.read_text("utf-8").splitlines():
                record = json.loads(line)
                self.found[record["key"]] = record

    def add(self, record: dict[str, Any]) -> None:
        """Keep a record, on disk too."""
        self.found[record["key"]] = record
        self.write()

    def write(self) -> None:
        """Write the file, sorted by keys."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(self.path) as stream:
            for key in sorted(self.found):
                stream.write(json.dumps(self.found[key], ensure_ascii=False) + "\n")


def choose(cells: list[Any], conditions: list[str]) -> list[Any]:
    """Keep the cells that meet all conditions, such as ``task=ner`` or ``fold=0,1``."""
    for condition in conditions:
        name, _, values = condition.partition("=")
        wanted = values.lower().split(",")
        cells = [cell for cell in cells if str(getattr(cell, name)).lower() in wanted]
    return cells


def carry_out(
    parser: argparse.ArgumentParser,
    options: argparse.Namespace,
    cells: list[Any],
    run: Callable[[argparse.Namespace, list[Any]], None],
    tables: Callable[[dict[str, dict[str, Any]]], str],
) -> int:
    """Run the cells that are asked for, and print and write the tables.

    With ``--show`` nothing is run or written.
    """
    if options.out is None or (options.data is None and not options.show):
        parser.error("give --data (folder of the corpora) and --out (the records)")
    if not options.show:
        run(options, choose(cells, options.only))
    text = tables(Records(options.out).found)
    print(text)
    if not options.show:
        with atomic_write(options.out.with_suffix(".md")) as stream:
            stream.write(text)
    return 0
