"""How much memory a fit will take, said before it starts."""

from __future__ import annotations

import os
from typing import Any

from tagsift.backend import is_torch
from tagsift.errors import ResourceError
from tagsift.typing import Array

__all__ = ["check_memory", "fit_bytes", "free_bytes"]

_GIB = 2.0**30


def fit_bytes(n_tokens: int, n_labels: int, n_points: int | None, n_widths: int) -> int:
    """Bytes that the arrays of a fit take at their peak.

    Parameters
    ----------
    n_tokens, n_labels : int
        N and L.
    n_points : int or None
        Inducing points; None for the dense posterior.
    n_widths : int
        Number of different θ: labels with equal θ share a matrix.
    """
    per_token = 12 * n_tokens * n_labels
    # The factors of the last step stay until the next ones are accepted.
    if n_points is None:
        return 8 * (n_tokens**2 * (n_widths + 2 * n_labels + 2) + per_token)
    matrices = n_points * n_tokens * (n_widths + 3)
    factors = n_points**2 * (n_widths + 2 * n_labels)
    choice = 16 * n_points**2  # covariances of twice as many points
    return 8 * max(choice, matrices + factors + per_token)


def free_bytes(where: Array | Any) -> int | None:
    """Bytes free on the device of an array, where that can be told."""
    if is_torch(where) and where.device.type == "cuda":
        import torch

        return int(torch.cuda.mem_get_info(where.device)[0])
    try:
        with open("/proc/meminfo", encoding="ascii") as table:
            for line in table:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def check_memory(
    where: Array, n_tokens: int, n_labels: int, n_points: int | None, n_widths: int
) -> int:
    """Estimate the memory of a fit, and say in one sentence when it would not fit.

    Returns
    -------
    int
        The estimate in bytes.
    """
    needed = fit_bytes(n_tokens, n_labels, n_points, n_widths)
    free = free_bytes(where)
    if free is not None and needed > free:
        kind = "dense" if n_points is None else f"{n_points} inducing points"
        remedy = (
            "use posterior='inducing'"
            if n_points is None
            else "lower n_inducing, or fit on fewer sentences"
        )
        raise ResourceError(
            f"a fit of {n_tokens} tokens and {n_labels} labels ({kind}) needs about "
            f"{needed / _GIB:.1f} GiB and {free / _GIB:.1f} GiB are free; {remedy}."
        )
    return needed
