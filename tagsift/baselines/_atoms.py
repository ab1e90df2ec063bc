"""Atoms of the max-margin duals: label sequences of one sentence, and their weights.

An atom is stored as label indicators over the tokens of its sentence and transition
counts, never over feature columns. The inner product of the joint features of two
atoms then needs only the Gram matrix of the sentence's tokens, and w_b takes T·L + L·L
numbers instead of one per active feature and label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagsift.typing import FloatArray, IntArray

__all__ = ["Atoms", "Reward", "SentenceRows", "count_pairs", "indicators"]

#: Atoms a block keeps; when there are more, those without weight are forgotten.
_MAX_ATOMS = 40
#: Pairwise steps per visit of a block.
_MAX_STEPS = 20


@dataclass(frozen=True)
class Reward:
    """R_b of every sentence: label indicators (or their mean) and transition counts.

    Parameters
    ----------
    unary : ndarray of shape (n_tokens, n_labels)
        Share of each label at each token.
    pairs : ndarray of shape (n_sequences, n_labels, n_labels)
        Number of transitions.
    """

    unary: FloatArray
    pairs: FloatArray

    @classmethod
    def of_labels(cls, labels: IntArray, offsets: IntArray, n_labels: int) -> Reward:
        """Reward one label sequence per sentence."""
        unary = np.zeros((len(labels), n_labels))  # [N, L]
        unary[np.arange(len(labels)), labels] = 1.0
        return cls(unary, count_pairs(labels, offsets, n_labels))


def count_pairs(labels: IntArray, offsets: IntArray, n_labels: int) -> FloatArray:
    """Count the transitions of every sentence, [S, L, L]."""
    n_sequences = len(offsets) - 1
    owner = np.repeat(np.arange(n_sequences), np.diff(offsets))  # [N]
    joined = np.flatnonzero(owner[1:] == owner[:-1])  # [N']
    cell = (owner[joined] * n_labels + labels[joined]) * n_labels + labels[joined + 1]
    counts = np.bincount(cell, minlength=n_sequences * n_labels**2)  # [S·L·L]
    return counts.reshape(n_sequences, n_labels, n_labels).astype(float)


def indicators(labels: IntArray, n_labels: int) -> tuple[FloatArray, FloatArray]:
    """Label indicators [T, L] and transition counts [L·L] of one label sequence."""
    unary = np.zeros((len(labels), n_labels))  # [T, L]
    unary[np.arange(len(labels)), labels] = 1.0
    cells = labels[:-1] * n_labels + labels[1:]  # [T-1]
    return unary, np.bincount(cells, minlength=n_labels**2).astype(float)


class SentenceRows:
    """Feature rows of one sentence, arranged for products with E [D, L]."""

    __slots__ = ("columns", "gram", "rows", "transposed", "x")

    def __init__(self, X: Any, rows: slice) -> None:
        self.rows = rows
        self.x = X[rows]  # [T, D]
        self.columns: Any = slice(None)
        self.transposed = self.x.T  # [D, T]
        self.gram = self.x @ self.x.T  # [T, T]
        if sp.issparse(self.x):
            self.columns = np.unique(self.x.indices)  # [D']
            self.transposed = sp.csr_matrix(self.x[:, self.columns].T)  # [D', T]
            self.gram = self.gram.toarray()  # [T, T]


class Atoms:
    """Atoms of one hinge and their weights; row 0 is the reward, the zero atom."""

    __slots__ = ("atoms", "delta", "gram", "keys", "sentence", "size", "weights")

    def __init__(self, sentence: SentenceRows, n_labels: int) -> None:
        width = (len(sentence.gram) + n_labels) * n_labels
        self.sentence = sentence
        self.size = 1
        self.keys: list[bytes] = [b""]
        self.atoms = np.zeros((8, width))  # [K, T·L + L·L]
        self.gram = np.zeros((8, 8))  # [K, K]
        self.delta = np.zeros(8)  # [K]
        self.weights = np.zeros(8)  # [K]
        self.weights[0] = 1.0

    def set_reward(self, unary: FloatArray, pairs: FloatArray) -> None:
        """Set R_b; the weight of the zero atom stays."""
        self.atoms[0, : unary.size] = unary.ravel()
        self.atoms[0, unary.size :] = pairs.ravel()
        self._multiply(0, unary.shape[1])

    def reset(self) -> None:
        """Put all weight back on the zero atom; the others stay in store."""
        self.weights[: self.size] = 0.0
        self.weights[0] = 1.0

    def restart(self, unary: FloatArray, pairs: FloatArray, loss: FloatArray) -> None:
        """Put all weight on one mixture of atoms, given by its mean."""
        self.size = 2
        self.keys = [b"", b"mean"]
        self.atoms[1, : unary.size] = unary.ravel()
        self.atoms[1, unary.size :] = pairs.ravel()
        self._multiply(1, unary.shape[1])
        self.weights[:2] = 0.0, 1.0
        self.set_loss(loss)

    def set_loss(self, loss: FloatArray) -> None:
        """Set the task loss of the tokens [T, L], and with it that of every atom."""
        unary = self.atoms[: self.size, : loss.size]  # [K, T·L]
        self.delta[: self.size] = unary @ loss.ravel()  # [K]

    def add(self, labels: IntArray, loss: FloatArray) -> None:
        """Add a label sequence unless it is there."""
        key = labels.tobytes()
        if key in self.keys:
            return
        if self.size >= _MAX_ATOMS:
            self._forget()
        k, n_labels = self.size, loss.shape[1]
        if k == len(self.delta):
            self._grow()
        self.size += 1
        self.keys.append(key)
        unary, pairs = indicators(labels, n_labels)  # [T, L], [L·L]
        self.atoms[k, : loss.size] = unary.ravel()
        self.atoms[k, loss.size :] = pairs
        self._multiply(k, n_labels)
        self.delta[k] = unary.ravel() @ loss.ravel()
        self.weights[k] = 0.0

    def _multiply(self, k: int, n_labels: int) -> None:
        """Write the inner products of atom `k` with all atoms."""
        spread = self.atoms[k].copy()  # [T·L + L·L]
        n_unary = len(self.sentence.gram) * n_labels
        unary = spread[:n_unary].reshape(-1, n_labels)  # [T, L]
        unary[:] = self.sentence.gram @ unary
        products = self.atoms[: self.size] @ spread  # [K]
        self.gram[k, : self.size] = products
        self.gram[: self.size, k] = products

    def _grow(self) -> None:
        """Double the room for atoms."""
        k = self.size
        self.atoms = np.concatenate([self.atoms, np.zeros_like(self.atoms)])
        self.gram = np.pad(self.gram, (0, k))
        self.delta = np.pad(self.delta, (0, k))
        self.weights = np.pad(self.weights, (0, k))

    def _forget(self) -> None:
        """Drop the atoms without weight."""
        kept = self.weights[: self.size] > 0  # [K]
        kept[0] = True
        rows = np.flatnonzero(kept)  # [K']
        n = len(rows)
        self.atoms[:n] = self.atoms[rows]
        self.gram[:n, :n] = self.gram[np.ix_(rows, rows)]
        self.delta[:n] = self.delta[rows]
        self.weights[:n] = self.weights[rows]
        self.keys = [self.keys[k] for k in rows]
        self.size = n

    def shift(self, scores: FloatArray, rate: float, least: float) -> FloatArray | None:
        """Move weight from the worst to the best atom while that raises the dual.

        Parameters
        ----------
        scores : ndarray of shape (n_atoms,)
            <w, Ψ_k> + Δ_k at the current w; changed in place.
        rate : float
            c_b / λ.
        least : float
            Stop when best and worst differ by less.

        Returns
        -------
        change : ndarray of shape (n_atoms,) or None
            What was added to the weights; None if nothing moved.
        """
        weights, gram = self.weights[: self.size], self.gram  # [K], [K, K]
        before = None
        for _ in range(_MAX_STEPS):
            best = int(scores.argmax())
            held = weights.nonzero()[0]  # [K']
            worst = int(held[scores[held].argmin()])
            gain = scores[best] - scores[worst]
            if gain <= least:
                break
            if before is None:
                before = weights.copy()  # [K]
            bend = rate * (
                gram[best, best] + gram[worst, worst] - 2 * gram[best, worst]
            )
            step = weights[worst]
            if gain < bend * step:
                step = gain / bend
                weights[worst] -= step
            else:
                weights[worst] = 0.0
            weights[best] += step
            scores -= (rate * step) * (
                gram[best, : self.size] - gram[worst, : self.size]
            )  # [K]
        return None if before is None else weights - before  # [K]
