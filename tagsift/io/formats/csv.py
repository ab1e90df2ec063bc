"""Tables: CSV or TSV with a header, one token a row.

The header says what a column is: ``token`` (or ``word``, ``form``), ``sentence`` and
``document`` (their ids; an empty cell is the one above), ``label`` (or ``tag``),
``gold``, ``exact``, ``vote:NAME``, ``model:NAME`` and ``rule:NAME`` of annotators, with
``confidence:NAME``, ``tally:NAME`` and ``differs:NAME`` as `tagsift clean` writes them.
All else is a feature. ``columns=`` names the columns instead, as in column files, and
``votes=`` tells which are votes. Where no column names sentences, blank lines end them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any

from tagsift.data.documents import Document, Kind, Layer, Tag
from tagsift.data.rows import Row
from tagsift.errors import DataError
from tagsift.io.column_file import PathName, located
from tagsift.io.column_roles import role_of
from tagsift.io.formats import _tables as tables
from tagsift.io.formats._cells import first_cells, read_table
from tagsift.io.formats._csv_rows import EXTRA, NAME, ROLES, write_csv
from tagsift.io.formats._format import Format, Options, open_source
from tagsift.io.formats._span_cells import holds_spans

__all__ = ["FORMAT"]

_SURE = tables.CONFIDENCE.rstrip(":")
#: Tokens from which on a sentence looks as if nothing told sentences apart.
_LONG = 1000


@dataclass
class _Layout:
    """Which columns, counted from 0, are what."""

    token: int
    sentence: int | None
    document: int | None
    layers: dict[int, tuple[str, Kind]]
    features: list[int]
    extra: dict[tuple[str, str], int]  # by kind and annotator


def _lay_out(header: list[str], options: Options) -> _Layout:
    names = tables.named_columns(header, options)
    layers: dict[int, tuple[str, Kind]] = {
        i: (header[i], "person") for i in tables.vote_columns(header, options)
    }
    votes = bool(layers)
    places: dict[str, int] = {}
    extra: dict[tuple[str, str], int] = {}
    unused: list[int] = []
    for place, name in enumerate(names):
        if place in layers:
            continue
        kind, _, who = name.partition(":")
        if who and kind in (*EXTRA, _SURE):
            extra[kind, who] = place
            continue
        role = role_of(name)
        layer = (header[place], "person") if name == "vote" else tables.layer_of(name)
        if role == "label":
            layer = options.annotator or tables.LABELS, "person"
        if layer is not None and votes and layer[1] not in ("gold", "exact"):
            kind = "column of labels that is not among the votes, left out"
            options.losses.note(kind, header[place], lost=False)
            unused.append(place)
        elif layer is not None:
            layers[place] = layer  # type: ignore[assignment]
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
    tables.check_names([name for name, _ in layers.values()])
    used = {*places.values(), *layers, *extra.values(), *unused}
    features = [i for i, name in enumerate(names) if i not in used and name != "-"]
    return _Layout(
        places["token"],
        places.get("sentence"),
        places.get("document"),
        layers,
        features,
        extra,
    )


def _read_csv(path: PathName, options: Options) -> Iterator[Document]:
    with open_source(path) as stream:
        header, rows, unusual = read_table(stream, path)
        with located(path, 1):
            layout = _lay_out(header, options)
        people = ((header[i], layer) for i, layer in layout.layers.items())
        options.info.add_annotators(tables.annotators_in(people))
        source = _source(header, layout, options) | unusual
        meta = {NAME: source} if source else {}
        ask = partial(_ask, header, layout, path, options)
        by_cell: dict[str, Tag] = {"": None}
        number = 0
        names: set[str] = set()
        for number, block in enumerate(_blocks(rows, layout, ask), 1):
            if block.name in names:
                kind = "rows of a sentence or document apart from its others, a new one"
                options.losses.note(kind, f"{block.name}, line {block.lines[0]}")
            names.add(block.name or "")
            name = block.name or str(number)
            yield _csv_document(block, layout, name, meta, by_cell, path, options)
    if not number:
        raise DataError("expected at least one token, found none.", path)


def _source(header: list[str], layout: _Layout, options: Options) -> dict[str, Any]:
    """Names of columns that are written back: features, and what others are called."""
    names = [header[i] for i in layout.features]
    source: dict[str, Any] = {"columns": names} if names else {}
    if options.columns is None:
        roles = {role_of(name) or name: name for name in header}
        called = {x: y for x, y in roles.items() if x in ROLES and x != y}
        source |= {"called": called} if called else {}
    return source


@dataclass
class _Block:
    """The rows of one document."""

    name: str | None = None
    lines: list[int] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)  # of sentences


def _blocks(
    rows: Iterable[tuple[int, list[str]]],
    layout: _Layout,
    ask: Callable[[_Block], None],
) -> Iterator[_Block]:
    """Yield documents, or sentences where none are named; `ask` sees very long ones."""
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
        if len(block.rows) - block.starts[-1] == _LONG:
            ask(block)
    if block.rows:
        yield block


def _ask(
    header: list[str], layout: _Layout, path: PathName, options: Options, block: _Block
) -> None:
    """Refuse rows that nothing divides into sentences; count other long ones."""
    line = block.lines[block.starts[-1]]
    if layout.sentence is not None or layout.document is not None:
        kind = f"sentence of {_LONG:,} tokens or more; see --columns"
        options.losses.note(kind, f"{path}, line {line}", lost=False)
        return
    names = header if options.columns is None else options.columns.split(",")
    columns = list(zip(*block.rows, strict=True))
    like = (i for i in layout.features if _in_runs(columns[i]))
    place = next(like, None)
    votes = layout.layers if options.votes is not None else ()
    such = [
        "sentence" if i == place else "vote" if i in votes else name
        for i, name in enumerate(names)
    ]
    shown = "sentence,token,label" if place is None else ",".join(such)
    raise DataError(
        "expected a column that tells sentences apart (sentence, sent_id, …) or blank "
        f"lines between them, found {_LONG:,} rows without; name the columns, such as "
        f"--columns {shown} (in Python columns=).",
        path,
        line,
    )


def _in_runs(cells: Sequence[str]) -> bool:
    runs = sum(a != b for a, b in pairwise(cells)) + 1
    return 1 < runs == len(set(cells)) <= len(cells) / 2


def _csv_document(
    block: _Block,
    layout: _Layout,
    name: str,
    meta: dict[str, Any],
    by_cell: dict[str, Tag],
    path: PathName,
    options: Options,
) -> Document:
    columns = list(zip(*block.rows, strict=True))
    layers = []
    for place, (who, kind) in layout.layers.items():
        cells = columns[place]
        for cell in dict.fromkeys(cells):
            if cell not in by_cell:
                with located(path, block.lines[cells.index(cell)]):
                    by_cell[cell] = tables.tag_of(cell, options.scheme)
        if any(cells):
            scheme = None if options.scheme == "auto" else options.scheme
            tags = tuple(by_cell[cell] for cell in cells)
            layer = Layer(who, kind, tags=tags, scheme=scheme)
            layers.append(_with_extra(layer, layout, columns, block, path))
    order = (layout.token, *layout.features)
    rows: tuple[Row, ...] = tuple(zip(*(columns[i] for i in order), strict=True))
    if "" in columns[layout.token]:
        line = block.lines[columns[layout.token].index("")]
        raise DataError("expected a token, found an empty cell.", path, line)
    cuts = (*block.starts, len(rows))
    return Document(name, rows=rows, sentences=cuts, layers=tuple(layers), meta=meta)


def _with_extra(
    layer: Layer,
    layout: _Layout,
    columns: list[tuple[str, ...]],
    block: _Block,
    path: PathName,
) -> Layer:
    """A layer with its confidences, and with what else was said of its labels."""
    more = {
        name: list(columns[layout.extra[name, layer.annotator]])
        for name in EXTRA
        if (name, layer.annotator) in layout.extra
    }
    if more:
        layer = replace(layer, meta={NAME: more})
    place = layout.extra.get((_SURE, layer.annotator))
    if place is None:
        return layer
    scores = (
        tables.score_of(cell, path, line)
        for cell, line in zip(columns[place], block.lines, strict=True)
    )
    return replace(layer, scores=tuple(scores))


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
