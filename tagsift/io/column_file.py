r"""Column files: one token a line, a blank line after each sentence.

Columns are separated by one TAB or, in a file that has no TAB at all, by spaces. Lines
whose first column is ``-DOCSTART-`` are skipped. ``#`` is a token like any other; with
``comments=True`` a line that starts with ``#`` and has no second column is a comment.
Text is used as given: no Unicode normalisation, and only LF ends a line (a CR before it
is dropped, as is a byte-order mark at the start of the file).

The readers stream: a sentence is made as soon as its last line is read. A bad line
stops them with file, line, what was expected and what was found.
"""

from __future__ import annotations

import gzip
import io
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import IO, NamedTuple, TypeAlias

from tagsift.errors import DataError, InputError
from tagsift.storage import atomic_write
from tagsift.visible import count

__all__ = [
    "Block",
    "ColumnFile",
    "Part",
    "PathName",
    "STANDARD",
    "column_lines",
    "decode_line",
    "located",
    "open_bytes",
    "open_part",
    "parts_of",
    "write_blocks",
]

PathName: TypeAlias = str | PathLike[str]

#: The path that stands for standard input or output.
STANDARD = "-"
_DOCUMENT = "-DOCSTART-"
_BOM = "\ufeff"
_CHUNK = 1 << 20


class Block(NamedTuple):
    """The lines of one sentence: their numbers, counted from 1, and their columns."""

    lines: list[int]
    columns: list[tuple[str, ...]]


class Part(NamedTuple):
    """Some whole sentences of a file."""

    start: int  # the first byte
    stop: int  # the byte after the last
    line: int  # number of the first line


@dataclass
class ColumnFile:
    """A column file, read sentence by sentence."""

    path: PathName
    comments: bool = False  # skip lines that start with ``#`` and have no second column
    header: bool = False  # the first line, blank ones and comments apart, has names
    least: int = 1  # number of columns
    allow_empty: bool = False
    part: Part | None = None  # which bytes of the file; all by default
    names: list[str] = field(default_factory=list, init=False)  # cells of the header
    tabs: bool = field(default=False, init=False)  # known while reading
    _width: int = field(default=0, init=False)
    _first_line: int = field(default=0, init=False)

    def __iter__(self) -> Iterator[Block]:
        """Yield the sentences as lists of cells."""
        lines: list[int] = []
        rows: list[list[str]] = []
        first = 1 if self.part is None else self.part.line
        with open_part(self.path, self.part) as stream:
            split = self._splitter(stream)
            for number, raw in enumerate(stream, first):
                line = decode_line(raw, self.path, number)
                if "\r" in line:
                    raise DataError(
                        "expected lines that end with LF or CR LF, found a CR inside; "
                        "save the file with the line ends of Unix or Windows.",
                        self.path,
                        number,
                    )
                cells = split(line) if line and line.strip(" \t") else [_DOCUMENT]
                if cells[0] == _DOCUMENT:
                    if rows:
                        yield Block(lines, list(zip(*rows, strict=True)))
                        lines, rows = [], []
                    continue
                if self.comments and line[0] == "#" and len(cells) == 1:
                    continue
                if len(cells) != self._width or "" in cells:
                    with located(self.path, number):
                        self._check_row(cells, number)
                if self.header and not self.names:
                    self.names = cells
                    continue
                lines.append(number)
                rows.append(cells)
            if rows:
                yield Block(lines, list(zip(*rows, strict=True)))
        if not self._width and not self.allow_empty:
            raise DataError(
                "expected at least one token, found an empty file; give a file with "
                "one token per line.",
                self.path,
            )

    def _splitter(self, stream: IO[bytes]) -> Callable[[str], list[str]]:
        """Look for a TAB anywhere in the file, and choose how to split."""
        chunks = iter(lambda: stream.read(_CHUNK), b"")
        self.tabs = any(b"\t" in chunk for chunk in chunks)
        stream.seek(0)
        return (lambda line: line.split("\t")) if self.tabs else _split_spaces

    def _check_row(self, cells: list[str], number: int) -> None:
        """Refuse a row of another width than the first, or with nothing in a cell."""
        separator = "TABs" if self.tabs else "spaces"
        if not self._width:
            self._width, self._first_line = len(cells), number
        if len(cells) != self._width:
            raise DataError(
                f"expected {count(self._width, 'column')} as in line "
                f"{self._first_line}, found {len(cells)}; columns are separated by "
                f"{separator} throughout the file."
            )
        if len(cells) < self.least:
            raise DataError(
                f"expected at least {count(self.least, 'column')}, found {len(cells)}; "
                f"the token comes first and the label last, separated by {separator}."
            )
        if "" in cells:
            raise DataError(
                f"expected {count(self._width, 'column')} with something in each, "
                f"found column {cells.index('') + 1} empty; write ? for a vote that "
                "was not given, O for a token outside all spans, - for no feature."
            )


@contextmanager
def located(path: PathName, line: int | None = None) -> Iterator[None]:
    """Add the file and the line to an error that does not name them."""
    try:
        yield
    except DataError as error:
        raise DataError(error.message, path, line) from error.__cause__


