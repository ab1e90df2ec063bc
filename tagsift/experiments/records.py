"""Records: one JSON object a cell, written at once and whole; and their compact form.

A record holds ``config`` (everything that decides its scores), ``scores``,
``decoders``, ``recovery``, ``settings`` (what was tuned), ``warnings``, ``versions``
and ``time``: seconds and memory, the only part in which two runs differ. A cell that
failed holds ``error`` instead of scores. A run writes one file a cell; `compact` joins
them into one file of JSON lines for each task and method. `load` reads both.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tagsift.errors import DataError
from tagsift.storage import atomic_write

__all__ = [
    "Record",
    "compact",
    "find",
    "is_done",
    "key_of",
    "load",
    "timeless",
    "write",
]

#: A record as it stands in its file.
Record = dict[str, Any]


def key_of(record: Mapping[str, Any]) -> str:
    """Return the name of the cell that a record is about."""
    return str(record["key"])


def timeless(record: Mapping[str, Any]) -> Record:
    """Return a record without what differs from run to run."""
    return {name: value for name, value in record.items() if name != "time"}


def write(folder: Path, record: Mapping[str, Any]) -> None:
    """Write one record as a file of its own, whole or not at all.

    Parameters
    ----------
    folder : Path
        Folder of the records; the key says where below it.
    record : mapping
        JSON-able.
    """
    path = folder / f"{key_of(record)}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as stream:
        stream.write(_line(record))


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"


def load(folder: Path) -> dict[str, Record]:
    """Read all records below a folder, single files and JSON lines, by their keys.

    Parameters
    ----------
    folder : Path
        Where to look; there need be none. A single file wins over a line of the same
        key.
    """
    found: dict[str, Record] = {}
    for record in _read_all(folder):
        found[key_of(record)] = record
    return found


def _read_all(folder: Path) -> Iterator[Record]:
    for path in sorted(folder.rglob("*.jsonl")):
        for number, text in enumerate(path.read_text("utf-8").splitlines(), 1):
            if text.strip():
                yield _parse(text, path, number)
    for path in sorted(folder.rglob("*.json")):
        yield _parse(path.read_text("utf-8"), path, None)


def _parse(text: str, path: Path, line: int | None) -> Record:
    try:
        record = json.loads(text)
    except ValueError as error:
        raise DataError(f"not valid JSON ({error}).", path, line) from error
    if not isinstance(record, dict) or not {"key", "config"} <= record.keys():
        raise DataError(
            "expected a record with a key and a config, found something else; remove "
            "the file and run again.",
            path,
            line,
        )
    return record


def find(folder: Path, key: str) -> Record | None:
    """Read one record by its key, from its own file or from a compact one."""
    path = folder / f"{key}.json"
    if path.exists():
        return _parse(path.read_text("utf-8"), path, None)
    joined = folder / f"{_stem(key)}.jsonl"
    if joined.exists():
        for number, text in enumerate(joined.read_text("utf-8").splitlines(), 1):
            if f'"{key}"' in text:
                return _parse(text, joined, number)
    return None


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


def _stem(key: str) -> str:
    """Name of the compact file of a key: task and method."""
    return "-".join(key.split("/")[:2])


def compact(records: Iterable[Mapping[str, Any]], folder: Path) -> list[Path]:
    """Write records as JSON lines, one file for each task and method.

    Parameters
    ----------
    records : iterable of mappings
        What to write.
    folder : Path
        Where the files go; made where it is missing.

    Returns
    -------
    list of Path
        The files.
    """
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        groups.setdefault(_stem(key_of(record)), []).append(record)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for stem, members in sorted(groups.items()):
        path = folder / f"{stem}.jsonl"
        with atomic_write(path) as stream:
            stream.writelines(_line(r) for r in sorted(members, key=key_of))
        paths.append(path)
    return paths
