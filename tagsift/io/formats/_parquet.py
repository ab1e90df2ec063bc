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
    "arrow_features",
    "feature_of",
    "is_parquet",
    "joined_type",
    "read_rows",
    "type_of",
    "write_batches",
    "write_rows",
]

#: Rows of a batch.
_BATCH = 1000


def is_parquet(path: PathName) -> bool:
    """Whether a name is that of a Parquet file."""
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
        yield arrow_features(schema)
        for batch in batches:
            for start in range(0, batch.num_rows, _BATCH):
                yield from batch.slice(start, _BATCH).to_pylist()


def arrow_features(schema: Any) -> dict[str, Any]:
    """The features that Hugging Face's datasets wrote into a schema."""
    kept = (schema.metadata or {}).get(b"huggingface")
    try:
        about = json.loads(kept) if kept else {}
        features = about["info"]["features"] if about else {}
        return features if isinstance(features, dict) else {}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}


def write_rows(
    path: PathName,
    rows: Iterable[dict[str, Any]],
    types: Mapping[str, str],
    features: Mapping[str, Any] | None = None,
    info: CorpusInfo | None = None,
) -> None:
    """Write a Parquet file, whole or not at all.

    `types` are the columns: string, int64, double, bool, or list<…> of one.
    """
    pa = _pyarrow()

    def made(kind: str) -> Any:
        if kind.startswith("list<"):
            return pa.list_(made(kind[5:-1]))
        return pa.type_for_alias(kind)

    schema = pa.schema([(name, made(kind)) for name, kind in types.items()])
    if features is not None:
        about = json.dumps({"info": {"features": features}}, ensure_ascii=False)
        schema = schema.with_metadata({"huggingface": about})
    if info is not None:
        schema = with_info(schema, info)
    source = iter(rows)
    chunks = iter(lambda: list(islice(source, _BATCH)), [])
    make = pa.RecordBatch.from_pylist
    write_batches(path, (make(chunk, schema=schema) for chunk in chunks), schema)


def write_batches(path: PathName, batches: Iterable[Any], schema: Any) -> None:
    """Write record batches as a Parquet file, whole or not at all."""
    pa = _pyarrow()
    stream: IO[bytes]
    with open_target(path, "wb") as stream:
        with pa.parquet.ParquetWriter(pa.PythonFile(stream, "w"), schema) as writer:
            for batch in batches:
                writer.write_batch(batch)


def type_of(value: Any) -> str:
    """Name of the type of a value; nothing for null."""
    if isinstance(value, list | tuple):
        inner = ""
        for one in value:
            inner = joined_type(inner, type_of(one))
        return f"list<{inner}>"
    if isinstance(value, int) and not isinstance(value, bool):
        return "int64" if -(2**63) <= value < 2**63 else "json"
    names = {bool: "bool", float: "double", str: "string", type(None): ""}
    return names.get(type(value), "json")


def joined_type(one: str, other: str) -> str:
    """The type that holds both."""
    if one == other or not one or not other:
        return one or other
    if {one, other} == {"int64", "double"}:
        return "double"
    if one[:5] == other[:5] == "list<":
        return f"list<{joined_type(one[5:-1], other[5:-1])}>"
    return "json"


def feature_of(kind: str, labels: list[str] | None) -> dict[str, Any]:
    """A column in the words of Hugging Face's datasets."""
    if kind.startswith("list<"):
        return {"feature": feature_of(kind[5:-1], labels), "_type": "Sequence"}
    if labels is not None:
        return {"names": labels, "_type": "ClassLabel"}
    dtype = {"double": "float64", "json": "string"}.get(kind, kind)
    return {"dtype": dtype, "_type": "Value"}
