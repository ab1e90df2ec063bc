"""A fitted structured Gaussian process: what prediction and a model file need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagsift.backend import asarray, to_numpy
from tagsift.gp.kernels import RBF, squared_distances
from tagsift.gp.predictive import dense_moments, inducing_moments
from tagsift.typing import Array, FloatArray

__all__ = ["FittedGP", "pack_matrix", "unpack_matrix"]

#: New tokens whose covariances with the old ones are formed at a time.
_BLOCK = 2048


@dataclass(frozen=True)
class FittedGP:
    """Posterior of the unary and transition latents, ready for Equations (22)–(24).

    Parameters
    ----------
    kernel : RBF
        Hyperparameters.
    groups : list of csr_matrix or ndarray
        Features of the points that carry the posterior: the inducing points, or all
        training tokens.
    beta : array of shape (n_points, n_labels)
        Coefficients of the means.
    lowers : sequence of arrays of shape (n_points, n_points)
        Cholesky factors of the posterior, one per label.
    roots : sequence of arrays of shape (n_points, n_points)
        Cholesky factors of the inducing correlations; empty when dense.
    root : array of shape (n_points, n_labels) or None
        √λ of the training tokens; only when dense.
    mu_T, var_T : ndarrays of shape (n_labels, n_labels)
        Transition latents.
    """

    kernel: RBF
    groups: list[Any]
    beta: Array
    lowers: Sequence[Array]
    roots: Sequence[Array]
    root: Array | None
    mu_T: FloatArray
    var_T: FloatArray

    @property
    def dense(self) -> bool:
        """Whether every training token carries the posterior."""
        return self.root is not None

    def moments(
        self, groups: list[Any], *, variances: bool = True
    ) -> tuple[FloatArray, FloatArray]:
        """Predictive means and variances at new tokens, Equations (23)–(24).

        Parameters
        ----------
        groups : list of csr_matrix or ndarray of shape (n_new, D)
            Their features.
        variances : bool
            Whether the variances are wanted; zeros otherwise.

        Returns
        -------
        mu, var : ndarrays of shape (n_new, n_labels)
            Moments.
        """
        n_new = groups[0].shape[0]
        shape = (n_new, self.kernel.n_labels)
        mu, var = np.zeros(shape), np.zeros(shape)  # [N*, L]
        for lo in range(0, n_new, _BLOCK):
            rows = slice(lo, lo + _BLOCK)
            distances = [
                squared_distances(old, new[rows], like=self.beta)
                for old, new in zip(self.groups, groups, strict=True)
            ]  # G × [M, B]
            if self.root is not None:
                found = dense_moments(
                    self.kernel,
                    distances,
                    self.beta,
                    self.lowers,
                    self.root,
                    variances=variances,
                )
            else:
                found = inducing_moments(
                    self.kernel,
                    distances,
                    self.roots,
                    self.beta,
                    self.lowers,
                    variances=variances,
                )
            mu[rows], var[rows] = to_numpy(found[0]), to_numpy(found[1])
        return mu, var

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
        """Return JSON-able values and arrays for a model file."""
        arrays: dict[str, np.ndarray[Any, Any]] = {
            "theta": self.kernel.theta,
            "amplitude": self.kernel.amplitude,
            "beta": to_numpy(self.beta),
            "mu_T": self.mu_T,
            "var_T": self.var_T,
        }
        owners = [
            next(k for k in range(y + 1) if self._shares(k, y))
            for y in range(len(self.roots))
        ]
        for y, lower in enumerate(self.lowers):
            arrays[f"lower/{y}"] = to_numpy(lower)
        for y in sorted(set(owners)):
            arrays[f"root/{y}"] = to_numpy(self.roots[y])
        if self.root is not None:
            arrays["sites"] = to_numpy(self.root)
        for g, group in enumerate(self.groups):
            arrays |= pack_matrix(f"group/{g}", group)
        return {"owners": owners, "n_groups": len(self.groups)}, arrays

    def _shares(self, k: int, y: int) -> bool:
        return self.roots[k] is self.roots[y]

    @classmethod
    def from_state(
        cls,
        meta: Mapping[str, Any],
        arrays: Mapping[str, np.ndarray[Any, Any]],
        device: Any = "cpu",
    ) -> FittedGP:
        """Rebuild what `state` returned, on `device`."""

        def move(array: np.ndarray[Any, Any]) -> Array:
            return asarray(array, device=device)

        kernel = RBF(arrays["theta"], arrays["amplitude"])
        roots = {int(y): move(arrays[f"root/{y}"]) for y in set(meta["owners"])}
        return cls(
            kernel,
            [unpack_matrix(f"group/{g}", arrays) for g in range(int(meta["n_groups"]))],
            move(arrays["beta"]),
            [move(arrays[f"lower/{y}"]) for y in range(kernel.n_labels)],
            [roots[int(y)] for y in meta["owners"]],
            move(arrays["sites"]) if "sites" in arrays else None,
            arrays["mu_T"],
            arrays["var_T"],
        )


def pack_matrix(name: str, matrix: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Store a matrix under `name`: dense as it is, sparse as its three arrays."""
    if not sp.issparse(matrix):
        return {name: np.asarray(matrix)}
    matrix = sp.csr_matrix(matrix)
    return {
        f"{name}/data": matrix.data,
        f"{name}/indices": matrix.indices.astype(np.int64),
        f"{name}/indptr": matrix.indptr.astype(np.int64),
        f"{name}/shape": np.asarray(matrix.shape, dtype=np.int64),
    }


def unpack_matrix(name: str, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Any:
    """Undo `pack_matrix`."""
    if name in arrays:
        return arrays[name]
    return sp.csr_matrix(
        (arrays[f"{name}/data"], arrays[f"{name}/indices"], arrays[f"{name}/indptr"]),
        shape=tuple(int(k) for k in arrays[f"{name}/shape"]),
    )
