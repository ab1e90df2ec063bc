"""Cases: model files with flipped bits, and with edits whose checksum is right."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

import tagsift
from tagsift.storage.container import _digest
from tests.fuzz import inputs
from tests.fuzz.dice import NOT_NUMBERS, ODD_NUMBERS, Dice
from tests.fuzz.outcome import command

_TYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U8": "u1"}
_TYPES |= {"I16": "<i2", "I8": "i1", "BOOL": "?", "F16": "<f2", "U32": "<u4"}
_NAMES = {np.dtype(code): name for name, code in _TYPES.items()}
Arrays = dict[str, np.ndarray[Any, Any]]


def model_files(dice: Dice, folder: Path) -> None:
    """Load a damaged model and tag with it."""
    name = dice.choice([method.name for method in tagsift.methods()])
    data = inputs.fitted(name, folder.parent).read_bytes()
    model, text = folder / "model.tagsift", folder / "text"
    model.write_bytes(
        dice.damage_bytes(data) if dice.often(0.15) else _edited(dice, data)
    )
    text.write_text("the\tDT\ndog\tNN\n\ncats\tNNS\nbark\tVB\n", encoding="utf-8")
    probable = tagsift.make(name).method.probabilities
    choices: tuple[tuple[Any, ...], ...] = (
        ("tag", model, text, *(("--marginals",) if probable else ())),
        ("tag", model, text, "--json"),
        ("info", model, *(("--json",) if dice.often() else ())),
    )
    command(*dice.choice(choices))


def _edited(dice: Dice, data: bytes) -> bytes:
    """Change the contents and sign them again."""
    header, arrays = unpacked(data)
    for _ in range(dice.randint(1, 2)):
        how = dice.randrange(10)
        if how < 6 and arrays:
            _edit_array(dice, arrays)
        elif how < 7:
            header = dice.damage_json(header, most=1)
        elif how < 9:
            header = dice.nudge_json(header)
        else:
            return _odd_file(dice, header, arrays)
    return packed(header, arrays)


def _edit_array(dice: Dice, arrays: Arrays) -> None:
    learnt = [name for name in sorted(arrays) if name.startswith("model/")]
    name = dice.choice(learnt if learnt and dice.often(0.7) else sorted(arrays))
    array = arrays[name].copy()
    if array.dtype == np.uint8 and dice.often(0.7):
        arrays[name] = _edit_text(dice, array)
        return
    how = dice.randrange(12)
    if how == 0:
        del arrays[name]
        return
    if how == 1:
        array = np.concatenate([array.reshape(-1)] * 2)[
            : dice.randint(0, array.size + 3)
        ]
    elif how == 2:
        array = array.reshape(-1) if dice.often() else array[None]
    elif how == 3:
        with np.errstate(all="ignore"):
            array = array.astype(dice.choice(list(_NAMES)))
    elif how == 4:
        other = dice.choice(sorted(arrays))
        arrays[name], arrays[other] = arrays[other], arrays[name]
        return
    elif how == 5 and array.ndim:
        array = np.moveaxis(array, 0, -1) if dice.often() else array[::-1]
    elif how == 6 and array.dtype.kind == "f":
        with np.errstate(all="ignore"):
            array *= dice.choice((-1.0, 0.0, 1e-300, 1e40, 1e90))
    elif array.size:
        flat = array.reshape(-1)
        with np.errstate(all="ignore"):
            if dice.often(0.2):
                flat[:] = _odd_element(dice, array.dtype)
            for _ in range(dice.randint(1, 3)):
                flat[dice.randrange(flat.size)] = _odd_element(dice, array.dtype)
    arrays[name] = np.ascontiguousarray(array)


def _edit_text(dice: Dice, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Change the JSON text that an array of bytes holds."""
    try:
        value = json.loads(array.tobytes())
    except ValueError:
        return array[::-1].copy()
    value = dice.nudge_json(value) if dice.often() else dice.damage_json(value, most=1)
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8).copy()


def _odd_element(dice: Dice, kind: np.dtype[Any]) -> Any:
    if kind.kind == "f":
        odd = (1e300, 9e99, -9e99, 1e50, -1e50, -1.0, 1e-320, 0.0, 0.5, 1.0)
        return dice.choice((*NOT_NUMBERS, *odd))
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        return dice.choice((limits.max, limits.min, 10**6 % limits.max, 0, 1, 2, 3))
    return dice.often()


def _odd_file(dice: Dice, header: Any, arrays: Arrays) -> bytes:
    """Files that fail, or should, before their checksum is looked at."""
    how = dice.randrange(6)
    if how == 0:
        header["format"] = dice.choice(
            (*NOT_NUMBERS, *ODD_NUMBERS, "1", None, [1], True)
        )
        return packed(header, arrays)
    if how == 1:
        return packed(header, arrays, text="[" * dice.choice((900, 100_000)))
    if how == 2:
        return packed(header, arrays, names={np.dtype("<f8"): "BF16"})
    if how == 3:
        return packed(header, arrays, names={np.dtype("<f8"): "F8_E4M3"})
    if how == 4:
        depth = dice.choice((400, 5000))
        inside = (
            json.dumps(header)[:-1] + ', "deep": ' + "[" * depth + "]" * depth + "}"
        )
        return packed(header, arrays, text=inside)
    size = dice.choice((0, 2**20, 2**40, 2**63))
    return struct.pack("<Q", size) + packed(header, arrays)[8:]


def unpacked(data: bytes) -> tuple[dict[str, Any], Arrays]:
    """The JSON text and the arrays of a model file."""
    (size,) = struct.unpack("<Q", data[:8])
    entries = json.loads(data[8 : 8 + size])
    header = json.loads(entries.pop("__metadata__")["tagsift"])
    arrays = {}
    for name, entry in entries.items():
        start, end = entry["data_offsets"]
        raw = np.frombuffer(data[8 + size + start : 8 + size + end], dtype=np.uint8)
        array = raw.view(_TYPES[entry["dtype"]]) if len(raw) else np.zeros(0)
        arrays[name] = array.astype(_TYPES[entry["dtype"]]).reshape(entry["shape"])
    return header, arrays


def packed(
    header: Any,
    arrays: Arrays,
    *,
    text: str | None = None,
    names: dict[np.dtype[Any], str] | None = None,
) -> bytes:
    """A model file whose checksum is right, as far as it can be."""
    if isinstance(header, dict):
        header = {**header, "sha256": ""}
        try:
            header["sha256"] = _digest(header, arrays)
        except (ValueError, TypeError, RecursionError):
            pass
    known = {**_NAMES, **(names or {})}
    entries: dict[str, Any] = {"__metadata__": {"tagsift": text or json.dumps(header)}}
    body = b""
    for name in sorted(arrays):
        raw = arrays[name].tobytes()
        entries[name] = {
            "dtype": known[arrays[name].dtype],
            "shape": list(arrays[name].shape),
            "data_offsets": [len(body), len(body) + len(raw)],
        }
        body += raw
    head = json.dumps(entries).encode()
    return struct.pack("<Q", len(head)) + head + body
