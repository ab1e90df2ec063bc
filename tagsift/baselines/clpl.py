"""CLPL for sequences: candidate against non-candidate label sequences."""

from __future__ import annotations

from typing import ClassVar, Literal

from tagsift.base import Method, TrainingSet, setting
from tagsift.baselines._atoms import Reward, Term
from tagsift.baselines._frank_wolfe import BlockFrankWolfe
from tagsift.baselines._structured import ConcaveConvexTagger

__all__ = ["CLPL"]


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
    features, labels, scheme, random_state, verbose
        As in `SequenceTagger`.

    Examples
    --------
    >>> from tagsift.baselines.clpl import CLPL
    >>> X = [["the", "dog", "runs"], ["a", "cat", "sleeps"]]
    >>> y = [["D", "N", "V"], ["D", {"N", "V"}, "V"]]
    >>> CLPL().fit(X, y).recovered_[1]
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
        weight, loss = (
            1.0 / len(train.layout.sentences),
            self._task_loss(train.mask, train),
        )
        term = Term(
            "non_candidate" if self.penalty == "bridge" else "free", weight, loss
        )
        if self.reward == "mean":
            mean = Reward.of_candidates(train.mask, train.offsets)
            self.objectives_ = [self._solve(solver, [term], mean).primal]
            return
        self._concave_convex(solver, train, lambda chosen: [term])
