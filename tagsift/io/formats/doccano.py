"""doccano's JSON lines, of one user or, in a folder or a zip file, of several.

A line has ``text`` with ``label`` (``[[start, end, name], …]``) or with ``entities``
(objects with ``start_offset``, ``end_offset`` and ``label``). Of several files the name
is the annotator; a single one names none.
"""

from __future__ import annotations

import re
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
from tagsift.io.formats._spans import (
    Counted,
    as_number,
    kept,
    labels_of,
    looked_at,
    own,
    spanned,
    text_of,
    users,
)

__all__ = ["FORMAT"]

_NAME = "doccano"
_SHAPES = ("label", "labels", "entities")
_ENTITY = ("start_offset", "end_offset", "label")
_UNSAFE = re.compile(r"[^\w@+-][^\w.@+-]*")
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError)
_Records: TypeAlias = Iterator[tuple[Place, dict[str, Any]]]


def _read(path: PathName, options: Options) -> Iterator[Document]:
    if Path(path).is_dir():
        files = sorted(Path(path).glob("*.jsonl"))
        yield from _side_by_side(
            path, {one.stem: iter_records(one) for one in files}, options
        )
    elif Path(path).suffix == ".zip":
        with _unzipped(path) as streams:
            yield from _side_by_side(path, streams, options)
    else:
        name = options.annotator or _NAME
        for number, (place, record) in enumerate(iter_records(path), 1):
            yield looked_at(
                _document(record, place, options, name, str(number)), options
            )


@contextmanager
def _unzipped(path: PathName) -> Iterator[dict[str, _Records]]:
    """Records of the files of a zip, by the names of the files."""
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
    waiting: dict[tuple[str, str | None], list[Document]] = {}
    counts = dict.fromkeys(users, 0)
    while users:
        for name in list(users):
            found = next(users[name], None)
            if found is None:
                del users[name]
                continue
            counts[name] += 1
            place, record = found
            one = _document(record, place, options, name, str(counts[name]))
            group = waiting.setdefault((one.id, one.text), [])
            group.append(one)
            if len(group) == len(counts):
                whole = _together(waiting.pop((one.id, one.text)), counts)
                yield looked_at(whole, options)
    for group in waiting.values():
        yield looked_at(_together(group, counts), options)


def _together(group: list[Document], names: Iterable[str]) -> Document:
    """Join what users said of a document, in the order of their names."""
    order = {name: n for n, name in enumerate(names)}
    one = reduce(Document.joined, group)
    layers = sorted(one.layers, key=lambda layer: order[layer.annotator])
    return replace(one, layers=tuple(layers))


def _document(
    record: dict[str, Any], place: Place, options: Options, name: str, number: str
) -> Document:
    key = options.text_key or ("text" if "text" in record else "data")
    if key not in record:
        key = "text"
    text = place.need(record, key, str)
    unit = "characters" if options.offsets == "auto" else options.offsets
    counted = Counted(text, unit)
    shape = next((k for k in ("entities", "label", "labels") if k in record), None)
    layers = []
    if shape is not None:
        found = place.take(record, shape, list, [])
        marks = tuple(
            _mark(one, counted, place.at(shape).at(n)) for n, one in enumerate(found)
        )
        more = {} if shape == "label" else {"shape": shape}
        if "relations" in record:
            more["relations"] = record["relations"]
        layers.append(Layer(name, marks=marks, meta=kept(_NAME, more)))
    known = ("id", key, shape, *(["relations"] if layers else []))
    meta = {k: v for k, v in record.items() if k not in known}
    if key != "text":
        meta |= kept(_NAME, {"text_key": key})
    return Document(
        place.identity(record, "id", number), text, layers=tuple(layers), meta=meta
    )


def _mark(entry: Any, counted: Counted, place: Place) -> Mark:
    more = {}
    if isinstance(entry, dict):
        more = {k: v for k, v in entry.items() if k not in _ENTITY}
        entry = [entry.get(key) for key in _ENTITY]
    if not isinstance(entry, list) or len(entry) != 3:
        raise place.error(
            f"expected a span of two numbers and a label, found {str(entry)[:60]}."
        )
    bounds = counted.read(entry[0], entry[1], place)
    return Mark(*bounds, labels_of(entry[2], place), meta=kept(_NAME, more))


def _write(path: PathName, documents: Iterable[Document], options: Options) -> None:
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
    names: dict[str | None, str] = {}
    with ExitStack() as stack:
        streams: dict[str | None, IO[str]] = {}
        for document in documents:
            for layer in document.layers or (None,):
                who = None if layer is None else layer.annotator
                if who not in streams:
                    name = _UNSAFE.sub("_", who or "unassigned")[:80]
                    while name in names.values():
                        name += "_"
                    if layer is not None and name != who:
                        kind = "annotator's name, which is no name of a file"
                        options.losses.note(kind, f"{document.id}, {who}")
                    names[who] = name
                    streams[who] = stack.enter_context(
                        (folder / f"{name}.jsonl").open("w", encoding="utf-8")
                    )
                record = _record(document, layer, options)
                streams[who].write(dumped(record) + "\n")


def _only_record(document: Document, options: Options) -> dict[str, Any]:
    """A line of a file for one annotator, whose name it does not tell."""
    folder = ", or write a folder or a .zip file, which have a file for each"
    layer = only_layer(document, "a file of doccano", options, else_=folder)
    if layer is not None and layer.annotator != (options.annotator or _NAME):
        where = f"{document.id}, {layer.annotator}"
        options.losses.note(f"annotator's name, which {_NAME} does not keep", where)
    return _record(document, layer, options)


def _record(
    document: Document, layer: Layer | None, options: Options
) -> dict[str, Any]:
    document = text_of(document, _NAME, options.losses)
    key = own(document.meta, _NAME).get("text_key", "text")
    record: dict[str, Any] = {"id": as_number(document.id), key: document.text}
    if layer is not None:
        more = own(layer.meta, _NAME)
        shape = more.pop("shape", "label")
        shape = options.shape or shape
        unit = "characters" if options.offsets == "auto" else options.offsets
        counted = Counted(document.text or "", unit)
        marks = spanned(document, layer, _NAME, options.losses, scores=False)
        entries: list[Any] = []
        for mark in marks:
            start, end = counted.write(mark.start, mark.end)
            for label in mark.labels:
                if shape == "entities":
                    values = zip(_ENTITY, (start, end, label), strict=True)
                    entries.append({**own(mark.meta, _NAME), **dict(values)})
                else:
                    entries.append([start, end, label])
        record[shape] = entries
        record |= more
    return record | users(document, _NAME)


def _tells(head: str) -> bool:
    record = first_record(head)
    if not isinstance(record.get("text", record.get("data")), str):
        return False
    spans = next((record[k] for k in ("entities", "label", "labels") if k in record), 0)
    if not isinstance(spans, list):
        return False
    return all(
        isinstance(one, list) and len(one) == 3
        if not isinstance(one, dict)
        else "start_offset" in one
        for one in spans
    )


def _tells_any(head: str) -> bool:
    names = head.splitlines()
    several = bool(names) and all(name.endswith(".jsonl") for name in names)
    return several or head.startswith("PK\3\4") or _tells(head)


FORMAT = Format(
    _NAME,
    "doccano's JSON lines; a folder or a zip file with one file a user",
    _read,
    _write,
    endings=(".jsonl", ".json", ".zip"),
    tells=_tells_any,
    folder=True,
    tokens=False,
)
