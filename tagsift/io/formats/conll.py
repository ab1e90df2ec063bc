"""Columns: one token a line, a blank line after each sentence, labels or votes last.

Each sentence is a document. See `tagsift.io.column_file` for the file, and
`tagsift.io.misreads` for what is refused because it looks like something else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from tagsift.data.annotators import Annotator
from tagsift.data.documents import Document, Kind, Layer, Tag
from tagsift.data.label_set import check_written
from tagsift.errors import InputError
from tagsift.io.column_file import PathName, column_lines
from tagsift.io.column_reader import CellTable, Entry
from tagsift.io.column_roles import parse_columns, parse_names
from tagsift.io.formats import _tables as tables
from tagsift.io.formats._file_names import KNOWN
from tagsift.io.formats._format import Format, Options, open_target

__all__ = ["FORMAT"]


def _read_conll(path: PathName, options: Options) -> Iterator[Document]:
    table = _table(path, options)
    people: tuple[str, ...] = ()
    meta: dict[str, dict[str, list[str]]] = {}
    used: set[str] = set()
    for number, entry in enumerate(table, 1):
        if number == 1:
            size = len(table.layout.votes)
            people = table.annotators or tuple(f"w{i:02d}" for i in range(size))
            options.info.add_annotators(map(Annotator, people))
            if table.features:
                meta = {FORMAT.name: {"columns": list(table.features)}}
        name = entry.name or str(number)
        if entry.name:  # which may begin anew in each document
            name = tables.unused(entry.name, used, Options())
        yield Document(
            name,
            rows=entry.rows,
            sentences=(0, len(entry.rows)),
            layers=tuple(_layers(entry, people, options)),
            meta=meta,
        )


def _table(path: PathName, options: Options) -> CellTable[Tag]:
    table = partial(
        CellTable[Tag],
        path,
        parse=partial(tables.tag_of, scheme=options.scheme),
        scheme=options.scheme,
        header=options.header,
        comments=options.comments,
        features_hold_labels=options.features_hold_labels,
    )
    if options.columns is not None:
        roles = parse_names(options.columns)
        if options.votes is not None:
            raise InputError("expected columns= or votes=, found both; name the votes.")
        needed = next((role for role in ("vote", "label") if role in roles), "")
        return table(needed, columns=options.columns)
    gold = -1 if options.gold else None
    if options.votes is None:
        return table("label", gold=gold, bare=not gold)
    return table("vote", votes=parse_columns(options.votes), gold=gold)


def _layers(
    entry: Entry[Tag], people: Iterable[str], options: Options
) -> Iterator[Layer]:
    scheme = None if options.scheme == "auto" else options.scheme
    for name, tags in zip(people, entry.votes, strict=True):
        if any(tag is not None for tag in tags):
            yield Layer(name, tags=tuple(tags), scheme=scheme)
    if entry.labels:
        name = options.annotator or tables.LABELS
        yield Layer(name, tags=tuple(entry.labels), scheme=scheme)
    truths: list[tuple[Kind, list[str | None]]] = [("exact", entry.exact)]
    truths.append(("gold", list(entry.gold)))
    for kind, labels in truths:
        if any(label is not None for label in labels):
            yield Layer(kind, kind, tags=tuple(labels), scheme=scheme)


def _write_conll(
    path: PathName, documents: Iterable[Document], options: Options
) -> None:
    survey = tables.Survey(FORMAT.name, options.info)
    ready = (tables.cut(document, options) for document in documents)
    with tables.kept_twice(ready, survey.see) as again, open_target(path) as stream:
        if options.header:
            stream.write("\t".join(_header(survey)) + "\n")
        blocks = (
            block
            for number, document in enumerate(again, 1)
            for block in _blocks(document, survey, str(number), options)
        )
        stream.writelines(column_lines(blocks, allow_empty=True, least=1))


def _truths(survey: tables.Survey) -> list[Kind]:
    """Columns behind those of annotators; the truth where all documents have it."""
    kinds = {kind for _, kind in survey.layers}
    whole = survey.golden == survey.documents
    return [x for x in ("exact", "gold") if x in kinds and (whole or x == "exact")]


def _header(survey: tables.Survey) -> list[str]:
    people = [tables.LABELS] if len(survey.people) == 1 else survey.people
    return ["token", *survey.feature_names, *people, *_truths(survey)]


def _blocks(
    document: Document, survey: tables.Survey, number: str, options: Options
) -> Iterator[list[list[str]]]:
    """Rows of the sentences of a document, with their labels."""
    note, how = options.losses.note, tables.on_tokens(options)
    tables.note_losses(document, FORMAT.name, options)
    size = len(document.rows or ())
    names = [*survey.people, *(f"\0{kind}" for kind in _truths(survey))]
    people = {x.name for x in options.info.annotators if x.kind == "person"}
    columns: dict[str, list[Tag]] = {}
    for layer in document.layers:
        truth = layer.kind in KNOWN
        name = f"\0{layer.kind}" if truth else layer.annotator
        named = options.header and layer.kind == "person"
        named = named or tables.named_by_default(layer)
        if not truth and not (named and layer.annotator not in people):
            note("name or kind of an annotator, which conll cannot hold", document.id)
        if name in columns:
            note("labels under the name of another annotator, left out", document.id)
        if name not in names:
            note("truth that not all sentences have, left out", document.id)
        columns[name] = tables.tags_of(document, layer, how)
    if document.id != number or len(document.bounds()) != 1:
        note("bounds or id of a document, which conll cannot hold", document.id)
    labels = [columns.get(name, [None] * size) for name in names]
    for tag in {tag for column in labels for tag in column if tag is not None}:
        for label in [tag] if isinstance(tag, str) else sorted(tag):
            check_written(label, f"document {document.id!r}: ")
    cells = [list(map(tables.cell_of, column)) for column in labels]
    rows = zip(document.rows or (), *cells, strict=True)
    lines = [[*row, *tags] for row, *tags in rows]
    for a, b in document.bounds():
        yield lines[a:b]


FORMAT = Format(
    "conll",
    "columns, one token a line",
    _read_conll,
    _write_conll,
    endings=(".conll", ".bio", ".iob", ".iob2", ".iobes", ".tsv"),
    keeps=lambda path, options: frozenset(("annotators",)),
)
