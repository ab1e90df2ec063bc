"""Arrays of two libraries: whose they are, where they live, and how to move them.

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

from tagsift.errors import InputError, MissingExtraError, TagsiftWarning
from tagsift.progress import warn_user
from tagsift.typing import Array

__all__ = [
    "Device",
    "asarray",
    "available_device",
    "device_of",
    "exp_inplace",
    "is_torch",
    "log_softmax_parts",
    "logsumexp",
    "namespace",
    "positive_part",
    "softmax",
    "sparse_matmul",
    "to_numpy",
    "use_device",
]

#: ``"cpu"`` for NumPy, else a ``torch.device``.
Device: TypeAlias = Any


def is_torch(x: Any) -> bool:
    """Tell whether `x` is a PyTorch tensor, without importing PyTorch."""
    return bool(array_api_compat.is_torch_array(x))


def namespace(*arrays: Any) -> Any:
    """Array API namespace of the arrays; None and numbers are passed over."""
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
    """Check that the device (``"cpu"``, ``"cuda"``, ``"cuda:1"``) can be used."""
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
        there = device.index is None or device.index < torch.cuda.device_count()
    except RuntimeError:
        there = False
    if not there:
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
        warn_user(
            f"the model was fitted with device={name!r}, which this machine does not "
            "have; it is loaded with device='cpu'.",
            TagsiftWarning,
        )
        return "cpu"
    return name


def asarray(
    x: Any, *, like: Array | None = None, device: Device = None, dtype: Any = None
) -> Array:
    """Bring `x` to the library and device of `like`, or to `device` (default: NumPy).

    Sparse matrices stay sparse (csr); `x` itself comes back where it is there already.
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
        return _sparse_tensor(sp.csr_matrix(x, dtype=dtype).sorted_indices(), device)
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


def positive_part(x: Array) -> Array:
    """Numbers below 0, and those that are none, as 0."""
    xp = namespace(x)
    return xp.where(x > 0, x, xp.zeros_like(x))


def sparse_matmul(X: Any, B: Array) -> Array:
    """Multiply a sparse or dense matrix by a dense one, in the library of `B`, [N, K].

    A SciPy matrix is carried over to PyTorch at every call when `B` is a tensor.
    """
    if is_torch(B):
        X = asarray(X, like=B)  # [N, D]
        if X.dtype != B.dtype:
            kind = namespace(B).result_type(X, B)
            X, B = X.to(kind), B.to(kind)  # [N, D], [D, K]
    return X @ B  # [N, K]


def logsumexp(x: Array, axis: int = -1) -> Array:
    """Logarithm of the sum of exponentials along an axis; −inf where all are −inf."""
    xp, (shift, _, total) = namespace(x), _exponentials(x, axis)  # […, 1]
    with np.errstate(divide="ignore"):
        return xp.squeeze(xp.log(total) + shift, axis=axis)


def softmax(x: Array, axis: int = -1) -> Array:
    """Exponentials along an axis divided by their sum; zeros where all are −inf."""
    xp, (_, e, total) = namespace(x), _exponentials(x, axis)  # […], […, 1]
    return e / xp.where(total > 0, total, xp.ones_like(total))  # […]


def log_softmax_parts(x: Array) -> tuple[Array, Array]:
    """Logsumexp and softmax of rows that are finite somewhere, from one pass."""
    shift, e, total = _exponentials(x, -1)  # [N, 1], [N, L], [N, 1]
    e /= total
    return (shift + namespace(x).log(total))[..., 0], e


def _exponentials(x: Array, axis: int) -> tuple[Array, Array, Array]:
    """What keeps sums finite, the exponentials of the rest, and their sums."""
    xp = namespace(x)
    top = xp.max(x, axis=axis, keepdims=True)  # […, 1]
    shift = xp.where(xp.isfinite(top), top, xp.zeros_like(top))  # […, 1]
    e = exp_inplace(x - shift)  # […]
    return shift, e, xp.sum(e, axis=axis, keepdims=True)


def exp_inplace(x: Array) -> Array:
    """Overwrite an array with its exponential, and return it."""
    return x.exp_() if is_torch(x) else np.exp(x, out=x)
