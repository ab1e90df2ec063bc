"""Files written whole or not at all, the container of model files, declared state."""

from __future__ import annotations

from tagsift.storage.container import (
    FORMAT_VERSION,
    add_prefix,
    parse_json,
    read_container,
    strip_prefix,
    write_container,
)
from tagsift.storage.files import atomic_write, check_writable

__all__ = [
    "FORMAT_VERSION",
    "add_prefix",
    "atomic_write",
    "check_writable",
    "parse_json",
    "read_container",
    "strip_prefix",
    "write_container",
]
