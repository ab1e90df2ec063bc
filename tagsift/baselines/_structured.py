"""What the max-margin rivals over label sequences share.

The joint score is linear in the features of tokens and in transition counts,
f(x, y) = Σ_t E[:, y_t] · x_t + Σ_t A[y_{t−1}, y_t]. Every method fits (E, A) by
`BlockFrankWolfe`, predicts by the best label sequence (D1), recovers training labels by
the best candidate sequence (D2), and gives no probabilities. A label that was never a
candidate is never predicted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from tagsift.base import TrainingSet, Transduction, setting
from tagsift.baselines._atoms import Reward, Term
from tagsift.baselines._frank_wolfe import BlockFrankWolfe, MarginSolution
from tagsift.baselines._pointwise import append_one
from tagsift.baselines._scaled import ScaledTagger
from tagsift.chain import ChainLayout, viterbi
from tagsift.errors import ConvergenceWarning, NotSupportedError
from tagsift.features import FeatureMatrix, Scale
from tagsift.progress import warn_user
from tagsift.storage import Saved, array, damaged
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["ConcaveConvexTagger", "MaxMarginTagger"]

#: A round that gains less than this share is the last.
_LEAST_GAIN = 1e-3
#: Solver tolerance of the first round; later rounds tighten it to `tol`.
_FIRST_TOL = 8e-3


class MaxMarginTagger(ScaledTagger):
    """Base class of the structured max-margin rivals; `Naive` explains the settings."""

    _plain_passes: ClassVar[int] = 0
    _check_params: ClassVar[dict[str, Any]] = {"tol": 0.01}
    saved: ClassVar[Saved] = {
        "emissions_": array("columns L"),
        "transitions_": array("L L"),
    }

    lam: float = setting(1.0, above=0)
    loss: Literal["count", "fraction"] = setting("count")
    tol: float = setting(2e-3, above=0)
    max_passes: int = setting(500, least=1)
    bias: bool = setting(True)
    scale: Scale = setting("dense")

    def _learn(self, solver: BlockFrankWolfe, train: TrainingSet) -> None:
        """Fit the solver's E and A, and set `objectives_`."""
        raise NotSupportedError(f"{type(self).__name__} does not define _learn.")

    # Pieces that subclasses put together ----------------------------------------

    def _task_loss(self, right: BoolArray, train: TrainingSet) -> FloatArray:
        """Task loss: 1 (or its share of the sentence) for labels not right, [N, L]."""
        loss = (~right).astype(float)  # [N, L]
        if self.loss == "count":
            return loss
        lengths = train.features.lengths  # [S]
        return loss / np.repeat(lengths, lengths)[:, None]  # [N, L]

    def _solve(
        self,
        solver: BlockFrankWolfe,
        terms: Sequence[Term],
        reward: Reward,
        tol: float | None = None,
    ) -> MarginSolution:
        solution = solver.solve(
            terms, reward, tol=tol or self.tol, max_passes=self.max_passes
        )
        self.n_passes_ += solution.passes
        self.gap_ = (solution.primal - solution.dual) / max(solution.primal, 1e-300)
        self._converged = solution.converged
        return solution

    @staticmethod
    def _candidates(solver: BlockFrankWolfe, train: TrainingSet) -> IntArray:
        """Best candidate sequences of the training sentences (D2), [N]."""
        U, T = solver.scores(), solver.A  # [N, L], [L, L]
        return np.asarray(viterbi(U, T, train.layout, mask=train.mask))

    # What the base class asks for ------------------------------------------------

    def _fit(self, train: TrainingSet) -> Transduction:
        X = self._with_bias(self._learn_scale(train))  # [N, D]
        rng = np.random.default_rng(train.seed)
        plain = self._plain_passes
        solver = BlockFrankWolfe(
            X, train.offsets, train.mask, self.lam, rng, plain_passes=plain
        )
        self.n_passes_ = 0
        self._learn(solver, train)
        self.emissions_, self.transitions_ = solver.E, solver.A
        if not self._converged:
            warn_user(
                f"{self.method.title} stopped after {self.max_passes} passes with a "
                f"relative duality gap of {self.gap_:.2g}, above tol={self.tol:g}; "
                "raise max_passes, tol or lam.",
                ConvergenceWarning,
            )
        return Transduction(self._candidates(solver, train))

    def _with_bias(self, X: Any) -> Any:
        return append_one(X) if self.bias else X  # [N, D + 1] or [N, D]

    def _decode(self, features: FeatureMatrix, mask: BoolArray) -> IntArray:
        X = self._with_bias(self.scaler_.transform(features))  # [M, D]
        U = np.asarray(X @ self.emissions_)  # [M, L]
        layout = ChainLayout.from_offsets(features.offsets)
        return np.asarray(viterbi(U, self.transitions_, layout, mask=mask))  # [M]

    def _restored(self) -> None:
        if len(self.emissions_) != self.n_features_in_ + self.bias:
            raise damaged("the weights are not those of the features")


class ConcaveConvexTagger(MaxMarginTagger):
    """Base class of the rivals that reward the best candidate sequence."""

    _check_params: ClassVar[dict[str, Any]] = {"tol": 0.01, "lam": 0.5, "max_rounds": 2}

    max_rounds: int = setting(15, least=1)
    lam: float = setting(0.1)

    def _concave_convex(
        self,
        solver: BlockFrankWolfe,
        train: TrainingSet,
        terms_for: Callable[[IntArray | None], Sequence[Term]],
    ) -> None:
        """Alternate between the best candidate sequences and the convex step.

        Starts from the mean feature of the candidates, solved to `tol` because it
        decides which optimum is found; the rounds after it are solved loosely at first.
        The weights with the lowest objective win.
        """

        def reward(labels: IntArray) -> Reward:
            return Reward.of_labels(labels, train.offsets, train.n_labels)

        mean = Reward.of_candidates(train.mask, train.offsets)
        self._solve(solver, terms_for(None), mean)
        tol = max(self.tol, _FIRST_TOL)
        chosen = self._candidates(solver, train)  # [N]
        objective = solver.objective(terms_for(chosen), reward(chosen))
        best = (objective, solver.E.copy(), solver.A.copy())
        self.objectives_ = [objective]
        for _ in range(self.max_rounds):
            self._solve(solver, terms_for(chosen), reward(chosen), tol)
            latest = self._candidates(solver, train)  # [N]
            objective = solver.objective(terms_for(latest), reward(latest))
            self.objectives_.append(objective)
            gain = best[0] - objective
            settled = np.array_equal(latest, chosen) or gain < _LEAST_GAIN * objective
            if objective < best[0]:
                best = (objective, solver.E.copy(), solver.A.copy())
            chosen = latest
            if settled and tol <= self.tol:
                break
            tol = max(self.tol, tol / (8 if settled else 2))
        _, solver.E, solver.A = best
