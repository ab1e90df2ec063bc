r"""How sure text and votes together may be: a factor T of all their scores.

Text and votes share errors, so that the sum of both is too sure by itself: confidences
are the marginals of T (f + e). What everybody gets wrong is seen by nobody, and no vote
that is left out tells of it; but the more votes on spans contradict the labels, and the
more the text believes the votes, the more there is of it:

.. math::

    \log T = a + b \log \tau^* + c \log d,

with τ* the weight of the votes that the text prefers (`judge`), without limits, and d
the share of the votes on spans that differ from the label. Both come from the corpus in
hand, without a known label; a, b and c were fitted to the T of least log-loss on
simulated people and rules and on weak sources. Real annotators may share more errors
than simulated ones: log T is drawn to that of a typical corpus, all the way where no
token has votes of several annotators. Models err alike without contradicting each
other, so that d tells nothing of them: the more votes look like theirs
(`vote_weight.looks_like_models`), the nearer is T to what is typical of models.
"""

from __future__ import annotations

import numpy as np

from tagsift.annotators.vote_table import VoteTable
from tagsift.annotators.vote_weight import hinge, preferred_temper
from tagsift.typing import FloatArray, IntArray

__all__ = ["calm_factor", "contradiction"]

#: The constants a, b and c.
_RULE = (-0.76, -0.18, -0.33)
#: T of a typical corpus: of people, where all abstain, and of what may be models; and
#: the factor of that where they hinge are.
_PEOPLE, _SOURCES, _MODELS, _SURELY = 0.7, 0.55, 0.5, 0.8
#: What this corpus counts beside it where it is large, and the tokens with several
#: votes for half of that.
_OWN, _HALF = 0.7, 100.0
#: The least and the greatest T, and the least d.
_LIMITS, _LEAST = (0.4, 1.0), 0.05


def calm_factor(
    labels: IntArray,
    text: FloatArray,
    votes: FloatArray,
    table: VoteTable,
    weights: FloatArray,
    scale: float = 1.0,
    models: float = 0.0,
) -> float:
    """Estimate T from labels, [N], marginals of the text and evidence of the votes.

    `text` has not seen the votes on a sentence, and `votes` is not tempered, [N, L];
    `weights` are those of the annotators, [A], `scale` is the T of this kind of text
    model against that of a partial CRF, and `models` how far the votes are of models.
    """
    usual = _SOURCES if table.abstains.all() else _PEOPLE
    usual = float(usual ** (1 - models) * _MODELS**models * _SURELY ** hinge(models))
    d, n = contradiction(labels, table, weights)
    if not n:
        return scale * usual
    temper = preferred_temper(text[table.voted], votes[table.voted])
    a, b, c = _RULE
    told = np.exp(a + b * np.log(temper) + c * np.log(max(d, _LEAST)))
    own = (1 - models) * _OWN * n / (n + _HALF)
    return float(scale * np.clip(told, *_LIMITS) ** own * usual ** (1 - own))


def contradiction(
    labels: IntArray, table: VoteTable, weights: FloatArray
) -> tuple[float, int]:
    """Share d of the votes on spans that differ from the label, and of how many tokens.

    Those count that more than one annotator has labelled; copies are one annotator.
    """
    weight = weights[table.annotator]  # [K]
    open_ = (table.exact < 0) & (labels != table.outside)  # [N]
    asked = open_ & (table.sum_by_token(weight) > 1 + 1e-9)  # [N]
    if not asked.any():
        return 0.0, 0
    heard = np.where(asked[table.token], weight, 0.0)  # [K]
    agrees = table.members[table.code, labels[table.token]]  # [K]
    return 1.0 - float((heard * agrees).sum() / heard.sum()), int(asked.sum())
