"""Arrays, sparse matrices and lists of texts as parts of a declared state."""

from __future__ import annotations

import json
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from tagsift.backend import to_numpy
from tagsift.storage.container import parse_json
from tagsift.storage.items import (
    LARGEST,
    Item,
    Reading,
    Writing,
    check_range,
    is_count,
    refuse,
)

__all__ = ["Array", "Matrix", "Texts"]

#: How far sums may be from what they should be.
_SUM_TOLERANCE = 1e-6
#: The least diagonal entry of a Cholesky factor.
_LEAST_PIVOT = 1e-10


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

    def _write(self, name: str, value: Any, out: Writing) -> None:
        out.arrays[name] = np.asarray(to_numpy(value))

    def _read(self, name: str, source: Reading) -> Any:
        found = source.array(name)
        source.match(name, self.shape, found.shape)
        if found.dtype.kind != self.kind[0]:
            refuse(name, f"must be of the kind {self.kind}", str(found.dtype))
        usual = found if self.infinite is None else found[found != self.infinite]
        if usual.size:
            low, high = usual.min().item(), usual.max().item()
            if not (-LARGEST <= low and high <= LARGEST):
                refuse(name, "must hold finite numbers", "NaN, infinite or huge ones")
            check_range(name, low, high, self.least, self.most)
            if self.below is not None and high >= source.sizes[self.below]:
                refuse(name, f"must be below {source.sizes[self.below]}", high)
        if self.sums is not None and found.size:
            off = np.abs(found.sum(axis=-1) - self.sums).max()
            if off > _SUM_TOLERANCE:
                refuse(name, f"must sum to {self.sums:g}", f"sums off by {off:.2g}")
        if self.triangular and (found.diagonal() < _LEAST_PIVOT).any():
            refuse(name, "must have a positive diagonal", "one that is not")
        return found


@dataclass(frozen=True)
class Matrix(Item):
    """A matrix of finite numbers, dense or in compressed sparse rows."""

    shape: str

    def _write(self, name: str, value: Any, out: Writing) -> None:
        if not sp.issparse(value):
            out.arrays[name] = np.asarray(value)
            return
        rows = sp.csr_matrix(value)
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        out.meta[name] = [int(size) for size in rows.shape]
        for field in ("data", "indices", "indptr"):
            out.arrays[f"{name}/{field}"] = getattr(rows, field)

    def _read(self, name: str, source: Reading) -> Any:
        if name not in source.meta:
            return Array(self.shape).read(name, source)
        shape = source.meta[name]
        sizes = shape if isinstance(shape, list) else []
        if len(sizes) != 2 or not all(map(is_count, sizes)):
            refuse(name, "must have two sizes", shape)
        source.match(name, self.shape, tuple(sizes))
        local = Reading({}, source.arrays, {"rows": sizes[0], "columns": sizes[1]})
        data, indices, indptr = (
            item.read(f"{name}/{field}", local) for field, item in _SPARSE.items()
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

    def _write(self, name: str, value: Any, out: Writing) -> None:
        out.arrays[name] = np.frombuffer(json.dumps(list(value)).encode(), np.uint8)

    def _read(self, name: str, source: Reading) -> Any:
        packed = source.array(name)  # [bytes]
        try:
            text = packed.tobytes().decode() if packed.dtype == "u1" else "null"
            found = parse_json(text)
        except ValueError as error:
            refuse(name, "must be a list of texts", str(error)[:60])
        if not isinstance(found, list) or not all(isinstance(k, str) for k in found):
            refuse(name, "must be a list of texts", found)
        if self.distinct and len(set(found)) != len(found):
            refuse(name, "must be a list of different texts", "one that is there twice")
        return tuple(found)
