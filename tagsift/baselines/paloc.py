"""PALOC: one-vs-one machines vote, one-vs-rest machines on top of them confirm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tagsift.base import Method
from tagsift.baselines._distances import Reference
from tagsift.baselines._pointwise import TokenTagger
from tagsift.baselines._state import pack_matrix, unpack_matrix
from tagsift.baselines._svm import TwoClassProblem, is_linear, train_machines
from tagsift.errors import ScaleWarning
from tagsift.progress import warn_user
from tagsift.typing import BoolArray, FloatArray, IntArray, Label

__all__ = ["PALOC", "label_pairs", "pair_problems", "pair_votes", "refine"]


def label_pairs(n_labels: int) -> IntArray:
    """Pairs j < k of labels in order, [pairs, 2]."""
    return np.array(list(combinations(range(n_labels), 2)), dtype=np.int64).reshape(
        -1, 2
    )


def pair_problems(
    mask: BoolArray, pairs: IntArray, limit: int | None, rng: np.random.Generator
) -> tuple[list[TwoClassProblem], int]:
    """Tokens that have one label of a pair among their candidates and not the other.

    Parameters
    ----------
    mask : ndarray of bool, shape (n_tokens, n_labels)
        Candidate sets.
    pairs : ndarray of shape (n_pairs, 2)
        The pairs.
    limit : int or None
        Most tokens per pair; a random part is taken of more.
    rng : Generator
        Draws that part.

    Returns
    -------
    problems : list of TwoClassProblem
        The first label of the pair is the positive side.
    cut : int
        Pairs that had more tokens than the limit.
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
    """Count the pairs that every label wins.

    Parameters
    ----------
    outputs : ndarray of shape (n_tokens, n_pairs)
        Signed margins; zero is no vote.
    pairs : ndarray of shape (n_pairs, 2)
        The pairs.
    n_labels : int
        Number of labels.

    Returns
    -------
    votes : ndarray of shape (n_tokens, n_labels)
        Whole numbers.
    """
    first = np.zeros((len(pairs), n_labels))  # [pairs, L]
    second = np.zeros((len(pairs), n_labels))  # [pairs, L]
    first[np.arange(len(pairs)), pairs[:, 0]] = 1.0
    second[np.arange(len(pairs)), pairs[:, 1]] = 1.0
    return (outputs > 0) @ first + (outputs < 0) @ second  # [N, L]


def refine(votes: FloatArray, mask: BoolArray) -> BoolArray:
    """Keep only the winner of the votes where it is a candidate, [N, L]."""
    winner = votes.argmax(axis=1)  # [N]
    rows = np.arange(len(mask))  # [N]
    sure = mask[rows, winner]  # [N]
    refined = mask.copy()  # [N, L]
    refined[sure] = False
    refined[rows[sure], winner[sure]] = True
    return refined


