"""What the array API lacks, for NumPy arrays and PyTorch tensors alike.

The maths layers are written once against the array API standard: they ask
`namespace` for the functions of the library their arrays belong to. What the standard
leaves out stands here: Cholesky factors with jitter, triangular solves, logsumexp,
sparse products, and the choice of a device. PyTorch is imported only when a device or
an array asks for it.

A *device* is ``"cpu"`` (NumPy) or a ``torch.device``; `device_of` and `asarray` speak
the same language.
"""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any, TypeAlias

import array_api_compat
import numpy as np
import scipy.sparse as sp
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from tagsift.errors import (
    InputError,
    MissingExtraError,
    NumericalWarning,
    TagsiftWarning,
)
from tagsift.typing import Array

__all__ = [
    "asarray",
    "available_device",
    "cho_solve",
    "cholesky",
    "device_of",
    "exp_inplace",
    "is_torch",
    "log_softmax_parts",
    "logsumexp",
    "namespace",
    "softmax",
    "solve_triangular",
    "sparse_matmul",
    "to_numpy",
    "use_device",
]

#: ``"cpu"`` for NumPy, else a ``torch.device``.
Device: TypeAlias = Any

#: Jitter tried in turn, relative to the mean of the diagonal.
_JITTERS = (0.0, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)


def is_torch(x: Any) -> bool:
    """Tell whether `x` is a PyTorch tensor, without importing PyTorch."""
    return bool(array_api_compat.is_torch_array(x))


def namespace(*arrays: Any) -> Any:
    """Return the array API namespace of the arrays; None and numbers are passed over.

    Sparse SciPy matrices count as NumPy.
    """
    dense = [
        array.data if sp.issparse(array) else array
        for array in arrays
        if array is not None and not isinstance(array, (int, float, bool))
    ]
    return array_api_compat.array_namespace(*dense)


def device_of(x: Array) -> Device:
    """Return where `x` lives: ``"cpu"`` for NumPy and SciPy, else a torch.device."""
    return x.device if is_torch(x) else "cpu"


def use_device(name: str) -> Device:
    """Check that the device can be used, and return it.

    Parameters
    ----------
    name : {"cpu", "cuda"} or "cuda:1", …
        ``"cpu"`` means NumPy; ``"cuda"`` PyTorch on a GPU.

    Returns
    -------
    device
        What `asarray` takes as `device`.
    """
    if name == "cpu":
        return "cpu"
    if not isinstance(name, str) or name.partition(":")[0] != "cuda":
        raise InputError(f"device must be 'cpu' or 'cuda'; got {name!r}.")
    if importlib.util.find_spec("torch") is None:
        raise MissingExtraError.for_package(
            "torch", extra="gpu", what=f"device={name!r}"
        )
    import torch

    if not torch.cuda.is_available():
        raise InputError(
            f"device={name!r} needs a GPU, and PyTorch {torch.__version__} finds none; "
            "use device='cpu'."
        )
    try:
        device = torch.device(name)
        known = device.index is None or device.index < torch.cuda.device_count()
    except RuntimeError:
        known = False
    if not known:
        raise InputError(
            f"device={name!r} does not exist: PyTorch finds "
            f"{torch.cuda.device_count()} GPU(s), counted from 'cuda:0'."
        )
    return device


def available_device(name: str) -> str:
    """Name of the device a stored model asks for, or ``"cpu"`` where it is missing.

    What was fitted on a GPU can be used without one; a `TagsiftWarning` says so.
    """
    try:
        use_device(name)
    except (InputError, MissingExtraError):
        warnings.warn(
            f"the model was fitted with device={name!r}, which this machine does not "
            "have; it is loaded with device='cpu'.",
            TagsiftWarning,
            stacklevel=6,
        )
        return "cpu"
    return name


