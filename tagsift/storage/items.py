"""The parts of a declared state: JSON values, arrays, matrices, lists of texts.

How they are declared is said in `tagsift.storage.state`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal, NoReturn

import numpy as np
import scipy.sparse as sp

from tagsift.backend import to_numpy
from tagsift.errors import ModelFileError
from tagsift.storage.container import parse_json
from tagsift.typing import Arrays
from tagsift.visible import short

__all__ = [
    "Array",
    "Item",
    "Matrix",
    "PartsRead",
    "PartsWritten",
    "Texts",
    "Value",
    "damaged",
    "is_count",
    "refuse",
]

#: Larger numbers are no result of a fit, and their products overflow.
_LARGEST = 1e100
#: How far sums may be from what they should be.
_SUM_TOLERANCE = 1e-6
#: The least diagonal entry of a Cholesky factor.
_LEAST_PIVOT = 1e-10


@dataclass
class PartsWritten:
    """Where the parts of a state are put: JSON values and arrays, by their path."""

    meta: dict[str, Any] = field(default_factory=dict)
    arrays: Arrays = field(default_factory=dict)


@dataclass(frozen=True)
class PartsRead:
    """Where they are taken from, and the sizes known so far."""

    meta: Mapping[str, Any]
    arrays: Arrays
    sizes: dict[str, int]

    def value(self, name: str) -> Any:
        return _entry(self.meta, "value", name)

    def array(self, name: str) -> Any:
        return _entry(self.arrays, "array", name)

    def match(self, name: str, shape: str, found: tuple[int, ...]) -> None:
        """Compare a shape with its declaration, and bind the sizes that are new."""
        declared = re.findall(r"(\w+)(?:\+(\d+))?", shape)
        fits = len(declared) == len(found)
        for (size, more), length in zip(declared, found, strict=False):
            rest = length - int(more or 0)
            fits = fits and rest >= 0 and self.sizes.setdefault(size, rest) == rest
        if not fits:
            sizes = ", ".join(f"{k} = {v}" for k, v in self.sizes.items() if k in shape)
            wanted = ", ".join(shape.split())
            refuse(name, f"must have the shape [{wanted}] with {sizes}", list(found))


def _entry(entries: Mapping[str, Any], kind: str, name: str) -> Any:
    if name not in entries:
        raise ModelFileError(f"the {kind} {name!r} is missing; save the model again.")
    return entries[name]


def damaged(what: str) -> ModelFileError:
    """Make the error of a file whose parts do not fit."""
    remedy = "the file was altered or damaged, save the model again."
    return ModelFileError(f"{what}; {remedy}")


def refuse(name: str, expected: str, found: Any) -> NoReturn:
    """Refuse a part of a file that is not as declared."""
    shown = found if isinstance(found, str) else short(found)
    raise damaged(f"{name!r} {expected}, found {shown}")


def _check_range(
    name: str, low: float, high: float, least: float | None, most: float | None
) -> None:
    if least is not None and not low >= least:
        refuse(name, f"must be at least {least:g}", low)
    if most is not None and not high <= most:
        refuse(name, f"must be at most {most:g}", high)


def is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**62


@dataclass(frozen=True, kw_only=True)
class Item:
    """A part of a saved state: a JSON value, unless a subclass says otherwise."""

    optional: bool = False  # whether it may be None
    training: bool = False  # whether it holds features of training tokens

    def write(self, name: str, value: Any, out: PartsWritten) -> None:
        if value is None and self.optional:
            out.meta[name] = None
        else:
            self._write(name, value, out)

    def read(self, name: str, source: PartsRead) -> Any:
        if self.optional and source.meta.get(name, name) is None:
            return None
        return self._read(name, source)

    def _write(self, name: str, value: Any, out: PartsWritten) -> None:
        out.meta[name] = value.item() if isinstance(value, np.generic) else value

    def _read(self, name: str, source: PartsRead) -> Any:
        raise NotImplementedError

    def training_parts(self, name: str) -> list[str]:
        """How the names of arrays begin that hold features of training tokens."""
        return [name] if self.training else []


@dataclass(frozen=True)
class Value(Item):
    """A JSON value of one of the `kinds`: a number in a range, a text `among` some."""

    kinds: tuple[type, ...]
    words: str  # what it must be
    _: KW_ONLY
    least: float = -_LARGEST
    most: float = _LARGEST
    above: float = -np.inf
    among: tuple[str, ...] = ()

    def _read(self, name: str, source: PartsRead) -> Any:
        value = source.value(name)
        if type(value) not in self.kinds or (self.among and value not in self.among):
            refuse(name, f"must be {self.words}", short(value))
        if type(value) in (int, float):
            _check_range(name, value, value, self.least, self.most)
            if not value > self.above:
                refuse(name, f"must be above {self.above:g}", value)
        return float(value) if float in self.kinds else value


@dataclass(frozen=True)
class Array(Item):
    """An array of a shape such as ``"D+1 L"``; floats are finite."""

    shape: str
    kind: Literal["float", "int", "bool"] = "float"
    _: KW_ONLY
    least: float | None = None
    most: float | None = None
    below: str | None = None  # the size that all numbers (indices) are below
    sums: float | None = None  # what the last axis sums to
    infinite: float | None = None  # the one infinity that is allowed
    triangular: bool = False  # a Cholesky factor, with a positive diagonal

    def _write(self, name: str, value: Any, out: PartsWritten) -> None:
        out.arrays[name] = np.asarray(to_numpy(value))

    def _read(self, name: str, source: PartsRead) -> Any:
        values = source.array(name)
        source.match(name, self.shape, values.shape)
        if values.dtype.kind != self.kind[0]:
            refuse(name, f"must be of the kind {self.kind}", str(values.dtype))
        usual = values if self.infinite is None else values[values != self.infinite]
        if usual.size:
            low, high = usual.min().item(), usual.max().item()
            if not (-_LARGEST <= low and high <= _LARGEST):
                refuse(name, "must hold finite numbers", "NaN, infinite or huge ones")
            _check_range(name, low, high, self.least, self.most)
            if self.below is not None and high >= source.sizes[self.below]:
                refuse(name, f"must be below {source.sizes[self.below]}", high)
        if self.sums is not None and values.size:
            off = np.abs(values.sum(axis=-1) - self.sums).max()
            if off > _SUM_TOLERANCE:
                refuse(name, f"must sum to {self.sums:g}", f"sums off by {off:.2g}")
        if self.triangular and (values.diagonal() < _LEAST_PIVOT).any():
            refuse(name, "must have a positive diagonal", "one that is not")
        return values


@dataclass(frozen=True)
class Matrix(Item):
    """A matrix of finite numbers, dense or in compressed sparse rows."""

    shape: str

    def _write(self, name: str, value: Any, out: PartsWritten) -> None:
        if not sp.issparse(value):
            out.arrays[name] = np.asarray(value)
            return
        rows = sp.csr_matrix(value)
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        out.meta[name] = [int(size) for size in rows.shape]
        for part in _SPARSE:
            out.arrays[f"{name}/{part}"] = getattr(rows, part)

    def _read(self, name: str, source: PartsRead) -> Any:
        if name not in source.meta:
            return Array(self.shape).read(name, source)
        shape = source.meta[name]
        sizes = shape if isinstance(shape, list) else []
        if len(sizes) != 2 or not all(map(is_count, sizes)):
            refuse(name, "must have two sizes", shape)
        source.match(name, self.shape, tuple(sizes))
        local = PartsRead({}, source.arrays, {"rows": sizes[0], "columns": sizes[1]})
        data, indices, indptr = (
            item.read(f"{name}/{part}", local) for part, item in _SPARSE.items()
        )
        steps = np.diff(indptr)  # [rows]
        if indptr[0] != 0 or indptr[-1] != len(data) or (steps < 0).any():
            refuse(f"{name}/indptr", f"must rise from 0 to {len(data)}", "it does not")
        rises = np.diff(indices) > 0  # [stored - 1]
        rises[indptr[1:-1][(indptr[1:-1] > 0) & (indptr[1:-1] < len(data))] - 1] = True
        if not rises.all():
            refuse(f"{name}/indices", "must rise within every row", "it does not")
        return sp.csr_matrix((data, indices, indptr), shape=tuple(sizes))


_SPARSE = {
    "data": Array("stored"),
    "indices": Array("stored", "int", least=0, below="columns"),
    "indptr": Array("rows+1", "int", least=0),
}


@dataclass(frozen=True)
class Texts(Item):
    """A tuple of texts; they travel as the bytes of one JSON list."""

    _: KW_ONLY
    distinct: bool = True

    def _write(self, name: str, value: Any, out: PartsWritten) -> None:
        out.arrays[name] = np.frombuffer(json.dumps(list(value)).encode(), np.uint8)

    def _read(self, name: str, source: PartsRead) -> Any:
        packed = source.array(name)  # [bytes]
        try:
            text = packed.tobytes().decode() if packed.dtype == "u1" else "null"
            entries = parse_json(text)
        except ValueError as error:
            refuse(name, "must be a list of texts", str(error)[:60])
        if not isinstance(entries, list) or not all(
            isinstance(k, str) for k in entries
        ):
            refuse(name, "must be a list of texts", entries)
        if self.distinct and len(set(entries)) != len(entries):
            refuse(name, "must be a list of different texts", "one that is there twice")
        return tuple(entries)
