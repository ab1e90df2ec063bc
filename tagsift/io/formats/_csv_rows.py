"""Documents as rows of a table, one token a row, the columns of their layers behind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tagsift.data.documents import Document, Layer
from tagsift.data.label_set import check_written
from tagsift.io.column_file import PathName
from tagsift.io.formats import _tables as tables
from tagsift.io.formats._cells import table_writer
from tagsift.io.formats._format import Options, open_target
from tagsift.io.formats._spans import own

__all__ = ["EXTRA", "NAME", "ROLES", "write_csv"]

NAME = "csv"
ROLES = ("token", "sentence", "document", "label")
#: What `tagsift clean` says of a token besides its label and confidence.
EXTRA = ("tally", "differs")


def _columns(layer: Layer) -> Iterator[tuple[str, list[str]]]:
    """Columns beside the labels: how sure they are, and what else a table had."""
    if layer.scores is not None:
        cells = ["" if score is None else repr(score) for score in layer.scores]
        yield f"{tables.CONFIDENCE}{layer.annotator}", cells
    for name in EXTRA:
        cells = own(layer.meta, NAME).get(name, [])
        if cells:
            yield f"{name}:{layer.annotator}", list(cells)


def write_csv(path: PathName, documents: Iterable[Document], options: Options) -> None:
    survey = tables.Survey(NAME, options.info)
    beside: dict[tuple[str, str], dict[str, None]] = {}

    def see(document: Document) -> None:
        survey.see(document)
        for layer in document.layers:
            names = dict.fromkeys(name for name, _ in _columns(layer))
            beside.setdefault((layer.annotator, layer.kind), {}).update(names)

    ready = (tables.cut(document, options) for document in documents)
    with tables.kept_twice(ready, see) as again, open_target(path) as stream:
        headings = survey.headings()
        columns = [x for key in headings for x in (headings[key], *beside.get(key, ()))]
        writer = table_writer(stream, path, options, survey.source)
        writer.writerow(_header(survey, columns))
        for number, document in enumerate(again):
            if number:
                stream.write("\n")
            writer.writerows(_rows(document, survey, columns, options))


def _header(survey: tables.Survey, columns: list[str]) -> list[str]:
    lead = ["document", "sentence", "token"] if survey.long else ["sentence", "token"]
    as_before = own(survey.source, "called")
    called = {role: str(as_before.get(role, role)) for role in ROLES}
    layers = [called.get(name, name) for name in columns]
    return [*(called[name] for name in lead), *survey.feature_names, *layers]


def _rows(
    document: Document, survey: tables.Survey, columns: list[str], options: Options
) -> Iterator[list[str]]:
    how, headings = tables.on_tokens(options), survey.headings()
    tables.note_losses(tables.check_words(document), NAME, options)
    if not document.rows:
        options.losses.note("document without tokens, left out", document.id)
    empty = [""] * len(document.rows or ())
    cells: dict[str, list[str]] = {}
    for layer in document.layers:
        cells |= dict(_columns(layer))
        tags = tables.tags_of(document, replace(layer, scores=None), how)
        for tag in {tag for tag in tags if tag is not None}:
            for label in [tag] if isinstance(tag, str) else tag:
                check_written(label, f"document {document.id!r}: ")
        heading = headings[layer.annotator, layer.kind]
        cells[heading] = list(map(tables.cell_of, tags))
    labels = [cells.get(name, empty) for name in columns]
    lines = list(zip(document.rows or (), *labels, strict=True))
    for number, (a, b) in enumerate(document.bounds(), 1):
        lead = [document.id, str(number)] if survey.long else [document.id]
        for row, *more in lines[a:b]:
            yield [*lead, *row, *[""] * (survey.width - len(row)), *more]
