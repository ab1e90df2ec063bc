"""Long votes: one row a vote, in CSV, TSV or Parquet.

Columns by name: ``document`` (or crowd-kit's ``task``), ``token`` (what tells the
tokens of a document apart; numbers give their order), ``annotator`` (``worker``) and
``label``; where there are some, ``word``, ``sentence``, ``kind`` and ``score``.
``columns=`` names them instead. A row without annotator is a token that nobody
labelled, one with an annotator and without label names who has labelled nothing there;
several labels by one annotator are candidates.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, compress, groupby, repeat
from typing import Any, TypeAlias, cast, get_args

from tagsift.data.annotators import Annotator
from tagsift.data.documents import Document, Kind, Layer, Tag
from tagsift.data.label_set import ANY
from tagsift.errors import DataError, InputError
from tagsift.io.column_file import PathName, located, open_bytes
from tagsift.io.column_roles import role_of
from tagsift.io.formats import _tables as tables
from tagsift.io.formats._cells import first_cells, read_table, table_writer
from tagsift.io.formats._corpus import annotator_of
from tagsift.io.formats._file_names import KNOWN
from tagsift.io.formats._format import Format, Options, open_target
from tagsift.io.formats._parquet import (
    is_parquet,
    read_rows,
    schema_of,
    type_of,
    write_rows,
)
from tagsift.io.formats._span_cells import holds_spans

__all__ = ["FORMAT"]

_ROLES = {
    "document": ("document", "document_id", "doc", "doc_id", "task", "task_id"),
    "token": ("token", "token_id", "position", "index"),
    "annotator": ("annotator", "annotator_id", "worker", "worker_id", "performer"),
    "label": ("label", "tag", "vote"),
    "word": ("word", "form", "text"),
    "sentence": ("sentence", "sentence_id", "sent_id"),
    "kind": ("kind",),
    "score": ("score", "confidence"),
}
#: The last one is a rule that means its ``O``.
_KINDS = (*get_args(Kind), "source")
_NEEDED = ("document", "annotator", "label")
#: A value such as stands in columns of Parquet that are no text.
_KIND_OF = {"token": 0, "score": 0.5}
#: Line and cells of a row.
_Line: TypeAlias = tuple[int, list[str]]


def _read_votes_csv(path: PathName, options: Options) -> Iterator[Document]:
    with open_bytes(path) as stream:
        parquet = is_parquet(path) or options.shape == "parquet"

        def rows() -> tuple[list[str], Iterator[_Line]]:
            stream.seek(0)
            return _cells(path, options) if parquet else read_table(stream, path)[:2]

        header, lines = rows()
        with located(path, 1):
            places = _lay_out(header, options)
        reader, key = _Reader(path, places, options), places["document"]
        order = _order(lines, key)
        lines = (line for line in rows()[1] if line[1])
        if order is None:
            together = groupby(lines, lambda line: line[1][key])
            yield from reader.documents(list(some) for _, some in together)
        else:
            with _sorted(lines, key, order) as ordered:
                yield from reader.documents(ordered)


def _cells(path: PathName, options: Options) -> tuple[list[str], Iterator[_Line]]:
    _, rows = read_rows(path, options.info)
    first = next(rows, None)
    if first is None:
        raise DataError("expected at least one vote, found none.", path)
    return list(first), (
        (number, ["" if x is None else str(x) for x in row.values()])
        for number, row in enumerate(chain([first], rows), 1)
    )


def _lay_out(header: list[str], options: Options) -> dict[str, int]:
    names = tables.named_columns(header, options)
    lower = [name.strip().lower() for name in names]
    places = {
        role: next(lower.index(name) for name in called if name in lower)
        for role, called in _ROLES.items()
        if any(name in lower for name in called)
    }
    for place, name in enumerate(names):
        role = role_of(name)
        if role in ("document", "sentence"):
            places.setdefault(role, place)
    missing = [role for role in _NEEDED if role not in places]
    if missing:
        raise DataError(
            f"expected a column named {missing[0]!r}, found {', '.join(header)[:200]}; "
            "name the columns with --columns (in Python columns=)."
        )
    return places


def _order(lines: Iterable[_Line], key: int) -> dict[str, int] | None:
    """Number of each document, or None where the rows of each stand together."""
    order: dict[str, int] = {}
    together = True
    try:
        for name, _ in groupby(cells[key] for _, cells in lines if cells):
            together &= name not in order
            order.setdefault(name, len(order))
    except DataError:
        pass  # it is said when the row is due
    return None if together else order


@contextmanager
def _sorted(
    lines: Iterable[_Line], key: int, order: dict[str, int]
) -> Iterator[Iterator[list[_Line]]]:
    """The rows of one document after the other; they wait on the disk."""
    with closing(sqlite3.connect("")) as database:
        database.execute("CREATE TABLE votes (document INT, line INT, cells TEXT)")
        database.executemany(
            "INSERT INTO votes VALUES (?, ?, ?)",
            ((order[x[key]], line, json.dumps(x)) for line, x in lines),
        )
        rows = database.execute("SELECT * FROM votes ORDER BY document, rowid")
        yield (
            [(line, json.loads(cells)) for _, line, cells in some]
            for _, some in groupby(rows, lambda row: row[0])
        )


@dataclass
class _Votes:
    """Votes on one document."""

    tokens: dict[str, int] = field(default_factory=dict)  # in order of appearance
    words: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    tags: dict[tuple[str, str], dict[int, Tag]] = field(default_factory=dict)
    scores: dict[tuple[str, str], dict[int, float | None]] = field(default_factory=dict)


def _annotators(keys: Iterable[tuple[str, str]]) -> Iterator[Annotator]:
    for name, kind in keys:
        if kind == "source":
            yield Annotator(name, "source")
        elif kind not in KNOWN:
            yield annotator_of(Layer(name, cast(Kind, kind), marks=()))


class _Reader:
    """Sorts rows into votes on documents."""

    def __init__(
        self, path: PathName, places: dict[str, int], options: Options
    ) -> None:
        self.path, self.places, self.options = path, places, options
        self.by_cell: dict[str, Tag] = {}

    def documents(self, groups: Iterable[list[_Line]]) -> Iterator[Document]:
        """Documents of their rows, in the order of the file."""
        people: dict[tuple[str, str], None] = {}
        votes = None
        for lines in groups:
            votes = self._votes(lines)
            met = [key for key in votes.tags if key not in people]
            people |= dict.fromkeys(met)
            self.options.info.add_annotators(_annotators(met))
            yield self._document(votes, lines[0][1][self.places["document"]])
        if votes is None:
            raise DataError("expected at least one vote, found none.", self.path)

    def _votes(self, lines: list[_Line]) -> _Votes:
        votes, get = _Votes(), self.places.get
        task, who, what = (self.places[role] for role in _NEEDED)
        token, word, sentence = get("token"), get("word"), get("sentence")
        kind, score, tokens = get("kind"), get("score"), votes.tokens
        for line, cells in lines:
            name = "" if token is None else cells[token]
            at = tokens.get(name, -1)
            if at < 0:
                at = tokens[name] = len(tokens)
                spelled = cells[word] if word is not None else name or cells[task]
                votes.words.append(spelled)
                votes.sentences.append("" if sentence is None else cells[sentence])
            elif word is not None and cells[word] not in ("", votes.words[at]):
                raise DataError(
                    f"expected the word {votes.words[at][:40]!r}, as of this token in "
                    f"the rows before, found {cells[word][:40]!r}.",
                    self.path,
                    line,
                )
            name, label = cells[who], cells[what]
            if not name:
                continue
            key = name, "person" if kind is None else cells[kind]
            if key not in votes.tags:
                if key[1] not in _KINDS:
                    wrong = f"expected a kind ({', '.join(_KINDS)}), found {key[1]!r}."
                    raise DataError(wrong, self.path, line)
                votes.tags[key] = {}
            if not label:
                continue
            if label not in self.by_cell:
                with located(self.path, line):
                    self.by_cell[label] = tables.tag_of(label, self.options.scheme)
            labels, tag = votes.tags[key], self.by_cell[label]
            labels[at] = _both(labels[at], tag) if labels.get(at) is not None else tag
            if score is not None and cells[score]:
                sure = tables.score_of(cells[score], self.path, line)
                votes.scores.setdefault(key, {})[at] = sure
        return votes

    def _document(self, votes: _Votes, name: str) -> Document:
        order = list(votes.tokens.values())
        if all(x.isascii() and x.isdigit() and len(x) < 16 for x in votes.tokens):
            pairs = sorted((int(x), at) for x, at in votes.tokens.items())
            order = [at for _, at in pairs]
        scheme = None if self.options.scheme == "auto" else self.options.scheme
        layers = []
        for key, labels in votes.tags.items():
            if labels:  # else only who it is is said
                who, kind = key[0], "rule" if key[1] == "source" else cast(Kind, key[1])
                tags, sure = tuple(labels.get(at) for at in order), None
                if key in votes.scores:
                    sure = tuple(votes.scores[key].get(at) for at in order)
                layers.append(Layer(who, kind, None, tags, scheme, sure))
        ids = [votes.sentences[at] for at in order]
        cuts = [t for t in range(1, len(ids)) if ids[t] != ids[t - 1]]
        rows = tuple((votes.words[at],) for at in order)
        cuts = [0, *cuts, len(order)]
        return Document(name, None, rows, None, tuple(cuts), tuple(layers))


def _both(one: Tag, other: Tag) -> Tag:
    sets = ({tag} if isinstance(tag, str) else tag or set() for tag in (one, other))
    names = frozenset(chain.from_iterable(sets))
    return next(iter(names)) if len(names) == 1 else names


def _header(survey: tables.Survey) -> list[str]:
    kinds = {kind for _, kind in survey.layers} - {"person"}
    wide = {"sentence": survey.long, "kind": kinds != set(), "score": survey.scored}
    names = ("document", "sentence", "token", "word", "annotator", "kind", "label")
    return [name for name in (*names, "score") if wide.get(name, True)]


def _write_votes_csv(
    path: PathName, documents: Iterable[Document], options: Options
) -> None:
    survey, used = tables.Survey(FORMAT.name, options.info), set[str]()
    ready = (tables.cut(document, options) for document in documents)
    if options.shape not in (None, "crowd-kit", "parquet", "csv", "tsv"):
        raise InputError(
            f"expected shape crowd-kit, csv, tsv or parquet, found {options.shape!r}."
        )
    with tables.kept_twice(ready, survey.see) as again:
        header = _header(survey)
        rows: Iterator[tuple[Any, ...]] = (
            row for document in again for row in _rows(document, survey, used, options)
        )
        if options.shape == "crowd-kit":
            rows = _tasks(rows, header, options)
            header = ["task", "worker", "label"]
        if options.shape == "parquet" or is_parquet(path):
            types = {name: type_of(_KIND_OF.get(name, "")) for name in header}
            records = (dict(zip(header, row, strict=True)) for row in rows)
            write_rows(path, records, schema_of(types, {}), options.info)
            return
        with open_target(path) as stream:
            writer = table_writer(stream, path, options)
            writer.writerow(header)
            writer.writerows(rows)


def _rows(
    document: Document, survey: tables.Survey, used: set[str], options: Options
) -> Iterator[tuple[Any, ...]]:
    """Rows of a document; those of the first one name all annotators in order."""
    note, how = options.losses.note, tables.on_tokens(options)
    tables.note_losses(document, FORMAT.name, options)
    size = len(document.rows or ())
    if not size:
        note("document without tokens, left out", document.id)
        return
    if any(len(row) > 1 for row in document.rows or ()):
        note("columns but the words, left out", document.id)
    first = not used and bool(options.info.annotators)
    name, header = tables.unused(document.id, used, options), _header(survey)
    lead: list[Sequence[Any]] = [[name] * size, range(size), document.tokens]
    if survey.long:
        ids = (repeat(n, b - a) for n, (a, b) in enumerate(document.bounds(), 1))
        lead.insert(1, list(map(str, chain.from_iterable(ids))))
    layers = {(layer.annotator, layer.kind): layer for layer in document.layers}
    tags = {
        key: tables.tags_of(document, replace(layer, scores=None), how)
        for key, layer in layers.items()
    }

    def rows(key: Any, labels: Iterable[str], scores: Any) -> Iterator[tuple[Any, ...]]:
        source = Annotator(key[0], "source") in options.info.annotators
        kinds = [repeat("source" if source else key[1])] * ("kind" in header)
        last = [scores or repeat(None)] * survey.scored
        return zip(*lead, repeat(key[0]), *kinds, labels, *last, strict=False)

    none = [[None] * size]
    empty = (not any(some) for some in zip(*none, *tags.values(), strict=True))
    yield from compress(rows(("", ""), repeat(""), None), empty)
    for key in survey.layers if first else layers:
        if key not in layers:
            yield from compress(rows(key, repeat(""), None), [True])
            continue
        heard = [tag is not None for tag in tags[key]]
        heard[0] |= not any(heard)
        labels = map(tables.cell_of, tags[key])
        yield from compress(rows(key, labels, layers[key].scores), heard)


def _tasks(
    rows: Iterable[tuple[Any, ...]], header: list[str], options: Options
) -> Iterator[tuple[Any, ...]]:
    """Votes as crowd-kit has them: a token is a task."""
    options.losses.note("words and tokens, which are tasks of crowd-kit", "all tasks")
    for row in rows:
        vote = dict(zip(header, row, strict=True))
        if vote["annotator"] and vote["label"] not in ("", ANY):
            task = f"{vote['document']}:{vote['token']}"
            yield task, vote["annotator"], vote["label"]


def _tells(head: str) -> bool:
    if holds_spans(head):
        return False
    if head.startswith("PAR1"):
        votes = any(name in head for name in ("annotator", "worker"))
        return votes and "layers" not in head  # those are tables of documents
    names = first_cells(head)
    names |= {"document" for name in names if role_of(name) == "document"}
    return all(names.intersection(_ROLES[role]) for role in _NEEDED)


FORMAT = Format(
    "votes-csv",
    "one vote a row, in CSV or Parquet",
    _read_votes_csv,
    _write_votes_csv,
    (".csv", ".tsv", ".parquet"),
    _tells,
    keeps=lambda path, options: frozenset(
        ("annotators", "sources") if options.shape != "crowd-kit" else ()
    ),
)
