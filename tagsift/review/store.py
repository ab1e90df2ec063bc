"""Decisions and leases in one SQLite file: what was decided is never overwritten.

A decision is there, on the disk, when `Store.add` returns. To take one back is another
entry, which names it. The file belongs to one server at a time and to one text.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tagsift.data import Span
from tagsift.errors import DataError
from tagsift.io.column_file import PathName

__all__ = ["ANSWERS", "Decision", "Store", "is_store"]

#: Decisions that say what the labels are.
ANSWERS = ("accept", "relabel", "bounds", "none")

_FORMAT = 1
#: The last result, in parts of so many bytes (SQLite holds none of more than 10⁹).
_RESULT = "CREATE TABLE IF NOT EXISTS result (part INTEGER PRIMARY KEY, content BLOB)"
_PART = 2**26
_TABLES = (
    "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE decisions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        key TEXT NOT NULL UNIQUE,   -- the page makes it: sent twice, stored once
        time REAL NOT NULL,         -- seconds since 1970
        reviewer TEXT NOT NULL,
        sentence INTEGER NOT NULL,  -- counted from 0
        first INTEGER NOT NULL,     -- tokens that were judged
        beyond INTEGER NOT NULL,
        action TEXT NOT NULL,
        before TEXT NOT NULL,       -- spans that were there, as JSON
        after TEXT NOT NULL,        -- and those that hold now
        score REAL,                 -- chance of error when it was shown
        revision INTEGER NOT NULL,  -- of the fit it was shown by
        note TEXT,
        undoes INTEGER REFERENCES decisions (id)
    )""",
    "CREATE TABLE history (decisions INTEGER NOT NULL, expected REAL NOT NULL)",
    """CREATE TABLE leases (
        sentence INTEGER PRIMARY KEY, reviewer TEXT NOT NULL, until REAL NOT NULL
    )""",
    """CREATE TRIGGER kept BEFORE UPDATE ON decisions
        BEGIN SELECT RAISE(ABORT, 'a decision is never changed'); END""",
    """CREATE TRIGGER stays BEFORE DELETE ON decisions
        BEGIN SELECT RAISE(ABORT, 'a decision is never deleted'); END""",
)


@dataclass(frozen=True)
class Decision:
    """One entry of the store."""

    id: int
    key: str
    time: float
    reviewer: str
    sentence: int
    start: int
    end: int
    action: str
    before: tuple[Span, ...]
    after: tuple[Span, ...]
    score: float | None = None
    revision: int = 0
    note: str | None = None
    undoes: int | None = None

    @property
    def answers(self) -> bool:
        """Whether it says what the labels are."""
        return self.action in ANSWERS

    @property
    def changed(self) -> bool:
        """Whether the labels had been wrong."""
        return self.answers and self.before != self.after

    def as_dict(self) -> dict[str, Any]:
        """Everything as dicts, lists and numbers."""
        return vars(self) | {
            name: [one._asdict() for one in getattr(self, name)]
            for name in ("before", "after")
        }


