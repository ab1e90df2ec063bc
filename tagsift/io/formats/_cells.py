"""Cells of tables in text: delimiters, quotation marks, line ends."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import IO, Any, NamedTuple

from tagsift.errors import DataError
from tagsift.io.column_file import STANDARD, PathName, decode_line
from tagsift.io.formats._format import Options

__all__ = ["Table", "first_cells", "read_table", "table_writer"]

_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_CHUNK = 1 << 14  # bytes of lines that are read at once
_BOM = "\ufeff"


class Table(NamedTuple):
    """The header of a table, its rows with their lines, and how it is written."""

    header: list[str]
    rows: Iterator[tuple[int, list[str]]]  # a blank line has no cells
    unusual: dict[str, Any]  # ``delimiter`` and ``bom``, where they are not the usual


def read_table(stream: IO[bytes], path: PathName) -> Table:
    chunks = _lines(stream, path)
    head: list[str] = []
    while not any(line.strip() for line in head):
        more = next(chunks, None)
        if more is None:
            raise DataError("expected a header, found an empty file.", path)
        head += more
    unusual: dict[str, Any] = {"bom": True} if head[0].startswith(_BOM) else {}
    head[0] = head[0].removeprefix(_BOM)
    first = next(line for line in head if line.strip())
    sign = max("\t,;", key=first.count)
    unusual |= {"delimiter": sign} if sign != _usual(path) else {}
    lines: Iterator[str] = chain(head, chain.from_iterable(chunks))
    if sign == "\t":
        lines = _signs_quoted(lines, first.count(sign) + 1)
    reader = csv.reader(lines, delimiter=sign, strict=True)

    def rows() -> Iterator[tuple[int, list[str]]]:
        width = 0
        try:
            for cells in reader:
                width = width or len(cells)
                if len(cells) == width and any(cells):
                    yield reader.line_num, cells
                elif not any(cells):
                    yield reader.line_num, []
                else:
                    raise DataError(
                        f"expected {width} cells as in the header, found {len(cells)}.",
                        path,
                        reader.line_num,
                    )
        except csv.Error as error:
            sentence = f"expected a table, found a bad row ({error})."
            raise DataError(sentence, path, reader.line_num) from None

    table_rows = rows()
    header = next(cells for _, cells in table_rows if cells)
    return Table(header, table_rows, unusual)


def first_cells(head: str) -> set[str]:
    """The cells of the first line of a table, as far as it is there, in lower case."""
    first = next((line for line in head.split("\n") if line.strip()), "")
    sign = max("\t,;", key=first.count)
    return {name.strip().strip('"').lower() for name in first.split(sign)}


def _usual(path: PathName) -> str:
    """The delimiter that a file has by its name."""
    name = "" if str(path) == STANDARD else str(path).lower().removesuffix(".gz")
    return "\t" if name.endswith(".tsv") else ","


def _signs_quoted(lines: Iterable[str], width: int) -> Iterator[str]:
    """Put cells of TSV whose first sign is a mere quotation mark into such marks."""
    for line in lines:
        cells = line.rstrip("\r\n").split("\t")
        if '"' in line and len(cells) == width:
            for place, cell in enumerate(cells):
                alone = cell == '"' or place < width - 1  # else lines may go on
                if cell[:1] == '"' and alone and not _QUOTED.fullmatch(cell):
                    doubled = cell.replace('"', '""')
                    cells[place] = f'"{doubled}"'
            line = "\t".join(cells) + "\n"
        yield line


def _lines(stream: IO[bytes], path: PathName) -> Iterator[list[str]]:
    """Lines with their ends, some at a time."""
    number = 1
    while chunk := stream.readlines(_CHUNK):
        whole = b"".join(chunk)
        try:
            text = whole.decode()
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            for at, raw in enumerate(chunk, number):
                decode_line(raw, path, at)  # says which line it is
        lines = [f"{line}\n" for line in text.split("\n")]
        if whole.endswith(b"\n"):
            lines.pop()
        yield lines
        number += len(chunk)


def table_writer(
    stream: IO[str],
    path: PathName,
    options: Options,
    unusual: Mapping[str, Any] | None = None,
) -> Any:
    """What writes rows: TSV by name or if asked for, else CSV as the source was."""
    sign = "\t" if options.shape == "tsv" else _usual(path)
    asked = unusual or {}
    if sign == "," and asked.get("delimiter") in ("\t", ";"):
        sign = asked["delimiter"]
    if asked.get("bom") is True:
        stream.write(_BOM)
    return csv.writer(_Lines(stream), delimiter=sign, lineterminator="\r\n")


class _Lines:
    """Ends lines with LF alone; cells with CR or LF inside stand in quotation marks."""

    def __init__(self, stream: IO[str]) -> None:
        self._write = stream.write

    def write(self, line: str) -> None:
        self._write(f"{line[:-2]}\n")
