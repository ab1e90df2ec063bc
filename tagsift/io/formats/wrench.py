"""WRENCH: one JSON object of sentences, each with the labels of weak sources.

``{"0": {"label": ["O", …], "data": {"text": ["Ann", …]}, "weak_labels": [["O", "B-X"],
…]}}``: the truth, the tokens, and per token one label a source. Sources abstain, by
``O`` or by −1. Their names are those of ``lf`` in ``meta.json`` beside the file, or in
the entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tagsift.data.annotators import Annotator
from tagsift.data.documents import Document, Layer, Tag
from tagsift.io.column_file import STANDARD, PathName
from tagsift.io.formats import _tables as tables
from tagsift.io.formats._format import Format, Options, open_target
from tagsift.io.formats._json import Place, dumped, first_record, iter_entries
from tagsift.io.formats._json import iter_records as iter_objects
from tagsift.io.formats._spans import own

__all__ = ["FORMAT"]

_NOTHING = -1  # no label


def _read_wrench(path: PathName, options: Options) -> Iterator[Document]:
    names, labels = _beside(path, options)
    for key, place, entry in iter_entries(path):
        yield _wrench_document(key, entry, place, names, labels, options)


def _beside(
    path: PathName, options: Options
) -> tuple[list[str] | None, Sequence[str] | None]:
    """Names of the sources and of numbered labels, where ``meta.json`` has them."""
    meta = Path(path).parent / "meta.json"
    if str(path) == STANDARD or not meta.is_file():
        return None, options.label_names
    place, about = next(iter(iter_objects(meta)))
    names = place.take(about, "lf", list, [])
    types = place.take(about, "entity_types", list, [])
    _check_words(names, place.at("lf"))
    _check_words(types, place.at("entity_types"))
    numbered = ["O", *(f"{lead}-{name}" for name in types for lead in "BI")]
    return names or None, options.label_names or (numbered if types else None)


def _check_words(words: list[Any], place: Place) -> None:
    if not all(type(word) is str for word in words):
        list(place.items(words, str))  # names the first that is none


def _wrench_document(
    key: str,
    entry: dict[str, Any],
    place: Place,
    names: list[str] | None,
    labels: Sequence[str] | None,
    options: Options,
) -> Document:
    data = place.need(entry, "data", dict)
    if isinstance(data.get("text"), str):
        raise place.at("data.text").error(
            "expected a list of tokens, found a text: whole texts are classified here."
        )
    words = place.at("data").need(data, "text", list)
    _check_words(words, place.at("data.text"))
    size = len(words)
    truth = place.take(entry, "label", list, [])
    votes = place.take(entry, "weak_labels", list, [])
    scheme = None if options.scheme == "auto" else options.scheme
    layers = []
    if votes:
        at = place.at("weak_labels")
        rows = [row for _, row in at.items(votes, list)]
        if len(rows) != size or len({len(row) for row in rows}) != 1:
            raise at.error(
                f"expected one label a source for each of the {size} tokens, found "
                f"{len(rows)} entries of {sorted({len(row) for row in rows})[:5]}."
            )
        names = place.take(entry, "lf", list, names)
        columns = list(zip(*rows, strict=True))
        default = [f"lf{source}" for source in range(len(columns))]
        called = [place.at("lf").be(name, str) for name in names or ()]
        called += default[len(called) :]
        sources = (Annotator(name, "source", abstains=True) for name in called)
        options.info.add_annotators(sources)
        for name, column in zip(called, columns, strict=False):
            tags = _tags(column, labels, at)
            if any(tag is not None for tag in tags):
                layers.append(Layer(name, "rule", tags=tags, scheme=scheme))
    if truth:
        if len(truth) != size:
            raise place.at("label").error(
                f"expected a label for each of the {size} tokens, found {len(truth)}."
            )
        tags = _tags(truth, labels, place.at("label"))
        if any(tag is not None for tag in tags):
            layers.append(Layer("gold", "gold", tags=tags, scheme=scheme))
    used = ("label", "data", "weak_labels", "lf")
    meta: dict[str, Any] = {k: v for k, v in entry.items() if k not in used}
    more = {k: v for k, v in data.items() if k != "text"}
    if more:
        meta["data"] = more
    return Document(
        key,
        rows=tuple((word,) for word in words),
        sentences=(0, size),
        layers=tuple(layers),
        meta={FORMAT.name: meta} if meta else {},
    )


def _tags(
    column: Sequence[Any], labels: Sequence[str] | None, place: Place
) -> tuple[Tag, ...]:
    if all(type(label) is str for label in column):
        return tuple(column)
    tags: list[Tag] = []
    for number, label in enumerate(column):
        if label == _NOTHING or label is None:
            tags.append(None)
        elif isinstance(label, str):
            tags.append(label)
        elif type(label) is int and labels is not None and 0 <= label < len(labels):
            tags.append(labels[label])
        else:
            hint = "" if labels else "; name them with --labels (in Python labels=)"
            raise place.at(number).error(
                f"expected a label, or −1 for none, found {str(label)[:40]}{hint}."
            )
    return tuple(tags)


def _write_wrench(
    path: PathName, documents: Iterable[Document], options: Options
) -> None:
    survey, used = tables.Survey(FORMAT.name, options.info), set[str]()
    ready = (tables.cut(document, options) for document in documents)
    with tables.kept_twice(ready, survey.see) as again, open_target(path) as stream:
        lead = "{"
        for document in again:
            key = tables.unused(document.id, used, options)
            entry = _entry(document, survey.people, options)
            stream.write(f"{lead}\n{dumped({key: entry})[1:-1]}")
            lead = ","
        stream.write("\n}\n" if lead == "," else "{}\n")


def _entry(document: Document, sources: list[str], options: Options) -> dict[str, Any]:
    note, how = options.losses.note, tables.on_tokens(options)
    tables.note_losses(document, FORMAT.name, options)
    if len(document.bounds()) > 1:
        note("bounds of sentences, which wrench cannot hold", document.id)
    if any(len(row) > 1 for row in document.rows or ()):
        note("columns but the words, left out", document.id)
    empty = [_NOTHING] * len(document.rows or ())
    columns: dict[str, list[Any]] = {}
    truth: list[Any] = empty
    for layer in document.layers:
        where = f"{document.id}, {layer.annotator}"
        tags = tables.tags_of(document, layer, how)
        if any(isinstance(tag, frozenset) for tag in tags):
            note("tokens with several labels, which wrench cannot hold", where)
        labels = [tag if isinstance(tag, str) else _NOTHING for tag in tags]
        if layer.kind == "gold":
            truth = labels
            continue
        if layer.kind == "exact":
            note("labels known exactly, which wrench cannot hold", where)
            continue
        if layer.kind != "rule" or layer.annotator in columns:
            note(f"kind of an annotator ({layer.kind}), now a weak source", where)
        columns[layer.annotator] = labels
    meta = own(document.meta, FORMAT.name)
    weak = [columns.get(name, empty) for name in sources]
    entry = {
        "label": truth,
        "data": {"text": list(document.tokens), **meta.pop("data", {})},
        "weak_labels": [list(row) for row in zip(*weak, strict=True)],
        **meta,
    }
    if sources != [f"lf{i}" for i in range(len(sources))]:
        entry["lf"] = sources
    return entry


def _tells(head: str) -> bool:
    entries = first_record(head).values()
    first = next(iter(entries), None)
    return isinstance(first, dict) and "data" in first and "weak_labels" in first


FORMAT = Format(
    "wrench",
    "WRENCH's JSON",
    _read_wrench,
    _write_wrench,
    (".json",),
    _tells,
    keeps=lambda path, options: frozenset(("annotators",)),
)
