"""Files that are written whole or not at all, and the container of model files.

A model file is one safetensors file. Its metadata holds one JSON text (key
``tagsift``) with the format version, the method and its settings, and a checksum over
that text and the arrays; strings too long for a header travel as arrays of UTF-8 bytes.
Loading reads numbers and JSON, and never runs code.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np

from tagsift.errors import DataError, ModelFileError

__all__ = [
    "FORMAT_VERSION",
    "add_prefix",
    "atomic_write",
    "bytes_to_text",
    "check_writable",
    "read_container",
    "strip_prefix",
    "text_to_bytes",
    "write_container",
]

#: Version of the model file format; newer files are refused in one sentence.
FORMAT_VERSION = 1
_KEY = "tagsift"


@contextlib.contextmanager
def atomic_write(
    path: str | PathLike[str], mode: str = "w", *, encoding: str = "utf-8"
) -> Iterator[IO[Any]]:
    """Open a temporary file beside `path` and move it into place on success.

    Whatever stops the writer (an error, Ctrl-C, a full disk, a kill), `path` is either
    as it was before or complete. A link is followed; a device or a pipe is written to
    as it stands, for it cannot be replaced.

    Parameters
    ----------
    path : path-like
        Where the file shall stand.
    mode : {"w", "wb"}
        Text or bytes.
    encoding : str
        For text.

    Yields
    ------
    file
        Open for writing.
    """
    named = Path(path)
    text = "b" not in mode
    how: dict[str, Any] = {"encoding": encoding, "newline": ""} if text else {}
    try:
        _refuse_unwritable(named)
        if named.exists() and not named.is_file():
            with open(named, mode, **how) as stream:
                yield stream
            return
        target = Path(os.path.realpath(named))
        handle, name = tempfile.mkstemp(
            prefix=f".{target.name[:40]}.", suffix=".part", dir=target.parent
        )
        temporary = Path(name)
        try:
            with os.fdopen(handle, mode, **how) as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            _adopt_mode(temporary, target)
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    except BrokenPipeError:  # the reader has gone: no fault of the file
        raise
    except OSError as error:
        raise DataError(_os_sentence("write", error), named) from error


def check_writable(path: str | PathLike[str]) -> None:
    """Refuse a path that `atomic_write` could not write to, and leave no trace."""
    named = Path(path)
    try:
        _refuse_unwritable(named)
        if named.is_file() or not named.exists():
            with tempfile.TemporaryFile(dir=Path(os.path.realpath(named)).parent):
                pass
    except OSError as error:
        raise DataError(_os_sentence("write", error), named) from error


def _refuse_unwritable(named: Path) -> None:
    if named.is_dir():
        raise DataError("expected a file to write, found a directory.", named)
    if named.exists() and not os.access(named, os.W_OK):
        raise PermissionError(errno.EACCES, "permission denied")


def _adopt_mode(temporary: Path, target: Path) -> None:
    """Give the new file the permissions of the old one, or the usual ones."""
    if target.exists():
        os.chmod(temporary, target.stat().st_mode & 0o7777)
    else:
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)


def _os_sentence(verb: str, error: OSError) -> str:
    reason = (error.strerror or str(error)).lower()
    return f"cannot {verb} the file ({reason}); nothing was left behind."


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
    """Read what `write_container` wrote, checking format version and checksum.

    Returns
    -------
    meta : dict
        The metadata, with ``format`` and ``sha256``.
    arrays : dict of str to ndarray
        The arrays.
    """
    from safetensors import SafetensorError, safe_open

    source = Path(path)
    if source.is_dir():
        raise ModelFileError(f"{source}: expected a model file, found a directory.")
    if not source.exists():
        raise ModelFileError(f"{source}: there is no such model file.")
    try:
        with safe_open(source, framework="numpy") as file:
            meta = _read_header(source, file.metadata() or {})
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except ModelFileError:
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


def _read_header(source: Path, texts: Mapping[str, str]) -> dict[str, Any]:
    """Read the JSON metadata, before any array is touched."""
    if _KEY not in texts:
        raise ModelFileError(
            f"{source}: a safetensors file, but not one that tagsift wrote "
            "(no 'tagsift' entry in its metadata)."
        )
    try:
        meta: dict[str, Any] = json.loads(texts[_KEY])
        version, _ = int(meta["format"]), str(meta["sha256"])
    except (ValueError, KeyError, TypeError) as error:
        raise ModelFileError(
            f"{source}: the metadata is damaged ({_first_line(error)}); save the model "
            "again."
        ) from error
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"{source}: written in format {version}, this version of tagsift reads up "
            f"to format {FORMAT_VERSION}; install a newer tagsift."
        )
    return meta


def _first_line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return text[0] if text else type(error).__name__
