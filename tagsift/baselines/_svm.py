"""Many two-class support vector machines on the same tokens.

RBF machines (LIBSVM) for dense features, linear ones (LIBLINEAR) for sparse features.
What is kept of a machine is a column of weights: over features where it is linear, over
training tokens where it has a kernel; so all machines are evaluated by one product.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning as SolverWarning
from sklearn.svm import SVC, LinearSVC

from tagsift.base import setting
from tagsift.baselines._kernel_ridge import KernelExpansion
from tagsift.baselines._pointwise import TokenTagger
from tagsift.errors import ConvergenceWarning
from tagsift.features import beside
from tagsift.progress import warn_user
from tagsift.storage import Saved, array, damaged, matrix
from tagsift.typing import FloatArray, IntArray

__all__ = ["MachineTagger", "Machines", "TwoClassProblem"]

#: Most passes of the linear solver; it stops at its tolerance long before.
_MAX_ITER = 50_000


@dataclass(frozen=True)
class TwoClassProblem:
    """Rows and their sides."""

    rows: IntArray  # of the feature matrix
    sides: IntArray  # +1 or −1
    extra: FloatArray | None = None  # columns to put after their features


@dataclass(frozen=True)
class Machines:
    """Trained machines, one column each."""

    weights: FloatArray  # over features (linear) or rows of `basis` (RBF)
    bias: FloatArray  # [machines]  the side, where there is but one
    basis: Any  # [B, D]  training rows; None for linear machines
    extra: tuple[FloatArray, ...] = ()  # weights of the extra columns, if linear

    saved: ClassVar[Saved] = {
        "weights": array("rows machines"),
        "bias": array("machines"),
        "basis": matrix("rows D", training=True, optional=True),
    }

    def outputs(self, X: Any) -> FloatArray:
        """Signed margins of all machines, [M, machines]."""
        if self.basis is None:
            return np.asarray(X @ self.weights) + self.bias  # [M, machines]
        width = np.sqrt(X.shape[1] / 2)  # gamma is one over the number of columns
        return KernelExpansion(self.basis, width, self.weights, self.bias).scores(X)

    def check(self, n_features: int, n_machines: int) -> None:
        """Ask that machines read from a file are those of the features."""
        rows = n_features if self.basis is None else self.basis.shape[0]
        if self.weights.shape != (rows, n_machines):
            raise damaged("the machines are not those of the features and labels")


class _Trained(NamedTuple):
    """One machine: weights over features, or over its rows where it has a kernel."""

    weights: FloatArray
    extra: FloatArray
    bias: float
    finished: bool = True


def _train_one(
    X: Any, sides: IntArray, extra: FloatArray | None, C: float, seed: int
) -> _Trained:
    """Train a machine: linear on sparse features, else with an RBF kernel."""
    linear, (n_rows, n_features) = sp.issparse(X), X.shape
    if len(np.unique(sides)) < 2:
        width = 0 if extra is None else extra.shape[1]
        constant = float(sides[0]) if n_rows else 0.0
        weights = np.zeros(n_features if linear else n_rows)  # [D or rows]
        return _Trained(weights, np.zeros(width), constant)
    X = X if extra is None else beside(X, extra)  # [rows, D + extra]
    if not linear:
        machine = SVC(C=C, kernel="rbf", gamma=1.0 / X.shape[1]).fit(X, sides)
        weights = np.zeros(n_rows)  # [rows]
        weights[machine.support_] = machine.dual_coef_[0]
        return _Trained(weights, np.zeros(0), float(machine.intercept_[0]))
    solver = LinearSVC(C=C, dual=True, max_iter=_MAX_ITER, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SolverWarning)
        solver.fit(X, sides)
    weights, tail = np.split(solver.coef_[0], [n_features])  # [D], [extra]
    finished = bool(solver.n_iter_ < _MAX_ITER)
    return _Trained(weights, tail, float(solver.intercept_[0]), finished)


class MachineTagger(TokenTagger):
    """A token-wise rival made of many two-class machines."""

    C: float = setting(1.0, above=0, grid=(1.0, 10.0))
    n_jobs: int | None = setting(None)

    def _train(self, X: Any, problems: list[TwoClassProblem], seed: int) -> Machines:
        """Train one machine per problem, and note of which kind they are."""
        linear = sp.issparse(X)
        self.variant_ = "linear SVMs (sparse features)" if linear else ""
        trained = Parallel(n_jobs=self.n_jobs)(
            delayed(_train_one)(X[one.rows], one.sides, one.extra, self.C, seed)
            for one in problems
        )
        height = X.shape[1] if linear else X.shape[0]
        weights = np.zeros((height, len(problems)))  # [D or N, machines]
        for m, (problem, machine) in enumerate(zip(problems, trained, strict=True)):
            weights[slice(None) if linear else problem.rows, m] = machine.weights
        unfinished = sum(not machine.finished for machine in trained)
        if unfinished:
            warn_user(
                f"{self.method.title}: {unfinished} of {len(problems)} linear machines "
                f"stopped after {_MAX_ITER} passes before they had converged; a "
                "smaller C helps.",
                ConvergenceWarning,
            )
        bias = np.array([machine.bias for machine in trained], dtype=float)
        extra = tuple(machine.extra for machine in trained)
        return Machines(weights, bias, None if linear else X, extra)
