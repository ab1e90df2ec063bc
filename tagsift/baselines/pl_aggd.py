"""PL-AGGD: an adaptive neighbour graph, confidences and a kernel regression."""

from __future__ import annotations

from typing import Any, ClassVar

from tagsift.base import Method, setting
from tagsift.baselines._graph import (
    confidence_step,
    difference_grams,
    graph_matrix,
    graph_step,
    label_grams,
)
from tagsift.baselines._kernel_ridge import KernelRidgeTagger
from tagsift.baselines._scaling import scale_features
from tagsift.baselines._simplex import CandidateSimplex
from tagsift.features.distances import Reference
from tagsift.features.neighbours import nearest
from tagsift.progress import progress
from tagsift.typing import BoolArray, FloatArray

__all__ = ["PLAGGD"]


class PLAGGD(KernelRidgeTagger):
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
    max_dense
        As in `SURE`.
    scale, features, labels, scheme, random_state, verbose
        As in `WKNN`.

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
        settings="{n_neighbours}, {lam}, {mu}, {gamma}, {max_iter}",
        cost="one factor n³ / 3, then n² · q and sparse steps a round",
        source="Wang, Li & Zhang, KDD 2019",
    )
    _check_params: ClassVar[dict[str, Any]] = {"max_iter": 3}
    n_neighbours: int = setting(10, least=1)
    lam: float = setting(1.0, least=0)
    mu: float = setting(1.0, above=0)
    gamma: float = setting(0.05, above=0)
    max_iter: int = setting(10, least=0)

    def _fit_tokens(self, X: Any, mask: BoolArray, seed: int) -> FloatArray:
        directions, _ = scale_features(X, "l2")  # [N, D]  for the graph only
        neighbours, _ = nearest(
            Reference(directions), directions, self.n_neighbours, same=True
        )  # [N, k]
        G_x = self.lam * difference_grams(directions, neighbours)  # [N, k, k]
        ridge = self._ridge(X, self.gamma, seed)
        simplex = CandidateSimplex(mask)
        s = graph_step(G_x)  # [N, k]  from features alone
        B = graph_matrix(s, neighbours)  # [N, N]
        F = confidence_step(B, simplex, simplex.uniform())  # [N, L]
        H = ridge.solve(F)  # [N, L]
        for _ in progress(range(self.max_iter), "PL-AGGD", enabled=bool(self.verbose)):
            s = graph_step(G_x + self.mu * label_grams(F, neighbours), s)  # [N, k]
            B = graph_matrix(s, neighbours)  # [N, N]
            F = confidence_step(B, simplex, F, H, self.mu)  # [N, L]
            H = ridge.solve(F)  # [N, L]
        self.expansion_ = ridge.expansion()
        self._train_confidences = F
        return F
