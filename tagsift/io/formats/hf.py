"""Hugging Face: tokens and tags, in JSON lines, Parquet, or a dataset saved on disk.

``{"id": "7", "tokens": ["Ann", "left"], "ner_tags": [1, 0]}``: tags are names, or
numbers with the names that the features of the dataset have (or ``labels=``); −100 is
no label. Further annotators are columns ``vote:NAME``, ``model:NAME``, ``rule:NAME``,
``gold``, or those that a list as ``label_key=`` names, with ``confidence:NAME``. Other
columns are the metadata of a document. Tables of documents, as `tagsift.io.arrow` has
them (``shape="documents"``), are read too and hold everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tagsift.data.documents import Document
from tagsift.errors import DataError
from tagsift.io.arrow import document_of
from tagsift.io.column_file import PathName
from tagsift.io.formats import _tables as tables
from tagsift.io.formats._corpus import EVERYTHING, Part
from tagsift.io.formats._format import Format, Options
from tagsift.io.formats._hf_rows import (
    MAIN,
    NOTHING,
    OWN,
    TAGS,
    TOKENS,
    is_table,
    write_hf,
)
from tagsift.io.formats._json import Place, first_record, iter_records
from tagsift.io.formats._parquet import is_parquet, read_rows
from tagsift.io.formats._schema import document_of as document_of_record

__all__ = ["FORMAT", "label_names", "row_document"]


def _read_hf(path: PathName, options: Options) -> Iterator[Document]:
    number = 0
    for place, record, names in _records(path, options):
        number += 1
        if {"layers", "spans"} <= record.keys():
            yield document_of(record, number - 1, place.file)
        else:
            yield row_document(record, place, names, str(number), options)
    if not number:
        raise DataError("expected rows with tokens, found none.", path)


def _records(
    path: PathName, options: Options
) -> Iterator[tuple[Place, dict[str, Any], dict[str, Sequence[str]]]]:
    """Rows of the files of a dataset, and the names of their numbered labels."""
    root = Path(path)
    if not root.is_dir():
        if not _is_arrow(path):
            for place, record in iter_records(path):
                yield place, record, {}
            return
        files: list[tuple[Path, str, dict[str, Any]]] = [(root, "", {})]
    else:
        files = _files(root)
    for file, split, about in files:
        features, rows = read_rows(file, options.info)
        names = dict(label_names(about or features))
        for number, record in enumerate(rows):
            if split:
                record = {"split": split, **record}
            yield Place(file, None, ((), f"row {number}")), record, names


def _is_arrow(path: PathName) -> bool:
    return is_parquet(path) or Path(path).suffix.lower() in (".arrow", ".feather")


def _files(root: Path) -> list[tuple[Path, str, dict[str, Any]]]:
    """Files of a dataset that was saved on disk, with their splits and features."""
    splits = _about(root / "dataset_dict.json").get("splits")
    folders = [("", root)]
    if isinstance(splits, list):
        folders = [(str(name), root / _plain(str(name), root)) for name in splits]
    files = []
    for split, folder in folders:
        features = _about(folder / "dataset_info.json").get("features")
        listed = _about(folder / "state.json").get("_data_files")
        if not isinstance(listed, list):
            raise DataError(
                "expected a dataset saved by save_to_disk, with state.json and "
                "dataset_info.json, found another folder.",
                folder,
            )
        for entry in listed:
            name = entry.get("filename") if isinstance(entry, dict) else None
            file = folder / _plain(str(name), folder)
            files.append((file, split, features if isinstance(features, dict) else {}))
    return files


def _about(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    return next(iter(iter_records(path)))[1]


def _plain(name: str, folder: Path) -> str:
    if not name or name in (".", "..") or any(sign in name for sign in "/\\\0"):
        raise DataError(f"expected the name of a file, found {name[:60]!r}.", folder)
    return name


def label_names(features: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[str]]]:
    """Names of the labels of every column that has numbers for them."""
    for column, feature in features.items():
        while isinstance(feature, dict) and "feature" in feature:
            feature = feature["feature"]
        if isinstance(feature, list) and len(feature) == 1:  # of old versions
            feature = feature[0]
        names = feature.get("names") if isinstance(feature, dict) else None
        if isinstance(names, dict):
            names = [names[key] for key in sorted(names, key=int)]
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            yield column, names


def row_document(
    record: dict[str, Any],
    place: Place,
    names: Mapping[str, Sequence[str]],
    number: str,
    options: Options,
) -> Document:
    """Document of a row of tokens and tags; `names` are those of numbered labels."""
    key = options.text_key or next((k for k in TOKENS if k in record), "tokens")
    words = place.need(record, key, list)
    for here, word in place.at(key).items(words, str):
        if not word:
            raise here.error("expected a word, found an empty text.")
    people = _people(record, place, options)
    main = None if people else _main(record, place, options)
    used = {key, main, *OWN}
    layers = []
    for column in record:
        layer = tables.layer_of(column)
        if column in people:
            layer = layer or (column, "person")
        elif column != main and (layer is None or layer[0] == tables.LABELS):
            continue
        if record[column] is None:
            continue
        used.add(column)
        who, kind = layer or (options.annotator or tables.LABELS, "person")
        sure = f"{tables.CONFIDENCE}{who}"
        if column == main:
            named = tables.layer_of(place.take(record, "annotator", str, ""))
            (who, kind), sure = named or (who, kind), "scores"
        used.add(sure)
        numbered = names.get(column) or options.label_names
        scheme = None if options.scheme == "auto" else options.scheme
        about = {"annotator": who, "kind": kind, "scheme": scheme}
        tags = _tags(place.need(record, column, list), numbered, place.at(column))
        layers.append({**about, "tags": tags, "scores": record.get(sure)})
    tokens = words
    if options.columns is not None:
        columns = [words]
        for name in (name.strip() for name in options.columns.split(",")[1:]):
            values = place.need(record, name, list)
            columns.append(_tags(values, names.get(name), place.at(name)))
            if len(values) != len(words):
                raise place.at(name).error(
                    f"expected a value for each of the {len(words)} tokens, found "
                    f"{len(values)}."
                )
        tokens = [list(map(str, row)) for row in zip(*columns, strict=True)]
    meta = {
        k: _plainly(v, names.get(k))
        for k, v in record.items()
        if k not in used and v is not None
    }
    if (key, main) != ("tokens", MAIN) and main is not None:
        meta[FORMAT.name] = {"tokens": key, "tags": main}
    sentences = place.take(record, "sentences", list, [0, len(words)])
    whole = {"tokens": tokens, "sentences": sentences, "layers": layers, "meta": meta}
    text = {k: record.get(k) for k in ("id", "text")}
    if text["text"] is not None:
        text["offsets"] = record.get("offsets")
    return document_of_record(text | whole, place, number)


def _main(record: Mapping[str, Any], place: Place, options: Options) -> str | None:
    key = options.one_label_key
    if key is not None:
        place.need(record, key, list)
        return key
    usual = [k for k in TAGS if k in record]
    others = [k for k in record if k.endswith("_tags")]
    if usual or not others:
        return usual[0] if usual else None
    if len(others) > 1:
        raise place.error(
            f"expected 'ner_tags', found {', '.join(others)}; say which are the labels "
            "with --label-key (in Python label_key=)."
        )
    return others[0]


def _people(
    record: Mapping[str, Any], place: Place, options: Options
) -> tuple[str, ...]:
    """Columns that are annotators because somebody says so."""
    columns = options.label_key
    if isinstance(columns, str) and columns not in record and "," in columns:
        columns = columns.split(",")
    if columns is None or isinstance(columns, str):
        return ()
    for column in columns:
        place.need(record, column, list)
    return tuple(columns)


def _tags(values: list[Any], names: Sequence[str] | None, place: Place) -> list[Any]:
    if all(type(value) is str for value in values):
        return values
    tags: list[str | None] = []
    for number, value in enumerate(values):
        if value is None or value == NOTHING:
            tags.append(None)
        elif type(value) is str:
            tags.append(value)
        elif type(value) is int and names is not None and 0 <= value < len(names):
            tags.append(names[value])
        else:
            hint = "" if names else "; name them with --labels (in Python labels=)"
            raise place.at(number).error(
                f"expected the name or number of a label, found {str(value)[:40]}"
                f"{hint}."
            )
    return tags


def _plainly(value: Any, names: Sequence[str] | None) -> Any:
    """Metadata as JSON has them; numbers of labels become their names."""
    if names is not None and type(value) is int and 0 <= value < len(names):
        return names[value]
    if isinstance(value, list):
        return [_plainly(one, names) for one in value]
    if isinstance(value, dict):
        return {str(key): _plainly(one, None) for key, one in value.items()}
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)  # times, bytes, decimal numbers


def _tells(head: str) -> bool:
    names = head.split("\n")
    if {"dataset_info.json", "dataset_dict.json"} & set(names):
        return True
    if head.startswith("PAR1"):
        return "tokens" in head or "layers" in head
    record = first_record(head)
    return "tokens" in record and any(name.endswith("_tags") for name in record)


def _keeps(path: PathName, options: Options) -> frozenset[Part]:
    return EVERYTHING if is_table(path, options) else frozenset()


FORMAT = Format(
    "hf",
    "Hugging Face's JSON lines, Parquet, or dataset on disk",
    _read_hf,
    write_hf,
    (".jsonl", ".json", ".parquet", ".arrow"),
    _tells,
    folder=True,
    keeps=_keeps,
)
