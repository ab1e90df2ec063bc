"""Cholesky factors with jitter where it is needed, and triangular solves."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from tagsift.backend.arrays import is_torch, namespace
from tagsift.errors import InputError
from tagsift.typing import Array

__all__ = [
    "cho_solve",
    "cholesky",
    "inverse_cholesky",
    "inverse_triangular",
    "solve_triangular",
]

#: Jitter tried in turn, relative to the mean of the diagonal.
_JITTERS = (0.0, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
#: Rows up to which a matrix is factored at once instead of by halves.
_HALVED = 512


def cholesky(K: Array, *, overwrite: bool = False) -> tuple[Array, float]:
    """Lower Cholesky factor of a symmetric matrix, and the jitter it needed.

    What is added to the diagonal is nothing where that serves, else from 1e-10 of its
    mean, growing tenfold, to 1e-3. With `overwrite` NumPy may put the factor into `K`.
    """
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise InputError(
            f"a Cholesky factor needs a square matrix; got one of shape "
            f"{tuple(K.shape)}."
        )
    if K.shape[0] == 0:
        return K, 0.0
    mean = float(namespace(K).mean(K.diagonal()))
    if not np.isfinite(mean):
        raise InputError(
            "the matrix to factor holds values that are not finite; look for infinite "
            "features or hyperparameters."
        )
    amounts = [share * mean for share in _JITTERS]
    if is_torch(K):
        factor, used = _factor_torch(K, amounts)
    else:
        factor, used = _factor_numpy(K, amounts, overwrite)
    if factor is None:
        raise InputError(
            f"the {K.shape[0]} x {K.shape[0]} matrix is not positive definite, not "
            f"even with {amounts[-1]:.3g} added to its diagonal ({_JITTERS[-1]:.0e} of "
            "its mean); look for duplicate or enormous features, or raise the noise."
        )
    return factor, used


def _factor_numpy(
    K: Any, amounts: list[float], overwrite: bool
) -> tuple[Any | None, float]:
    """Factor in the lower triangle; the upper one keeps K until a factor is found."""
    (potrf,) = get_lapack_funcs(("potrf",), (K,))
    # A symmetric C-ordered matrix is its own transpose in Fortran order.
    work = K.T if K.flags.c_contiguous and not K.flags.f_contiguous else K
    usable = overwrite and work.flags.f_contiguous and work.flags.writeable
    if not usable or work.dtype != potrf.dtype:
        work = np.array(work, dtype=potrf.dtype, order="F")  # [N, N]
    n = len(work)
    diagonal = work.diagonal().copy()  # [N]
    on_diagonal = np.einsum("ii->i", work)  # [N], a view
    for trial, amount in enumerate(amounts):
        if trial:
            for column in range(n):
                work[column + 1 :, column] = work[column, column + 1 :]
        on_diagonal[:] = diagonal + amount
        work, info = potrf(work, lower=1, overwrite_a=1, clean=0)
        if info == 0:
            for column in range(1, n):
                work[:column, column] = 0.0
            return work, amount
    return None, 0.0


def _factor_torch(K: Any, amounts: list[float]) -> tuple[Any | None, float]:
    import torch

    for amount in amounts:
        shifted = K
        if amount:
            shifted = K.clone()
            shifted.diagonal().add_(amount)
        factor, info = torch.linalg.cholesky_ex(shifted)
        if int(info) == 0:
            return factor, amount
    return None, 0.0


def solve_triangular(
    L: Array, B: Array, *, trans: bool = False, overwrite: bool = False
) -> Array:
    """Solve ``L X = B``, or ``Lᵀ X = B``, for a lower triangular matrix.

    The upper triangle is not read; with `overwrite` NumPy may put the answer into `B`.
    """
    if B.ndim == 1:
        return solve_triangular(L, B[:, None], trans=trans, overwrite=overwrite)[:, 0]
    if is_torch(L):
        import torch

        A = L.mT if trans else L
        return torch.linalg.solve_triangular(A, B, upper=trans)
    if B.shape[0] == 0 or B.shape[1] == 0:
        return np.empty_like(B)
    (trsm,) = get_blas_funcs(("trsm",), (L, B))
    lower = bool(L.flags.f_contiguous)
    if not lower:
        L, trans = L.T, not trans
    if B.flags.f_contiguous:
        return trsm(1.0, L, B, lower=lower, trans_a=trans, overwrite_b=overwrite)
    # Rows of a C-ordered B are columns to BLAS: solve Xᵀ Lᵀ = Bᵀ from the right.
    return trsm(
        1.0, L, B.T, side=1, lower=lower, trans_a=not trans, overwrite_b=overwrite
    ).T


def cho_solve(L: Array, B: Array) -> Array:
    """Solve ``L Lᵀ X = B``, given the lower Cholesky factor."""
    half = solve_triangular(L, B)  # [N, K]
    return solve_triangular(L, half, trans=True, overwrite=True)  # [N, K]


def inverse_triangular(L: Array) -> Array:
    """Inverse of a lower triangular matrix, [N, N]; what is above it must be 0."""
    if is_torch(L):
        return solve_triangular(L, namespace(L).eye(len(L), dtype=L.dtype).to(L.device))
    (trtri,) = get_lapack_funcs(("trtri",), (L,))
    return trtri(L, lower=1)[0] if len(L) else L


def inverse_cholesky(K: Array) -> Array:
    """Inverse of the lower Cholesky factor of a positive definite matrix, [N, N].

    By halves: nearly all of it is products, several times faster on a GPU than to
    factor and to solve.
    """
    if len(K) <= _HALVED:
        return inverse_triangular(cholesky(K)[0])
    h = len(K) // 2
    first = inverse_cholesky(K[:h, :h])  # [H, H]
    below = K[h:, :h] @ first.T  # [N − H, H], of the factor
    second = inverse_cholesky(K[h:, h:] - below @ below.T)  # [N − H, N − H]
    inverse = namespace(K).zeros_like(K)  # [N, N]
    inverse[:h, :h], inverse[h:, h:] = first, second
    inverse[h:, :h] = -(second @ below) @ first
    return inverse