@contextmanager
def open_bytes(path: PathName) -> Iterator[IO[bytes]]:
    """Open for reading bytes, twice if need be, and say what goes wrong.

    A gzipped file is told by its name, and ``-`` is standard input.
    """
    source = Path(path)
    if source.is_dir():
        raise DataError("expected a file, found a directory.", path)
    try:
        if str(path) == STANDARD:
            with _kept(sys.stdin.buffer) as stream:
                yield stream
            return
        with source.open("rb") as stream:
            if source.suffix == ".gz":
                with gzip.open(stream) as unpacked:
                    yield unpacked  # type: ignore[misc]
            elif stream.seekable():
                yield stream
            else:
                with _kept(stream) as kept:
                    yield kept
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        sentence = f"expected a whole gzip file, found a damaged one ({error})."
        raise DataError(sentence, path) from None
    except FileNotFoundError as error:
        raise DataError("expected a file, found none of this name.", path) from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"cannot read the file ({reason}).", path) from error


@contextmanager
def open_part(path: PathName, part: Part | None) -> Iterator[IO[bytes]]:
    """Open some bytes of a file, or all of them."""
    with open_bytes(path) as stream:
        if part is None:
            yield stream
            return
        stream.seek(part.start)
        yield io.BytesIO(stream.read(part.stop - part.start))


def parts_of(path: PathName, n_tokens: int) -> Iterator[Part]:
    """Cut a column file into parts of about so many lines each, between sentences."""
    start = stop = lines = 0
    first = 1
    with open_bytes(path) as stream:
        for number, raw in enumerate(stream, 1):
            stop += len(raw)
            if raw.strip(b" \t\r\n"):
                lines += 1
            elif lines >= n_tokens:
                yield Part(start, stop, first)
                start, lines, first = stop, 0, number + 1
    if lines:
        yield Part(start, stop, first)


@contextmanager
def _kept(stream: IO[bytes]) -> Iterator[IO[bytes]]:
    """What comes through a pipe, on the disk."""
    with tempfile.SpooledTemporaryFile(max_size=_CHUNK) as kept:
        shutil.copyfileobj(stream, kept)
        kept.seek(0)
        yield kept


def _split_spaces(line: str) -> list[str]:
    cells = line.split(" ")
    return [cell for cell in cells if cell] if "" in cells else cells


def decode_line(raw: bytes, path: PathName, number: int) -> str:
    """Text of one line without its end."""
    if b"\0" in raw:
        sentence = "expected text, found a NUL byte; save the file as plain UTF-8."
        raise DataError(sentence, path, number)
    try:
        line = raw.decode()
    except UnicodeDecodeError as error:
        found = f"the byte 0x{raw[error.start]:02x} at position {error.start + 1}"
        raise DataError(
            f"expected UTF-8 text, found {found}; save the file as UTF-8.", path, number
        ) from error
    return (line.removeprefix(_BOM) if number == 1 else line).rstrip("\r\n")


def write_blocks(
    path: PathName,
    sentences: Iterable[Sequence[Sequence[str]]],
    last: Iterable[Sequence[str]] | None = None,
) -> None:
    """Write a column file, whole or not at all; `last` is one more column."""
    if last is not None:
        sentences = (
            [[*row, label] for row, label in zip(rows, labels, strict=True)]
            for rows, labels in zip(sentences, last, strict=True)
        )
    with atomic_write(path) as stream:
        stream.writelines(column_lines(sentences))


def column_lines(
    sentences: Iterable[Sequence[Sequence[str]]],
    *,
    allow_empty: bool = False,
    least: int = 2,
) -> Iterator[str]:
    """Yield the text of a column file of at least so many columns.

    With `allow_empty`, no sentences are no text, and one without tokens a blank line.
    """
    width = 0
    for number, rows in enumerate(sentences):
        if not rows and not allow_empty:
            raise InputError(
                f"sentence {number} is empty, which a column file cannot hold; leave "
                "it out."
            )
        for token, cells in enumerate(rows):
            width = width or len(cells)
            problem = _cell_problem(cells, width, least)
            if problem is not None:
                raise InputError(f"sentence {number}, token {token}: {problem}")
        text = "\n".join("\t".join(cells) for cells in rows)
        mark = _BOM if number == 0 and text.startswith(_BOM) else ""
        yield f"{mark}{text}\n\n" if rows else "\n"
    if not width and not allow_empty:
        raise InputError("expected at least one sentence to write, found none.")


def _cell_problem(cells: Sequence[str], width: int, least: int) -> str | None:
    """Why a row cannot be written, or None if it can."""
    if len(cells) != width or width < least:
        return f"expected {count(max(width, least), 'column')}, found {len(cells)}."
    if cells[0] == _DOCUMENT:
        return f"expected a token, found {_DOCUMENT!r}, which readers skip."
    joined = "".join(cells)
    if "" in cells or any(sign in joined for sign in "\t\n\r\0"):
        return f"expected cells without TAB, line end or NUL, found {list(cells)!r}."
    if not joined.isascii() and any("\ud800" <= sign <= "\udfff" for sign in joined):
        return f"expected text that UTF-8 can hold, found {list(cells)!r}."
    return None
