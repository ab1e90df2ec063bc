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

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, NamedTuple, TypeAlias

from tagsift.data.schemes import check_scheme, detect_scheme, is_tag
from tagsift.data.sentence import Corpus, Row, Sentence
from tagsift.errors import DataError, InputError
from tagsift.storage import atomic_write

__all__ = [
    "ANY",
    "Block",
    "PathName",
    "check_label",
    "decode_line",
    "iter_blocks",
    "iter_conll",
    "open_bytes",
    "read_conll",
    "read_text",
    "write_blocks",
    "write_conll",
]

PathName: TypeAlias = str | PathLike[str]

#: Stands for "any label" in candidate files and for "did not label" in vote files.
ANY = "?"
_DOCUMENT = "-DOCSTART-"
_BOM = "\ufeff"
_CHUNK = 1 << 20


class Block(NamedTuple):
    """The lines of one sentence: their numbers, counted from 1, and their cells."""

    lines: list[int]
    cells: list[list[str]]


def read_conll(
    path: PathName, *, scheme: str = "auto", comments: bool = False
) -> Corpus:
    """Read a column file whose last column is the gold label.

    Parameters
    ----------
    path : path-like
        The file.
    scheme : {"auto", "iob1", "iob2", "iobes", "plain"}
        How the labels are written; ``"auto"`` looks at them.
    comments : bool
        Skip lines that start with ``#`` and have no second column.

    Returns
    -------
    Corpus
        ``rows`` holds all columns but the last, ``labels`` the last.
    """
    if scheme != "auto":
        check_scheme(scheme)
    sentences = tuple(iter_conll(path, comments=comments, scheme=scheme))
    if scheme == "auto":
        scheme = detect_scheme(s.labels for s in sentences if s.labels is not None)
    return Corpus(sentences, scheme)


def iter_conll(
    path: PathName, *, comments: bool = False, scheme: str = "auto"
) -> Iterator[Sentence]:
    """Yield the sentences of a gold column file one by one.

    Parameters
    ----------
    path : path-like
        The file.
    comments : bool
        Skip lines that start with ``#`` and have no second column.
    scheme : {"auto", "iob1", "iob2", "iobes", "plain"}
        Labels that are not of this scheme are refused; ``"auto"`` takes all.

    Yields
    ------
    Sentence
    """
    known: dict[str, str] = {}
    for block in iter_blocks(path, comments=comments, columns=2):
        labels = []
        for position, cells in enumerate(block.cells):
            raw = cells.pop()
            label = known.get(raw)
            if label is None:
                check_label(raw, path, block.lines[position], scheme)
                label = known[raw] = raw
            labels.append(label)
        yield Sentence(tuple(map(tuple, block.cells)), tuple(labels))


def read_text(path: PathName, *, comments: bool = False) -> list[list[Row]]:
    """Read a column file without labels: the text to tag.

    Parameters
    ----------
    path : path-like
        The file; an empty one is an empty text.
    comments : bool
        Skip lines that start with ``#`` and have no second column.

    Returns
    -------
    list of lists of tuples of str
        Sentences of rows.
    """
    return [
        [tuple(cells) for cells in block.cells]
        for block in iter_blocks(path, comments=comments, allow_empty=True)
    ]


def write_conll(path: PathName, corpus: Corpus) -> None:
    """Write a corpus as a column file, label last, whole or not at all.

    Parameters
    ----------
    path : path-like
        The file.
    corpus : Corpus
        Every sentence needs labels.
    """
    for sentence, labels in enumerate(corpus.labels):
        for token, label in enumerate(labels):
            problem = _label_problem(label)
            if problem is not None:
                raise InputError(
                    f"sentence {sentence}, token {token}: expected {problem}, found "
                    f"{label!r}."
                )
    write_blocks(
        path,
        (
            [[*row, label] for row, label in zip(rows, labels, strict=True)]
            for rows, labels in zip(corpus.rows, corpus.labels, strict=True)
        ),
    )


def check_label(
    label: str, path: PathName, line: int, scheme: str = "auto", *, hint: str = ""
) -> None:
    """Refuse what cannot be one label, naming file and line."""
    problem = _label_problem(label)
    if problem is None and scheme != "auto" and not is_tag(label, scheme):
        problem = f"a tag of the scheme {scheme}"
    if problem is not None:
        if not hint and ("|" in label or label == ANY):
            hint = "candidate sets are read with read_partial, votes with read_votes"
        tail = f"; {hint}." if hint else "."
        raise DataError(f"expected {problem}, found {label!r}{tail}", path, line)


def _label_problem(label: str) -> str | None:
    """What a label should have been, or None if it is one."""
    if not label:
        return "a label"
    if "|" in label:
        return "one label without '|'"
    if label == ANY:
        return "a label ('?' stands for any label)"
    if label != label.strip():
        return "a label without white space around it"
    return None


