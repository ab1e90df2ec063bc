"""Parquet and Arrow files, read and written in batches through pyarrow alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

from tagsift.errors import DataError, InputError, MissingExtraError
from tagsift.io.arrow import read_info, with_info
from tagsift.io.column_file import PathName, open_bytes
from tagsift.io.formats._corpus import CorpusInfo
from tagsift.io.formats._format import open_target

__all__ = [
    "is_parquet",
    "read_rows",
    "schema_of",
    "type_of",
    "write_batches",
    "write_rows",
]

#: Rows of a batch.
_BATCH = 1000


def is_parquet(path: PathName) -> bool:
    return Path(path).name.lower().endswith((".parquet", ".parquet.gz"))


def _pyarrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError.for_package(
            "pyarrow", extra="arrow", what="a Parquet or Arrow file"
        ) from None
    return pyarrow


@contextmanager
def _checked(path: PathName) -> Iterator[Any]:
    """Pyarrow, with one sentence for what it cannot read."""
    pa = _pyarrow()
    try:
        yield pa
    except (DataError, InputError):
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        reason = " ".join(str(error).split())[:160]
        raise DataError(
            f"expected a whole Parquet or Arrow file, found a damaged one ({reason}).",
            path,
        ) from None


def read_rows(
    path: PathName, info: CorpusInfo
) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    """What a file says about its columns, and its rows, a batch in memory."""
    rows = _rows(path, info)
    return next(rows), rows


def _rows(path: PathName, info: CorpusInfo) -> Iterator[dict[str, Any]]:
    with open_bytes(path) as stream, _checked(path) as pa:
        head = stream.read(8)
        stream.seek(0)
        if head[:4] == b"PAR1":
            file = pa.parquet.ParquetFile(stream)
            schema, batches = file.schema_arrow, file.iter_batches(_BATCH)
        elif head[:6] == b"ARROW1":
            reader = pa.ipc.open_file(stream)
            schema, number = reader.schema, reader.num_record_batches
            batches = (reader.get_batch(i) for i in range(number))
        else:
            batches = pa.ipc.open_stream(stream)
            schema = batches.schema
        read_info(schema, info, path)
        yield _features(schema)
        for batch in batches:
            for start in range(0, batch.num_rows, _BATCH):
                yield from batch.slice(start, _BATCH).to_pylist()


def _features(schema: Any) -> dict[str, Any]:
    """The features that Hugging Face's datasets wrote into a schema."""
    text = (schema.metadata or {}).get(b"huggingface")
    try:
        about = json.loads(text) if text else {}
        features = about["info"]["features"] if about else {}
        return features if isinstance(features, dict) else {}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}


def write_rows(
    path: PathName, rows: Iterable[dict[str, Any]], schema: Any, info: CorpusInfo
) -> None:
    """Write a Parquet file, whole or not at all."""
    source = iter(rows)
    schema, make = with_info(schema, info), _pyarrow().RecordBatch.from_pylist
    chunks = iter(lambda: list(islice(source, _BATCH)), [])
    write_batches(path, (make(chunk, schema=schema) for chunk in chunks), schema)


def write_batches(path: PathName, batches: Iterable[Any], schema: Any) -> None:
    pa = _pyarrow()
    stream: IO[bytes]
    with open_target(path, "wb") as stream:
        with pa.parquet.ParquetWriter(pa.PythonFile(stream, "w"), schema) as writer:
            for batch in batches:
                writer.write_batch(batch)


def schema_of(types: Mapping[str, Any], labels: Mapping[str, list[str]]) -> Any:
    """A schema of columns; some hold numbers of labels, whose names it says."""
    pa = _pyarrow()
    whole = {name: pa.list_(pa.int64()) for name in labels}
    schema = pa.schema({**types, **whole})
    features = {
        name: {
            "feature": {"names": names, "_type": "ClassLabel"},
            "_type": "Sequence",
        }
        for name, names in labels.items()
    }
    about = json.dumps({"info": {"features": features}}, ensure_ascii=False)
    return schema.with_metadata({"huggingface": about}) if labels else schema


def type_of(value: Any, before: Any = None) -> Any:
    """The type of a column with one value more; None where none holds all of them."""
    pa = _pyarrow()
    try:
        new = pa.infer_type([value])
        both = [pa.schema([("x", one)]) for one in (new, before) if one is not None]
        joined = pa.unify_schemas(both, promote_options="permissive").field("x").type
    except (pa.ArrowException, OverflowError):
        return None
    return None if "struct" in str(joined) else joined