def asarray(
    x: Any, *, like: Array | None = None, device: Device = None, dtype: Any = None
) -> Array:
    """Bring `x` to the library and device of `like`, or to `device`.

    Parameters
    ----------
    x : array-like, tensor or SciPy sparse matrix
        Sparse matrices stay sparse (csr).
    like : array, optional
        The array whose library and device are wanted.
    device : "cpu", "cuda" or torch.device, optional
        Used where `like` is not given; ``"cpu"`` (the default) means NumPy.
    dtype : dtype of NumPy, optional
        The type of the result; by default that of `x`.

    Returns
    -------
    array
        `x` itself where nothing has to change.
    """
    if like is not None:
        device = device_of(like)
    elif device is None or isinstance(device, str):
        device = use_device(device or "cpu")
    if isinstance(device, str):
        if sp.issparse(x):
            return sp.csr_matrix(x, dtype=dtype)
        return np.asarray(to_numpy(x), dtype=dtype)
    import torch

    if sp.issparse(x):
        return _sparse_tensor(sp.csr_matrix(x, dtype=dtype), device)
    if not is_torch(x):
        x = torch.as_tensor(np.ascontiguousarray(x))
    kind = None if dtype is None else getattr(torch, np.dtype(dtype).name)
    return x.to(device=device, dtype=kind)


def _sparse_tensor(matrix: Any, device: Device) -> Array:
    import torch

    with warnings.catch_warnings():
        # PyTorch calls its csr tensors a beta feature on first use.
        warnings.filterwarnings("ignore", message="(?i)sparse csr")
        return torch.sparse_csr_tensor(
            torch.as_tensor(matrix.indptr.astype(np.int64)),
            torch.as_tensor(matrix.indices.astype(np.int64)),
            torch.as_tensor(matrix.data),
            size=matrix.shape,
            device=device,
            check_invariants=True,
        )


def to_numpy(x: Any) -> Any:
    """Bring an array of any library to NumPy; sparse SciPy matrices pass through."""
    if is_torch(x):
        return x.detach().cpu().numpy()
    return x if sp.issparse(x) else np.asarray(x)


def sparse_matmul(X: Any, B: Array) -> Array:
    """Multiply a sparse or dense matrix by a dense one, in the library of `B`.

    Parameters
    ----------
    X : csr_matrix, csr_array, sparse tensor or dense array of shape (N, D)
        A SciPy matrix is carried over to PyTorch at every call when `B` is a tensor:
        bring it there once with `asarray`.
    B : array of shape (D, K)
        Dense.

    Returns
    -------
    array of shape (N, K)
        Dense, in the wider of the two number types.
    """
    if is_torch(B):
        X = asarray(X, like=B)  # [N, D]
        if X.dtype != B.dtype:
            kind = namespace(B).result_type(X, B)
            X, B = X.to(kind), B.to(kind)  # [N, D], [D, K]
    return X @ B  # [N, K]


