"""What the max-margin duals are made of: rewards, competing label sequences, atoms.

An atom, a label sequence of one sentence with a weight in the dual, is stored as label
indicators over the tokens and transition counts, never over feature columns. The inner
product of the joint features of two atoms then needs only the Gram matrix of the
sentence's tokens, and w_b takes T·L + L·L numbers instead of one per active feature
and label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from tagsift.chain import ChainLayout, non_candidate, viterbi
from tagsift.data import offsets_of
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["Atoms", "Batch", "Reward", "SentenceRows", "Term", "indicators"]

#: Atoms a block keeps; when there are more, those without weight are forgotten.
_MAX_ATOMS = 40
#: Pairwise steps per visit of a block.
_MAX_STEPS = 20


@dataclass(frozen=True)
class Reward:
    """R_b of every sentence: label indicators (or their mean) and transition counts."""

    unary: FloatArray  # [N, L]  share of each label at each token
    pairs: FloatArray  # [S, L, L]  number of transitions

    @classmethod
    def of_candidates(cls, mask: BoolArray, offsets: IntArray) -> Reward:
        """Reward the mean of all candidate sequences (D4).

        They are a product set, so that their uniform distribution has independent
        tokens, and a transition has the probability of its two ends.
        """
        P = mask / mask.sum(axis=1, keepdims=True)  # [N, L]
        pairs = np.zeros((len(offsets) - 1, P.shape[1], P.shape[1]))  # [S, L, L]
        for s in range(len(pairs)):
            rows = P[offsets[s] : offsets[s + 1]]  # [T, L]
            pairs[s] = rows[:-1].T @ rows[1:]
        return cls(P, pairs)

    @classmethod
    def of_labels(cls, labels: IntArray, offsets: IntArray, n_labels: int) -> Reward:
        return cls.of_candidates(np.eye(n_labels, dtype=bool)[labels], offsets)


@dataclass(frozen=True)
class Term:
    """One hinge per sentence: which sequences compete, and by which task loss."""

    decoder: Literal["free", "candidate", "non_candidate"]  # the set G_b
    weight: float  # c_b, the same for all sentences
    loss: FloatArray  # [N, L]  Δ_b(y) is the sum of loss[t, y_t]


class Batch:
    """Sentences that are decoded by one call."""

    def __init__(self, offsets: IntArray, mask: BoolArray, sentences: IntArray) -> None:
        lengths = offsets[sentences + 1] - offsets[sentences]  # [B]
        self.sentences = sentences
        self.starts = offsets_of(lengths)  # [B+1]
        owner = np.repeat(np.arange(len(sentences)), lengths)  # [N']
        self.joined = owner[1:] == owner[:-1]  # [N'-1]
        first = offsets[sentences] - self.starts[:-1]  # [B]
        self.tokens = first[owner] + np.arange(self.starts[-1])  # [N']
        self.mask = mask[self.tokens]  # [N', L]
        self.layout = ChainLayout.from_offsets(self.starts)

    def part(self, i: int) -> slice:
        """Where the tokens of the i-th sentence lie inside the batch."""
        return slice(self.starts[i], self.starts[i + 1])

    def sum(self, values: FloatArray) -> FloatArray:
        """Sum a value of every token over each sentence, [B]."""
        return np.add.reduceat(values, self.starts[:-1])

    def score(self, labels: IntArray, U: FloatArray, A: FloatArray) -> FloatArray:
        """Score of one label sequence per sentence, [B]."""
        values = U[np.arange(len(labels)), labels]  # [N']
        values[1:] += self.joined * A[labels[:-1], labels[1:]]  # [N'-1]
        return self.sum(values)

    def decode(
        self, term: Term, U: FloatArray, A: FloatArray
    ) -> tuple[IntArray, FloatArray]:
        """Best competitor of every sentence and its score, −∞ where there is none."""
        U = U + term.loss[self.tokens]  # [N', L]
        if term.decoder == "non_candidate":
            labels, exists = non_candidate(U, A, self.mask, self.layout)
            best = np.empty_like(exists)  # [B]
            best[self.layout.sentences] = exists
            return labels, np.where(best, self.score(labels, U, A), -np.inf)
        mask = self.mask if term.decoder == "candidate" else None  # [N', L]
        labels = viterbi(U, A, self.layout, mask=mask)  # [N']
        return labels, self.score(labels, U, A)


def indicators(labels: IntArray, n_labels: int) -> tuple[FloatArray, FloatArray]:
    """Label indicators [T, L] and transition counts [L·L] of one label sequence."""
    cells = labels[:-1] * n_labels + labels[1:]  # [T-1]
    pairs = np.bincount(cells, minlength=n_labels**2).astype(float)  # [L·L]
    return np.eye(n_labels)[labels], pairs


class SentenceRows:
    """Feature rows of one sentence, arranged for products with E [D, L]."""

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
    """Atoms of one hinge and their weights; row 0 is the reward, the zero atom.

    `unary` [T, L] and `pairs` [L·L] are the weighted mean of the atoms: views of what
    the solver keeps of all sentences.
    """

    def __init__(
        self, sentence: SentenceRows, unary: FloatArray, pairs: FloatArray
    ) -> None:
        self.sentence, self.unary, self.pairs = sentence, unary, pairs
        self.size = 1
        self.keys: list[bytes] = [b""]
        self.atoms = np.zeros((8, unary.size + pairs.size))  # [K, T·L + L·L]
        self.gram = np.zeros((8, 8))  # [K, K]
        self.delta = np.zeros(8)  # [K]
        self.weights = np.zeros(8)  # [K]
        self.weights[0] = 1.0

    def set(self, unary: FloatArray, pairs: FloatArray, loss: FloatArray) -> None:
        """Set R_b and the task loss [T, L]; the weights of the atoms stay."""
        self._put(0, unary, pairs)
        self._set_loss(loss)
        total = self.weights[: self.size] @ self.atoms[: self.size]  # [T·L + L·L]
        self.unary[:] = total[: unary.size].reshape(unary.shape)
        self.pairs[:] = total[unary.size :]

    def reset(self) -> None:
        """Put all weight back on the zero atom; the others stay in store."""
        self.weights[: self.size] = 0.0
        self.weights[0] = 1.0

    def restart(self, loss: FloatArray) -> None:
        """Put all weight on one mixture of atoms, their mean."""
        self.size = 2
        self.keys = [b"", b"mean"]
        self._put(1, self.unary, self.pairs)
        self.weights[:2] = 0.0, 1.0
        self._set_loss(loss)

    def _set_loss(self, loss: FloatArray) -> None:
        unary = self.atoms[: self.size, : loss.size]  # [K, T·L]
        self.delta[: self.size] = unary @ loss.ravel()  # [K]

    def add(self, labels: IntArray, loss: FloatArray) -> None:
        key = labels.tobytes()
        if key in self.keys:
            return
        if self.size >= _MAX_ATOMS:
            self._forget()
        k = self.size
        if k == len(self.delta):
            self._grow()
        self.size += 1
        self.keys.append(key)
        unary, pairs = indicators(labels, loss.shape[1])  # [T, L], [L·L]
        self._put(k, unary, pairs)
        self.delta[k] = unary.ravel() @ loss.ravel()
        self.weights[k] = 0.0

    def _put(self, k: int, unary: FloatArray, pairs: FloatArray) -> None:
        """Write atom `k`, and its inner products with all atoms."""
        self.atoms[k] = np.concatenate([unary.ravel(), pairs.ravel()])
        spread = self.sentence.gram @ unary  # [T, L]
        products = self.atoms[: self.size] @ np.concatenate(
            [spread.ravel(), pairs.ravel()]
        )  # [K]
        self.gram[k, : self.size] = products
        self.gram[: self.size, k] = products

    def _grow(self) -> None:
        k = self.size
        self.atoms = np.concatenate([self.atoms, np.zeros_like(self.atoms)])
        self.gram = np.pad(self.gram, (0, k))
        self.delta = np.pad(self.delta, (0, k))
        self.weights = np.pad(self.weights, (0, k))

    def _forget(self) -> None:
        heavy = self.weights[: self.size] > 0  # [K]
        heavy[0] = True
        rows = np.flatnonzero(heavy)  # [K']
        n = len(rows)
        self.atoms[:n] = self.atoms[rows]
        self.gram[:n, :n] = self.gram[np.ix_(rows, rows)]
        self.delta[:n] = self.delta[rows]
        self.weights[:n] = self.weights[rows]
        self.keys = [self.keys[k] for k in rows]
        self.size = n

    def shift(self, scores: FloatArray, rate: float, least: float) -> FloatArray | None:
        """Move weight from the worst to the best atom while that raises the dual.

        `scores` are <w, Ψ_k> + Δ_k [K], changed in place, and `rate` is c_b / λ. Stops
        when best and worst differ by less than `least`; None if nothing moved.
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
            apart = gram[best, : self.size] - gram[worst, : self.size]  # [K]
            bend = gram[best, best] + gram[worst, worst] - 2 * gram[best, worst]
            bend *= rate
            step = weights[worst]
            if gain < bend * step:
                step = gain / bend
                weights[worst] -= step
            else:
                weights[worst] = 0.0
            weights[best] += step
            scores -= (rate * step) * apart  # [K]
        return None if before is None else weights - before  # [K]
