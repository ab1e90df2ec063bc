"""Tables: CSV or TSV with a header, one token a row.

The header says what a column is: ``token`` (or ``word``, ``form``), ``sentence`` and
``document`` (their ids; an empty cell is the one above), ``label`` (or ``tag``),
``gold``, ``exact``, ``vote:NAME``, ``model:NAME``, ``rule:NAME`` and ``source:NAME`` (a
rule that means its ``O``) of annotators, with ``confidence:NAME``, ``tally:NAME`` and
``differs:NAME`` as `tagsift clean` writes them. All else is a feature. ``columns=``
names the columns instead, as in column files, and ``votes=`` tells which are votes.
Where no column names sentences, blank lines end them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from tagsift.data.documents import Document, Kind, Layer, Tag
from tagsift.errors import DataError
from tagsift.io.column_file import PathName, located
from tagsift.io.column_roles import role_of
from tagsift.io.formats import _tables as tables
from tagsift.io.formats._cells import first_cells, read_table
from tagsift.io.formats._csv_rows import EXTRA, NAME, ROLES, write_csv
from tagsift.io.formats._file_names import KNOWN
from tagsift.io.formats._format import Format, Options, open_source
from tagsift.io.formats._span_cells import holds_spans

__all__ = ["FORMAT"]

_SURE = tables.CONFIDENCE.rstrip(":")
#: Tokens from which on a sentence looks as if nothing told sentences apart.
_LONG = 1000


@dataclass
class _Block:
    """The rows of one document."""

    name: str | None = None
    lines: list[int] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)  # of sentences


def _read_csv(path: PathName, options: Options) -> Iterator[Document]:
    with open_source(path) as stream:
        header, rows, unusual = read_table(stream, path)
        with located(path, 1):
            reader = _Reader(path, header, options)
        people = ((header[i], layer) for i, layer in reader.layers.items())
        options.info.add_annotators(tables.annotators_in(people))
        source = reader.source() | unusual
        meta = {NAME: source} if source else {}
        number, names = 0, set[str]()
        for number, block in enumerate(reader.blocks(rows), 1):
            if block.name in names:
                kind = "rows of a sentence or document apart from its others, a new one"
                options.losses.note(kind, f"{block.name}, line {block.lines[0]}")
            names.add(block.name or "")
            yield replace(reader.document(block, str(number)), meta=meta)
    if not number:
        raise DataError("expected at least one token, found none.", path)


class _Reader:
    """Which columns of a table, counted from 0, are what, and its documents."""

    def __init__(self, path: PathName, header: list[str], options: Options) -> None:
        self.path, self.header, self.options = path, header, options
        self.names = tables.named_columns(header, options)
        self.places: dict[str, int] = {}  # of tokens, sentences, documents
        self.extra: dict[tuple[str, str], int] = {}  # by kind and annotator
        votes = tables.vote_columns(header, options)
        self.layers: dict[int, tuple[str, Kind]] = {
            i: (header[i], "person") for i in votes
        }
        left_out = [
            place
            for place, name in enumerate(self.names)
            if place not in votes and not self._take(place, name, bool(votes))
        ]
        if "token" not in self.places:
            raise DataError(
                f"expected a column named 'token' or 'word', found "
                f"{', '.join(header)[:200]}; name the columns with --columns (in "
                "Python columns=)."
            )
        tables.check_names([name for name, _ in self.layers.values()])
        used = {*self.places.values(), *self.layers, *self.extra.values(), *left_out}
        named = enumerate(self.names)
        self.features = [i for i, name in named if i not in used and name != "-"]
        self.by_cell: dict[str, Tag] = {"": None}

    def _take(self, place: int, name: str, votes: bool) -> bool:
        """Look at what a column is; False where it is left out."""
        kind, _, who = name.partition(":")
        if who and kind in (*EXTRA, _SURE):
            self.extra[kind, who] = place
            return True
        role, layer = role_of(name), tables.layer_of(name)
        if name == "vote":
            layer = self.header[place], "person"
        if role == "label":
            layer = self.options.annotator or tables.LABELS, "person"
        if layer is not None and votes and layer[1] not in KNOWN:
            kind = "column of labels that is not among the votes, left out"
            self.options.losses.note(kind, self.header[place], lost=False)
            return False
        if layer is not None:
            self.layers[place] = layer
        elif role in self.places:
            both = self.header[self.places[role]], self.header[place]
            raise DataError(
                f"expected one column of each {role}, found {both[0]!r} and "
                f"{both[1]!r}; name the columns with --columns (in Python columns=), "
                "'-' leaves one out."
            )
        elif role is not None:
            self.places[role] = place
        return True

    def source(self) -> dict[str, Any]:
        """Names of columns that are written back: features, and what others are."""
        names = [self.header[i] for i in self.features]
        source: dict[str, Any] = {"columns": names} if names else {}
        if self.options.columns is None:
            roles = {role_of(name) or name: name for name in self.header}
            called = {x: y for x, y in roles.items() if x in ROLES and x != y}
            source |= {"called": called} if called else {}
        return source

    def blocks(self, rows: Iterable[tuple[int, list[str]]]) -> Iterator[_Block]:
        """Yield documents, or sentences where none are named."""
        block, last, blank = _Block(), "", True
        seen: set[str] = set()  # sentences of the document
        whole, part = self.places.get("document"), self.places.get("sentence")
        by = part if whole is None else whole
        for line, cells in rows:
            if not cells:
                blank = True
                continue
            name = None if by is None else cells[by]
            sentence = None if part is None else cells[part]
            if block.rows:
                new = name not in (None, "", block.name)
                apart = whole is None or part is None or sentence in seen
                if new or (blank and apart):
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
            if len(block.rows) - block.starts[-1] == _LONG:
                self._check_long(block)
        if block.rows:
            yield block

    def _check_long(self, block: _Block) -> None:
        """Refuse rows that nothing divides into sentences; count other long ones."""
        line = block.lines[block.starts[-1]]
        if {"sentence", "document"} & self.places.keys():
            kind = f"sentence of {_LONG:,} tokens or more; see --columns"
            self.options.losses.note(kind, f"{self.path}, line {line}", lost=False)
            return
        columns = list(zip(*block.rows, strict=True))
        place = next((i for i in self.features if _in_runs(columns[i])), None)
        votes = self.layers if self.options.votes is not None else ()
        such = [
            "sentence" if i == place else "vote" if i in votes else name
            for i, name in enumerate(self.names)
        ]
        shown = "sentence,token,label" if place is None else ",".join(such)
        raise DataError(
            "expected a column that tells sentences apart (sentence, sent_id, …) or "
            f"blank lines between them, found {_LONG:,} rows without; name the "
            f"columns, such as --columns {shown} (in Python columns=).",
            self.path,
            line,
        )

    def document(self, block: _Block, number: str) -> Document:
        columns = list(zip(*block.rows, strict=True))
        words = columns[self.places["token"]]
        if "" in words:
            line = block.lines[words.index("")]
            raise DataError("expected a token, found an empty cell.", self.path, line)
        scheme = None if self.options.scheme == "auto" else self.options.scheme
        layers = []
        for place, (who, kind) in self.layers.items():
            cells = columns[place]
            for cell in dict.fromkeys(cells):
                if cell not in self.by_cell:
                    with located(self.path, block.lines[cells.index(cell)]):
                        self.by_cell[cell] = tables.tag_of(cell, self.options.scheme)
            if any(cells):
                tags = tuple(self.by_cell[cell] for cell in cells)
                layer = Layer(who, kind, tags=tags, scheme=scheme)
                layers.append(self._with_extra(layer, columns, block))
        rows = zip(words, *(columns[i] for i in self.features), strict=True)
        cuts = (*block.starts, len(words))
        name = block.name or number
        return Document(name, None, tuple(rows), None, cuts, tuple(layers))

    def _with_extra(
        self, layer: Layer, columns: list[tuple[str, ...]], block: _Block
    ) -> Layer:
        """A layer with its confidences, and with what else was said of its labels."""
        keys = {name: (name, layer.annotator) for name in (*EXTRA, _SURE)}
        cells = {x: columns[self.extra[y]] for x, y in keys.items() if y in self.extra}
        more = {name: list(cells[name]) for name in EXTRA if name in cells}
        if more:
            layer = replace(layer, meta={NAME: more})
        if _SURE not in cells:
            return layer
        pairs = zip(cells[_SURE], block.lines, strict=True)
        scores = (tables.score_of(cell, self.path, line) for cell, line in pairs)
        return replace(layer, scores=tuple(scores))


def _in_runs(cells: Sequence[str]) -> bool:
    runs = sum(a != b for a, b in pairwise(cells)) + 1
    return 1 < runs == len(set(cells)) <= len(cells) / 2


def _tells(head: str) -> bool:
    if holds_spans(head):
        return False
    names = first_cells(head)
    worded = "token" in map(role_of, names) and len(names) > 1
    return worded and not names & {"annotator", "worker"}


FORMAT = Format(
    NAME,
    "CSV or TSV with a header, one token a row",
    _read_csv,
    write_csv,
    endings=(".csv", ".tsv"),
    tells=_tells,
    keeps=lambda path, options: frozenset(("annotators", "sources")),
)
