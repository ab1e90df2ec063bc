"""PL-SVM: the best candidate against the best non-candidate, by sub-gradient steps."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from tagsift.base import Method, setting
from tagsift.baselines._pointwise import (
    LinearTokenTagger,
    append_one,
    best_candidate,
    telling_tokens,
)
from tagsift.progress import progress
from tagsift.typing import BoolArray, FloatArray

__all__ = ["PLSVM", "pegasos"]


def pegasos(
    X: Any,
    mask: BoolArray,
    lam: float,
    n_steps: int,
    *,
    average: bool,
    verbose: bool = False,
) -> FloatArray:
    """Full-batch PL-Pegasos from zero weights, [D, L]; step t has length 1 / (λ t)."""
    n, n_labels = mask.shape
    rows = np.arange(n)  # [N]
    X_T = sp.csr_matrix(X.T) if sp.issparse(X) else X.T  # [D, N]
    W = np.zeros((X.shape[1], n_labels))  # [D, L]
    total = np.zeros_like(W)  # [D, L]
    first = n_steps // 2 + 1
    for t in progress(range(1, n_steps + 1 if n else 1), "PL-SVM", enabled=verbose):
        scores = np.asarray(X @ W)  # [N, L]
        a, b = best_candidate(scores, mask), best_candidate(scores, ~mask)  # [N], [N]
        active = np.flatnonzero(scores[rows, a] - scores[rows, b] < 1.0)  # [V]
        step = np.zeros((n, n_labels))  # [N, L]
        step[active, a[active]] = 1.0
        step[active, b[active]] = -1.0
        W *= 1.0 - 1.0 / t  # [D, L]
        W += np.asarray(X_T @ step) / (lam * t * n)  # [D, L]
        length = float(np.sqrt(np.vdot(W, W)))
        if length * np.sqrt(lam) > 1.0:
            W /= length * np.sqrt(lam)  # [D, L]
        if average and t >= first:
            total += W  # [D, L]
    return total / (n_steps - first + 1) if average else W  # [D, L]


class PLSVM(LinearTokenTagger):
    """Linear maximum-margin learner on candidate sets, token by token.

    The margin is between the best candidate and the best non-candidate; a token whose
    candidate set is the whole label set says nothing and is left out.

    Parameters
    ----------
    lam : float
        Weight λ of the squared norm. On standardised features 1 is far too strong.
    n_steps : int
        Number of Pegasos steps.
    average : bool
        Average the second half of the iterates; the last one is noisy for small `lam`.
    scale, features, labels, scheme, random_state, verbose, tokenizer, sentences
        As in `WKNN`.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features + 1, n_labels)
        Weights; the last row is the bias.

    Examples
    --------
    >>> from tagsift.baselines import PLSVM
    >>> model = PLSVM(n_steps=50).fit_flat([[0.0], [1.0]], [[1, 0], [0, 1]])
    >>> model.predict_flat([[0.2], [0.9]]).tolist()
    [0, 1]
    """

    method: ClassVar[Method] = Method(
        name="pl-svm",
        title="PL-SVM",
        family="linear maximum margin",
        disambiguation="identification",
        settings="{lam}, {n_steps}, {average}",
        cost="n_steps passes over the features",
        source="Nguyen & Caruana, KDD 2008",
    )
    _check_params: ClassVar[dict[str, Any]] = {"n_steps": 200}

    lam: float = setting(
        1e-3, above=0, grid=(1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0)
    )
    n_steps: int = setting(1000, least=1)
    average: bool = setting(True)

    def _fit_tokens(self, X: Any, mask: BoolArray, seed: int) -> FloatArray:
        rows, sets = telling_tokens(append_one(X), mask)  # [N', D + 1], [N', L]
        how = {"average": self.average, "verbose": bool(self.verbose)}
        self.weights_ = pegasos(rows, sets, self.lam, self.n_steps, **how)  # [D + 1, L]
        return self._token_scores(X)  # [N, L]
