"""PL-AGGD: an adaptive neighbour graph, confidences and a kernel regression."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from tagsift.base import Method
from tagsift.baselines._distances import Reference, nearest
from tagsift.baselines._graph import (
    confidence_step,
    difference_grams,
    graph_matrix,
    graph_step,
    label_grams,
)
from tagsift.baselines._kernel_ridge import KernelExpansion, NystromRidge, kernel_ridge
from tagsift.baselines._pointwise import TokenTagger
from tagsift.baselines._scaling import scale_features
from tagsift.baselines._simplex import CandidateSimplex
from tagsift.progress import progress
from tagsift.typing import BoolArray, FloatArray, Label

__all__ = ["PLAGGD"]


class PLAGGD(TokenTagger):
    """Graph, confidences and regression, each fitted in turn to the other two.

    Parameters
    ----------
    n_neighbours : int
        Neighbours k of the graph.
    lam : float
        Weight λ of the features in the graph.
    mu : float
        Weight μ of the confidences in the graph.
    gamma : float
        Ridge γ of the regression.
    max_iter : int
        Number of rounds T.
    max_dense : int
        Most tokens for the dense kernel (n² doubles); above, Nyström features are used
        and a `ScaleWarning` says so.
    scale, features, labels, scheme, random_state, verbose
        As in `TokenTagger`.

    Examples
    --------
    >>> from tagsift.baselines import PLAGGD
    >>> model = PLAGGD().fit_flat([[-1.0], [1.0]], [[1, 0], [0, 1]])
    >>> model.predict_flat([[-0.8], [0.9]]).tolist()
    [0, 1]
    """

    method: ClassVar[Method] = Method(
        name="pl-aggd",
        title="PL-AGGD",
        family="adaptive neighbour graph and kernel ridge regression",
        disambiguation="identification, feature-aware",
        structured=False,
        settings="n_neighbours=10, lam=1, mu=1, gamma=0.05, max_iter=10",
        cost="one factor n³ / 3, then n² · q and sparse steps a round",
        source="Wang, Li & Zhang, KDD 2019",
    )
    _check_params: ClassVar[dict[str, Any]] = {"max_iter": 3}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbours": [Interval(Integral, 1, None, closed="left")],
        "lam": [Interval(Real, 0, None, closed="left")],
        "mu": [Interval(Real, 0, None, closed="neither")],
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "max_dense": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        n_neighbours: int = 10,
        lam: float = 1.0,
        mu: float = 1.0,
        gamma: float = 0.05,
        max_iter: int = 10,
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
        self.n_neighbours = n_neighbours
        self.lam = lam
        self.mu = mu
        self.gamma = gamma
        self.max_iter = max_iter
        self.max_dense = max_dense

    def _fit_tokens(
        self, X: Any, mask: BoolArray, rng: np.random.Generator
    ) -> FloatArray:
        directions, _ = scale_features(X, "l2")  # [N, D]  for the graph only
        neighbours, _ = nearest(
            Reference(directions), directions, self.n_neighbours, same=True
        )  # [N, k]
        G_x = self.lam * difference_grams(directions, neighbours)  # [N, k, k]
        ridge = kernel_ridge(
            X, self.gamma, rng, max_dense=self.max_dense, title=self.method.title
        )
        self.variant_ = "Nyström kernel" if isinstance(ridge, NystromRidge) else ""
        simplex = CandidateSimplex(mask)
        s = graph_step(G_x)  # [N, k]  from features alone
        F = confidence_step(
            graph_matrix(s, neighbours), simplex, simplex.uniform()
        )  # [N, L]
        H = ridge.solve(F)  # [N, L]
        for _ in progress(range(self.max_iter), "PL-AGGD", enabled=bool(self.verbose)):
            s = graph_step(G_x + self.mu * label_grams(F, neighbours), s)  # [N, k]
            B = graph_matrix(s, neighbours)  # [N, N]
            F = confidence_step(B, simplex, F, H, self.mu)  # [N, L]
            H = ridge.solve(F)  # [N, L]
        self.expansion_ = ridge.expansion()
        self._train_confidences = F
        return F

    def _token_scores(self, X: Any) -> FloatArray:
        return self.expansion_.scores(X)  # [M, L]

    def _token_state(self) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
        meta, arrays = self.expansion_.state()
        return {"expansion": meta}, arrays

    def _restore_tokens(
        self, meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]
    ) -> None:
        self.expansion_ = KernelExpansion.from_state(meta["expansion"], arrays)