class Store:
    """The file of one review."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._db = connection

    @classmethod
    def open(cls, path: PathName, fingerprint: str) -> Self:
        """Open the file of a review, or begin a new one.

        `fingerprint` tells the text; the file of another one is refused.
        """
        path = Path(path)
        with _complaining(path):
            db = sqlite3.connect(path, timeout=1, check_same_thread=False)
        try:
            with _complaining(path):
                db.isolation_level = None
                db.execute("PRAGMA locking_mode = EXCLUSIVE")
                names = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}
                if names and not {"about", "decisions"} <= names:
                    raise sqlite3.DatabaseError("other tables")
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = NORMAL")
                db.execute("BEGIN EXCLUSIVE")
                if not names:
                    _begin(db, fingerprint)
                db.execute(_RESULT)  # older stores have none
                db.execute("COMMIT")
                told = dict(db.execute("SELECT name, value FROM about"))
            if told.get("format") != str(_FORMAT):
                raise DataError("expected a review of this version of tagsift.", path)
            if told.get("text") != fingerprint:
                raise DataError(
                    "expected the review of this text, found that of another one; name "
                    "another file by --store.",
                    path,
                )
        except BaseException:
            db.close()
            raise
        return cls(path, db)

    def close(self) -> None:
        """Close the file; whoever opens it next goes on."""
        self._db.close()

    def decisions(self) -> Iterator[Decision]:
        """Yield everything that was ever decided, in order."""
        for row in self._db.execute(f"SELECT {_COLUMNS} FROM decisions ORDER BY id"):
            yield _decision(row)

    def keyed(self, key: str) -> Decision | None:
        """The decision that came with a key, if it did."""
        found = self._db.execute(
            f"SELECT {_COLUMNS} FROM decisions WHERE key = ?", (key,)
        ).fetchone()
        return None if found is None else _decision(found)

    def add(self, **fields: Any) -> Decision:
        """Keep a decision, with the fields of `Decision` but its number and time."""
        made = Decision(id=0, time=time.time(), **fields)
        values = (
            *(made.key, made.time, made.reviewer, made.sentence, made.start, made.end),
            *(made.action, json.dumps(made.before), json.dumps(made.after)),
            *(made.score, made.revision, made.note, made.undoes),
        )
        marks = ", ".join("?" * len(values))
        columns = _COLUMNS.removeprefix("id, ")
        with _complaining(self.path):
            self._db.execute("PRAGMA synchronous = FULL")  # on the disk, not on its way
            number = self._db.execute(
                f"INSERT INTO decisions ({columns}) VALUES ({marks})", values
            ).lastrowid
            self._db.execute("PRAGMA synchronous = NORMAL")
        assert number is not None
        return Decision(**(vars(made) | {"id": number}))

    def lease(self, sentences: Sequence[int], reviewer: str, until: float) -> None:
        """Lend sentences to a reviewer, or prolong it."""
        with self._db:
            self._db.execute("BEGIN")
            self._db.executemany(
                "INSERT INTO leases VALUES (?, ?, ?) ON CONFLICT (sentence) DO UPDATE "
                "SET reviewer = excluded.reviewer, until = excluded.until",
                [(s, reviewer, until) for s in sentences],
            )

    def release(self, sentences: Sequence[int]) -> None:
        """End leases."""
        with self._db:
            self._db.execute("BEGIN")
            self._db.executemany(
                "DELETE FROM leases WHERE sentence = ?", [(s,) for s in sentences]
            )

    def leases(self) -> dict[int, tuple[str, float]]:
        """To whom sentences are lent, and until when."""
        rows = self._db.execute("SELECT sentence, reviewer, until FROM leases")
        return {s: (reviewer, until) for s, reviewer, until in rows}

    def keep_result(self, about: str, content: bytes) -> None:
        """Put what a fit found in the place of what the last one did."""
        whole = memoryview(content)
        parts = [(whole[at : at + _PART],) for at in range(0, len(whole), _PART)]
        with _complaining(self.path), self._db:
            self._db.execute("BEGIN")
            self._db.execute("DELETE FROM result")
            self._db.executemany("INSERT INTO result (content) VALUES (?)", parts)
            self._db.execute("REPLACE INTO about VALUES ('result', ?)", (about,))

    def result(self) -> tuple[str, bytes]:
        """What `keep_result` was told last; empty where it never was."""
        rows = self._db.execute("SELECT content FROM result ORDER BY part")
        content = b"".join(row[0] for row in rows)
        about = self._db.execute("SELECT value FROM about WHERE name = 'result'")
        return (about.fetchone() or ("",))[0], content

    def remember(self, decisions: int, expected: float) -> None:
        """Note how many wrong labels were expected after so many decisions."""
        self._db.execute("INSERT INTO history VALUES (?, ?)", (decisions, expected))

    def history(self) -> list[tuple[int, float]]:
        """How the expected number of wrong labels went."""
        return list(self._db.execute("SELECT * FROM history ORDER BY rowid"))


def is_store(path: PathName) -> bool:
    """Whether a file is a database, such as the store of a review."""
    with suppress(OSError), open(path, "rb") as stream:
        return stream.read(16) == b"SQLite format 3\0"
    return False


_COLUMNS = (
    "id, key, time, reviewer, sentence, first, beyond, action, before, after, score, "
    "revision, note, undoes"
)


def _decision(row: Sequence[Any]) -> Decision:
    before, after = (tuple(Span(*one) for one in json.loads(x)) for x in row[8:10])
    told: list[Any] = [*row[:8], before, after, *row[10:]]
    return Decision(*told)


def _begin(db: sqlite3.Connection, fingerprint: str) -> None:
    for statement in _TABLES:
        db.execute(statement)
    told = [("format", str(_FORMAT)), ("text", fingerprint)]
    db.executemany("INSERT INTO about VALUES (?, ?)", told)


@contextmanager
def _complaining(path: Path) -> Iterator[None]:
    """One sentence for whatever keeps the file from being used."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise DataError(
                "another review has this store open; end it, or name another file by "
                "--store.",
                path,
            ) from error
        raise DataError(f"cannot use the store ({error}).", path) from error
    except sqlite3.DatabaseError as error:
        raise DataError(
            f"expected the store of a review, found something else ({error}); name "
            "another file by --store.",
            path,
        ) from error
