"""How many threads the linear algebra may use."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Iterator
from contextvars import ContextVar

from threadpoolctl import ThreadpoolController

from tagsift.errors import InputError

__all__ = ["blas_threads"]

#: Whether a block of `blas_threads` is in force.
_limited: ContextVar[bool] = ContextVar("limited", default=False)

#: A user who has set one of these has decided about threads.
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@contextlib.contextmanager
def blas_threads(n: int | None = None) -> Iterator[None]:
    """Limit the threads of the linear algebra inside a ``with`` block, or a function.

    Every estimator works in such a block of its own, without `n`: many small products
    on the threads of all cores fight for them, and a fit of 250 tokens took five times
    as long.

    Parameters
    ----------
    n : int, optional
        Number of threads. Without it a block around this one decides, then the
        environment variable ``TAGSIFT_THREADS`` (a number, or ``all`` for no limit),
        then ``OMP_NUM_THREADS`` and its like, which are left to act; else it is 1.

    Examples
    --------
    A large fit on eight threads:

    >>> with blas_threads(8):  # doctest: +SKIP
    ...     model.fit(rows, candidates)
    """
    if n is None:
        n = None if _limited.get() else _default_threads()
    elif n < 1:
        raise InputError(f"the number of BLAS threads must be at least 1; got {n}.")
    if n is None:
        yield
        return
    token = _limited.set(True)
    try:
        with _thread_pools("torch" in sys.modules).limit(limits=n):
            yield
    finally:
        _limited.reset(token)


def _default_threads() -> int | None:
    """What the environment says about threads; None leaves them as they are."""
    asked = os.environ.get("TAGSIFT_THREADS")
    if asked is None:
        return None if any(name in os.environ for name in _THREAD_VARIABLES) else 1
    if asked == "all":
        return None
    if not asked.isdecimal() or int(asked) < 1:
        raise InputError(
            f"TAGSIFT_THREADS: expected a number from 1 on, or 'all'; found {asked!r}."
        )
    return int(asked)


@functools.cache
def _thread_pools(with_torch: bool) -> ThreadpoolController:
    """The libraries that have threads; looking for them takes some milliseconds."""
    return ThreadpoolController()
