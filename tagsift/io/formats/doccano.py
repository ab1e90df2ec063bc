"""doccano's JSON lines, of one user or, in a folder or a zip file, of several.

A line has ``text`` with ``label`` (``[[start, end, name], …]``) or with ``entities``
(objects with ``start_offset``, ``end_offset`` and ``label``). Of several files the name
is the annotator, and ``gold`` or ``exact`` the truth; a single one names none.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import reduce
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO, Any, TypeAlias

from tagsift.data.documents import Document, Layer, Mark
from tagsift.errors import DataError, InputError
from tagsift.io.column_file import PathName, open_bytes
from tagsift.io.formats import _spans
from tagsift.io.formats._file_names import FileNames, annotator_in, in_order
from tagsift.io.formats._format import Format, Options, open_folder, open_target
from tagsift.io.formats._json import (
    Place,
    dumped,
    first_record,
    iter_records,
    records_of,
    write_lines,
)
from tagsift.io.formats._layers import only_layer
from tagsift.io.formats._spans import Counted, as_own, own, without

__all__ = ["FORMAT"]

_NAME = "doccano"
_SHAPES = ("label", "labels", "entities")
_ENTITY = ("start_offset", "end_offset", "label")
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError)
_Records: TypeAlias = Iterator[tuple[Place, dict[str, Any]]]


def _read_doccano(path: PathName, options: Options) -> Iterator[Document]:
    if Path(path).is_dir():
        files = sorted(Path(path).glob("*.jsonl"), key=lambda one: in_order(one.stem))
        users = {one.stem: iter_records(one) for one in files}
        yield from _side_by_side(path, users, options)
    elif Path(path).suffix == ".zip":
        with _unzipped(path) as streams:
            yield from _side_by_side(path, streams, options)
    else:
        none = Layer(options.annotator or _NAME, marks=())
        for number, (place, record) in enumerate(iter_records(path), 1):
            document = _doccano_document(record, place, options, none, str(number))
            yield _spans.looked_at(document, options)


@contextmanager
def _unzipped(path: PathName) -> Iterator[dict[str, _Records]]:
    with ExitStack() as stack:
        stream = stack.enter_context(open_bytes(path))
        try:
            packed = stack.enter_context(zipfile.ZipFile(stream))
            yield {
                name: records_of(
                    stack.enter_context(packed.open(str(one))), f"{path}/{one}"
                )
                for name, one in _users(packed.namelist()).items()
            }
        except _DAMAGED as error:
            sentence = f"expected a zip file, found a damaged one ({error})."
            raise DataError(sentence, path) from None


def _users(names: Iterable[str]) -> dict[str, PurePosixPath]:
    """Files of users by their names, less the hidden ones that a Mac adds."""
    files = [PurePosixPath(name) for name in names if name.endswith(".jsonl")]
    files = [one for one in files if not one.name.startswith(".")]
    files.sort(key=lambda one: in_order(str(one)))
    stems = [one.stem for one in files]
    return {
        one.stem if stems.count(one.stem) == 1 else str(one.with_suffix("")): one
        for one in files
    }


def _side_by_side(
    path: PathName, users: dict[str, _Records], options: Options
) -> Iterator[Document]:
    """Join the documents of several users, as soon as all of them have given one."""
    if not users:
        raise DataError("expected files that end in .jsonl, found none.", path)
    waiting: dict[tuple[str, str | None], dict[str, Document]] = {}
    counts = dict.fromkeys(users, 0)
    while users:
        for name in list(users):
            entry = next(users[name], None)
            if entry is None:
                del users[name]
                continue
            counts[name] += 1
            place, record = entry
            who, number = Layer(*annotator_in(name), marks=()), str(counts[name])
            one = _doccano_document(record, place, options, who, number)
            group = waiting.setdefault((one.id, one.text), {})
            group[name] = one.joined(group[name]) if name in group else one
            if len(group) == len(counts):
                yield _together(waiting.pop((one.id, one.text)), counts, options)
    for group in waiting.values():
        yield _together(group, counts, options)


def _together(
    group: dict[str, Document], order: Iterable[str], options: Options
) -> Document:
    whole = reduce(Document.joined, (group[name] for name in order if name in group))
    return _spans.looked_at(whole, options)


def _doccano_document(
    record: dict[str, Any], place: Place, options: Options, empty: Layer, number: str
) -> Document:
    key = options.text_key or ("text" if "text" in record else "data")
    key = key if key in record else "text"
    counted = Counted.of(place.need(record, key, str), options)
    shape = next((k for k in ("entities", "label", "labels") if k in record), None)
    layers = []
    if shape is not None:
        at = place.at(shape)
        spans = enumerate(place.take(record, shape, list, []))
        marks = tuple(_doccano_mark(one, counted, at.at(n)) for n, one in spans)
        more = {k: record[k] for k in ("relations",) if k in record}
        more |= {} if shape == "label" else {"shape": shape}
        layers.append(replace(empty, marks=marks, meta=as_own(_NAME, more)))
    meta = without(record, "id", key, shape, "relations" if layers else None)
    if key != "text":
        meta |= as_own(_NAME, {"text_key": key})
    name = place.identity(record, "id", number)
    return Document(name, counted.text, layers=tuple(layers), meta=meta)


def _doccano_mark(entry: Any, counted: Counted, place: Place) -> Mark:
    more = {}
    if isinstance(entry, dict):
        more = without(entry, *_ENTITY)
        entry = [entry.get(key) for key in _ENTITY]
    if not isinstance(entry, list) or len(entry) != 3:
        raise place.error(
            f"expected a span of two numbers and a label, found {str(entry)[:60]}."
        )
    bounds = counted.read(entry[0], entry[1], place)
    return Mark(*bounds, _spans.labels_of(entry[2], place), meta=as_own(_NAME, more))


def _write_doccano(
    path: PathName, documents: Iterable[Document], options: Options
) -> None:
    if options.shape not in (None, *_SHAPES):
        raise InputError(
            f"expected the shape {', '.join(_SHAPES)}, found {options.shape!r}."
        )
    if Path(path).suffix == ".zip":
        with TemporaryDirectory() as folder, open_target(path, "wb") as stream:
            _write_users(Path(folder), documents, options)
            with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
                for one in sorted(Path(folder).iterdir()):
                    packed.write(one, one.name)
    elif str(path) != "-" and not Path(path).suffix:
        with open_folder(path) as whole:
            _write_users(whole, documents, options)
    else:
        write_lines(path, (_only_record(one, options) for one in documents))


def _write_users(folder: Path, documents: Iterable[Document], options: Options) -> None:
    """Write one file a user; documents that nobody annotated have one of their own."""
    names = FileNames(options.losses, ("unassigned",))
    with ExitStack() as stack:
        streams: dict[str, IO[str]] = {}
        for document in documents:
            for layer in document.layers or (None,):
                name = "unassigned" if layer is None else names.of(layer)
                if name not in streams:
                    file = (folder / f"{name}.jsonl").open("w", encoding="utf-8")
                    streams[name] = stack.enter_context(file)
                record = _doccano_record(document, layer, options)
                streams[name].write(dumped(record) + "\n")


def _only_record(document: Document, options: Options) -> dict[str, Any]:
    """A line of a file for one annotator, whose name it does not tell."""
    folder = ", or write a folder or a .zip file, which have a file for each"
    layer = only_layer(document, "a file of doccano", options, else_=folder)
    if layer is not None:
        where = f"{document.id}, {layer.annotator}"
        if layer.annotator != (options.annotator or _NAME):
            kind = f"annotator's name, which {_NAME} does not keep"
            options.losses.note(kind, where)
        _spans.note_kind(layer, _NAME, where, options.losses)
    return _doccano_record(document, layer, options)


def _doccano_record(
    document: Document, layer: Layer | None, options: Options
) -> dict[str, Any]:
    document = _spans.text_of(document, _NAME, options.losses)
    key = own(document.meta, _NAME).get("text_key", "text")
    record: dict[str, Any] = {"id": _spans.as_number(document.id), key: document.text}
    if layer is not None:
        more = own(layer.meta, _NAME)
        shape = more.pop("shape", "label")
        shape = options.shape or shape
        counted = Counted.of(document.text, options)
        entries: list[Any] = []
        for mark in _spans.spanned(
            document, layer, _NAME, options.losses, scores=False
        ):
            for label in mark.labels:
                values = (*counted.write(mark.start, mark.end), label)
                named = dict(zip(_ENTITY, values, strict=True))
                entity = {**own(mark.meta, _NAME), **named}
                entries.append(entity if shape == "entities" else list(values))
        record |= {shape: entries, **more}
    return record | _spans.users(document, _NAME)


def _tells_doccano(head: str) -> bool:
    record = first_record(head)
    if not isinstance(record.get("text", record.get("data")), str):
        return False
    spans = next((record[k] for k in ("entities", "label", "labels") if k in record), 0)
    return isinstance(spans, list) and all(
        "start_offset" in one
        if isinstance(one, dict)
        else isinstance(one, list) and len(one) == 3
        for one in spans
    )


def _tells(head: str) -> bool:
    names = head.splitlines()
    several = bool(names) and all(name.endswith(".jsonl") for name in names)
    return several or head.startswith("PK\3\4") or _tells_doccano(head)


FORMAT = Format(
    _NAME,
    "doccano's JSON lines; a folder or a zip file with one file a user",
    _read_doccano,
    _write_doccano,
    endings=(".jsonl", ".json", ".zip"),
    tells=_tells,
    folder=True,
    tokens=False,
    spans=True,
    order="names",
)