def cholesky(
    K: Array,
    jitter: float | str = "adaptive",
    *,
    overwrite: bool = False,
    warn: bool = False,
) -> tuple[Array, float]:
    """Lower Cholesky factor of a symmetric matrix, with jitter where it is needed.

    Parameters
    ----------
    K : array of shape (N, N)
        Symmetric, positive definite up to rounding.
    jitter : "adaptive" or float
        Relative to the mean of the diagonal. ``"adaptive"`` tries none first, then
        1e-10, growing tenfold to 1e-3; a number is added as it is.
    overwrite : bool
        Whether the memory of `K` may be used for the factor (NumPy only).
    warn : bool
        Whether adaptive jitter gives a `NumericalWarning`.

    Returns
    -------
    factor : array of shape (N, N)
        Lower triangular, zeros above the diagonal.
    jitter_used : float
        What was added to every element of the diagonal (absolute).
    """
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise InputError(
            f"a Cholesky factor needs a square matrix; got one of shape "
            f"{tuple(K.shape)}."
        )
    adaptive = isinstance(jitter, str)
    if adaptive and jitter != "adaptive":
        raise InputError(f"jitter must be 'adaptive' or a number; got {jitter!r}.")
    trials = _JITTERS if adaptive else (float(jitter),)
    if K.shape[0] == 0:
        return K, 0.0
    mean = float(namespace(K).mean(K.diagonal()))
    if not np.isfinite(mean):
        raise InputError(
            "the matrix to factor holds values that are not finite; look for infinite "
            "features or hyperparameters."
        )
    amounts = [share * mean for share in trials]
    if is_torch(K):
        factor, used = _factor_torch(K, amounts)
    else:
        factor, used = _factor_numpy(K, amounts, overwrite)
    if factor is None:
        raise InputError(
            f"the {K.shape[0]} x {K.shape[0]} matrix is not positive definite, not "
            f"even with {amounts[-1]:.3g} added to its diagonal ({trials[-1]:.0e} of "
            "its mean); look for duplicate or enormous features, or raise the noise."
        )
    if warn and adaptive and used:
        warnings.warn(
            f"a Cholesky factor needed {used:.3g} added to the diagonal, "
            f"{used / mean:.0e} of its mean.",
            NumericalWarning,
            stacklevel=2,
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
    L: Array,
    B: Array,
    *,
    lower: bool = True,
    trans: bool = False,
    overwrite: bool = False,
) -> Array:
    """Solve ``L X = B``, or ``Lᵀ X = B``, for a triangular matrix.

    Parameters
    ----------
    L : array of shape (N, N)
        Triangular; the other triangle is not read.
    B : array of shape (N,) or (N, K)
        The right-hand sides.
    lower : bool
        Which triangle of `L` is meant.
    trans : bool
        Whether to solve with the transpose of `L`.
    overwrite : bool
        Whether the memory of `B` may be used for the answer (NumPy only).

    Returns
    -------
    array of the shape of B
        The solution X.
    """
    if B.ndim == 1:
        column = solve_triangular(
            L, B[:, None], lower=lower, trans=trans, overwrite=overwrite
        )
        return column[:, 0]
    if is_torch(L):
        import torch

        A = L.mT if trans else L
        return torch.linalg.solve_triangular(A, B, upper=lower == trans)
    if B.shape[0] == 0 or B.shape[1] == 0:
        return np.empty_like(B)
    (trsm,) = get_blas_funcs(("trsm",), (L, B))
    if not L.flags.f_contiguous:
        L, lower, trans = L.T, not lower, not trans
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


def logsumexp(x: Array, axis: int = -1, keepdims: bool = False) -> Array:
    """Logarithm of the sum of exponentials along an axis; −inf where all are −inf."""
    xp = namespace(x)
    top = xp.max(x, axis=axis, keepdims=True)  # […, 1]
    shift = xp.where(xp.isfinite(top), top, xp.zeros_like(top))  # […, 1]
    with np.errstate(divide="ignore"):
        total = xp.log(xp.sum(xp.exp(x - shift), axis=axis, keepdims=True)) + shift
    return total if keepdims else xp.squeeze(total, axis=axis)


def softmax(x: Array, axis: int = -1) -> Array:
    """Exponentials along an axis divided by their sum; zeros where all are −inf."""
    xp = namespace(x)
    top = xp.max(x, axis=axis, keepdims=True)  # […, 1]
    shift = xp.where(xp.isfinite(top), top, xp.zeros_like(top))  # […, 1]
    e = xp.exp(x - shift)  # […]
    total = xp.sum(e, axis=axis, keepdims=True)  # […, 1]
    return e / xp.where(total > 0, total, xp.ones_like(total))  # […]


def log_softmax_parts(x: Array) -> tuple[Array, Array]:
    """Logsumexp and softmax along the last axis, from one pass of exponentials.

    Parameters
    ----------
    x : array of shape (N, L)
        Finite at one place in every row.

    Returns
    -------
    total : array of shape (N,)
        Logarithms of the sums of exponentials.
    shares : array of shape (N, L)
        Exponentials divided by their sums.
    """
    xp = namespace(x)
    top = xp.max(x, axis=-1, keepdims=True)  # [N, 1]
    shares = exp_inplace(x - top)  # [N, L]
    sums = xp.sum(shares, axis=-1, keepdims=True)  # [N, 1]
    shares /= sums
    return (top + xp.log(sums))[..., 0], shares


def exp_inplace(x: Array) -> Array:
    """Overwrite an array with its exponential, and return it."""
    return x.exp_() if is_torch(x) else np.exp(x, out=x)
