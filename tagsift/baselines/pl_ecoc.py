"""PL-ECOC: output codes learnt from tokens that a dichotomy does not split."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from tagsift.base import Method, setting
from tagsift.baselines._pointwise import telling_tokens
from tagsift.baselines._svm import Machines, MachineTagger, TwoClassProblem
from tagsift.storage import Saved, array, part
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["PLECOC", "code_length", "code_losses", "draw_code", "performance"]

#: Draws after which the code is taken as it is.
_DRAWS = 2_000
#: Fewest tokens on either side of a column, while the data allow it.
_SIDE = 5


def code_length(n_labels: int) -> int:
    """Length of a codeword, ``ceil(10 log2 q)``."""
    return int(np.ceil(10 * np.log2(n_labels)))


def draw_code(
    mask: BoolArray, length: int, rng: np.random.Generator
) -> tuple[IntArray, float]:
    """Draw random dichotomies of the labels that enough tokens do not straddle.

    A token serves a column if all its candidates are on one side. At least a tenth of
    the tokens must, five of them on either side; where 2,000 draws give no such column,
    the tenth is halved, and at last one token a side will do. Gives the code of entries
    +1 and −1 [L, columns], the same whatever the labels' names, and the share in force.
    """
    n, q = mask.shape
    order = np.lexsort(mask) if n else np.arange(q)  # [L]
    sets, counts = np.unique(mask, axis=0, return_counts=True)  # [U, L], [U]
    share, side = 0.1, _SIDE
    while n and length:
        draws = np.empty((q, _DRAWS), dtype=np.int64)  # [L, draws]
        draws[order] = 2 * rng.integers(2, size=(q, _DRAWS)) - 1
        on_minus = sets.astype(float) @ (draws < 0)  # [U, draws]
        size = sets.sum(axis=1, keepdims=True)  # [U, 1]
        plus = counts @ (on_minus == 0)  # [draws]
        minus = counts @ (on_minus == size)  # [draws]
        good = (plus + minus >= share * n) & (plus >= side) & (minus >= side)  # [draws]
        if good.any():
            return draws[:, np.flatnonzero(good)[:length]], share
        if share * n >= 1:
            share /= 2
        elif side > 1:
            side = 1
        else:
            break
    return np.empty((q, 0), dtype=np.int64), share


def performance(outputs: FloatArray, code: IntArray, mask: BoolArray) -> FloatArray:
    """How well every column serves every label, rows summing to one, [L, columns].

    The share of a label's candidate tokens that a column puts on the label's side,
    divided by the sum over columns; equal where that sum is zero.
    """
    plus = mask.T.astype(float) @ (outputs > 0)  # [L, columns]
    minus = mask.T.astype(float) @ (outputs < 0)  # [L, columns]
    hits = np.where(code > 0, plus, minus)  # [L, columns]
    hits /= np.maximum(mask.sum(axis=0), 1)[:, None]  # [L, columns]
    total = hits.sum(axis=1, keepdims=True)  # [L, 1]
    equal = 1.0 / max(code.shape[1], 1)
    return np.where(total > 0, hits / np.where(total > 0, total, 1.0), equal)


def code_losses(outputs: FloatArray, code: IntArray, weights: FloatArray) -> FloatArray:
    """Loss-based decoding ``Σ_l Ĥ[j, l] exp(−g_l(x) M[j, l])``, [M, L]."""
    agree = np.exp(-np.clip(outputs, -500, 500)) @ np.where(code > 0, weights, 0.0).T
    oppose = np.exp(np.clip(outputs, -500, 500)) @ np.where(code < 0, weights, 0.0).T
    return np.asarray(agree + oppose)  # [M, L]


class PLECOC(MachineTagger):
    """Error-correcting output codes without any disambiguation.

    Each code column splits the labels in two; a token trains the column's machine if
    all its candidates fall on one side. Dense features get RBF machines, sparse ones
    linear machines.

    Parameters
    ----------
    length : int, optional
        Code columns; by default ``ceil(10 log2 q)`` for q labels.
    C : float
        Weight of the loss of the machines.
    n_jobs : int, optional
        Processes to train in.
    scale, features, labels, scheme, random_state, verbose, tokenizer, sentences
        As in `WKNN`.

    Attributes
    ----------
    code_ : ndarray of shape (n_labels, n_columns)
        The accepted columns.

    Examples
    --------
    >>> from tagsift.baselines import PLECOC
    >>> model = PLECOC().fit_flat([[0.0], [1.0]], [[1, 0], [0, 1]])
    >>> model.predict_flat([[0.2], [0.9]]).tolist()
    [0, 1]
    """

    method: ClassVar[Method] = Method(
        name="pl-ecoc",
        title="PL-ECOC",
        family="error-correcting output codes of SVMs",
        disambiguation="none",
        settings="{C}, length = ceil(10 log2 q); linear SVMs on sparse features",
        cost="one SVM a code column",
        source="Zhang, Yu & Tang, TKDE 2017",
    )
    saved: ClassVar[Saved] = {
        "code_": array("L machines", "int", least=-1),
        "machines_": part(Machines),
        "performance_": array("L machines", least=0, sums=1),
    }

    length: int | None = setting(None, least=1)

    def _fit_tokens(self, X: Any, mask: BoolArray, seed: int) -> FloatArray:
        rows, sets = telling_tokens(X, mask)  # [N', D], [N', L]
        length = code_length(mask.shape[1]) if self.length is None else self.length
        rng = np.random.default_rng(seed)
        self.code_, _ = draw_code(sets, length, rng)  # [L, columns]
        # A column, its repeats and its complements share one machine.
        lead = self.code_ * self.code_[0]  # [L, columns]
        distinct, owner = np.unique(lead, axis=1, return_inverse=True)
        problems = [_problem(sets, column) for column in distinct.T]
        machines = self._train(rows, problems, int(rng.integers(2**31)))
        sign = self.code_[0]  # [columns]
        weights = machines.weights[:, owner.ravel()] * sign  # [D or N', columns]
        bias = machines.bias[owner.ravel()] * sign  # [columns]
        self.machines_ = Machines(weights, bias, None)
        if not sp.issparse(X):
            support = np.flatnonzero(weights.any(axis=1))  # [B]
            self.machines_ = Machines(weights[support], bias, rows[support])
        self.performance_ = performance(self.machines_.outputs(rows), self.code_, sets)
        return self._token_scores(X)  # [N, L]

    def _token_scores(self, X: Any) -> FloatArray:
        outputs = self.machines_.outputs(X)  # [M, columns]
        return -code_losses(outputs, self.code_, self.performance_)  # [M, L]

    def _restored(self) -> None:
        self.machines_.check(self.n_features_in_, self.code_.shape[1])


def _problem(mask: BoolArray, column: IntArray) -> TwoClassProblem:
    """Tokens whose candidates are all on one side of a column."""
    plus = np.asarray(~mask[:, column < 0].any(axis=1))  # [N]
    minus = np.asarray(~mask[:, column > 0].any(axis=1))  # [N]
    rows = np.flatnonzero(plus | minus)  # [rows]
    return TwoClassProblem(rows, np.where(plus[rows], 1, -1))
