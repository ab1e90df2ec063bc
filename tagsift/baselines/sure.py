"""SURE: kernel ridge and pseudo-labels, with a reward for confident ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from tagsift.base import Method
from tagsift.baselines._kernel_ridge import KernelExpansion, NystromRidge, kernel_ridge
from tagsift.baselines._pointwise import TokenTagger, best_candidate
from tagsift.baselines._simplex import CandidateSimplex
from tagsift.progress import progress
from tagsift.typing import BoolArray, FloatArray, Label

__all__ = ["SURE", "pseudo_labels"]


def pseudo_labels(Q: FloatArray, simplex: CandidateSimplex, lam: float) -> FloatArray:
    """Minimise ``|p − q|² − λ |p|_∞`` over the simplex of every token's candidates.

    Completing the square makes this the projection of ``q + (λ/2) e_j`` with j the
    candidate of the largest q; no other j does better.

    Parameters
    ----------
    Q : ndarray of shape (n_tokens, n_labels)
        Outputs of the regression.
    simplex : CandidateSimplex
        The candidate sets.
    lam : float
        Reward λ.

    Returns
    -------
    P : ndarray of shape (n_tokens, n_labels)
        Pseudo-labels: rows sum to one, zero outside the candidate sets.
    """
    best = best_candidate(Q, simplex.mask)  # [N]
    lifted = Q.copy()  # [N, L]
    lifted[np.arange(len(Q)), best] += lam / 2  # [N]
    return simplex.project(lifted)  # [N, L]


class SURE(TokenTagger):
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
    scale, features, labels, scheme, random_state, verbose
        As in `TokenTagger`.

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
        structured=False,
        settings="lam=0.3, beta=0.05, kernel width = mean distance, max_iter=50",
        cost="one factor n³ / 3, then n² · q a round",
        source="Feng & An, AAAI 2019",
    )
    #: What `tune` chooses from.
    grid: ClassVar[dict[str, tuple[float, ...]]] = {
        "lam": (0.001, 0.01, 0.05, 0.1, 0.3, 0.5, 1.0),
        "beta": (0.001, 0.01, 0.05, 0.1, 0.3, 0.5, 1.0),
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "lam": [Interval(Real, 0, None, closed="left")],
        "beta": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_dense": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        lam: float = 0.3,
        beta: float = 0.05,
        max_iter: int = 50,
        tol: float = 1e-4,
        max_dense: int = 10_000,
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
        self.lam = lam
        self.beta = beta
        self.max_iter = max_iter
        self.tol = tol
        self.max_dense = max_dense

    def _fit_tokens(
        self, X: Any, mask: BoolArray, rng: np.random.Generator
    ) -> FloatArray:
        ridge = kernel_ridge(
            X, self.beta, rng, max_dense=self.max_dense, title=self.method.title
        )
        self.variant_ = "Nyström kernel" if isinstance(ridge, NystromRidge) else ""
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
        self._train_confidences = P
        return P

    def _token_scores(self, X: Any) -> FloatArray:
        return self.expansion_.scores(X)  # [M, L]

    def _token_state(self) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
        meta, arrays = self.expansion_.state()
        return {"expansion": meta, "n_iter": self.n_iter_}, arrays

    def _restore_tokens(
        self, meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]
    ) -> None:
        self.n_iter_ = int(meta["n_iter"])
        self.expansion_ = KernelExpansion.from_state(meta["expansion"], arrays)