class PALOC(TokenTagger):
    """One-vs-one decomposition with stacked one-vs-rest machines.

    Pairwise machines are trained on the tokens that have one label of the pair among
    their candidates and not the other. Their votes single out a candidate where they
    can, and a second layer of one-vs-rest machines is trained on the result, on the
    features and the outputs of the pairwise machines. Dense features get RBF machines,
    sparse ones linear machines.

    Parameters
    ----------
    C : float
        Weight of the loss of all machines.
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
    n_jobs : int, optional
        Processes to train in.
    scale, features, labels, scheme, random_state, verbose
        As in `TokenTagger`.

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
        structured=False,
        settings="C=10, mu=10, stack=own, rule=vote; linear SVMs on sparse features",
        cost="q (q − 1) / 2 + q SVMs",
        source="Wu & Zhang, IJCAI 2018",
    )
    #: What `tune` chooses from.
    grid: ClassVar[dict[str, tuple[float, ...]]] = {"C": (1.0, 10.0)}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "mu": [Interval(Real, 0, None, closed="left")],
        "stack": [StrOptions({"own", "all"})],
        "rule": [StrOptions({"vote", "stack"})],
        "pair_limit": [Interval(Integral, 2, None, closed="left"), None],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        *,
        C: float = 10.0,
        mu: float = 10.0,
        stack: str = "own",
        rule: str = "vote",
        pair_limit: int | None = 3_000,
        n_jobs: int | None = None,
        scale: str = "auto",
        features: Any = None,
        labels: Iterable[Label] | None = None,
        scheme: str = "auto",
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            scale=scale,
            features=features,
            labels=labels,
            scheme=scheme,
            random_state=random_state,
            verbose=verbose,
        )
        self.C = C
        self.mu = mu
        self.stack = stack
        self.rule = rule
        self.pair_limit = pair_limit
        self.n_jobs = n_jobs

    def _fit_tokens(
        self, X: Any, mask: BoolArray, rng: np.random.Generator
    ) -> FloatArray:
        telling = np.flatnonzero(~mask.all(axis=1))  # [N']
        rows, sets = X[telling], mask[telling]  # [N', D], [N', L]
        self._n_labels = mask.shape[1]
        self._basis = None if is_linear(X) else rows  # [N', D]
        seed = int(rng.integers(2**31))
        limit = None if is_linear(X) else self.pair_limit
        problems, cut = pair_problems(sets, self._pairs, limit, rng)
        self._say_what_differs(cut)
        first = train_machines(
            rows,
            problems,
            C=self.C,
            seed=seed,
            title=self.method.title,
            n_jobs=self.n_jobs,
        )
        self._pair_weights, self._pair_bias = first.weights, first.bias
        outputs = self._pair_outputs(rows)  # [N', pairs]
        refined = refine(pair_votes(outputs, self._pairs, self._n_labels), sets)
        everyone = np.arange(len(telling))  # [N']
        second = train_machines(
            rows,
            [
                TwoClassProblem(
                    everyone,
                    np.where(refined[:, j], 1, -1),
                    outputs[:, self._stacked(j)],
                )
                for j in range(self._n_labels)
            ],
            C=self.C,
            seed=seed,
            title=self.method.title,
            n_jobs=self.n_jobs,
        )
        self._top_weights, self._top_bias = second.weights, second.bias
        width = len(self._stacked(0)) if self._n_labels else 0
        self._top_extra = np.zeros((width, self._n_labels))  # [stacked, L]
        if is_linear(X):
            for j, tail in enumerate(second.extra):
                self._top_extra[:, j] = tail
        self._train_outputs = np.empty((0, 0)) if is_linear(X) else outputs
        return self._token_scores(X)  # [N, L]

    @property
    def _pairs(self) -> IntArray:
        return label_pairs(self._n_labels)  # [pairs, 2]

    def _stacked(self, j: int) -> IntArray:
        """Columns of the pairwise outputs that the second layer of label j sees."""
        if self.stack == "all":
            return np.arange(len(self._pairs))
        return np.flatnonzero((self._pairs == j).any(axis=1))

    def _say_what_differs(self, cut: int) -> None:
        said = ["linear SVMs (sparse features)"] if self._basis is None else []
        if cut:
            said.append(f"at most {self.pair_limit} tokens per pair")
            warn_user(
                f"PALOC: {cut} of {len(self._pairs)} pairs of labels have more than "
                f"pair_limit={self.pair_limit} tokens; their machines are trained on a "
                "random part of that size.",
                ScaleWarning,
            )
        self.variant_ = ", ".join(said)

    def _pair_outputs(self, X: Any) -> FloatArray:
        """Signed margins of the pairwise machines, [M, pairs]."""
        if self._basis is None:
            return np.asarray(X @ self._pair_weights) + self._pair_bias  # [M, pairs]
        out = np.empty((X.shape[0], len(self._pair_bias)))  # [M, pairs]
        for part, squared in Reference(self._basis).blocks(X):
            K = np.exp(-squared / X.shape[1])  # [block, N']
            out[part] = K @ self._pair_weights + self._pair_bias  # [block, pairs]
        return out

    def _top_outputs(self, X: Any, outputs: FloatArray) -> FloatArray:
        """Signed margins of the second layer, [M, L]."""
        columns = [self._stacked(j) for j in range(self._n_labels)]
        if self._basis is None:
            top = np.asarray(X @ self._top_weights) + self._top_bias  # [M, L]
            for j, own in enumerate(columns):
                top[:, j] += outputs[:, own] @ self._top_extra[:, j]  # [M]
            return top
        top = np.empty((X.shape[0], self._n_labels))  # [M, L]
        for part, squared in Reference(self._basis).blocks(X):
            for j, own in enumerate(columns):
                between = Reference(self._train_outputs[:, own]).squared_distances(
                    outputs[part][:, own]
                )  # [block, N']
                K = np.exp(
                    -(squared + between) / (X.shape[1] + len(own))
                )  # [block, N']
                top[part, j] = (
                    K @ self._top_weights[:, j] + self._top_bias[j]
                )  # [block]
        return top

    def _token_scores(self, X: Any) -> FloatArray:
        outputs = self._pair_outputs(X)  # [M, pairs]
        top = self._top_outputs(X, outputs)  # [M, L]
        if self.rule == "stack":
            return top
        votes = pair_votes(outputs, self._pairs, self._n_labels)  # [M, L]
        # Bounded far below one vote, the margin decides between equal counts only.
        return votes + self.mu * (top > 0) + 1e-6 * top / (1.0 + np.abs(top))  # [M, L]

    def _token_state(self) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
        arrays = {
            "pair_weights": self._pair_weights,
            "pair_bias": self._pair_bias,
            "top_weights": self._top_weights,
            "top_bias": self._top_bias,
            "top_extra": self._top_extra,
            "train_outputs": self._train_outputs,
        }
        meta: dict[str, Any] = {"n_labels": self._n_labels, "basis": None}
        if self._basis is not None:
            meta["basis"], packed = pack_matrix("basis", self._basis)
            arrays |= packed
        return meta, arrays

    def _restore_tokens(
        self, meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]
    ) -> None:
        self._n_labels = int(meta["n_labels"])
        self._pair_weights = arrays["pair_weights"]  # [D or N', pairs]
        self._pair_bias = arrays["pair_bias"]  # [pairs]
        self._top_weights = arrays["top_weights"]  # [D or N', L]
        self._top_bias = arrays["top_bias"]  # [L]
        self._top_extra = arrays["top_extra"]  # [stacked, L]
        self._train_outputs = arrays["train_outputs"]  # [N', pairs]
        stored = meta["basis"]
        self._basis = None if stored is None else unpack_matrix("basis", stored, arrays)
