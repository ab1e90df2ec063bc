"""JSON and JSON lines: hostile until read whole, written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from tagsift.data.columns import PathName, decode_line, open_bytes
from tagsift.errors import DataError
from tagsift.storage import atomic_write

__all__ = ["iter_json_lines", "parse_json", "write_json_lines"]


def iter_json_lines(path: PathName) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line numbers and objects of a file of JSON lines; skip blank lines."""
    empty = True
    with open_bytes(path) as stream:
        for number, raw in enumerate(stream, 1):
            line = decode_line(raw, path, number)
            if not line.strip():
                continue
            record = parse_json(line, path, number)
            if not isinstance(record, dict):
                raise DataError(
                    f"expected a JSON object, found {type(record).__name__}.",
                    path,
                    number,
                )
            empty = False
            yield number, record
    if empty:
        raise DataError("expected one JSON object per line, found an empty file.", path)


def parse_json(text: str, path: PathName, line: int | None = None) -> Any:
    """Read JSON whose strings UTF-8 can hold."""
    try:
        value = json.loads(text)
        if "\\ud" in text.lower():  # half of a character can be escaped, not written
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"expected text that UTF-8 can hold, found half of a character "
            f"({error.object[error.start]!r}).",
            path,
            line,
        ) from None
    except (ValueError, RecursionError) as error:
        what = "JSON" if line is None else "one JSON object per line"
        raise DataError(
            f"expected {what}, found what is no JSON ({error}).", path, line
        ) from None
    return value


def write_json_lines(path: PathName, records: Iterable[dict[str, Any]]) -> None:
    """Write one JSON object a line, whole or not at all."""
    with atomic_write(path) as stream:
        for record in records:
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")
