"""Tables: CSV or TSV with a header, one token a row.

The header says what a column is: ``token`` (or ``word``, ``form``), ``sentence`` and
``document`` (their ids; an empty cell is the one above), ``label`` (or ``tag``),
``gold``, ``exact``, and ``vote:NAME``, ``model:NAME`` and ``rule:NAME`` of annotators.
All else is a feature. ``columns=`` names the columns instead, as in column files, and
``votes=`` tells which are votes. Where no column names sentences, blank lines end them.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import IO, Any

from tagsift.data.columns import STANDARD, PathName, check_written, decode_line, located
from tagsift.data.documents import Document, Kind, Layer, Tag
from tagsift.data.formats import _tables as tables
from tagsift.data.formats._format import Format, Options, open_source, open_target
from tagsift.data.formats._spans import own
from tagsift.data.layout import parse_columns
from tagsift.data.leaks import feature_names
from tagsift.data.rows import Row
from tagsift.errors import DataError

__all__ = ["FORMAT", "table_lines", "table_writer"]

_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_CHUNK = 1 << 14  # bytes of lines that are read at once
_ROLES = {
    "token": {"token", "tokens", "word", "words", "form"},
    "sentence": {"sentence", "sentence #", "sentence_id", "sent_id", "sent"},
    "document": {"document", "document_id", "doc", "doc_id"},
    "label": {"label", "labels", "tag", "tags", "ner_tag", "ner", "ner_tags"},
}


def table_lines(
    stream: IO[bytes], path: PathName
) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The header of a table, and its rows with their lines; a blank line is no cell."""
    chunks = _lines(stream, path)
    head: list[str] = []
    while not any(line.strip() for line in head):
        more = next(chunks, None)
        if more is None:
            raise DataError("expected a header, found an empty file.", path)
        head += more
    first = next(line for line in head if line.strip())
    sign = max("\t,;", key=first.count)
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

    found = rows()
    header = next(cells for _, cells in found if cells)
    return header, found


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
        if number == 1:
            text = text.removeprefix("\ufeff")
        lines = [f"{line}\n" for line in text.split("\n")]
        if whole.endswith(b"\n"):
            lines.pop()
        yield lines
        number += len(chunk)


def table_writer(stream: IO[str], path: PathName, options: Options) -> Any:
    """What writes rows: CSV, or TSV by name or if asked for."""
    name = "" if str(path) == STANDARD else str(path).lower().removesuffix(".gz")
    tabs = options.shape == "tsv" or name.endswith(".tsv")
    sign = "\t" if tabs else ","
    return csv.writer(_Lines(stream), delimiter=sign, lineterminator="\r\n")


class _Lines:
    """Ends lines with LF alone; cells with CR or LF inside stand in quotation marks."""

    def __init__(self, stream: IO[str]) -> None:
        self._write = stream.write

    def write(self, line: str) -> None:
        self._write(f"{line[:-2]}\n")


@dataclass
class _Layout:
    """Which columns, counted from 0, are what."""

    token: int
    sentence: int | None
    document: int | None
    layers: dict[int, tuple[str, Kind]]
    features: list[int]


