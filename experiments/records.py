"""Records: one JSON line a cell, in one file or in one file for each task and method.

A record holds ``key``, ``config`` (everything that decides its scores), ``versions``,
``command``, what the experiment found (``scores``, ``settings`` and the like),
``warnings`` and ``time``: seconds and memory, the only part in which two runs differ. A
cell that failed holds ``error`` instead of scores. A line is added as soon as its cell
is finished; of two lines with the same key the later one counts.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from tagsift.errors import DataError
from tagsift.storage import atomic_write

#: A record as it stands in its file, and records by their keys.
Record: TypeAlias = dict[str, Any]
Found: TypeAlias = Mapping[str, Record]


def pick(record: Mapping[str, Any], *places: str) -> list[Any]:
    """Values at places such as ``"scores.span_f1"``; None where there is none."""
    found = []
    for place in places:
        part: Any = record
        for name in place.split("."):
            part = (part or {}).get(name)
        found.append(part)
    return found


def is_done(
    record: Record | None, config: Mapping[str, Any], *, retry_failed: bool = False
) -> bool:
    """Tell whether a cell needs no run: its record is there and is about the same."""
    if record is None or record["config"] != json.loads(json.dumps(config)):
        return False
    return not (retry_failed and "error" in record)


class Records:
    """The records of an experiment: a ``.jsonl`` file, or a folder of such files.

    In a folder each task and method has a file. There need be none yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.single = path.suffix == ".jsonl"

    def load(self) -> dict[str, Record]:
        """Read all records, by their keys."""
        return {
            key: json.loads(line)
            for path in self._files()
            for key, line in _lines(path).items()
        }

    def add(self, record: Mapping[str, Any]) -> None:
        """Write one record behind the others of its file, for good."""
        line = json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"
        path = self.path
        if not self.single:
            path /= "-".join(str(record["key"]).split("/")[:2]) + ".jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(path, "ab", buffering=0) as stream:
                stream.write(line.encode())
                os.fsync(stream.fileno())
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise DataError(f"cannot write the record ({reason}).", path) from error

    def tidy(self) -> None:
        """Sort every file by keys; drop what a killed run left unfinished."""
        for path in self._files():
            found = _lines(path)
            text = "".join(f"{found[key]}\n" for key in sorted(found))
            if path.read_text("utf-8") != text:
                with atomic_write(path) as stream:
                    stream.write(text)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Keep other runs away from the folder, until the block or process ends."""
        folder = self.path.parent if self.single else self.path
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / ".lock", "w", encoding="utf-8") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise DataError(
                    "another run works in this folder; wait for its end, or give "
                    "another place with --records.",
                    folder,
                ) from error
            yield

    def _files(self) -> list[Path]:
        if self.single:
            return [self.path] if self.path.exists() else []
        return sorted(self.path.rglob("*.jsonl"))


def _lines(path: Path) -> dict[str, str]:
    """Lines of a file by their keys, without a last one that has no end."""
    lines = path.read_text("utf-8").split("\n")
    found = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            if number == len(lines):
                break  # a killed run was writing it
            raise DataError(f"not valid JSON ({error}).", path, number) from error
        if not isinstance(record, dict) or not {"key", "config"} <= record.keys():
            raise DataError(
                "expected a record with a key and a config, found something else; "
                "remove the line and run again.",
                path,
                number,
            )
        found[str(record["key"])] = line
    return found
