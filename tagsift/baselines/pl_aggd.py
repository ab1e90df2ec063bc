"""PL-AGGD: an adaptive neighbour graph, confidences and a kernel regression.

The graph of a token minimises ``sᵀ G s`` over the simplex of its k neighbours; the
confidences of all tokens together minimise ``|(I − S) F|² + (1/μ) |F − H|²`` over their
candidate simplices. Both by accelerated projected gradient steps with restarts.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from tagsift.base import Method, setting
from tagsift.baselines._kernel_ridge import KernelRidgeTagger
from tagsift.baselines._pointwise import CandidateSimplex, project_simplex
from tagsift.features import (
    Reference,
    nearest,
    pair_products,
    row_norms,
    scale_features,
)
from tagsift.progress import progress
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "PLAGGD",
    "confidence_step",
    "difference_grams",
    "graph_matrix",
    "graph_step",
    "label_grams",
]

_GRAPH_STEPS = 300  # most steps of the graph
_GRAPH_TOL = 1e-7  # what its weights may move in the last of them
_CONFIDENCE_STEPS = 500  # most steps of the confidences
_CONFIDENCE_TOL = 1e-5  # what they may move in the last of them
#: How often rows that have settled are taken out of the batch of `graph_step`.
_CHECK_EVERY = 10


def difference_grams(X: Any, neighbours: IntArray) -> FloatArray:
    """``(x_i − x_j) · (x_i − x_l)`` for neighbours j and l of token i, [N, k, k]."""
    n, k = neighbours.shape
    own = np.repeat(np.arange(n), k)  # [N k]
    to = pair_products(X, own, neighbours.ravel()).reshape(n, k)  # [N, k]
    upper, lower = np.triu_indices(k)  # [k (k + 1) / 2]
    first, second = neighbours[:, upper].ravel(), neighbours[:, lower].ravel()
    among = np.empty((n, k, k))  # [N, k, k]
    among[:, upper, lower] = pair_products(X, first, second).reshape(n, -1)
    among[:, lower, upper] = among[:, upper, lower]
    return np.asarray(
        row_norms(X)[:, None, None] - to[:, :, None] - to[:, None, :] + among
    )


def label_grams(F: FloatArray, neighbours: IntArray) -> FloatArray:
    """`difference_grams` of few dense columns, straight from the differences."""
    differences = F[:, None, :] - F[neighbours]  # [N, k, L]
    return np.asarray(differences @ differences.transpose(0, 2, 1))  # [N, k, k]


def graph_step(G: FloatArray, s: FloatArray | None = None) -> FloatArray:
    """Minimise ``sᵀ G s`` over the simplex, for every token by itself, [N, k]."""
    n, k = G.shape[:2]
    if n == 0 or k == 0:
        return np.zeros((n, k))
    s = np.full((n, k), 1.0 / k) if s is None else s.copy()  # [N, k]
    lip = 2.0 * np.linalg.eigvalsh(G)[:, -1]  # [N]
    rows = np.flatnonzero(lip > 1e-14)  # [R]  the others are at a minimum anywhere
    G, rate = G[rows], 1.0 / lip[rows, None]  # [R, k, k], [R, 1]
    x, z, t = s[rows], s[rows], np.ones((len(rows), 1))  # [R, k], [R, k], [R, 1]
    for step in range(_GRAPH_STEPS):
        if len(rows) == 0:
            break
        gradient = 2.0 * np.matmul(G, z[:, :, None])[:, :, 0]  # [R, k]
        new = project_simplex(z - rate * gradient)  # [R, k]
        moved = new - x  # [R, k]
        z, t = _ahead(z, new, moved, t, 1)  # [R, k], [R, 1]
        still = np.maximum(np.abs(moved), np.abs(new - z)).max(axis=1) > _GRAPH_TOL
        x = new
        if step % _CHECK_EVERY == _CHECK_EVERY - 1 and not still.all():
            s[rows] = x
            rows, G, rate = rows[still], G[still], rate[still]
            x, z, t = x[still], z[still], t[still]
    s[rows] = x
    return s


def graph_matrix(s: FloatArray, neighbours: IntArray) -> Any:
    """Sparse matrix B = I − S of the graph, csr of shape [N, N]."""
    n, k = neighbours.shape
    starts = np.arange(n + 1) * k  # [N + 1]
    S = sp.csr_matrix((s.ravel(), neighbours.ravel(), starts), shape=(n, n))  # [N, N]
    return sp.csr_matrix(sp.identity(n, format="csr") - S)


def confidence_step(
    B: Any,
    simplex: CandidateSimplex,
    F: FloatArray,
    H: FloatArray | None = None,
    mu: float = 1.0,
) -> FloatArray:
    """Confidences that agree with the graph and, where given, with the regression.

    B is I − S, H the outputs of the regression, and μ weighs the graph against it.
    """
    B_T = sp.csr_matrix(B.T)  # [N, N]
    H, pull = (F, 0.0) if H is None else (H, 2.0 / mu)
    lip = 2.0 * sp.linalg.norm(B, 1) * sp.linalg.norm(B, np.inf) + pull
    x, z, t = F, F, np.ones((1, 1))  # [N, L], [N, L], [1, 1]
    for _ in range(_CONFIDENCE_STEPS):
        gradient = 2.0 * (B_T @ (B @ z)) + pull * (z - H)  # [N, L]
        new = simplex.project(z - gradient / lip)  # [N, L]
        moved = new - x  # [N, L]
        z, t = _ahead(z, new, moved, t, None)  # [N, L], [1, 1]
        x = new
        if np.abs(moved).max(initial=0.0) < _CONFIDENCE_TOL:
            break
    return x


def _ahead(
    z: FloatArray, new: FloatArray, moved: FloatArray, t: FloatArray, axis: int | None
) -> tuple[FloatArray, FloatArray]:
    """Where to take the next gradient, and how fast to go; from rest where it overshot.

    The speed is one per row, [R, 1], or with `axis` None one for all, [1, 1].
    """
    overshot = ((z - new) * moved).sum(axis=axis, keepdims=True) > 0
    t = np.where(overshot, 1.0, t)
    faster = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t**2))
    return new + (t - 1.0) / faster * moved, faster


class PLAGGD(KernelRidgeTagger):
    """Graph, confidences and regression, each fitted in turn to the other two.

    Parameters
    ----------
    n_neighbours : int
        Neighbours k of the graph.
    lam : float
        Weight λ of the features in the graph.
    mu : float
        Weight μ of the confidences in the graph.
    gamma : float
        Ridge γ of the regression.
    max_iter : int
        Number of rounds T.
    max_dense
        As in `SURE`.
    scale, features, labels, scheme, random_state, verbose, tokenizer, sentences
        As in `WKNN`.

    Examples
    --------
    >>> from tagsift.baselines import PLAGGD
    >>> model = PLAGGD().fit_flat([[-1.0], [1.0]], [[1, 0], [0, 1]])
    >>> model.predict_flat([[-0.8], [0.9]]).tolist()
    [0, 1]
    """

    method: ClassVar[Method] = Method(
        name="pl-aggd",
        title="PL-AGGD",
        family="adaptive neighbour graph and kernel ridge regression",
        disambiguation="identification, feature-aware",
        settings="{n_neighbours}, {lam}, {mu}, {gamma}, {max_iter}",
        cost="one factor n³ / 3, then n² · q and sparse steps a round",
        source="Wang, Li & Zhang, KDD 2019",
    )
    _scores_are_confidences: ClassVar[bool] = True
    _check_params: ClassVar[dict[str, Any]] = {"max_iter": 3}
    n_neighbours: int = setting(10, least=1)
    lam: float = setting(1.0, least=0)
    mu: float = setting(1.0, above=0)
    gamma: float = setting(0.05, above=0)
    max_iter: int = setting(10, least=0)

    def _fit_tokens(self, X: Any, mask: BoolArray, seed: int) -> FloatArray:
        directions, _ = scale_features(X, "l2")  # [N, D]  for the graph only
        neighbours, _ = nearest(
            Reference(directions), directions, self.n_neighbours, same=True
        )  # [N, k]
        G_x = self.lam * difference_grams(directions, neighbours)  # [N, k, k]
        ridge = self._ridge(X, self.gamma, seed)
        simplex = CandidateSimplex(mask)
        s = graph_step(G_x)  # [N, k]  from features alone
        B = graph_matrix(s, neighbours)  # [N, N]
        F = confidence_step(B, simplex, simplex.uniform())  # [N, L]
        H = ridge.solve(F)  # [N, L]
        for _ in progress(range(self.max_iter), "PL-AGGD", enabled=bool(self.verbose)):
            s = graph_step(G_x + self.mu * label_grams(F, neighbours), s)  # [N, k]
            B = graph_matrix(s, neighbours)  # [N, N]
            F = confidence_step(B, simplex, F, H, self.mu)  # [N, L]
            H = ridge.solve(F)  # [N, L]
        self.expansion_ = ridge.expansion()
        return F