def _lay_out(header: list[str], options: Options) -> _Layout:
    names = header
    if options.columns is not None:
        names = [name.strip() for name in options.columns.split(",")]
        if len(names) != len(header):
            raise DataError(
                f"expected {len(names)} columns, as many as were named, found "
                f"{len(header)}; name every one, '-' leaves one out."
            )
    votes = {} if options.votes is None else parse_columns(options.votes)
    if votes and max(votes) > len(header):
        raise DataError(
            f"expected columns of votes among the {len(header)}, found {max(votes)}."
        )
    layers: dict[int, tuple[str, Kind]] = {
        i - 1: (header[i - 1], "person") for i in votes
    }
    places: dict[str, int] = {}
    for place, name in enumerate(names):
        if place in layers:
            continue
        role = next((r for r, all_ in _ROLES.items() if name.lower() in all_), None)
        found = (header[place], "person") if name == "vote" else tables.layer_of(name)
        if role == "label":
            found = options.annotator or tables.LABELS, "person"
        if found is not None:
            layers[place] = found  # type: ignore[assignment]
        elif role is not None:
            if role in places:
                both = header[places[role]], header[place]
                raise DataError(
                    f"expected one column of each {role}, found {both[0]!r} and "
                    f"{both[1]!r}; name the columns with --columns (in Python "
                    "columns=), '-' leaves one out."
                )
            places[role] = place
    if "token" not in places:
        raise DataError(
            f"expected a column named 'token' or 'word', found "
            f"{', '.join(header)[:200]}; name the columns with --columns (in Python "
            "columns=)."
        )
    people = [name for name, _ in layers.values()]
    if len(set(people)) != len(people):
        raise DataError(f"expected columns with different names, found {people}.")
    used = {*places.values(), *layers}
    features = [i for i, name in enumerate(names) if i not in used and name != "-"]
    return _Layout(
        places["token"],
        places.get("sentence"),
        places.get("document"),
        layers,
        features,
    )


def _read(path: PathName, options: Options) -> Iterator[Document]:
    with open_source(path) as stream:
        header, rows = table_lines(stream, path)
        with located(path, 1):
            layout = _lay_out(header, options)
        meta = {FORMAT.name: kept} if (kept := _kept(header, layout, options)) else {}
        known: dict[str, Tag] = {"": None}
        number = 0
        names: set[str] = set()
        for number, block in enumerate(_blocks(rows, layout), 1):
            if block.name in names:
                kind = "rows of a sentence or document apart from its others, a new one"
                options.losses.note(kind, f"{block.name}, line {block.lines[0]}")
            names.add(block.name or "")
            yield _document(block, layout, str(number), meta, known, path, options)
    if not number:
        raise DataError("expected at least one token, found none.", path)


def _kept(header: list[str], layout: _Layout, options: Options) -> dict[str, Any]:
    """Names of columns that are written back: features, and what others are called."""
    names = [header[i] for i in layout.features]
    kept: dict[str, Any] = {"columns": names} if names else {}
    if options.columns is None and options.votes is None:
        known = {name: role for role, all_ in _ROLES.items() for name in all_}
        roles = {known.get(name.lower(), name): name for name in header}
        called = {x: y for x, y in roles.items() if x in _ROLES and x != y}
        kept |= {"called": called} if called else {}
    return kept


@dataclass
class _Block:
    """The rows of one document."""

    name: str | None = None
    lines: list[int] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)  # of sentences


def _blocks(rows: Iterable[tuple[int, list[str]]], layout: _Layout) -> Iterator[_Block]:
    """Yield documents; where none are named, sentences."""
    block, last, blank = _Block(), "", True
    seen: set[str] = set()  # sentences of the document
    whole, part = layout.document, layout.sentence
    by = part if whole is None else whole
    for line, cells in rows:
        if not cells:
            blank = True
            continue
        name = None if by is None else cells[by]
        sentence = None if part is None else cells[part]
        if block.rows:
            new = name not in (None, "", block.name)
            if new or (blank and (whole is None or part is None or sentence in seen)):
                yield block
                block = _Block()
        if not block.rows:
            block.name, block.starts = name, [0]
            seen.clear()
        elif whole is not None and (
            blank if sentence is None else sentence not in ("", last)
        ):
            block.starts.append(len(block.rows))
        last, blank = sentence or last, False
        seen.add(last)
        block.lines.append(line)
        block.rows.append(cells)
    if block.rows:
        yield block


