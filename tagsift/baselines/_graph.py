"""The neighbour graph and the confidences of PL-AGGD: two batches of small QPs.

Both are solved by accelerated projected gradient steps with restarts. The graph of a
token minimises ``sᵀ G s`` over the simplex of its k neighbours; the confidences of all
tokens together minimise ``|(I − S) F|² + (1/μ) |F − H|²`` over their candidate
simplices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tagsift.baselines._simplex import CandidateSimplex, project_simplex
from tagsift.features.distances import pair_products, row_norms
from tagsift.typing import FloatArray, IntArray

__all__ = [
    "confidence_step",
    "difference_grams",
    "graph_matrix",
    "graph_step",
    "label_grams",
]

#: How often rows that have settled are taken out of the batch of `graph_step`.
_CHECK_EVERY = 10


def difference_grams(X: Any, neighbours: IntArray) -> FloatArray:
    """Gram matrices of the differences between tokens and their neighbours.

    Parameters
    ----------
    X : csr_matrix or ndarray of shape (n_tokens, n_features)
        Rows.
    neighbours : ndarray of shape (n_tokens, k)
        Row numbers.

    Returns
    -------
    G : ndarray of shape (n_tokens, k, k)
        ``(x_i − x_j) · (x_i − x_l)`` for neighbours j and l of i, from inner products.
    """
    n, k = neighbours.shape
    own = np.repeat(np.arange(n), k)  # [N k]
    to = pair_products(X, own, neighbours.ravel()).reshape(n, k)  # [N, k]
    upper, lower = np.triu_indices(k)  # [k (k + 1) / 2]
    among = np.empty((n, k, k))  # [N, k, k]
    pairs = pair_products(
        X, neighbours[:, upper].ravel(), neighbours[:, lower].ravel()
    ).reshape(n, len(upper))  # [N, k (k + 1) / 2]
    among[:, upper, lower] = pairs
    among[:, lower, upper] = pairs
    return (
        row_norms(X)[:, None, None] - to[:, :, None] - to[:, None, :] + among
    )  # [N, k, k]


def label_grams(F: FloatArray, neighbours: IntArray) -> FloatArray:
    """`difference_grams` of few dense columns, straight from the differences."""
    differences = F[:, None, :] - F[neighbours]  # [N, k, L]
    return np.asarray(differences @ differences.transpose(0, 2, 1))  # [N, k, k]


def graph_step(
    G: FloatArray,
    s: FloatArray | None = None,
    *,
    n_steps: int = 300,
    tol: float = 1e-7,
) -> FloatArray:
    """Minimise ``sᵀ G s`` over the simplex, for every token by itself.

    Parameters
    ----------
    G : ndarray of shape (n_tokens, k, k)
        Positive semidefinite matrices.
    s : ndarray of shape (n_tokens, k), optional
        Where to start; by default equal weights.
    n_steps : int
        Most steps.
    tol : float
        A row is done when no weight moves by more in a step.

    Returns
    -------
    s : ndarray of shape (n_tokens, k)
        Rows are non-negative and sum to one.
    """
    n, k = G.shape[:2]
    if n == 0 or k == 0:
        return np.zeros((n, k))
    s = np.full((n, k), 1.0 / k) if s is None else s.copy()  # [N, k]
    lip = 2.0 * np.linalg.eigvalsh(G)[:, -1]  # [N]
    rows = np.flatnonzero(lip > 1e-14)  # [R]  the others are at a minimum anywhere
    G, rate = G[rows], 1.0 / lip[rows, None]  # [R, k, k], [R, 1]
    x, z, t = s[rows], s[rows], np.ones((len(rows), 1))  # [R, k], [R, k], [R, 1]
    for step in range(n_steps):
        if len(rows) == 0:
            break
        gradient = 2.0 * np.matmul(G, z[:, :, None])[:, :, 0]  # [R, k]
        new = project_simplex(z - rate * gradient)  # [R, k]
        moved = new - x  # [R, k]
        t = np.where(((z - new) * moved).sum(axis=1, keepdims=True) > 0, 1.0, t)
        ahead = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t**2))  # [R, 1]
        z = new + (t - 1.0) / ahead * moved  # [R, k]
        still = np.maximum(np.abs(moved), np.abs(new - z)).max(axis=1) > tol  # [R]
        x, t = new, ahead
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
    *,
    n_steps: int = 500,
    tol: float = 1e-5,
) -> FloatArray:
    """Confidences that agree with the graph and, where given, with the regression.

    Parameters
    ----------
    B : csr_matrix of shape (n_tokens, n_tokens)
        I − S.
    simplex : CandidateSimplex
        The candidate sets.
    F : ndarray of shape (n_tokens, n_labels)
        Where to start.
    H : ndarray of shape (n_tokens, n_labels), optional
        Outputs of the regression; without them the graph alone decides.
    mu : float
        Weight μ of the graph against the regression.
    n_steps : int
        Most steps.
    tol : float
        Stop when no confidence moves by more in a step.

    Returns
    -------
    F : ndarray of shape (n_tokens, n_labels)
        Rows in the simplices of their candidates.
    """
    B_T = sp.csr_matrix(B.T)  # [N, N]
    pull = 0.0 if H is None else 2.0 / mu
    lip = 2.0 * sp.linalg.norm(B, 1) * sp.linalg.norm(B, np.inf) + pull
    x, z, t = F, F, 1.0  # [N, L]
    for _ in range(n_steps):
        gradient = 2.0 * (B_T @ (B @ z))  # [N, L]
        if H is not None:
            gradient += pull * (z - H)  # [N, L]
        new = simplex.project(z - gradient / lip)  # [N, L]
        moved = new - x  # [N, L]
        if np.vdot(z - new, moved) > 0:
            t = 1.0
        ahead = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t**2))
        z = new + (t - 1.0) / ahead * moved  # [N, L]
        x, t = new, ahead
        if np.abs(moved).max(initial=0.0) < tol:
            break
    return x
