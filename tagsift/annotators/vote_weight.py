r"""How much the votes are worth: a temperature that the text chooses.

Annotators err on the same tokens, so that their votes are not independent given the
truth: their evidence counts τ times. With q the marginals of a text model that has not
seen the votes on a sentence, τ is the one under which they fit best to what the votes
alone say,

.. math::

    \sum_n \sum_y q(n, y) \, \log \mathrm{softmax}_y\bigl(\tau e(n, \cdot)
        + \log \bar q(\cdot)\bigr).

A text that knows little (there are few sentences) agrees with no votes, and would take
their weight away: τ has a least value, which is larger where there are few votes on a
token (`rounds.weight_limits`). A text that knows much (it has word vectors)
agrees with votes, and needs them less: τ has a greatest value.

The text also tells models from people. A model reads what the text model reads, at
every token anew, so that the text is explained far worse by its votes if their tables
know the vote before (`tables`) than if they do not; with people's votes both are nearly
the same.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import entr, log_softmax

from tagsift.typing import BoolArray, FloatArray

__all__ = [
    "TEMPERS",
    "choose_temper",
    "hinge",
    "judge_score",
    "least_temper",
    "looks_like_models",
    "preferred_temper",
]

#: Values of τ to choose from.
TEMPERS = tuple(round(0.05 * k, 2) for k in range(1, 31))
#: The share of rare labels that a text finds by itself unless it is poor, the least
#: that is believed of one, and the largest least τ beside a poor one.
_KNOWN, _UNKNOWN, _POOR = 0.5, 0.25, 1.2
#: How many times further the text is from votes with context than without, at most if
#: they are people's and at least if they are models'; and that beside word vectors.
_SPARSE, _VECTORS = (1.15, 1.35), (1.3, 1.7)


def judge_score(text: FloatArray, evidence: FloatArray, temper: float) -> float:
    """Mean log-probability that the votes, times τ, give to what the text says."""
    prior = np.log(np.maximum(text.mean(axis=0), 1e-9))  # [L]
    said = log_softmax(temper * evidence + prior, axis=1)  # [N, L]
    return float((text * said).sum() / max(len(text), 1))


def choose_temper(
    text: FloatArray,
    evidence: FloatArray,
    voted: BoolArray,
    least: float,
    most: float = TEMPERS[-1],
) -> tuple[float, float]:
    """Find the τ that the text prefers at the tokens with votes, and its score."""
    if not voted.any():
        return least, 0.0
    q, e = text[voted], evidence[voted]  # [N', L], [N', L]
    tempers = [least, *(t for t in TEMPERS if least < t <= most)]
    scores = [judge_score(q, e, temper) for temper in tempers]
    best = int(np.argmax(scores))
    return tempers[best], scores[best]


def least_temper(
    text: FloatArray, evidence: FloatArray, voted: BoolArray, least: float
) -> float:
    """Find the least τ beside this text: a larger one where it hardly knows anything.

    It knows little if it finds less than half of what is voted to be no common label,
    beyond what it would find by chance: few sentences teach it to say ``O``, which
    votes at their usual weight do not mend.
    """
    q, e = text[voted], evidence[voted]  # [N', L], [N', L]
    usual = text.mean(axis=0)  # [L]
    said = (least * e + np.log(np.maximum(usual, 1e-9))).argmax(axis=1)  # [N']
    rare = said != np.bincount(said, minlength=1).argmax()  # [N']
    if not rare.any():
        return least
    by_chance = float(usual[said[rare]].mean())
    share = float((q.argmax(axis=1) == said)[rare].mean())
    share = (share - by_chance) / max(1.0 - by_chance, 1e-9)
    poor = max(_KNOWN / max(share, _UNKNOWN), 1.0)
    return max(least, min(least * poor**2, _POOR))


def preferred_temper(text: FloatArray, evidence: FloatArray) -> float:
    """Find the τ that the text prefers without limits; the score is concave in it."""
    found = minimize_scalar(
        lambda log_temper: -judge_score(text, evidence, float(np.exp(log_temper))),
        bounds=np.log([TEMPERS[0] / 2, TEMPERS[-1]]),
        method="bounded",
        options={"xatol": 1e-3},
    )
    return float(np.exp(found.x))


def looks_like_models(
    text: FloatArray, context: FloatArray, plain: FloatArray, *, vectors: bool = False
) -> float:
    """How much votes are like those of models, from 0 (of people) to 1.

    `context` and `plain` are the evidence of the votes with and without the vote
    before, [N, L]; it is compared by its divergence from the text, each at its best τ.
    """
    entropy = float(entr(text).sum(axis=1).mean())
    apart, least = (
        -judge_score(text, votes, preferred_temper(text, votes)) - entropy
        for votes in (context, plain)
    )
    ratio = apart / max(least, np.finfo(float).tiny)
    people, models = _VECTORS if vectors else _SPARSE
    return float(np.clip((ratio - people) / (models - people), 0.0, 1.0))


def hinge(models: float) -> float:
    """How far votes are treated as those of models: not where that is in doubt."""
    return max(0.0, 2.0 * models - 1.0)
