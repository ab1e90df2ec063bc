"""A folder of shards through a fitted model, here or on the workers of an engine."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from tagsift.base import SequenceTagger, tag_table
from tagsift.engines.shard_files import find_shards, place, tag_file, written
from tagsift.engines.versions import check_versions, versions
from tagsift.errors import DataError, InputError, TagsiftError
from tagsift.progress import progress, stage
from tagsift.registry import load_tagger

__all__ = ["Shard", "TaggedShards", "Tagging", "local_tagging", "tag_shards"]

#: What says, beside the shards, by what they were tagged.
_NOTE = "_tagsift.json"


@dataclass(frozen=True)
class Shard:
    """One file, and the file that is made of it."""

    source: str
    target: str


@dataclass(frozen=True)
class Tagging:
    """What every worker is told: the model file, and how tables are tagged."""

    model_file: bytes = field(repr=False)
    column: str | None = None
    prefix: str = ""
    tokenizer: Any = None
    versions: dict[str, str] = field(default_factory=versions)

    @classmethod
    def by(cls, model: SequenceTagger | str | os.PathLike[str], **how: Any) -> Tagging:
        if not isinstance(model, SequenceTagger):
            load_tagger(model)  # says what is wrong with it
            return cls(Path(model).read_bytes(), **how)
        with _scratch() as path:
            model.save(path)
            return cls(path.read_bytes(), **how)

    @cached_property
    def model(self) -> SequenceTagger:
        check_versions(self.versions, versions())
        with _scratch() as path:
            path.write_bytes(self.model_file)
            return load_tagger(path)

    def table(self, table: Any) -> Any:
        """Tag an Arrow table, and nothing of its columns is lost."""
        names, columns = {}, table.schema.names
        asked = ("text", "tokens") if self.column is None else (self.column,)
        if not any(name in columns for name in asked):
            raise InputError(
                f"expected one column {' or '.join(asked)!r} to label, found "
                f"{', '.join(columns[:20]) or 'none'}; name it by --text-key (column=)."
            )
        if self.column is not None:
            kind = str(table.schema.field(columns.index(self.column)).type)
            names = {"tokens" if "list" in kind else "text": self.column}
        how = {"prefix": self.prefix, "tokenizer": self.tokenizer}
        return tag_table(self.model, table, **names, **how)

    def new_columns(self, schema: Any) -> list[Any]:
        """Fields that tagging adds to tables of this schema; others are refused."""
        tagged = self.table(schema.empty_table()).schema
        return [tagged.field(k) for k in range(len(schema), len(tagged))]

    def shard(self, shard: Shard) -> dict[str, Any]:
        """Tag a file; what is wrong with it is said in the result."""
        began, error = time.process_time(), ""
        count = {"rows": 0, "tokens": 0}
        try:
            self.model  # noqa: B018, loaded before a file is opened
            count = tag_file(self.table, shard.source, shard.target, self.column)
        except TagsiftError as problem:
            error = str(problem)
        used = resource.getrusage(resource.RUSAGE_SELF)
        return {
            "source": shard.source,
            **count,
            "cpu_s": time.process_time() - began,
            "peak_mib": used.ru_maxrss / 1024,
            "worker": f"{os.uname().nodename}/{os.getpid()}",
            "error": error,
        }

    def note(self) -> dict[str, Any]:
        """By what shards are tagged, to compare with what lies there."""
        model = hashlib.sha256(self.model_file).hexdigest()
        how = {name: getattr(self, name) for name in ("column", "prefix", "tokenizer")}
        return {"model": model, **how}


#: How an engine tags shards: one result each, in any order.
Engine: TypeAlias = Callable[[Tagging, Sequence[Shard]], Iterator[dict[str, Any]]]


@dataclass(frozen=True)
class TaggedShards:
    """What `tag_shards` did."""

    shards: int
    there_before: int
    rows: int
    tokens: int
    cpu_s: float
    peak_mib: float
    workers: int


def local_tagging(
    tagging: Tagging, shards: Sequence[Shard]
) -> Iterator[dict[str, Any]]:
    return map(tagging.shard, shards)


def tag_shards(
    model: SequenceTagger | str | os.PathLike[str],
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    engine: Engine = local_tagging,
    column: str | None = None,
    prefix: str = "",
    tokenizer: str | None = None,
    verbose: bool = False,
) -> TaggedShards:
    """Tag all Parquet and JSONL files of a folder into files of the same names.

    Rows keep their order and columns; `tagsift.tag_table` says which are added. A file
    appears when it is whole, and files that are there are left alone: after a kill the
    same call does what is missing.

    Parameters
    ----------
    model : SequenceTagger or path-like
        A fitted estimator, or its file.
    source, target : str or path-like
        Folders, here or where an address says (``s3://…``, ``hdfs://…``); `source` may
        be one file.
    engine : callable
        Who works: this process by default, or `RayTagging()`, `SparkTagging()`.
    column : str, optional
        The column of texts or lists of tokens; by default ``text``, or else ``tokens``.
    prefix : str
        What the names of the new columns begin with.
    tokenizer : {"words", "spaces"}, optional
        How text is cut, if not as the model says.
    verbose : bool
        Show progress.

    Returns
    -------
    TaggedShards
        How much there was, and what it took.
    """
    source, target = (os.fspath(name).rstrip("/") or "/" for name in (source, target))
    tagging = Tagging.by(model, column=column, prefix=prefix, tokenizer=tokenizer)
    folder, names = find_shards(source)
    there = _prepare(tagging, source, target)
    ends = [_absolute(name) for name in (folder, target)]  # workers may be elsewhere
    missing = [Shard(*(f"{end}/{n}" for end in ends)) for n in names if n not in there]
    n_there = len(names) - len(missing)
    stage(f"{target}: {n_there} of {len(names)} shards are there", enabled=verbose)
    done: list[dict[str, Any]] = []
    try:
        results = engine(tagging, missing) if missing else iter(())
        for one in progress(results, "tagging", enabled=verbose, total=len(missing)):
            done.append(one)
        _complain(done, len(names))
    except TagsiftError:
        _forget_if_empty(target)
        raise
    return TaggedShards(
        len(names),
        n_there,
        sum(one["rows"] for one in done),
        sum(one["tokens"] for one in done),
        round(sum(one["cpu_s"] for one in done), 2),
        round(max((one["peak_mib"] for one in done), default=0.0), 1),
        len({one["worker"] for one in done}),
    )


def _prepare(tagging: Tagging, source: str, target: str) -> set[str]:
    from pyarrow.fs import FileSelector

    system, path = place(target)
    origin, root = place(source)
    if origin.equals(system) and (path + "/").startswith(root + "/"):
        raise InputError(
            f"{target}: expected a folder outside of {source}, where the shards lie."
        )
    try:
        some = FileSelector(path, allow_not_found=True, recursive=True)
        files = {f.path[len(path) :].lstrip("/"): f for f in system.get_file_info(some)}
    except OSError as error:
        raise DataError(f"cannot list this folder ({error}).", target) from error
    if _NOTE in files:
        with (
            contextlib.suppress(ValueError),
            system.open_input_file(f"{path}/{_NOTE}") as stream,
        ):
            if json.loads(stream.read()) == tagging.note():
                _remove_parts(system, path, files)
                return {name for name, file in files.items() if file.is_file}
    if files:
        raise InputError(
            f"{target}: expected a new folder, or one with shards tagged by this model "
            "in the same way; found other files. Name another folder, or remove it."
        )
    with written((system, f"{path}/{_NOTE}"), target) as stream:
        stream.write(json.dumps(tagging.note()).encode())
    return set()


def _absolute(name: str) -> str:
    return name if "://" in name else os.path.abspath(name)


def _forget_if_empty(target: str) -> None:
    """Remove a folder in which no shard was written."""
    from pyarrow.fs import FileSelector

    system, path = place(target)
    with contextlib.suppress(OSError):
        entries = system.get_file_info(FileSelector(path, recursive=True))
        if {file.path for file in entries if file.is_file} == {f"{path}/{_NOTE}"}:
            system.delete_dir(path)


def _remove_parts(system: Any, path: str, files: dict[str, Any]) -> None:
    for name in files:
        hidden = name.rpartition("/")[2]
        if hidden.startswith(".") and ".part." in hidden:
            with contextlib.suppress(OSError):
                system.delete_file(f"{path}/{name}")


def _complain(done: Sequence[dict[str, Any]], n_shards: int) -> None:
    bad = [one["error"] for one in done if one["error"]]
    if bad:
        more = f" {len(bad) - 1} more shards failed." if len(bad) > 1 else ""
        raise DataError(
            f"{bad[0]}{more} {n_shards - len(bad)} of {n_shards} shards are written; "
            "the same command does the rest."
        )


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    """A path for a model file, which goes with the block."""
    with tempfile.TemporaryDirectory(prefix="tagsift-") as folder:
        yield Path(folder) / "model.tagsift"
