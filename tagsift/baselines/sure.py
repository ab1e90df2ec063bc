"""SURE: kernel ridge and pseudo-labels, with a reward for confident ones."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tagsift.base import Method, setting
from tagsift.baselines._kernel_ridge import KernelRidgeTagger
from tagsift.baselines._pointwise import CandidateSimplex, best_candidate
from tagsift.progress import progress
from tagsift.storage import Saved, whole
from tagsift.typing import BoolArray, FloatArray

__all__ = ["SURE", "pseudo_labels"]

#: What tuning chooses λ and β from.
_GRID = (0.001, 0.01, 0.05, 0.1, 0.3, 0.5, 1.0)


def pseudo_labels(Q: FloatArray, simplex: CandidateSimplex, lam: float) -> FloatArray:
    """Minimise ``|p − q|² − λ |p|_∞`` over the simplex of every token's candidates.

    Completing the square makes this the projection of ``q + (λ/2) e_j`` with j the
    candidate of the largest q; no other j does better.
    """
    best = best_candidate(Q, simplex.mask)  # [N]
    lifted = Q.copy()  # [N, L]
    lifted[np.arange(len(Q)), best] += lam / 2  # [N]
    return simplex.project(lifted)  # [N, L]


class SURE(KernelRidgeTagger):
    """Self-guided retraining: a kernel regression that sharpens its own labels.

    Parameters
    ----------
    lam : float
        Reward λ of confident pseudo-labels.
    beta : float
        Ridge β of the regression.
    max_iter : int
        Most rounds of regression and pseudo-labels.
    tol : float
        Stop when no pseudo-label changes by more.
    max_dense : int
        Most tokens for the dense kernel (n² doubles); above, Nyström features are used
        and a `ScaleWarning` says so.
    scale, features, labels, scheme, random_state, verbose, tokenizer, sentences
        As in `WKNN`.

    Attributes
    ----------
    n_iter_ : int
        Rounds done.

    Examples
    --------
    >>> from tagsift.baselines import SURE
    >>> model = SURE().fit_flat([[0.0], [1.0]], [[1, 0], [0, 1]])
    >>> model.predict_flat([[0.2], [0.9]]).tolist()
    [0, 1]
    """

    method: ClassVar[Method] = Method(
        name="sure",
        title="SURE",
        family="kernel ridge regression",
        disambiguation="identification",
        settings="{lam}, {beta}, kernel width = mean distance, {max_iter}",
        cost="one factor n³ / 3, then n² · q a round",
        source="Feng & An, AAAI 2019",
    )
    saved: ClassVar[Saved] = {"n_iter_": whole()}

    _scores_are_confidences: ClassVar[bool] = True
    lam: float = setting(0.3, least=0, grid=_GRID)
    beta: float = setting(0.05, above=0, grid=_GRID)
    max_iter: int = setting(50, least=0)
    tol: float = setting(1e-4, least=0)

    def _fit_tokens(self, X: Any, mask: BoolArray, seed: int) -> FloatArray:
        ridge = self._ridge(X, self.beta, seed)
        simplex = CandidateSimplex(mask)
        P = simplex.uniform()  # [N, L]
        self.n_iter_ = 0
        for _ in progress(range(self.max_iter), "SURE", enabled=bool(self.verbose)):
            before = P
            P = pseudo_labels(ridge.solve(P), simplex, self.lam)  # [N, L]
            self.n_iter_ += 1
            if np.abs(P - before).max() < self.tol:
                break
        ridge.solve(P)  # the model of the last pseudo-labels
        self.expansion_ = ridge.expansion()
        return P
