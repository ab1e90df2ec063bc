"""Which tokens carry the posterior of SGPPSL: all of them, or inducing points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tagsift.backend import asarray
from tagsift.base import TrainingSet
from tagsift.errors import NumericalWarning
from tagsift.gp.inducing import choose_points
from tagsift.gp.kernels import RBF
from tagsift.progress import warn_user
from tagsift.sgppsl.memory import check_memory
from tagsift.typing import IntArray

__all__ = ["Carriers", "warn_of_jitter"]

#: Up to this many tokens ``posterior="auto"`` is exact, by device.
_DENSE_LIMIT = {"cpu": 1500, "cuda": 12000}
#: Share of the diagonal added to the inducing covariance above which a warning is due.
_LOUD_JITTER = 1e-6


@dataclass(frozen=True)
class Carriers:
    """How the tokens that carry the posterior are chosen.

    Parameters
    ----------
    posterior : {"auto", "dense", "inducing"}
        All training tokens, inducing points, or what the number of tokens allows.
    n_inducing : int
        Most inducing points.
    device : str
        Where the fit computes; ``"auto"`` looks at it.
    """

    posterior: str
    n_inducing: int
    device: str

    def dense(self, n_tokens: int) -> bool:
        """Whether every one of `n_tokens` training tokens carries the posterior."""
        if self.posterior == "auto":
            return n_tokens <= _DENSE_LIMIT[self.device.split(":")[0]]
        return self.posterior == "dense"

    def check_memory(self, train: TrainingSet, n_kernels: int, device: Any) -> None:
        """Stop before the work begins where its arrays would not fit.

        Parameters
        ----------
        train : TrainingSet
            The training sentences.
        n_kernels : int
            How many kernels differ.
        device : device
            What `device` stands for.
        """
        dense = self.dense(train.n_tokens)
        check_memory(
            asarray(np.zeros(0), device=device),
            train.n_tokens,
            train.n_labels,
            None if dense else min(self.n_inducing, train.n_tokens),
            n_kernels,
        )

    def choose(self, kernel: RBF, X: Any, train: TrainingSet) -> IntArray | None:
        """Inducing points, or None for the dense posterior."""
        if self.dense(train.n_tokens):
            return None
        theta = float(kernel.theta.mean())
        return choose_points(X, train.mask, theta, self.n_inducing, train.seed)


def warn_of_jitter(covariance: Any) -> None:
    """Say it where the inducing points needed more jitter than rounding explains."""
    jitter = getattr(covariance, "jitter", 0.0)
    if jitter > _LOUD_JITTER:
        warn_user(
            f"the covariance of the inducing points needed {jitter:.0e} of its "
            "diagonal added to be factored: some are almost equal to the kernel, and "
            "variances below that share mean nothing; raise theta or lower n_inducing.",
            NumericalWarning,
        )
