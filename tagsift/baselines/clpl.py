"""CLPL: candidate against non-candidate label sequences, or labels of instances.

The flat form serves to check the reading of the loss on public partial-label sets.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from scipy.optimize import minimize

from tagsift.base import Method, TrainingSet, setting
from tagsift.baselines._atoms import Reward, Term
from tagsift.baselines._frank_wolfe import BlockFrankWolfe
from tagsift.baselines._pointwise import LinearTokenTagger, append_one, telling_tokens
from tagsift.baselines._structured import ConcaveConvexTagger
from tagsift.typing import BoolArray, FloatArray

__all__ = ["CLPL", "FlatCLPL", "clpl_objective"]


class CLPL(ConcaveConvexTagger):
    """Separate the candidate sequences from all others by a margin.

    With Y* the sequences inside the candidate sets, Y° the others, and Δ_S(y) the
    number of tokens outside their set, the loss of a sentence is

        [ max_{y ∈ Y°} (f(x, y) + Δ_S(y)) − max_{y ∈ Y*} f(x, y) ]_+

    (the bridge loss), minimised by the concave–convex procedure from the convex start
    with ``reward="mean"``.

    Parameters
    ----------
    reward : {"max", "mean"}
        Reward the best candidate sequence, as the source does, or the mean of all of
        them, which is convex and the literal sequence form of flat CLPL.
    penalty : {"bridge", "hinge"}
        Compete with Y° (bridge) or with all sequences (hinge).
    max_rounds : int
        Rounds of the concave–convex procedure.
    lam, loss, tol, max_passes, bias, scale
        As in `Naive`.
    features, labels, scheme, random_state, verbose, tokenizer, sentences
        As in `SequenceTagger`.

    Examples
    --------
    >>> from tagsift.baselines.clpl import CLPL
    >>> X = [["the", "dog", "runs"], ["a", "cat", "sleeps"]]
    >>> y = [["D", "N", "V"], ["D", {"N", "V"}, "V"]]
    >>> CLPL().fit(X, y).transduction_[1]
    ['D', 'N', 'V']
    """

    method: ClassVar[Method] = Method(
        name="clpl",
        title="CLPL",
        family="large margin",
        disambiguation="average",
        structured=True,
        settings="{lam}, {reward}, {penalty}, {max_rounds}",
        cost="rounds × NAIVE, decoder × 2",
        many_labels=60,
        source="Lou & Hamprecht, ICML 2012",
    )

    reward: Literal["max", "mean"] = setting("max")
    penalty: Literal["bridge", "hinge"] = setting("bridge")
    lam: float = setting(0.1, grid=(0.01, 0.1, 1.0, 10.0))

    def _learn(self, solver: BlockFrankWolfe, train: TrainingSet) -> None:
        rivals: Literal["free", "non_candidate"] = (
            "non_candidate" if self.penalty == "bridge" else "free"
        )
        weight = 1.0 / len(train.layout.sentences)
        term = Term(rivals, weight, self._task_loss(train.mask, train))
        if self.reward == "mean":
            mean = Reward.of_candidates(train.mask, train.offsets)
            self.objectives_ = [self._solve(solver, [term], mean).primal]
            return
        self._concave_convex(solver, train, lambda chosen: [term])


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
    scale, features, labels, scheme, random_state, verbose, tokenizer, sentences
        As in `WKNN`.

    Examples
    --------
    >>> from tagsift.baselines.clpl import FlatCLPL
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
        optimum = minimize(objective, start, jac=True, method="L-BFGS-B", options=most)
        self.weights_ = optimum.x.reshape(shape)  # [D + 1, L]
        return self._token_scores(X)  # [N, L]
