"""Pack sparse or dense matrices into the plain arrays of a model file, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["pack_matrix", "unpack_matrix"]


def pack_matrix(
    name: str, X: Any
) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """Describe a csr_matrix or ndarray by JSON-able values and plain arrays."""
    if not sp.issparse(X):
        return {"sparse": False}, {name: np.asarray(X)}
    meta = {"sparse": True, "shape": [int(size) for size in X.shape]}
    return meta, {
        f"{name}.data": X.data,
        f"{name}.indices": X.indices,
        f"{name}.indptr": X.indptr,
    }


def unpack_matrix(
    name: str,
    meta: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray[Any, Any]],
) -> Any:
    """Rebuild the matrix that `pack_matrix` described."""
    if not meta["sparse"]:
        return arrays[name]
    parts = tuple(arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    return sp.csr_matrix(parts, shape=tuple(meta["shape"]))
