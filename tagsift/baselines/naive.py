"""NAIVE: a structured support vector machine on one random candidate per token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from tagsift.base import Method, TrainingSet, setting
from tagsift.baselines._atoms import Reward, Term
from tagsift.baselines._frank_wolfe import BlockFrankWolfe
from tagsift.baselines._structured import MaxMarginTagger
from tagsift.typing import BoolArray, IntArray, Label

__all__ = ["Naive", "draw_candidates"]


class Naive(MaxMarginTagger):
    """Take one candidate of every token at random, and train on it as if it were true.

    The drawn labels ỹ stay fixed during the fit of

        min_w  λ/2 |w|² + (1/S) Σ_i max_y [Δ_H(ỹ_i, y) + f(x_i, y) − f(x_i, ỹ_i)].

    The draw is the largest source of variance: average over several `random_state`.

    Parameters
    ----------
    lam : float
        λ, the weight of |w|²/2 against the mean loss of a sentence.
    loss : {"count", "fraction"}
        Whether the task loss counts wrong tokens or gives their share of the sentence.
    tol : float
        A convex step ends when its duality gap is below this share of the objective.
    max_passes : int
        Passes over the sentences that a convex step may take.
    bias : bool
        Whether to add a constant feature, so that every label has a bias.
    scale : {"dense", "auto", "standard", "l2", "none"}
        Feature scaling, as in the token-wise rivals. By default dense columns are
        standardised and binary ones stay as they are: unit rows shrink them against the
        bias and the transitions, which only slows the solver (a smaller λ makes up for
        the rest).
    features, labels, scheme, random_state, verbose, tokenizer, sentences
        As in `SequenceTagger`.

    Attributes
    ----------
    emissions_ : ndarray of shape (n_features, n_labels)
        E; the last row is the bias, where there is one.
    transitions_ : ndarray of shape (n_labels, n_labels)
        A.
    objectives_ : list of float
        The training objective after every round.
    n_passes_ : int
        Passes over the sentences, of all rounds together.
    gap_ : float
        Relative duality gap at the end.

    Examples
    --------
    >>> from tagsift.baselines.naive import Naive
    >>> X = [["the", "dog", "runs"], ["a", "cat", "sleeps"]]
    >>> Naive(lam=0.1).fit(X, [["D", "N", "V"], ["D", "N", "V"]]).predict(X[:1])
    [['D', 'N', 'V']]
    """

    method: ClassVar[Method] = Method(
        name="naive",
        title="NAIVE",
        family="structured SVM",
        disambiguation="random",
        structured=True,
        settings="{lam}, {loss}",
        cost="passes · N L²",
        source="Tsochantaridis et al. 2005, on random candidates (Li et al. 2013)",
    )
    _check_skips: ClassVar[dict[str, str]] = {
        "check_sentence_order": "candidates are drawn in the order of the tokens"
    }

    lam: float = setting(1.0, grid=(0.01, 0.1, 1.0, 10.0))

    # Where labels are mostly wrong, w = 0 is (nearly) optimal, and what is learnt is
    # what the solver has not yet averaged away: the plain steps leave the most.
    _plain_passes: ClassVar[int] = 60

    def _learn(self, solver: BlockFrankWolfe, train: TrainingSet) -> None:
        drawn = draw_candidates(train.mask, train.classes, solver.rng)  # [N]
        reward = Reward.of_labels(drawn, train.offsets, train.n_labels)
        loss = self._task_loss(reward.unary > 0, train)  # [N, L]
        term = Term("free", 1.0 / len(train.layout.sentences), loss)
        self.objectives_ = [self._solve(solver, [term], reward).primal]


def draw_candidates(
    mask: BoolArray, classes: Sequence[Label], rng: np.random.Generator
) -> IntArray:
    """Draw one candidate of every token, [N]; by name, whatever the order of labels."""
    seen = np.flatnonzero(mask.any(axis=0))  # [L']
    names = [str(classes[int(k)]) for k in seen]
    by_name = seen[np.argsort(names, kind="stable")]  # [L']
    ticket = np.where(mask[:, by_name], rng.random((len(mask), len(seen))), -1.0)
    return np.asarray(by_name[ticket.argmax(axis=1)], dtype=np.int64)  # [N]
