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
from typing import Any

from tagsift.errors import DataError
from tagsift.storage import atomic_write

#: A record as it stands in its file.
Record = dict[str, Any]


def timeless(record: Mapping[str, Any]) -> Record:
    """Return a record without what differs from run to run."""
    return {name: value for name, value in record.items() if name != "time"}


def is_done(
    record: Mapping[str, Any] | None,
    config: Mapping[str, Any],
    *,
    retry_failed: bool = False,
) -> bool:
    """Tell whether a cell needs no run: its record is there and is about the same.

    Parameters
    ----------
    record : mapping or None
        What was found.
    config : mapping
        What would be run now.
    retry_failed : bool
        Whether a cell that failed is run again.
    """
    if record is None or record["config"] != json.loads(json.dumps(config)):
        return False
    return not (retry_failed and "error" in record)


class Records:
    """The records of an experiment on disk.

    Parameters
    ----------
    path : Path
        A file of JSON lines (``.jsonl``), or a folder with one such file for each task
        and method. There need be none yet.
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
        path = self._file_of(str(record["key"]))
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

    def _file_of(self, key: str) -> Path:
        if self.single:
            return self.path
        return self.path / ("-".join(key.split("/")[:2]) + ".jsonl")


def _lines(path: Path) -> dict[str, str]:
    """Lines of a file by their keys, without a last one that has no end."""
    *whole, last = path.read_text("utf-8").split("\n")
    if last:
        try:
            json.loads(last)
            whole.append(last)
        except ValueError:
            pass  # a killed run was writing it
    found = {}
    for number, line in enumerate(whole, 1):
        if line.strip():
            found[_key(line, path, number)] = line
    return found


def _key(line: str, path: Path, number: int) -> str:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise DataError(f"not valid JSON ({error}).", path, number) from error
    if not isinstance(record, dict) or not {"key", "config"} <= record.keys():
        raise DataError(
            "expected a record with a key and a config, found something else; remove "
            "the line and run again.",
            path,
            number,
        )
    return str(record["key"])
