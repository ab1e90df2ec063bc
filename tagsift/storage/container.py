"""The container of model files: one safetensors file, with its settings as JSON.

The metadata holds one JSON text (key ``tagsift``) with the format version, the method
and its settings, and a checksum over that text and the arrays. Loading reads numbers
and JSON, and never runs code. A model file may come from anyone, so everything is
checked before it is used: sizes before they are read, here; the meaning of what was
read, in `tagsift.storage.state`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from tagsift.errors import InputError, ModelFileError
from tagsift.storage.files import atomic_write
from tagsift.typing import Arrays

__all__ = [
    "FORMAT_VERSION",
    "add_prefix",
    "parse_json",
    "read_container",
    "strip_prefix",
    "write_container",
]

#: Version of the model file format; other files are refused in one sentence.
FORMAT_VERSION = 2
_KEY = "tagsift"
#: Largest file that is read (2 GiB), unless the environment variable says more.
_MOST_BYTES = 2**31
_MOST_BYTES_VARIABLE = "TAGSIFT_MODEL_BYTES"
#: Largest header of a file (32 MiB).
_MOST_HEADER = 2**25
#: Kinds of numbers, as safetensors calls them, that a model may hold.
_NUMBERS = {"BOOL", "U8", "I8", "U16", "I16", "U32", "I32", "U64", "I64", "F32", "F64"}


def add_prefix(prefix: str, arrays: Arrays) -> Arrays:
    """Put a part's name before the names of its arrays."""
    return {prefix + name: array for name, array in arrays.items()}


def strip_prefix(prefix: str, arrays: Arrays) -> Arrays:
    inside = [name for name in arrays if name.startswith(prefix)]
    return {name.removeprefix(prefix): arrays[name] for name in inside}


def parse_json(text: str) -> Any:
    """Read JSON that may come from anyone; a ValueError says what is wrong with it.

    Unlike `json.loads`, this refuses keys that stand twice, NaN and infinity, and what
    is nested too deeply.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(pairs)
        if len(table) != len(pairs):
            raise ValueError("a key stands twice")
        return table

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no number")

    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _digest(meta: Mapping[str, Any], arrays: Arrays) -> str:
    """Checksum of the metadata, and of names, types, shapes and contents."""
    plain = {name: value for name, value in meta.items() if name != "sha256"}
    total = hashlib.sha256(json.dumps(plain, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        total.update(f"{name}|{array.dtype.str}|{array.shape}|".encode())
        total.update(array.reshape(-1).view(np.uint8).data)
    return total.hexdigest()


def write_container(
    path: str | PathLike[str], meta: Mapping[str, Any], arrays: Arrays
) -> None:
    """Write arrays and JSON metadata as one safetensors file, atomically."""
    from safetensors.numpy import save

    flat = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    header = json.loads(json.dumps({"format": FORMAT_VERSION, **meta}))
    header["sha256"] = _digest(header, flat)
    payload = save(flat, metadata={_KEY: json.dumps(header, sort_keys=True)})
    with atomic_write(path, "wb") as stream:
        stream.write(payload)


def read_container(path: str | PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Read what `write_container` wrote; sizes, format and checksum are checked."""
    from safetensors import SafetensorError, safe_open

    source = Path(path)
    try:
        _check_size(source)
        with safe_open(source, framework="numpy") as file:
            meta = _read_header(file.metadata() or {})
            names = list(file.keys())
            odd = {file.get_slice(name).get_dtype() for name in names} - _NUMBERS
            if odd:
                raise ModelFileError(
                    f"holds arrays of the type {', '.join(sorted(map(str, odd)))}, "
                    "which no model of tagsift has; save the model again."
                )
            arrays = {name: file.get_tensor(name) for name in names}
        if _digest(meta, arrays) != meta["sha256"]:
            raise ModelFileError(
                "the contents do not match their checksum; the file was altered or "
                "damaged. Save the model again."
            )
    except ModelFileError as error:
        raise ModelFileError(f"{source}: {error}") from error.__cause__
    except InputError:
        raise
    except PermissionError as error:
        raise ModelFileError(f"{source}: no permission to read the file.") from error
    except (SafetensorError, OSError, ValueError) as error:
        raise ModelFileError(f"{source}: {_not_whole(_first_line(error))}") from error
    return meta, arrays


def _check_size(source: Path) -> None:
    """Refuse what cannot be a model by its size, before it is read."""
    if source.is_dir():
        raise ModelFileError("expected a model file, found a directory.")
    if not source.exists():
        raise ModelFileError("there is no such model file.")
    if not source.is_file():
        raise ModelFileError("expected a model file, found a device or pipe.")
    size, most = source.stat().st_size, _most_bytes()
    if size > most:
        raise ModelFileError(
            f"has {size:,} bytes, and no more than {most:,} are read unasked; if you "
            f"trust it, set the environment variable {_MOST_BYTES_VARIABLE} to at "
            "least its size."
        )
    with open(source, "rb") as stream:
        header = int.from_bytes(stream.read(8), "little")
    if size >= 8 and header > min(size - 8, _MOST_HEADER):
        sizes = f"a header of {header:,} bytes in a file of {size:,}"
        raise ModelFileError(_not_whole(sizes))


def _most_bytes() -> int:
    limit = os.environ.get(_MOST_BYTES_VARIABLE) or str(_MOST_BYTES)
    if not (limit.isascii() and limit.isdigit()):
        raise InputError(
            f"the environment variable {_MOST_BYTES_VARIABLE} must be a number of "
            f"bytes; found {limit!r}."
        )
    return int(limit)


def _read_header(texts: Mapping[str, str]) -> dict[str, Any]:
    """Read the JSON metadata, before any array is touched."""
    if _KEY not in texts:
        raise ModelFileError(
            "a safetensors file, but not one that tagsift wrote (no 'tagsift' entry in "
            "its metadata)."
        )
    try:
        meta = parse_json(texts[_KEY])
        if not isinstance(meta, dict):
            raise ValueError("it is no table")
        version = meta.get("format")
        if type(version) is not int or version < 1:
            raise ValueError("it names no format")
        if not isinstance(meta.get("sha256"), str):
            raise ValueError("it has no checksum")
    except ValueError as error:
        raise ModelFileError(
            f"the metadata is damaged ({_first_line(error)}); save the model again."
        ) from error
    if version != FORMAT_VERSION:
        newer = version > FORMAT_VERSION
        remedy = "install a newer tagsift" if newer else "fit and save the model again"
        raise ModelFileError(
            f"written in format {str(version)[:20]}, this version of tagsift reads "
            f"format {FORMAT_VERSION} only; {remedy}."
        )
    return meta


def _not_whole(found: str) -> str:
    return (
        f"not a whole safetensors file ({found}); it was truncated or is no model "
        "file. Save the model again."
    )


def _first_line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return text[0][:200] if text else type(error).__name__
