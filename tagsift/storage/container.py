"""The container of model files: one safetensors file, with its settings as JSON.

The metadata holds one JSON text (key ``tagsift``) with the format version, the method
and its settings, and a checksum over that text and the arrays; strings too long for a
header travel as arrays of UTF-8 bytes. Loading reads numbers and JSON, and never runs
code. A model file may come from anyone, so everything is checked before it is used:
sizes before they are read, here; the meaning of what was read, in
`tagsift.storage.state`.
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

__all__ = [
    "FORMAT_VERSION",
    "add_prefix",
    "bytes_to_text",
    "parse_json",
    "read_container",
    "strip_prefix",
    "text_to_bytes",
    "write_container",
]

#: Version of the model file format; other files are refused in one sentence.
FORMAT_VERSION = 2
_KEY = "tagsift"
#: Largest file that is read unless the environment variable says more (2 GiB).
_MOST_BYTES, _MOST_BYTES_VARIABLE = 2**31, "TAGSIFT_MODEL_BYTES"
#: Largest header of a file (32 MiB).
_MOST_HEADER = 2**25
#: Kinds of numbers, as safetensors calls them, that a model may hold.
_NUMBERS = {"BOOL", "U8", "I8", "U16", "I16", "U32", "I32", "U64", "I64", "F32", "F64"}


def text_to_bytes(text: str) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Pack a string into an array of bytes, for strings too long for a header."""
    return np.frombuffer(text.encode("utf-8"), dtype=np.uint8).copy()  # [B]


def bytes_to_text(array: np.ndarray[Any, np.dtype[np.uint8]]) -> str:
    """Unpack what `text_to_bytes` packed."""
    return np.asarray(array, dtype=np.uint8).tobytes().decode("utf-8")


def add_prefix(
    prefix: str, arrays: Mapping[str, np.ndarray[Any, Any]]
) -> dict[str, np.ndarray[Any, Any]]:
    """Put a part's name before the names of its arrays."""
    return {prefix + name: array for name, array in arrays.items()}


def strip_prefix(
    prefix: str, arrays: Mapping[str, np.ndarray[Any, Any]]
) -> dict[str, np.ndarray[Any, Any]]:
    """Take the arrays of one part, under their own names."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def parse_json(text: str) -> Any:
    """Read JSON that may come from anyone; a ValueError says what is wrong with it.

    Unlike `json.loads`, this refuses keys that stand twice, NaN and infinity, and what
    is nested too deeply.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a key stands twice")
        return found

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no number")

    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _digest(meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]) -> str:
    """Checksum of the metadata, and of names, types, shapes and contents."""
    plain = {name: value for name, value in meta.items() if name != "sha256"}
    total = hashlib.sha256(json.dumps(plain, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        total.update(f"{name}|{array.dtype.str}|{array.shape}|".encode())
        total.update(array.reshape(-1).view(np.uint8).data)
    return total.hexdigest()


def write_container(
    path: str | PathLike[str],
    meta: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray[Any, Any]],
) -> None:
    """Write arrays and JSON metadata as one safetensors file, atomically.

    Parameters
    ----------
    path : path-like
        The file.
    meta : mapping
        JSON-able.
    arrays : mapping of str to ndarray
        Numbers and booleans only.
    """
    from safetensors.numpy import save

    flat = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    header = json.loads(json.dumps({"format": FORMAT_VERSION, **meta}))
    header["sha256"] = _digest(header, flat)
    payload = save(flat, metadata={_KEY: json.dumps(header, sort_keys=True)})
    with atomic_write(path, "wb") as stream:
        stream.write(payload)


def read_container(
    path: str | PathLike[str],
) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """Read what `write_container` wrote, checking sizes, format version and checksum.

    Returns
    -------
    meta : dict
        The metadata, with ``format`` and ``sha256``.
    arrays : dict of str to ndarray
        The arrays.
    """
    from safetensors import SafetensorError, safe_open

    source = Path(path)
    try:
        _check_size(source)
        with safe_open(source, framework="numpy") as file:
            meta = _read_header(source, file.metadata() or {})
            names = list(file.keys())
            kinds = {file.get_slice(name).get_dtype() for name in names}
            if not kinds <= _NUMBERS:
                odd = ", ".join(sorted(map(str, kinds - _NUMBERS)))
                raise ModelFileError(
                    f"{source}: holds arrays of the type {odd}, which no model of "
                    "tagsift has; save the model again."
                )
            arrays = {name: file.get_tensor(name) for name in names}
    except (ModelFileError, InputError):
        raise
    except PermissionError as error:
        raise ModelFileError(f"{source}: no permission to read the file.") from error
    except (SafetensorError, OSError, ValueError) as error:
        raise ModelFileError(
            f"{source}: not a whole safetensors file ({_first_line(error)}); it was "
            "truncated or is no model file. Save the model again."
        ) from error
    if _digest(meta, arrays) != meta["sha256"]:
        raise ModelFileError(
            f"{source}: the contents do not match their checksum; the file was altered "
            "or damaged. Save the model again."
        )
    return meta, arrays


def _check_size(source: Path) -> None:
    """Refuse what cannot be a model by its size, before it is read."""
    if source.is_dir():
        raise ModelFileError(f"{source}: expected a model file, found a directory.")
    if not source.exists():
        raise ModelFileError(f"{source}: there is no such model file.")
    if not source.is_file():
        raise ModelFileError(
            f"{source}: expected a model file, found a device or pipe."
        )
    size, most = source.stat().st_size, _most_bytes()
    if size > most:
        raise ModelFileError(
            f"{source}: has {size:,} bytes, and no more than {most:,} are read "
            "unasked; if you trust it, set the environment variable "
            f"{_MOST_BYTES_VARIABLE} to at least its size."
        )
    with open(source, "rb") as stream:
        header = int.from_bytes(stream.read(8), "little")
    if size >= 8 and header > min(size - 8, _MOST_HEADER):
        raise ModelFileError(
            f"{source}: not a whole safetensors file (a header of {header:,} bytes in "
            f"a file of {size:,}); it was truncated or is no model file. Save the "
            "model again."
        )


def _most_bytes() -> int:
    given = os.environ.get(_MOST_BYTES_VARIABLE, "")
    if given and not (given.isascii() and given.isdigit()):
        raise InputError(
            f"the environment variable {_MOST_BYTES_VARIABLE} must be a number of "
            f"bytes; found {given!r}."
        )
    return int(given) if given else _MOST_BYTES


def _read_header(source: Path, texts: Mapping[str, str]) -> dict[str, Any]:
    """Read the JSON metadata, before any array is touched."""
    if _KEY not in texts:
        raise ModelFileError(
            f"{source}: a safetensors file, but not one that tagsift wrote "
            "(no 'tagsift' entry in its metadata)."
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
            f"{source}: the metadata is damaged ({_first_line(error)}); save the model "
            "again."
        ) from error
    if version > FORMAT_VERSION:
        named = str(version) if version < 10**6 else "of a very large number"
        raise ModelFileError(
            f"{source}: written in format {named}, this version of tagsift reads "
            f"format {FORMAT_VERSION}; install a newer tagsift."
        )
    if version < FORMAT_VERSION:
        raise ModelFileError(
            f"{source}: written in format {version}, this version of tagsift reads "
            f"format {FORMAT_VERSION} only; fit and save the model again."
        )
    return meta


def _first_line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return text[0][:200] if text else type(error).__name__
