r"""How much the votes are worth: a weight τ, chosen by the text among people.

Annotators err on the same tokens, so that their votes are not independent given the
truth: their evidence counts τ times. With q the marginals of a text model that has not
seen the votes on a sentence, the text prefers the τ under which they fit best to what
the votes alone say,

.. math::

    \sum_n \sum_y q(n, y) \, \log \mathrm{softmax}_y\bigl(\tau e(n, \cdot)
        + \log \bar q(\cdot)\bigr).

That is the right one for the confidences. For the labels it has limits, in votes' worth
of evidence on a token, n being the votes there are on one: people's and models' votes
have a least τ, since a text that knows little agrees with no votes; and where all
abstain, τ = 1.3 / n, however many sources repeat each other, since a text that has
learnt from their silence would take their weight away. A text that has word vectors
needs votes less: τ has a greatest value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from tagsift.annotators.settings import CONSTANTS
from tagsift.annotators.vote_table import VoteTable
from tagsift.typing import BoolArray, FloatArray

__all__ = [
    "WEIGHTS",
    "WeightLimits",
    "choose_weight",
    "judge_score",
    "least_weight",
    "preferred_weight",
]

#: Values of τ to choose from.
WEIGHTS = tuple(round(0.05 * k, 2) for k in range(1, 31))


@dataclass(frozen=True)
class WeightLimits:
    """The weight τ before there is any text, and the least and most beside it."""

    first: float
    least: float
    most: float = WEIGHTS[-1]

    @classmethod
    def of(cls, table: VoteTable, weights: FloatArray, vectors: bool = False) -> Self:
        """Limits for votes of annotators that count `weights`, [A]."""
        c = CONSTANTS
        only_sources = bool(table.abstains.all())
        people = ~table.abstains[table.annotator]  # [K]
        asked = table.corpus.speaks if only_sources else people
        cast = np.where(asked, weights[table.annotator], 0.0)  # [K]
        on_a_token = table.sum_by_token(cast)  # [N]
        n = float(on_a_token[on_a_token > 0].mean()) if asked.any() else 1.0
        if only_sources:
            fixed = float(np.clip(c.source_worth / n, WEIGHTS[0], WEIGHTS[-1]))
            return cls(fixed, fixed, fixed)
        models = table.models[table.annotator[asked]]  # [K']
        share = float(models.mean()) if len(models) else 0.0
        worth = share * c.model_worth + (1 - share) * c.person_worth
        most = max(c.most_worth, c.model_weight * share)
        first = float(np.clip(worth / n, c.first_weight, most))
        least = float(np.clip(worth / n, c.least_weight, most))
        return cls(first, least, first) if vectors else cls(first, least)


def judge_score(text: FloatArray, votes: FloatArray, weight: float) -> float:
    """Mean log-probability that the votes, times τ, give to what the text says."""
    prior = np.log(np.maximum(text.mean(axis=0), 1e-9))  # [L]
    by_votes = log_softmax(weight * votes + prior, axis=1)  # [N, L]
    return float((text * by_votes).sum() / max(len(text), 1))


def choose_weight(
    text: FloatArray, votes: FloatArray, voted: BoolArray, limits: WeightLimits
) -> tuple[float, float]:
    """The τ within limits that the text prefers at tokens with votes, and its score."""
    if limits.least == limits.most or not voted.any():
        return limits.least, 0.0
    q, e = text[voted], votes[voted]  # [N', L], [N', L]
    least = least_weight(q, e, limits.least)
    weights = [least, *(t for t in WEIGHTS if least < t <= limits.most)]
    scores = [judge_score(q, e, weight) for weight in weights]
    best = int(np.argmax(scores))
    return weights[best], scores[best]


def least_weight(text: FloatArray, votes: FloatArray, least: float) -> float:
    """The least τ beside this text: a larger one where it hardly knows anything.

    It knows little if it finds less than half of what is voted to be no common label,
    beyond what it would find by chance: few sentences teach it to say ``O``, which
    votes at their usual weight do not mend.
    """
    c, usual = CONSTANTS, text.mean(axis=0)  # [L]
    by_votes = (least * votes + np.log(np.maximum(usual, 1e-9))).argmax(axis=1)  # [N]
    rare = by_votes != np.bincount(by_votes, minlength=1).argmax()  # [N]
    if not rare.any():
        return least
    by_chance = float(usual[by_votes[rare]].mean())
    share = float((text.argmax(axis=1) == by_votes)[rare].mean())
    share = (share - by_chance) / max(1.0 - by_chance, 1e-9)
    poor = max(c.text_finds / max(share, c.text_finds_least), 1.0)
    return max(least, min(least * poor**2, c.poor_weight))


def preferred_weight(text: FloatArray, votes: FloatArray) -> float:
    """The τ that the text prefers without limits; the score is concave in it."""
    best = minimize_scalar(
        lambda log_weight: -judge_score(text, votes, float(np.exp(log_weight))),
        bounds=np.log([WEIGHTS[0] / 2, WEIGHTS[-1]]),
        method="bounded",
        options={"xatol": 1e-3},
    )
    return float(np.exp(best.x))
