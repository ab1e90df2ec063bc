"""Documents as rows of a table, one token a row, the columns of their layers behind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from tagsift.data.documents import Document, Layer
from tagsift.data.label_set import check_written
from tagsift.io.column_file import PathName
from tagsift.io.formats import _tables as tables
from tagsift.io.formats._cells import table_writer
from tagsift.io.formats._format import Options, open_target
from tagsift.io.formats._spans import own
from tagsift.io.leaks import feature_names

__all__ = ["EXTRA", "NAME", "ROLES", "write_csv"]

NAME = "csv"
ROLES = ("token", "sentence", "document", "label")
#: What `tagsift clean` says of a token besides its label and confidence.
EXTRA = ("tally", "differs")


@dataclass
class _Found:
    """What a first look at the documents finds."""

    layers: dict[str, None] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    source: dict[str, Any] = field(default_factory=dict)  # how a table was written
    width: int = 1
    long: bool = False  # whether a document has several sentences

    def see(self, document: Document) -> None:
        for layer in document.layers:
            self.layers |= dict.fromkeys(_headings(layer))
        self.long |= len(document.bounds()) > 1
        if document.rows:
            self.width = max(self.width, len(document.rows[0]))
        self.names = self.names or feature_names(document)
        self.source = self.source or own(document.meta, NAME)


def _headings(layer: Layer) -> list[str]:
    """Names of the columns of a layer."""
    return [tables.heading(layer), *(name for name, _ in _extra_cells(layer))]


def _extra_cells(layer: Layer) -> Iterator[tuple[str, list[str]]]:
    """Columns beside the labels: how sure they are, and what else a table had."""
    if layer.scores is not None:
        cells = ["" if score is None else repr(score) for score in layer.scores]
        yield f"{tables.CONFIDENCE}{layer.annotator}", cells
    for name in EXTRA:
        cells = own(layer.meta, NAME).get(name, [])
        if cells:
            yield f"{name}:{layer.annotator}", list(cells)


def _header(found: _Found) -> list[str]:
    """Names of the columns of a table."""
    lead = ["document", "sentence"] if found.long else ["sentence"]
    names = [*found.names, *(f"column{i + 1}" for i in range(found.width))]
    names_of = own(found.source, "called")
    called = {role: str(names_of.get(role, role)) for role in ROLES}
    layers = [called.get(name, name) for name in found.layers]
    first = [called[name] for name in (*lead, "token")]
    return [*first, *islice(names, found.width - 1), *layers]


def write_csv(path: PathName, documents: Iterable[Document], options: Options) -> None:
    found = _Found()
    ready = (tables.cut(document, options) for document in documents)
    with tables.kept_twice(ready, found.see) as again, open_target(path) as stream:
        writer = table_writer(stream, path, options, found.source)
        writer.writerow(_header(found))
        for number, document in enumerate(again):
            if number:
                stream.write("\n")
            writer.writerows(_rows(document, found, options))


def _rows(document: Document, found: _Found, options: Options) -> Iterator[list[str]]:
    how = tables.on_tokens(options)
    tables.note_losses(tables.check_words(document), NAME, options)
    if not document.rows:
        options.losses.note("document without tokens, left out", document.id)
    empty = [""] * len(document.rows or ())
    said: dict[str, list[str]] = {}
    for layer in document.layers:
        for name, cells in _extra_cells(layer):
            said[name] = cells
        tags = tables.tags_of(document, replace(layer, scores=None), how)
        for tag in {tag for tag in tags if tag is not None}:
            for label in [tag] if isinstance(tag, str) else tag:
                check_written(label, f"document {document.id!r}: ")
        said[tables.heading(layer)] = list(map(tables.cell_of, tags))
    columns = [said.get(name, empty) for name in found.layers]
    lines = list(zip(document.rows or (), *columns, strict=True))
    for number, (a, b) in enumerate(document.bounds(), 1):
        lead = [document.id, str(number)] if found.long else [document.id]
        for row, *labels in lines[a:b]:
            yield [*lead, *row, *[""] * (found.width - len(row)), *labels]