def _document(
    block: _Block,
    layout: _Layout,
    number: str,
    meta: dict[str, Any],
    known: dict[str, Tag],
    path: PathName,
    options: Options,
) -> Document:
    columns = list(zip(*block.rows, strict=True))
    layers = []
    for place, (name, kind) in layout.layers.items():
        cells = columns[place]
        for cell in dict.fromkeys(cells):
            if cell not in known:
                with located(path, block.lines[cells.index(cell)]):
                    known[cell] = tables.tag_of(cell, options.scheme)
        if any(cells):
            scheme = None if options.scheme == "auto" else options.scheme
            tags = tuple(known[cell] for cell in cells)
            layers.append(Layer(name, kind, tags=tags, scheme=scheme))
    order = (layout.token, *layout.features)
    rows: tuple[Row, ...] = tuple(zip(*(columns[i] for i in order), strict=True))
    if "" in columns[layout.token]:
        line = block.lines[columns[layout.token].index("")]
        raise DataError("expected a token, found an empty cell.", path, line)
    cuts = (*block.starts, len(rows))
    return Document(
        block.name or number, rows=rows, sentences=cuts, layers=tuple(layers), meta=meta
    )


@dataclass
class _Found:
    """What a first look at the documents finds."""

    layers: dict[str, None] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    called: dict[str, Any] = field(default_factory=dict)  # role → name in the source
    width: int = 1
    long: bool = False  # whether a document has several sentences

    def see(self, document: Document) -> None:
        self.layers |= dict.fromkeys(map(tables.heading, document.layers))
        self.long |= len(document.bounds()) > 1
        if document.rows:
            self.width = max(self.width, len(document.rows[0]))
        self.names = self.names or feature_names(document)
        self.called = self.called or own(own(document.meta, FORMAT.name), "called")


def _header(found: _Found) -> list[str]:
    """Names of the columns of a table."""
    lead = ["document", "sentence"] if found.long else ["sentence"]
    names = [*found.names, *(f"column{i + 1}" for i in range(found.width))]
    called = {role: str(found.called.get(role, role)) for role in _ROLES}
    layers = [called.get(name, name) for name in found.layers]
    first = [called[name] for name in (*lead, "token")]
    return [*first, *islice(names, found.width - 1), *layers]


def _write(path: PathName, documents: Iterable[Document], options: Options) -> None:
    found = _Found()
    ready = (tables.cut(document, options) for document in documents)
    with tables.kept_twice(ready, found.see) as again, open_target(path) as stream:
        writer = table_writer(stream, path, options)
        writer.writerow(_header(found))
        for number, document in enumerate(again):
            if number:
                stream.write("\n")
            writer.writerows(_rows(document, found, options))


def _rows(document: Document, found: _Found, options: Options) -> Iterator[list[str]]:
    how = tables.on_tokens(options)
    tables.note_losses(tables.check_words(document), FORMAT.name, options)
    if not document.rows:
        options.losses.note("document without tokens, left out", document.id)
    empty = [""] * len(document.rows or ())
    said: dict[str, list[str]] = {}
    for layer in document.layers:
        tags = tables.tags_of(document, layer, how)
        for tag in {tag for tag in tags if tag is not None}:
            for label in [tag] if isinstance(tag, str) else tag:
                check_written(label, f"document {document.id!r}: ")
        said[tables.heading(layer)] = list(map(tables.cell_of, tags))
    if len(said) < len(document.layers):
        options.losses.note("second layer of one annotator, left out", document.id)
    columns = [said.get(name, empty) for name in found.layers]
    lines = list(zip(document.rows or (), *columns, strict=True))
    for number, (a, b) in enumerate(document.bounds(), 1):
        lead = [document.id, str(number)] if found.long else [document.id]
        for row, *labels in lines[a:b]:
            yield [*lead, *row, *[""] * (found.width - len(row)), *labels]


def _tells(head: str) -> bool:
    first = next((line for line in head.split("\n") if line.strip()), "")
    sign = max("\t,;", key=first.count)
    names = {name.strip().strip('"').lower() for name in first.split(sign)}
    worded = bool(names & _ROLES["token"]) and len(names) > 1
    return worded and not names & {"annotator", "worker"}


FORMAT = Format(
    "csv",
    "CSV or TSV with a header, one token a row",
    _read,
    _write,
    endings=(".csv", ".tsv"),
    tells=_tells,
)
