"""Documents as rows of a Hugging Face dataset: JSON lines, or Parquet with features."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tagsift.data.documents import Document, Tag
from tagsift.data.span_alignment import layer_tags
from tagsift.errors import DataError, InputError
from tagsift.io.arrow import arrow_schema, document_batches
from tagsift.io.column_file import PathName
from tagsift.io.formats import _tables as tables
from tagsift.io.formats._format import Options
from tagsift.io.formats._json import write_lines
from tagsift.io.formats._layers import main_layer, only_layer
from tagsift.io.formats._parquet import (
    is_parquet,
    schema_of,
    type_of,
    write_batches,
    write_rows,
)
from tagsift.io.formats._spans import own
from tagsift.io.leaks import feature_names

__all__ = [
    "MAIN",
    "NOTHING",
    "OWN",
    "TAGS",
    "TOKENS",
    "in_order",
    "is_table",
    "sentence_rows",
    "write_hf",
]

NOTHING = -100  # no label
TOKENS = ("tokens", "words")
TAGS = ("ner_tags", "tags", "labels")
OWN = ("id", "text", "offsets", "sentences", "annotator", "scores")
MAIN = "ner_tags"


def write_hf(path: PathName, documents: Iterable[Document], options: Options) -> None:
    """Write rows of tokens and tags; in Parquet, tags are numbers with names."""
    if options.shape == "documents":
        schema = arrow_schema(options.info)
        write_batches(path, document_batches(documents), schema)
        return
    columns = _Columns()
    if options.shape == "sentences":
        records = sentence_rows(documents, options, columns.labels)
        columns.main.add(MAIN)
    elif options.shape in (None, "jsonl", "parquet"):
        records = (
            _hf_record(tables.cut(document, options), options, columns.main)
            for document in documents
        )
    else:
        raise InputError(
            "expected shape jsonl, parquet, documents or sentences, found "
            f"{options.shape!r}."
        )
    if not is_table(path, options):
        write_lines(path, records)
        return
    with tables.kept_twice(records, columns.see) as again:
        labels = list(options.label_names or options.info.labels)
        if options.label_names is None and not columns.labels <= set(labels):
            labels = in_order({*labels, *columns.labels})
        unknown = columns.labels - set(labels)
        if unknown:
            raise InputError(
                f"expected one of the {len(labels)} labels given, found "
                f"{min(unknown)!r}; add it to labels=."
            )
        mixed = {name for name, type_ in columns.types.items() if type_ is None}
        for name in mixed:
            options.losses.note("metadata of mixed kinds, now JSON text", name)
        types = {name: x or type_of("") for name, x in columns.types.items()}
        schema = schema_of(types, dict.fromkeys(columns.tagged, labels))
        numbers = {name: number for number, name in enumerate(labels)} | {None: NOTHING}
        rows = (columns.row(record, mixed, numbers) for record in again)
        write_rows(path, rows, schema, options.info)


def is_table(path: PathName, options: Options) -> bool:
    return options.shape in ("parquet", "documents") or is_parquet(path)


def _hf_record(document: Document, options: Options, mains: set[str]) -> dict[str, Any]:
    """A row, its columns named as in the source; `mains` gets that of the tags."""
    note, how = options.losses.note, tables.on_tokens(options)
    source = own(document.meta, "hf")
    key, called = str(source.get("tokens", "tokens")), str(source.get("tags", MAIN))
    mains.add(called)
    record: dict[str, Any] = {"id": document.id, key: list(document.tokens)}
    main = main_layer(document)
    for layer in document.layers:
        where = f"{document.id}, {layer.annotator}"
        heading = tables.heading(layer.annotator, layer.kind, options.info)
        name = f"vote:{layer.annotator}" if heading == "label" else heading
        if layer is main:
            name = called
            if not tables.named_by_default(layer):
                record["annotator"] = heading
        if layer.scores is not None:
            sure = "scores" if layer is main else tables.CONFIDENCE + layer.annotator
            record[sure] = list(layer.scores)
            layer = replace(layer, scores=None)
        tags = tables.tags_of(document, layer, how)
        if any(isinstance(tag, frozenset) for tag in tags):
            note("tokens with several labels, which hf cannot hold", where)
        if layer.meta:
            note("metadata of layers, which hf cannot hold", where)
        if name in record:
            note("second layer of one annotator, left out", where)
        record[name] = [tag if isinstance(tag, str) else None for tag in tags]
    if document.text is not None:
        record["text"] = document.text
        if document.offsets is not None:
            record["offsets"] = [list(pair) for pair in document.offsets]
    size = len(document.rows or ())
    if size and document.sentences not in (None, (0, size)):
        record["sentences"] = list(document.sentences or ())
    names = feature_names(document)
    for i in range(1, max(map(len, document.rows or ((),)))):
        name = names[i - 1] if i <= len(names) else f"column{i + 1}"
        record[name] = [row[i] for row in document.rows or ()]
    taken = OWN if source else (*OWN, *TOKENS, *TAGS)
    for name, value in tables.metadata(document, "hf").items():
        if name in record or name in taken:
            note("metadata under a name that hf has for itself, left out", name)
        else:
            record[name] = value
    return record


def sentence_rows(
    documents: Iterable[Document], options: Options, labels: set[str]
) -> Iterator[dict[str, Any]]:
    """A row a sentence, with the labels of one annotator; `labels` gets their names."""
    how = tables.on_tokens(options)
    for document in documents:
        document = tables.cut(document, options)
        layer = only_layer(document, "a row of ner_tags", options)
        tags: Sequence[Tag] = [None] * len(document.rows or ())
        if layer is not None:
            tags = layer_tags(document, layer, how)
        bounds = document.bounds()
        for tag in {tag for tag in tags if tag is not None}:
            labels |= {tag} if isinstance(tag, str) else tag
        for s, (a, b) in enumerate(bounds):
            yield {
                "id": f"{document.id}-{s}" if len(bounds) > 1 else document.id,
                "tokens": list(document.tokens[a:b]),
                MAIN: [tag if isinstance(tag, str) else None for tag in tags[a:b]],
            }
    if not labels:
        raise DataError("expected labels, found none in the documents.")


def in_order(labels: Iterable[str]) -> list[str]:
    """O first, then types in order, each with its prefixes."""

    def place(label: str) -> tuple[bool, str, str]:
        return label != "O", label[2:] if label[1:2] == "-" else label, label

    return sorted(labels, key=place)


@dataclass
class _Columns:
    """What a first look at the rows finds: their columns, and all labels."""

    types: dict[str, Any] = field(default_factory=dict)  # None: of mixed kinds
    main: set[str] = field(default_factory=set)  # names of the column of the tags
    tagged: dict[str, None] = field(default_factory=dict)
    labels: set[str] = field(default_factory=set)

    def see(self, record: Mapping[str, Any]) -> None:
        for name, value in record.items():
            if name in self.main or (tables.layer_of(name) and name != "label"):
                self.tagged[name] = None
                self.labels.update(tag for tag in value if tag is not None)
                self.types[name] = type_of([0])
            elif name not in self.types:
                self.types[name] = type_of(value)
            elif self.types[name] is not None:
                self.types[name] = type_of(value, self.types[name])

    def row(
        self, record: dict[str, Any], mixed: set[str], numbers: Mapping[Any, int]
    ) -> dict[str, Any]:
        row = dict(record)
        for name in self.tagged.keys() & row.keys():
            row[name] = [numbers[tag] for tag in row[name]]
        for name in mixed & row.keys():
            row[name] = json.dumps(row[name], ensure_ascii=False)
        return row
