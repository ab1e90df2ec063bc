"""Parquet and JSONL shards on any file system: found, tagged and written once.

A shard is one file. It is read in batches of rows, and what is made of it is written
under a hidden name and moved into place when it is whole. So a shard that is there
needs no more work, whoever was killed when.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import uuid
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from itertools import islice
from typing import Any, TypeAlias

from tagsift.errors import DataError, InputError, MissingExtraError
from tagsift.visible import short

__all__ = ["Place", "find_shards", "place", "tag_file", "written"]

#: A file system of Arrow, and a path in it.
Place: TypeAlias = tuple[Any, str]
#: What tags a table.
Tag: TypeAlias = Callable[[Any], Any]

_LINES = (".jsonl", ".ndjson", ".json")
_ENDINGS = (".parquet", *_LINES, *(f"{one}.gz" for one in _LINES))
_ROWS = 1000  # that are read at once
_GROUP = 16 * 2**20  # bytes of a row group that is written


def place(name: str) -> Place:
    """The file system of a path or an address (``s3://…``), and the path in it."""
    what = "tagging shards"
    pa = MissingExtraError.imported("pyarrow", extra="arrow", what=what)
    fs = import_module("pyarrow.fs")
    try:
        if "://" not in name:
            return fs.LocalFileSystem(), os.path.abspath(name)
        system, path = fs.FileSystem.from_uri(name)
    except (pa.ArrowException, ImportError, OSError, ValueError) as error:
        sentence = f"this file system cannot be used ({_reason(error)})."
        raise DataError(sentence, name) from error
    return system, path.rstrip("/")


def find_shards(name: str) -> tuple[str, list[str]]:
    """The folder of the shards, and their names in it, in order.

    As with the engines' own readers, names that begin with a dot or an underscore do
    not count.
    """
    from pyarrow.fs import FileSelector, FileType

    system, path = place(name)
    try:
        kind = system.get_file_info(path).type
        if kind == FileType.File and name.lower().endswith(_ENDINGS):
            folder, _, file = name.rpartition("/")
            return folder or ("/" if name.startswith("/") else "."), [file]
        if kind == FileType.NotFound:
            raise DataError("there is no such file or folder.", name)
        some = FileSelector(path, recursive=True)
        files = system.get_file_info(some) if kind == FileType.Directory else []
    except OSError as error:
        raise DataError(f"cannot list the shards ({_reason(error)}).", name) from error
    names = [file.path[len(path) :].lstrip("/") for file in files if file.is_file]
    seen = [one for one in names if not any(p[0] in "._" for p in one.split("/"))]
    shards = sorted(one for one in seen if one.lower().endswith(_ENDINGS))
    if not shards:
        raise DataError(
            f"expected shards that end in {', '.join(_ENDINGS[:3])} or .json (the "
            f"latter also gzipped), found {f'{len(seen)} other files' * bool(seen)}"
            f"{'none' * (not seen)}.",
            name,
        )
    return name, shards


@contextlib.contextmanager
def written(target: Place, name: str) -> Iterator[Any]:
    """Open a stream whose file appears under its name when it is whole."""
    system, path = target
    folder, _, file = path.rpartition("/")
    part = f"{folder}/.{uuid.uuid4().hex}.part.{file}"
    try:
        system.create_dir(folder, recursive=True)
        try:
            with system.open_output_stream(part) as stream:
                yield stream
            if system.type_name == "local":
                with open(part, "rb") as whole:
                    os.fsync(whole.fileno())
            system.move(part, path)
        except BaseException:
            with contextlib.suppress(OSError):
                system.delete_file(part)
            raise
    except OSError as error:
        raise DataError(f"cannot write the shard ({_reason(error)}).", name) from error


def tag_file(tag: Tag, source: str, target: str, column: str | None) -> dict[str, int]:
    """Tag one shard, and count its rows and tokens.

    Parameters
    ----------
    tag : callable
        Turns a table into one with labels; see `tagsift.tag_table`.
    source, target : str
        Paths or addresses of the files.
    column : str, optional
        What to label, if not ``text`` or ``tokens``.
    """
    count = {"rows": 0, "tokens": 0}
    if source.lower().endswith(".parquet"):
        tables = _tagged_tables(tag, source, count)
        with written(place(target), target) as sink:
            _write_tables(sink, tables)
    else:
        lines = _tagged_lines(tag, source, column, count)
        with written(place(target), target) as sink:
            for line in lines:
                sink.write(line)
    return count


@contextlib.contextmanager
def _reading(source: str) -> Iterator[None]:
    """Whatever goes wrong with a shard, in one sentence that names it."""
    import pyarrow as pa

    try:
        yield
    except InputError as error:
        raise DataError(str(error), source) from None
    except (pa.ArrowException, OSError, EOFError, UnicodeError) as error:
        raise DataError(f"cannot read the shard ({_reason(error)}).", source) from error


def _tagged_tables(tag: Tag, source: str, count: dict[str, int]) -> Iterator[Any]:
    """An empty table that shows the schema, then tables that are row groups."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with _reading(source):
        system, path = place(source)
        with system.open_input_file(path) as stream:
            file = pq.ParquetFile(stream)
            yield tag(file.schema_arrow.empty_table())
            group: list[Any] = []
            for batch in file.iter_batches(_ROWS):
                with _from_row(count["rows"]):
                    tagged = tag(pa.Table.from_batches([batch]))
                _add(count, tagged)
                group.append(tagged)
                if sum(one.nbytes for one in group) > _GROUP:
                    yield pa.concat_tables(group)
                    group = []
            if group:
                yield pa.concat_tables(group)


def _write_tables(sink: Any, tables: Iterator[Any]) -> None:
    import pyarrow.parquet as pq

    with pq.ParquetWriter(sink, next(tables).schema) as writer:
        for table in tables:
            writer.write_table(table)


def _tagged_lines(
    tag: Tag, source: str, column: str | None, count: dict[str, int]
) -> Iterator[bytes]:
    """Records as they came, with the new columns after their own."""
    import pyarrow as pa

    with _reading(source):
        system, path = place(source)
        with system.open_input_stream(path) as stream:
            records = _records(io.BufferedReader(stream), source)
            while batch := list(islice(records, _ROWS)):
                name = _key(batch, column, first=count["rows"] == 0)
                values = [record.get(name) for record in batch]
                with _from_row(count["rows"]):
                    tagged = tag(pa.table({name: pa.array(values, _kind(pa, values))}))
                    new = tagged.drop_columns([name]).to_pylist()
                    _refuse_taken(batch, tagged.column_names[1:])
                _add(count, tagged)
                for record, more in zip(batch, new, strict=True):
                    line = json.dumps({**record, **more}, ensure_ascii=False)
                    yield line.encode() + b"\n"


def _records(lines: Iterable[bytes], source: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            shown = short(line.decode(errors="replace").strip(), 40)
            raise DataError(f"expected a JSON object, found {shown}.", source, number)
        yield record


def _key(batch: list[dict[str, Any]], column: str | None, *, first: bool) -> str:
    """The key to label; writers leave out what is null, but not in every record."""
    keys = {key: None for record in batch for key in record}
    asked = ("text", "tokens") if column is None else (column,)
    found = next((key for key in asked if key in keys), None)
    if found is None and first:
        raise InputError(
            f"expected one column {' or '.join(asked)!r} to label, found "
            f"{', '.join(list(keys)[:20]) or 'none'}; name it by --text-key (column=)."
        )
    return found or asked[0]


def _kind(pa: Any, values: list[Any]) -> Any:
    """Type of a column: texts, or lists of tokens, which may have columns."""
    example = next((value for value in values if value is not None), "")
    if isinstance(example, list):
        return None if any(example) else pa.list_(pa.string())
    return pa.string()


def _refuse_taken(batch: list[dict[str, Any]], new: list[str]) -> None:
    taken = next((name for record in batch for name in new if name in record), None)
    if taken is not None:
        raise InputError(
            f"there is a column {taken!r} already; rename it, or give a prefix for the "
            "new ones."
        )


@contextlib.contextmanager
def _from_row(number: int) -> Iterator[None]:
    """Say where a batch began, for rows are counted in it."""
    try:
        yield
    except InputError as error:
        where = f"in the batch from row {number + 1} on: " if number else ""
        raise InputError(f"{where}{error}") from None


def _add(count: dict[str, int], tagged: Any) -> None:
    from pyarrow import compute

    labels = next(n for n in reversed(tagged.column_names) if n.endswith("labels"))
    count["rows"] += tagged.num_rows
    sizes = compute.sum(compute.list_value_length(tagged.column(labels)))
    count["tokens"] += sizes.as_py() or 0


def _reason(error: BaseException) -> str:
    """What an error of the system says, in a line."""
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return reason.splitlines()[0].rstrip(". ")[:200]
