"""CLLP: two margins, among the candidate sequences and against all others."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from tagsift.base import Method, TrainingSet, setting
from tagsift.baselines._atoms import Term
from tagsift.baselines._frank_wolfe import BlockFrankWolfe
from tagsift.baselines._structured import ConcaveConvexTagger
from tagsift.typing import IntArray

__all__ = ["CLLP"]


class CLLP(ConcaveConvexTagger):
    """Separate the best candidate sequence from other candidates and from the rest.

    With ŷ the best candidate sequence under the current weights, a sentence costs

        C1 · max_{y ∈ Y*} [f(x, y) + Δ_H(ŷ, y) − f(x, ŷ)]
        + C2 · [ max_{y ∈ Y°} (f(x, y) + Δ(y)) − f(x, ŷ) ]_+

    where Δ counts tokens outside their candidate set. ŷ is frozen for a round, in the
    loss and in the reward. The published text could not be read: the objective is
    reconstructed from its abstract and from what others report about it.

    Parameters
    ----------
    C1 : float
        Weight of the margin among candidates; 0 gives CLPL with the bridge loss.
    C2 : float
        Weight of the margin against non-candidates.
    inter_loss : {"set", "label"}
        Task loss of the second margin: tokens outside their set, or tokens unlike ŷ.
    max_rounds : int
        Rounds of the concave–convex procedure.
    lam, loss, tol, max_passes, bias, scale
        As in `Naive`.
    features, labels, scheme, random_state, verbose, tokenizer, sentences
        As in `SequenceTagger`.

    Examples
    --------
    >>> from tagsift.baselines.cllp import CLLP
    >>> X = [["the", "dog", "runs"], ["a", "cat", "sleeps"]]
    >>> y = [["D", "N", "V"], ["D", {"N", "V"}, "V"]]
    >>> CLLP().fit(X, y).transduction_[1]
    ['D', 'N', 'V']
    """

    method: ClassVar[Method] = Method(
        name="cllp",
        title="CLLP",
        family="large margin, two margins",
        disambiguation="identification",
        structured=True,
        settings="{C1}, {C2}, {lam}, {max_rounds}",
        cost="rounds × 2 × NAIVE",
        many_labels=60,
        source="Li, Zhang & Chen, ECML PKDD 2013 (reconstructed)",
    )

    C1: float = setting(0.1, least=0, grid=(0.1, 1.0, 10.0))
    C2: float = setting(1.0, above=0, grid=(0.1, 1.0, 10.0))
    inter_loss: Literal["set", "label"] = setting("set")

    def _learn(self, solver: BlockFrankWolfe, train: TrainingSet) -> None:
        n_sequences = len(train.layout.sentences)
        outside = self._task_loss(train.mask, train)  # [N, L]

        def terms(chosen: IntArray | None) -> list[Term]:
            C1, intra, inter = 0.0, outside, outside  # the convex start knows Y° only
            if chosen is not None:
                is_chosen = np.eye(train.n_labels, dtype=bool)[chosen]  # [N, L]
                C1, intra = self.C1, self._task_loss(is_chosen, train)  # [N, L]
                inter = intra if self.inter_loss == "label" else outside  # [N, L]
            return [
                Term("candidate", C1 / n_sequences, intra),
                Term("non_candidate", self.C2 / n_sequences, inter),
            ]

        self._concave_convex(solver, train, terms)
