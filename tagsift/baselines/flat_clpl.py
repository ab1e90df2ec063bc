"""Flat CLPL: the convex loss on candidate sets, for plain instances.

The sequence form of it is in `tagsift.baselines.clpl`; this one serves to check the
reading of the loss on public partial-label sets.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.optimize import minimize

from tagsift.base import Method, setting
from tagsift.baselines._pointwise import LinearTokenTagger, append_one, telling_tokens
from tagsift.typing import BoolArray, FloatArray

__all__ = ["FlatCLPL", "clpl_objective"]


def clpl_objective(
    W: FloatArray, X: Any, mask: BoolArray, C: float
) -> tuple[float, FloatArray]:
    """Convex loss on candidate sets with the squared hinge, and its gradient.

    ``½ |W|² + C Σ_i [ ℓ(mean of the candidates' scores) + Σ_{c ∉ S_i} ℓ(−score_c) ]``
    with ``ℓ(z) = max(0, 1 − z)²``.
    """
    share = mask / mask.sum(axis=1, keepdims=True)  # [N, L]
    scores = np.asarray(X @ W)  # [N, L]
    gap = np.maximum(0.0, 1.0 - np.einsum("nl,nl->n", share, scores))  # [N]
    excess = np.where(mask, 0.0, np.maximum(0.0, 1.0 + scores))  # [N, L]
    value = 0.5 * np.sum(W**2) + C * (np.sum(gap**2) + np.sum(excess**2))
    slope = 2 * C * (excess - gap[:, None] * share)  # [N, L]
    return float(value), W + np.asarray(X.T @ slope)


class FlatCLPL(LinearTokenTagger):
    """Convex learning from partial labels on plain instances.

    Parameters
    ----------
    C : float
        Weight of the loss.
    max_iter : int
        Most steps of L-BFGS.
    scale, features, labels, scheme, random_state, verbose
        As in `WKNN`.

    Examples
    --------
    >>> from tagsift.baselines.flat_clpl import FlatCLPL
    >>> model = FlatCLPL().fit_flat([[0.0], [1.0]], [[1, 0], [0, 1]])
    >>> model.predict_flat([[0.2], [0.9]]).tolist()
    [0, 1]
    """

    method: ClassVar[Method] = Method(
        name="flat-clpl",
        title="CLPL (flat)",
        family="convex loss on candidate sets",
        disambiguation="average",
        settings="{C}",
        cost="L-BFGS on d · q weights",
        source="Cour, Sapp & Taskar, JMLR 2011",
    )

    C: float = setting(1.0, above=0)
    max_iter: int = setting(1000, least=1)

    def _fit_tokens(self, X: Any, mask: BoolArray, seed: int) -> FloatArray:
        rows, sets = telling_tokens(append_one(X), mask)  # [N', D + 1], [N', L]
        shape = (rows.shape[1], mask.shape[1])

        def objective(flat: FloatArray) -> tuple[float, FloatArray]:
            W = flat.reshape(shape)  # [D + 1, L]
            value, gradient = clpl_objective(W, rows, sets, self.C)
            return value, gradient.ravel()

        start = np.zeros(shape[0] * shape[1])
        most = {"maxiter": self.max_iter, "maxfun": 2 * self.max_iter}
        found = minimize(objective, start, jac=True, method="L-BFGS-B", options=most)
        self.weights_ = found.x.reshape(shape)  # [D + 1, L]
        return self._token_scores(X)  # [N, L]
