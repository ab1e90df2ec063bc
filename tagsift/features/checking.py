"""The door for ready features: finite numbers in canonical form, or one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tagsift.data.offsets import locate, place_of
from tagsift.errors import InputError
from tagsift.features.matrix import FeatureMatrix

__all__ = ["LARGEST", "checked"]

#: Larger features lose all digits, or overflow, when they are multiplied and added.
LARGEST = 1e30


def checked(features: FeatureMatrix) -> FeatureMatrix:
    """Refuse features that no method can use, and bring the others into one form.

    Sparse blocks become compressed rows with rising column numbers, each named once;
    what is in that form already is not copied.
    """
    offsets = np.asarray(features.offsets)  # [S+1]
    steps = np.diff(offsets)  # [S]
    if offsets.dtype.kind not in "iu" or offsets[0] != 0 or (steps < 0).any():
        raise InputError(
            "the offsets of a FeatureMatrix must be whole numbers that rise from 0; "
            f"found {offsets.dtype} from {offsets[0]}."
        )
    blocks = tuple(
        _sparse(name, block) if sp.issparse(block) else _dense(name, block)
        for name, block in zip(features.names, features.blocks, strict=True)
    )
    if features.n_tokens and not sum(block.shape[1] for block in blocks):
        raise InputError("the features have no column; give at least one number each.")
    for name, block in zip(features.names, blocks, strict=True):
        _check_values(name, block, offsets)
    return FeatureMatrix(features.names, blocks, offsets)


def _dense(name: str, block: Any) -> Any:
    array = np.asarray(block)
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise InputError(
            f"the features {name!r} must be a matrix of numbers, one row per token; "
            f"got an array of shape {array.shape} and type {array.dtype}."
        )
    return array


def _sparse(name: str, block: Any) -> Any:
    try:
        if block.dtype.kind not in "fiub":
            raise ValueError(f"numbers of the type {block.dtype}")
        rows = sp.csr_matrix(block)
        if (np.diff(rows.indptr) < 0).any():  # scipy does not look where nnz < 0
            raise ValueError("index pointer values must not fall")
        # A fresh matrix does not believe what the old one thought of its order.
        rows = sp.csr_matrix((rows.data, rows.indices, rows.indptr), shape=rows.shape)
        rows.check_format(full_check=True)
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
    except (ValueError, IndexError) as error:
        raise InputError(
            f"the sparse features {name!r} are damaged ({error}); build the matrix "
            "again."
        ) from error
    return rows


def _check_values(name: str, block: Any, offsets: Any) -> None:
    values = block.data if sp.issparse(block) else block.ravel()
    if values.dtype.kind != "f":
        return
    inside = np.abs(values) <= min(LARGEST, float(np.finfo(values.dtype).max))
    if inside.all():
        return
    k = int(np.argmin(inside))
    if sp.issparse(block):
        n, d = locate(k, block.indptr)[0], block.indices[k]
    else:
        n, d = divmod(k, block.shape[1])
    raise InputError(
        f"{place_of(n, offsets)}: feature {d} of {name!r} is {values[k]}; every "
        f"feature must be a finite number, and none above {LARGEST:g}."
    )
