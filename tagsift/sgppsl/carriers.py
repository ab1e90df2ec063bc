"""Which tokens carry the posterior, how far they are apart, and the memory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from tagsift.backend import Device, asarray, is_torch, namespace
from tagsift.errors import NumericalWarning, ResourceError
from tagsift.features import squared_distances
from tagsift.gp import RBF, whiten
from tagsift.progress import warn_user
from tagsift.sgppsl.posterior import LARGE, SINGLE, Covariance, Dense, Inducing
from tagsift.typing import Array, IntArray

__all__ = [
    "Distances",
    "check_memory",
    "count_carriers",
    "fit_bytes",
    "free_bytes",
    "warn_of_jitter",
]

#: Tokens up to which ``posterior="auto"`` is exact: the sizes of the paper.
_EXACT_TOKENS = 10_000
#: Numbers in the factors of all labels up to which it is.
_EXACT_NUMBERS = 2_000_000_000
#: Share of the diagonal added to the inducing covariance above which a warning is due.
_LOUD_JITTER = 1e-6
_GIB = 2.0**30


def count_carriers(
    posterior: str, n_inducing: int, n_tokens: int, n_labels: int
) -> int | None:
    """Most inducing points; None where every token carries the posterior (R9)."""
    numbers = n_tokens**2 * n_labels
    exact = n_tokens <= _EXACT_TOKENS and numbers <= _EXACT_NUMBERS
    if posterior == "dense" or (posterior == "auto" and exact):
        return None
    return min(n_inducing, n_tokens)


@dataclass(frozen=True)
class Distances:
    """Squared distances of the tokens that carry the posterior, formed once."""

    ZN: Array  # [M, N], from them to all tokens
    ZZ: Array | None = None  # [M, M], where they are inducing points

    @classmethod
    def of(cls, X: Any, points: IntArray | None, device: Any = "cpu") -> Distances:
        """Measure the tokens, against `points` where they are given."""
        if points is None:
            return cls(squared_distances(X, X, device=device))
        Z = X[points]  # [M, D]
        return cls(
            squared_distances(Z, X, device=device),
            squared_distances(Z, Z, device=device),
        )

    def covariance(self, kernel: RBF) -> tuple[Covariance, list[Array]]:
        """Covariances, equal θ once, and the inducing factors (none when dense)."""
        if self.ZZ is None:
            return Dense.of(self.ZN, kernel), []
        widths = kernel.theta.tolist()
        owners = [widths.index(theta) for theta in widths]  # [L]
        made = {
            y: whiten(kernel.unit_gram(self.ZZ, y), kernel.unit_gram(self.ZN, y))
            for y in sorted(set(owners))
        }
        norms = {y: namespace(A).sum(A * A, axis=0) for y, (A, _, _) in made.items()}
        covariance = Inducing(
            [made[y][0] for y in owners],
            [norms[y] for y in owners],
            [float(a) for a in kernel.amplitude],
            max(jitter for _, _, jitter in made.values()),
        )
        return covariance, [made[y][1] for y in owners]


def warn_of_jitter(covariance: Covariance) -> None:
    """Say it where the inducing points needed more jitter than rounding explains."""
    if isinstance(covariance, Inducing) and covariance.jitter > _LOUD_JITTER:
        warn_user(
            f"the covariance of the inducing points needed {covariance.jitter:.0e} of "
            "its diagonal added to be factored: some are almost equal to the kernel, "
            "and variances below that share mean nothing; raise theta or lower "
            "n_inducing.",
            NumericalWarning,
        )


def fit_bytes(n_tokens: int, n_labels: int, n_points: int | None, n_widths: int) -> int:
    """Bytes that the arrays of a fit take at their peak; dense without `n_points`."""
    per_token = 12 * n_tokens * n_labels
    if n_points is None:  # large factors take no second place, or are half as wide
        width = 1 if n_tokens > LARGE else 2
        single = n_labels * n_tokens**2 > SINGLE
        factors = n_labels * (0.5 if single else width) + 2
        return 8 * int(n_tokens**2 * (n_widths + factors) + per_token)
    # The factors of the last step stay until the next ones are accepted.
    matrices = n_points * n_tokens * (n_widths + 3)
    factors = n_points**2 * (n_widths + 2 * n_labels)
    choice = 16 * n_points**2  # covariances of twice as many points
    return 8 * max(choice, matrices + factors + per_token)


def free_bytes(where: Array) -> int | None:
    """Bytes free on the device of an array, where that can be told.

    What PyTorch keeps of earlier fits in this process is free, too.
    """
    if is_torch(where) and where.device.type == "cuda":
        from torch import cuda

        cached = cuda.memory_reserved(where.device) - cuda.memory_allocated(
            where.device
        )
        return int(cuda.mem_get_info(where.device)[0] + cached)
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
    device: Device, n_tokens: int, n_labels: int, n_points: int | None, n_widths: int
) -> None:
    """Stop in one sentence, before the work begins, where its arrays would not fit."""
    needed = fit_bytes(n_tokens, n_labels, n_points, n_widths)
    free = free_bytes(asarray(np.zeros(0), device=device))
    if free is not None and needed > free:
        kind, remedy = "dense", "use posterior='inducing'"
        if n_points is not None:
            kind = f"{n_points} inducing points"
            remedy = "lower n_inducing, or fit on fewer sentences"
        raise ResourceError(
            f"a fit of {n_tokens} tokens and {n_labels} labels ({kind}) needs about "
            f"{needed / _GIB:.1f} GiB and {free / _GIB:.1f} GiB are free; {remedy}."
        )
