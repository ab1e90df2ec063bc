"""Small helpers of the linear token-wise rivals."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["append_one"]


def append_one(X: Any) -> Any:
    """Put a column of ones after the features, for the bias, [N, D + 1]."""
    ones = np.ones((X.shape[0], 1))  # [N, 1]
    if sp.issparse(X):
        return sp.hstack([X, sp.csr_matrix(ones)], format="csr")  # [N, D + 1]
    return np.hstack([X, ones])  # [N, D + 1]
