"""Word vectors on disk, found again by the content they were computed from.

One SQLite file, ``vectors.sqlite3``, in the folder named by the environment variable
``TAGSIFT_CACHE``, or else in the user's cache folder (``~/.cache/tagsift`` on Linux).
It holds hashes and vectors, no text. It can be moved, copied, and deleted at any time.
A cache that cannot be read or written is reported once and done without.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from os import PathLike
from pathlib import Path

import numpy as np

from tagsift.errors import TagsiftWarning
from tagsift.progress import warn_user
from tagsift.typing import Float32Array

__all__ = ["VectorCache", "cache_folder", "clear_cache"]

_FILE = "vectors.sqlite3"
_TABLE = (
    "CREATE TABLE IF NOT EXISTS vectors "
    "(key BLOB PRIMARY KEY, width INTEGER, data BLOB) WITHOUT ROWID"
)
_SELECT = "SELECT width, data FROM vectors WHERE key = ?"
_INSERT = "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)"


def cache_folder(cache_dir: str | PathLike[str] | None = None) -> Path:
    """Folder of the cache: `cache_dir`, else ``TAGSIFT_CACHE``, else the user's."""
    chosen = cache_dir or os.environ.get("TAGSIFT_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local or Path.home() / "AppData" / "Local") / "tagsift" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tagsift"
    shared = os.environ.get("XDG_CACHE_HOME")
    return Path(shared or Path.home() / ".cache") / "tagsift"


def clear_cache(cache_dir: str | PathLike[str] | None = None) -> int:
    """Delete the cached word vectors; return the bytes set free."""
    freed = 0
    for name in (_FILE, f"{_FILE}-journal"):
        path = cache_folder(cache_dir) / name
        if path.is_file():
            freed += path.stat().st_size
            path.unlink()
    return freed


class VectorCache:
    """Arrays of word vectors by key; without a folder nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def read(self, keys: Sequence[bytes]) -> dict[bytes, Float32Array]:
        found: dict[bytes, Float32Array] = {}
        if self.folder is None or not (self.folder / _FILE).is_file():
            return found
        path = self.folder / _FILE
        with (
            self._forgiving("read"),
            closing(sqlite3.connect(path, timeout=60)) as database,
        ):
            for key in dict.fromkeys(keys):
                for width, data in database.execute(_SELECT, (key,)):
                    flat = np.frombuffer(data, dtype="<f4")  # [T·D]
                    found[key] = flat.reshape(-1, width)  # [T, D]
        return found

    def write(self, vectors: Mapping[bytes, Float32Array]) -> None:
        if self.folder is None or not vectors:
            return
        with self._forgiving("write"):
            self.folder.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.folder / _FILE, timeout=60)) as database:
                database.execute(_TABLE)
                for key, array in vectors.items():  # [T, D]
                    row = key, array.shape[1], array.astype("<f4").tobytes()
                    database.execute(_INSERT, row)
                database.commit()

    @contextmanager
    def _forgiving(self, verb: str) -> Iterator[None]:
        """Where the work fails, say why, once, and go on without a cache."""
        try:
            yield
        except (OSError, sqlite3.Error, ValueError, TypeError) as error:
            warn_user(
                f"cannot {verb} the cache of word vectors in {self.folder} ({error}); "
                "going on without it. Set TAGSIFT_CACHE to another folder, or delete "
                f"{_FILE} there.",
                TagsiftWarning,
            )
            self.folder = None