def iter_blocks(
    path: PathName,
    *,
    comments: bool = False,
    columns: int = 1,
    allow_empty: bool = False,
) -> Iterator[Block]:
    """Yield the sentences of a column file as lists of cells.

    Parameters
    ----------
    path : path-like
        The file.
    comments : bool
        Skip lines that start with ``#`` and have no second column.
    columns : int
        The least number of columns.
    allow_empty : bool
        Whether a file without tokens is accepted.

    Yields
    ------
    Block
    """
    width = 0
    first_line = 0
    lines: list[int] = []
    rows: list[list[str]] = []
    with open_bytes(path) as stream:
        split, separator = _splitter(stream)
        for number, raw in enumerate(stream, 1):
            line = decode_line(raw, path, number)
            if not line or not line.strip(" \t"):
                if rows:
                    yield Block(lines, rows)
                    lines, rows = [], []
                continue
            cells = split(line)
            if cells[0] == _DOCUMENT:
                if rows:
                    yield Block(lines, rows)
                    lines, rows = [], []
                continue
            if comments and line[0] == "#" and len(cells) == 1:
                continue
            if len(cells) != width:
                if width:
                    raise DataError(
                        f"expected {_columns(width)} as in line {first_line}, found "
                        f"{len(cells)}; columns are separated by {separator} "
                        "throughout the file.",
                        path,
                        number,
                    )
                width, first_line = len(cells), number
                if width < columns:
                    raise DataError(
                        f"expected at least {_columns(columns)}, found {width}; the "
                        f"token comes first and the label last, separated by "
                        f"{separator}.",
                        path,
                        number,
                    )
            if "" in cells:
                raise DataError(
                    f"expected {_columns(width)} with something in each, found column "
                    f"{cells.index('') + 1} empty.",
                    path,
                    number,
                )
            lines.append(number)
            rows.append(cells)
        if rows:
            yield Block(lines, rows)
    if not width and not allow_empty:
        raise DataError(
            "expected at least one token, found an empty file; give a file with one "
            "token per line.",
            path,
        )


def _columns(count: int) -> str:
    return f"{count} column" if count == 1 else f"{count} columns"


@contextmanager
def open_bytes(path: PathName) -> Iterator[IO[bytes]]:
    """Open for reading bytes from the start, with one sentence for what goes wrong."""
    source = Path(path)
    if source.is_dir():
        raise DataError("expected a file, found a directory.", path)
    try:
        with source.open("rb") as stream:
            yield stream if stream.seekable() else io.BytesIO(stream.read())
    except FileNotFoundError as error:
        raise DataError("expected a file, found none of this name.", path) from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"cannot read the file ({reason}).", path) from error


def _splitter(stream: IO[bytes]) -> tuple[Callable[[str], list[str]], str]:
    """Look for a TAB anywhere in the file; return how to split, and its name."""
    found = any(b"\t" in chunk for chunk in iter(lambda: stream.read(_CHUNK), b""))
    stream.seek(0)
    return (_split_tabs, "TABs") if found else (_split_spaces, "spaces")


def _split_tabs(line: str) -> list[str]:
    return line.split("\t")


def _split_spaces(line: str) -> list[str]:
    cells = line.split(" ")
    return [cell for cell in cells if cell] if "" in cells else cells


def decode_line(raw: bytes, path: PathName, number: int) -> str:
    """Text of one line without its end."""
    if b"\0" in raw:
        raise DataError(
            "expected text, found a NUL byte; save the file as plain UTF-8.",
            path,
            number,
        )
    try:
        line = raw.decode()
    except UnicodeDecodeError as error:
        raise DataError(
            f"expected UTF-8 text, found the byte 0x{raw[error.start]:02x} at position "
            f"{error.start + 1}; save the file as UTF-8.",
            path,
            number,
        ) from error
    if number == 1 and line.startswith(_BOM):
        line = line[1:]
    return line.rstrip("\r\n")


def write_blocks(path: PathName, sentences: Iterable[Sequence[Sequence[str]]]) -> None:
    """Write sentences of cells as a column file that `iter_blocks` reads back.

    Parameters
    ----------
    path : path-like
        The file, written whole or not at all.
    sentences : iterable of sentences
        Each a sequence of rows of cells, at least two cells a row and the same number
        in all rows.
    """
    width = 0
    with atomic_write(path) as stream:
        for number, rows in enumerate(sentences):
            if not rows:
                raise InputError(
                    f"sentence {number} is empty, which a column file cannot hold; "
                    "leave it out."
                )
            for token, cells in enumerate(rows):
                width = width or len(cells)
                problem = _cell_problem(cells, width)
                if problem is not None:
                    raise InputError(f"sentence {number}, token {token}: {problem}")
            text = "\n".join("\t".join(cells) for cells in rows)
            if number == 0 and text.startswith(_BOM):
                stream.write(_BOM)
            stream.write(text + "\n\n")
        if not width:
            raise InputError("expected at least one sentence to write, found none.")


def _cell_problem(cells: Sequence[str], width: int) -> str | None:
    """Why a row cannot be written, or None if it can."""
    if len(cells) != width or width < 2:
        return f"expected {_columns(max(width, 2))}, found {len(cells)}."
    if cells[0] == _DOCUMENT:
        return f"expected a token, found {_DOCUMENT!r}, which readers skip."
    joined = "".join(cells)
    if "" in cells or any(sign in joined for sign in "\t\n\r\0"):
        return f"expected cells without TAB, line end or NUL, found {list(cells)!r}."
    if not joined.isascii() and any("\ud800" <= sign <= "\udfff" for sign in joined):
        return f"expected text that UTF-8 can hold, found {list(cells)!r}."
    return None
