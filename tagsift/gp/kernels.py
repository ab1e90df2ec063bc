r"""The kernels: one RBF per label, or a sum over feature groups, whitened.

Equation (4) is σ_y² exp(−θ_y |x_i − x_j|²); the paper fixes the amplitude σ_y² at 1.
The sum over groups g, with RBF parts r,

.. math::

    k(x, x') = \sum_g \sigma_g^2 \, x_g^T x'_g
             + \sum_r \sigma_r^2 \exp(-\theta_r \|x_r - x'_r\|^2) + \sigma_b^2

keeps linear parts in weight space: a group's columns times σ_g have standard normal
weights. RBF parts become columns too, through inducing points: A = chol(K_ZZ)⁻¹ K_Zn,
times σ_r. The latent values are then f = Φw with w ~ N(0, I).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tagsift.backend import (
    Device,
    asarray,
    cholesky,
    exp_inplace,
    namespace,
    solve_triangular,
    to_numpy,
)
from tagsift.features import FeatureMatrix, median_distance, squared_distances
from tagsift.gp.inducing import choose_points
from tagsift.storage import Saved, array, by_name, matrix, number, several
from tagsift.typing import Array, FloatArray

__all__ = [
    "RBF",
    "GroupKernel",
    "InducingColumns",
    "rbf_inputs",
    "scaled_features",
    "uncarried_variance",
]

_ALONE = 6.0  # prior variance of the weights of indicators, alone
_BESIDE = 1.0  # and beside dense groups
#: Tokens up to which these hold: rare features fill most columns of a larger corpus,
#: and want smaller weights.
_TOKENS = 10_000
_DENSE = 10.0  # prior variance of what a dense group gives by its linear part
_RBF = 10.0  # and by its RBF part
_THETA = 0.25  # θ of the latter, in units of 1 / median squared distance
_BANNED = 2.0  # prior variance of transitions and starts where the bans are known
_FREE = 6.0  # and where they have to be learnt
_BIAS = 5.0  # prior variance of the label bias
_AROUND = "window"  # the group of the words around a token
_FARTHER = 1 / 3  # what multiplies its variance in another view of the same tokens
_NEARER = 10 / 3  # and that of all other groups
#: Tokens whose columns are computed at once.
_PORTION = 8192


@dataclass(frozen=True)
class RBF:
    """Equation (4) for every label: inverse widths and amplitudes."""

    theta: FloatArray  # [L]
    amplitude: FloatArray  # [L], prior variance σ² of the latent values

    saved: ClassVar[Saved] = {
        "theta": array("L", least=0),
        "amplitude": array("L", least=0),
    }

    @property
    def n_labels(self) -> int:
        return len(self.amplitude)

    def unit_gram(self, distances: Array, label: int) -> Array:
        """Correlations exp(−θd) of one label, in the shape of the distances."""
        theta = float(self.theta[label])
        return namespace(distances).exp(-theta * distances)  # [A, B]

    def gram(self, distances: Array, label: int) -> Array:
        """Covariances of one label: Equation (4) times the amplitude."""
        return float(self.amplitude[label]) * self.unit_gram(distances, label)


@dataclass(frozen=True)
class GroupKernel:
    """Hyperparameters of the sum of kernels and of the transitions."""

    linear: dict[str, float]  # prior variance σ_g² of the weights of every group
    rbf: dict[str, tuple[float, float]]  # (σ_r², θ_r) of "sparse" and dense groups
    transition: float = 1.0  # prior variance of transition and start scores
    bias: float = 1.0  # prior variance of the label bias

    saved: ClassVar[Saved] = {
        "linear": by_name(number(least=0)),
        "rbf": by_name(several(number(least=0), number(least=0))),
        "transition": number(least=0),
        "bias": number(least=0),
    }

    def as_dict(self) -> dict[str, Any]:
        """Return the hyperparameters as JSON can hold them."""
        return {
            "linear": self.linear,
            "rbf": {name: list(pair) for name, pair in self.rbf.items()},
            "transition": self.transition,
            "bias": self.bias,
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> GroupKernel:
        return cls(
            {name: float(value) for name, value in stored["linear"].items()},
            {name: (float(a), float(t)) for name, (a, t) in stored["rbf"].items()},
            float(stored["transition"]),
            float(stored["bias"]),
        )

    @classmethod
    def default(
        cls,
        features: FeatureMatrix,
        seed: int,
        *,
        rbf: bool = True,
        bans: bool = False,
        n_tokens: int | None = None,
    ) -> GroupKernel:
        """Wide priors, chosen once for all data: docs/research.md says how.

        Indicators have linear parts. Dense groups, such as word vectors, have a linear
        and an RBF part each, and leave less to the indicators beside them. `bans` says
        whether transitions are forbidden beforehand, `n_tokens` how many tokens there
        are where the features are those of some.
        """
        dense = features.dense
        sparse = _ALONE if dense is None else _BESIDE
        sparse /= max(1.0, (n_tokens or features.n_tokens) / _TOKENS) ** 0.5
        linear = {
            name: sparse if sp.issparse(block) else _DENSE / _mean_square(block)
            for name, block in zip(features.names, features.blocks, strict=True)
        }
        parts = {
            name: (_RBF, _THETA / median_distance(matrix, seed))
            for name, matrix in ({} if dense is None else rbf_inputs(dense)).items()
        }
        return cls(linear, parts if rbf else {}, _BANNED if bans else _FREE, _BIAS)

    def nearer(self) -> GroupKernel | None:
        """Another view: the words around a token say less of it, all else says more.

        None where that is no other view: without such words, or beside dense groups.
        """
        if _AROUND not in self.linear or self.rbf:
            return None
        linear = {
            name: variance * (_FARTHER if name == _AROUND else _NEARER)
            for name, variance in self.linear.items()
        }
        return replace(self, linear=linear)


def _mean_square(block: FloatArray) -> float:
    """Mean squared norm of the rows, 1 where all are zero."""
    return float(np.mean(np.einsum("ij,ij->i", block, block))) or 1.0


def rbf_inputs(features: FeatureMatrix) -> dict[str, Any]:
    """Matrices of the RBF parts: the sparse groups together, and each dense one."""
    inputs: dict[str, Any] = {}
    if features.sparse is not None:
        inputs["sparse"] = features.sparse.stacked()  # [N, D]
    for name, block in zip(features.names, features.blocks, strict=True):
        if not sp.issparse(block):
            inputs[name] = np.asarray(block, dtype=np.float64)  # [N, D]
    return inputs


@dataclass(frozen=True)
class InducingColumns:
    """An RBF part as columns: whitened covariances with its inducing points."""

    points: Any  # [M, D], features of the inducing points
    root: FloatArray  # [M, M], Cholesky factor of their correlations
    theta: float

    saved: ClassVar[Saved] = {
        "points": matrix("M columns", training=True),
        "root": array("M M", triangular=True),
        "theta": number(least=0),
    }

    @classmethod
    def choose(
        cls, X: Any, shares: FloatArray, theta: float, n_points: int, seed: int
    ) -> InducingColumns:
        rows = choose_points(X, shares, theta, n_points, seed)
        points = X[rows]  # [M, D]
        K = np.exp(-theta * squared_distances(points, points))  # [M, M]
        return cls(points, cholesky(K, overwrite=True)[0], theta)

    def columns(self, X: Any, device: Device = "cpu") -> NDArray[np.float32]:
        """Whitened columns Aᵀ of tokens at unit amplitude, in single precision."""
        root = asarray(self.root, device=device)  # [M, M]
        columns = np.empty((X.shape[0], len(self.root)), dtype=np.float32)  # [N, M]
        for lo in range(0, X.shape[0], _PORTION):
            rows = slice(lo, lo + _PORTION)
            K = squared_distances(self.points, X[rows], like=root)  # [M, n]
            K *= -self.theta
            A = solve_triangular(root, exp_inplace(K), overwrite=True)  # [M, n]
            columns[rows] = to_numpy(A.T)
        return columns


def scaled_features(
    features: FeatureMatrix, kernel: GroupKernel, columns: Mapping[str, NDArray[Any]]
) -> FeatureMatrix:
    """Whitened features Φ: every column times its prior standard deviation."""
    names = [*features.names, *(f"rbf:{name}" for name in columns)]
    blocks = [
        block * kernel.linear[name] ** 0.5
        for name, block in zip(features.names, features.blocks, strict=True)
    ]
    for name, whitened in columns.items():
        scale = whitened.dtype.type(kernel.rbf[name][0] ** 0.5)
        blocks.append(whitened * scale)  # [N, M]
    return FeatureMatrix(tuple(names), tuple(blocks), features.offsets)


def uncarried_variance(phi: FeatureMatrix, kernel: GroupKernel) -> FloatArray:
    """Prior variance σ_r² (1 − |a_n|²) of RBF parts that no inducing point carries."""
    rest = np.zeros(phi.n_tokens)  # [N]
    for name, (amplitude, _) in kernel.rbf.items():
        columns = phi.block(f"rbf:{name}")  # [N, M]
        carried = np.einsum("nm,nm->n", columns, columns, dtype=np.float64)  # [N]
        rest += np.maximum(amplitude - carried, 0.0)
    return rest
