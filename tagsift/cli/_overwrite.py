"""Results that would take the place of what is read, or of each other, are refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from tagsift.errors import InputError

__all__ = ["check_apart"]

#: Options that name a file to write, and those that name a file by text.
_WRITTEN, _NAMED = ("out", "html"), ("text", "exact")


def check_apart(options: Mapping[str, Any], renews: Collection[str] = ()) -> None:
    """Refuse to write where a verb reads, but for the files that it `renews`."""
    written = [(n, options[n]) for n in _WRITTEN if isinstance(options.get(n), Path)]
    for name, value in options.items():
        if name in _WRITTEN or name in renews:
            continue
        for read in value if isinstance(value, list) else [value]:
            path = Path(read) if name in _NAMED and isinstance(read, str) else read
            for _, result in written:
                if isinstance(path, Path) and path.is_file() and _same(path, result):
                    raise InputError(
                        f"{result}: this file is read, and what is written would take "
                        "its place; give another name."
                    )
    if len(written) > 1 and _same(written[0][1], written[1][1]):
        raise InputError(
            f"--html and --out name the same file, {written[0][1]}; give two names."
        )


def _same(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return one.samefile(other)
    return one.resolve() == other.resolve()
