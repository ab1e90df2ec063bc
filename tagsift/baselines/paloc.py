"""PALOC: one-vs-one machines vote, one-vs-rest machines on top of them confirm."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp

from tagsift.base import Method, setting
from tagsift.baselines._pointwise import telling_tokens
from tagsift.baselines._svm import Machines, MachineTagger, TwoClassProblem
from tagsift.errors import ScaleWarning
from tagsift.features import Reference
from tagsift.progress import warn_user
from tagsift.storage import Saved, array, damaged, part
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["PALOC", "label_pairs", "pair_problems", "pair_votes", "refine"]


def label_pairs(n_labels: int) -> IntArray:
    """Pairs j < k of labels in order, [pairs, 2]."""
    return np.stack(np.triu_indices(n_labels, k=1), axis=1)


def pair_problems(
    mask: BoolArray, pairs: IntArray, limit: int | None, rng: np.random.Generator
) -> tuple[list[TwoClassProblem], int]:
    """Tokens that have one label of a pair among their candidates and not the other.

    Also counts the pairs with more tokens than the limit: a random part is taken.
    """
    problems, cut = [], 0
    for j, k in pairs:
        rows = np.flatnonzero(mask[:, j] ^ mask[:, k])  # [rows]
        if limit is not None and len(rows) > limit:
            rows = np.sort(rng.choice(rows, size=limit, replace=False))  # [limit]
            cut += 1
        problems.append(TwoClassProblem(rows, np.where(mask[rows, j], 1, -1)))
    return problems, cut


def pair_votes(outputs: FloatArray, pairs: IntArray, n_labels: int) -> FloatArray:
    """Count the pairs that every label wins by the signed margins, [N, L]."""
    first, second = np.eye(n_labels)[pairs.T]  # [pairs, L] each
    return np.asarray((outputs > 0) @ first + (outputs < 0) @ second)  # [N, L]


def refine(votes: FloatArray, mask: BoolArray) -> BoolArray:
    """Keep only the winner of the votes where it is a candidate, [N, L]."""
    winner = np.eye(mask.shape[1], dtype=bool)[votes.argmax(axis=1)]  # [N, L]
    sure = (winner & mask).any(axis=1, keepdims=True)  # [N, 1]
    return np.where(sure, winner, mask)


class PALOC(MachineTagger):
    """One-vs-one decomposition with stacked one-vs-rest machines.

    Pairwise machines are trained on the tokens that have one label of the pair among
    their candidates and not the other. Their votes single out a candidate where they
    can, and a second layer of one-vs-rest machines is trained on the result, on the
    features and the outputs of the pairwise machines. Dense features get RBF machines,
    sparse ones linear machines.

    Parameters
    ----------
    mu : float
        Weight μ of the second layer in the vote.
    stack : {"own", "all"}
        Which pairwise outputs the second layer sees: those that involve its label, or
        all. The sources leave it open.
    rule : {"vote", "stack"}
        Predict by votes and second layer together, ties broken by the second layer; or
        by the margins of the second layer alone. The sources leave it open.
    pair_limit : int or None
        Most tokens per pairwise machine with a kernel; a random part is taken of more,
        and a `ScaleWarning` says so. Linear machines always see all tokens.
    C, n_jobs
        As in `PLECOC`.
    scale, features, labels, scheme, random_state, verbose, tokenizer, sentences
        As in `WKNN`.

    Examples
    --------
    >>> from tagsift.baselines import PALOC
    >>> model = PALOC().fit_flat([[0.0], [1.0]], [[1, 0], [0, 1]])
    >>> model.predict_flat([[0.2], [0.9]]).tolist()
    [0, 1]
    """

    method: ClassVar[Method] = Method(
        name="paloc",
        title="PALOC",
        family="one-vs-one SVMs with stacked one-vs-rest SVMs",
        disambiguation="identification",
        settings="{C}, {mu}, {stack}, {rule}; linear SVMs on sparse features",
        cost="q (q − 1) / 2 + q SVMs",
        many_labels=100,
        source="Wu & Zhang, IJCAI 2018",
    )
    saved: ClassVar[Saved] = {
        "pair_machines_": part(Machines),
        "top_weights_": array("rows L"),
        "top_bias_": array("L"),
        "top_extra_": array("stacked L"),
        "train_outputs_": array("outputs machines", optional=True),
    }

    C: float = setting(10.0, grid=(1.0, 10.0))
    mu: float = setting(10.0, least=0)
    stack: Literal["own", "all"] = setting("own")
    rule: Literal["vote", "stack"] = setting("vote")
    pair_limit: int | None = setting(3_000, least=2)

    def _fit_tokens(self, X: Any, mask: BoolArray, seed: int) -> FloatArray:
        rows, sets = telling_tokens(X, mask)  # [N', D], [N', L]
        rng, linear = np.random.default_rng(seed), sp.issparse(X)
        solver_seed = int(rng.integers(2**31))
        limit = None if linear else self.pair_limit
        problems, cut = pair_problems(sets, self._pairs, limit, rng)
        self.pair_machines_ = self._train(rows, problems, solver_seed)
        outputs = self.pair_machines_.outputs(rows)  # [N', pairs]
        refined = refine(pair_votes(outputs, self._pairs, mask.shape[1]), sets)
        everyone = np.arange(len(sets))  # [N']
        problems = [
            TwoClassProblem(everyone, np.where(own, 1, -1), outputs[:, columns])
            for own, columns in zip(refined.T, self._stacked, strict=True)
        ]
        second = self._train(rows, problems, solver_seed)
        if cut:
            self.variant_ = f"at most {self.pair_limit} tokens per pair"
            warn_user(
                f"PALOC: {cut} of {len(self._pairs)} pairs of labels have more than "
                f"pair_limit={self.pair_limit} tokens; their machines are trained on a "
                "random part of that size.",
                ScaleWarning,
            )
        self.top_weights_, self.top_bias_ = second.weights, second.bias
        self.top_extra_ = np.zeros((len(self._stacked[0]), mask.shape[1]))
        if linear:
            self.top_extra_ = np.column_stack(second.extra)  # [stacked, L]
        self.train_outputs_ = None if linear else outputs  # [N', pairs]
        return self._token_scores(X)  # [N, L]

    @property
    def _pairs(self) -> IntArray:
        return label_pairs(len(self.classes_))  # [pairs, 2]

    @property
    def _stacked(self) -> list[IntArray]:
        """Columns of the pairwise outputs that the second layer of every label sees."""
        return [
            np.flatnonzero((self._pairs == j).any(axis=1) | (self.stack == "all"))
            for j in range(len(self.classes_))
        ]

    def _top_outputs(self, X: Any, outputs: FloatArray) -> FloatArray:
        """Signed margins of the second layer, [M, L]."""
        if self.train_outputs_ is None:
            top = np.asarray(X @ self.top_weights_) + self.top_bias_  # [M, L]
            for j, own in enumerate(self._stacked):
                top[:, j] += outputs[:, own] @ self.top_extra_[:, j]  # [M]
            return top
        top = np.empty((X.shape[0], len(self.top_bias_)))  # [M, L]
        for block, squared in Reference(self.pair_machines_.basis).blocks(X):
            for j, own in enumerate(self._stacked):
                between = Reference(self.train_outputs_[:, own]).squared_distances(
                    outputs[block][:, own]
                )  # [block, N']
                width = X.shape[1] + len(own)
                K = np.exp(-(squared + between) / width)  # [block, N']
                top[block, j] = K @ self.top_weights_[:, j] + self.top_bias_[j]
        return top

    def _token_scores(self, X: Any) -> FloatArray:
        outputs = self.pair_machines_.outputs(X)  # [M, pairs]
        top = self._top_outputs(X, outputs)  # [M, L]
        if self.rule == "stack":
            return top
        votes = pair_votes(outputs, self._pairs, len(self.classes_))  # [M, L]
        # Bounded far below one vote, the margin decides between equal counts only.
        margin = 1e-6 * top / (1.0 + np.abs(top))  # [M, L]
        return votes + float(self.mu) * (top > 0) + margin  # [M, L]

    def _restored(self) -> None:
        self.pair_machines_.check(self.n_features_in_, len(self._pairs))
        basis, outputs = self.pair_machines_.basis, self.train_outputs_
        if (
            (basis is None) != (outputs is None)
            or (outputs is not None and len(outputs) != basis.shape[0])
            or len(self.top_extra_) != len(self._stacked[0])
        ):
            raise damaged("the second layer does not fit the first")
