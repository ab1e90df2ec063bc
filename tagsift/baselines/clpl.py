"""CLPL for sequences: candidate against non-candidate label sequences."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tagsift.base import Method, TrainingSet
from tagsift.baselines._competitors import Term
from tagsift.baselines._frank_wolfe import BlockFrankWolfe
from tagsift.baselines._structured import MaxMarginTagger
from tagsift.typing import IntArray, Label

__all__ = ["CLPL"]


class CLPL(MaxMarginTagger):
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
        As in `MaxMarginTagger`.
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
        settings='lam=0.1 (0.01–10), reward="max", penalty="bridge", max_rounds=15',
        cost="rounds × NAIVE, decoder × 2",
        source="Lou & Hamprecht, ICML 2012",
    )
    #: What `tune` chooses from.
    grid: ClassVar[dict[str, tuple[float, ...]]] = {"lam": (0.01, 0.1, 1.0, 10.0)}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "reward": [StrOptions({"max", "mean"})],
        "penalty": [StrOptions({"bridge", "hinge"})],
        "max_rounds": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        reward: Literal["max", "mean"] = "max",
        penalty: Literal["bridge", "hinge"] = "bridge",
        max_rounds: int = 15,
        lam: float = 0.1,
        loss: str = "count",
        tol: float = 2e-3,
        max_passes: int = 500,
        bias: bool = True,
        scale: str = "dense",
        features: Any = None,
        labels: Iterable[Label] | None = None,
        scheme: str = "auto",
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            lam=lam,
            loss=loss,
            tol=tol,
            max_passes=max_passes,
            bias=bias,
            scale=scale,
            features=features,
            labels=labels,
            scheme=scheme,
            random_state=random_state,
            verbose=verbose,
        )
        self.reward = reward
        self.penalty = penalty
        self.max_rounds = max_rounds

    def _learn(
        self, solver: BlockFrankWolfe, train: TrainingSet, rng: np.random.Generator
    ) -> None:
        term = Term(
            "non_candidate" if self.penalty == "bridge" else "free",
            1.0 / len(train.layout.sentences),
            self._set_loss(train),
        )
        if self.reward == "mean":
            solution = self._solve(solver, [term], self._mean_reward(train))
            self.objectives_ = [solution.primal]
            return

        def terms(chosen: IntArray | None) -> list[Term]:
            return [term]

        self._concave_convex(solver, train, terms, self.max_rounds)
