"""The concave–convex procedure: rewards that depend on the weights, frozen in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from tagsift.base import TrainingSet, setting
from tagsift.baselines._atoms import Reward
from tagsift.baselines._competitors import Term
from tagsift.baselines._frank_wolfe import BlockFrankWolfe
from tagsift.baselines._structured import MaxMarginTagger
from tagsift.typing import IntArray

__all__ = ["ConcaveConvexTagger"]

#: A round that gains less than this share is the last.
_LEAST_GAIN = 1e-3
#: Solver tolerance of the first round; later rounds tighten it to `tol`.
_FIRST_TOL = 8e-3


class ConcaveConvexTagger(MaxMarginTagger):
    """Base class of the rivals that reward the best candidate sequence.

    Parameters
    ----------
    max_rounds : int
        Rounds of the concave–convex procedure.
    lam, loss, tol, max_passes, bias, scale
        As in `MaxMarginTagger`.
    features, labels, scheme, random_state, verbose
        As in `SequenceTagger`.
    """

    _check_params: ClassVar[dict[str, Any]] = {
        **MaxMarginTagger._check_params,
        "lam": 0.5,
        "max_rounds": 2,
    }

    max_rounds: int = setting(15, least=1)
    lam: float = setting(0.1)

    def _concave_convex(
        self,
        solver: BlockFrankWolfe,
        train: TrainingSet,
        terms_for: Callable[[IntArray | None], Sequence[Term]],
    ) -> None:
        """Alternate between the best candidate sequences and the convex step.

        Starts from the mean feature of the candidates, since from w = 0 all candidate
        sequences tie. The start is solved to `tol`, because it decides which optimum is
        found; the rounds after it loosely at first. The weights with the lowest
        objective win.

        Parameters
        ----------
        solver : BlockFrankWolfe
            Fitted in place.
        train : TrainingSet
            Candidate sets.
        terms_for : callable
            Best candidate sequences (None in the convex start) → hinges.
        """
        self._solve(solver, terms_for(None), self._mean_reward(train))
        tol = max(self.tol, _FIRST_TOL)
        chosen = self._candidates(solver, train)  # [N]
        objective = self._objective(solver, train, terms_for, chosen)
        best = (objective, solver.E.copy(), solver.A.copy())
        self.objectives_ = [objective]
        for _ in range(self.max_rounds):
            reward = Reward.of_labels(chosen, train.offsets, train.n_labels)
            self._solve(solver, terms_for(chosen), reward, tol)
            latest = self._candidates(solver, train)  # [N]
            objective = self._objective(solver, train, terms_for, latest)
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

    @staticmethod
    def _objective(
        solver: BlockFrankWolfe,
        train: TrainingSet,
        terms_for: Callable[[IntArray | None], Sequence[Term]],
        chosen: IntArray,
    ) -> float:
        """Value of the training objective at the solver's weights."""
        reward = Reward.of_labels(chosen, train.offsets, train.n_labels)
        return solver.objective(terms_for(chosen), reward)
