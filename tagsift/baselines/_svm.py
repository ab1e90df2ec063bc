"""Many two-class support vector machines on the same tokens.

RBF machines (LIBSVM) for dense features, linear ones (LIBLINEAR) for sparse features.
What is kept of a machine is a column of weights: over features where it is linear, over
training tokens where it has a kernel; so all machines are evaluated by one product.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning as SolverWarning
from sklearn.svm import SVC, LinearSVC

from tagsift.base import setting
from tagsift.baselines._pointwise import TokenTagger
from tagsift.errors import ConvergenceWarning
from tagsift.features.distances import Reference
from tagsift.progress import warn_user
from tagsift.storage.items import damaged
from tagsift.storage.state import Saved, array, matrix
from tagsift.typing import FloatArray, IntArray

__all__ = [
    "MachineTagger",
    "Machines",
    "TwoClassProblem",
    "is_linear",
    "train_machines",
]

#: Most passes of the linear solver; it stops at its tolerance long before.
_MAX_ITER = 50_000


@dataclass(frozen=True)
class TwoClassProblem:
    """Rows and their sides.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,)
        Row numbers of the feature matrix.
    sides : ndarray of shape (n_rows,)
        +1 or −1.
    extra : ndarray of shape (n_rows, n_extra), optional
        Columns to be put after the features of these rows.
    """

    rows: IntArray
    sides: IntArray
    extra: FloatArray | None = None


@dataclass(frozen=True)
class Machines:
    """Trained machines, one column each.

    Parameters
    ----------
    weights : ndarray of shape (n_features or n_basis, n_machines)
        Over features (linear) or over the rows of `basis` (RBF).
    bias : ndarray of shape (n_machines,)
        Offsets; a machine with one side only is the constant of that side, an empty one
        is zero.
    basis : ndarray of shape (n_basis, n_features), or None
        Training rows; None for linear machines.
    extra : tuple of ndarray
        Linear machines only: weights of the extra columns.
    """

    weights: FloatArray
    bias: FloatArray
    basis: Any
    extra: tuple[FloatArray, ...] = ()

    saved: ClassVar[Saved] = {
        "weights": array("rows machines"),
        "bias": array("machines"),
        "basis": matrix("rows D", training=True, optional=True),
    }

    def outputs(self, X: Any) -> FloatArray:
        """Signed margins of all machines, [M, machines]."""
        if self.basis is None:
            return np.asarray(X @ self.weights) + self.bias  # [M, machines]
        out = np.empty((X.shape[0], len(self.bias)))  # [M, machines]
        for block, squared in Reference(self.basis).blocks(X):
            K = np.exp(-squared / X.shape[1])  # [block, B]
            out[block] = K @ self.weights + self.bias  # [block, machines]
        return out

    def check(self, n_features: int, n_machines: int) -> None:
        """Ask that machines read from a file are those of the features."""
        rows = n_features if self.basis is None else self.basis.shape[0]
        if self.weights.shape != (rows, n_machines):
            raise damaged("the machines are not those of the features and labels")


def is_linear(X: Any) -> bool:
    """Whether these features get linear machines: sparse ones do."""
    return bool(sp.issparse(X))


def train_machines(
    X: Any,
    problems: Sequence[TwoClassProblem],
    *,
    C: float,
    seed: int,
    title: str,
    n_jobs: int | None = None,
) -> Machines:
    """Train one machine per problem.

    Parameters
    ----------
    X : csr_matrix or ndarray of shape (n_tokens, n_features)
        Sparse features get linear machines, dense ones an RBF kernel whose gamma is one
        over the number of columns.
    problems : sequence of TwoClassProblem
        What each machine shall tell apart.
    C : float
        Weight of the loss.
    seed : int
        Seed of the linear solver.
    title : str
        The method, for warnings.
    n_jobs : int, optional
        Processes to train in.

    Returns
    -------
    Machines
        In the order of the problems.
    """
    trained = Parallel(n_jobs=n_jobs)(
        delayed(_train_one)(
            X[problem.rows], problem.sides, problem.extra, C, is_linear(X), seed
        )
        for problem in problems
    )
    height = X.shape[1] if is_linear(X) else X.shape[0]
    weights = np.zeros((height, len(problems)))  # [D or N, machines]
    bias = np.zeros(len(problems))  # [machines]
    extra: list[FloatArray] = []
    unfinished = 0
    for m, (problem, (column, tail, offset, finished)) in enumerate(
        zip(problems, trained, strict=True)
    ):
        if is_linear(X):
            weights[:, m] = column
        else:
            weights[problem.rows, m] = column
        bias[m] = offset
        extra.append(tail)
        unfinished += not finished
    if unfinished:
        warn_user(
            f"{title}: {unfinished} of {len(problems)} linear machines stopped after "
            f"{_MAX_ITER} passes before they had converged; a smaller C helps.",
            ConvergenceWarning,
        )
    return Machines(weights, bias, None if is_linear(X) else X, tuple(extra))


def _train_one(
    X: Any,
    sides: IntArray,
    extra: FloatArray | None,
    C: float,
    linear: bool,
    seed: int,
) -> tuple[FloatArray, FloatArray, float, bool]:
    """Weights, weights of extra columns, offset, and whether the solver finished."""
    n_features = X.shape[1]
    width = 0 if extra is None else extra.shape[1]
    kinds = np.unique(sides)
    if len(kinds) < 2:
        constant = float(kinds[0]) if len(kinds) else 0.0
        length = n_features if linear else len(sides)
        return np.zeros(length), np.zeros(width), constant, True
    if extra is not None:
        X = (
            sp.hstack([X, sp.csr_matrix(extra)], format="csr")
            if linear
            else np.hstack([X, extra])
        )  # [rows, D + extra]
    if not linear:
        machine = SVC(C=C, kernel="rbf", gamma=1.0 / X.shape[1]).fit(X, sides)
        column = np.zeros(len(sides))  # [rows]
        column[machine.support_] = machine.dual_coef_[0]
        return column, np.zeros(0), float(machine.intercept_[0]), True
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SolverWarning)
        solver = LinearSVC(C=C, dual=True, max_iter=_MAX_ITER, random_state=seed)
        solver.fit(X, sides)
    finished = not any(issubclass(entry.category, SolverWarning) for entry in caught)
    coefficients = solver.coef_[0]  # [D + extra]
    return (
        coefficients[:n_features],
        coefficients[n_features:],
        float(solver.intercept_[0]),
        finished,
    )


class MachineTagger(TokenTagger):
    """A token-wise rival made of many two-class machines.

    Parameters
    ----------
    C : float
        Weight of the loss of the machines.
    n_jobs : int, optional
        Processes to train in.
    scale, features, labels, scheme, random_state, verbose
        As in `TokenTagger`.
    """

    C: float = setting(1.0, above=0, grid=(1.0, 10.0))
    n_jobs: int | None = setting(None)

    def _train(
        self, X: Any, problems: Sequence[TwoClassProblem], seed: int
    ) -> Machines:
        """Train one machine per problem, and note of which kind they are."""
        self.variant_ = "linear SVMs (sparse features)" if is_linear(X) else ""
        title = self.method.title
        return train_machines(
            X, problems, C=self.C, seed=seed, title=title, n_jobs=self.n_jobs
        )
