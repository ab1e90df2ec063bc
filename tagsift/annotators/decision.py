"""Which spans are worth their risk: the labels, once text and votes have spoken.

A label of half a chance or less is still right often enough to raise the F1 of all
spans: a bonus for every span (`tagsift.chain.span_bonus`) follows from the F1 that the
confidences promise. New text is known less well than text with votes: its tagger gets
a bonus from the F1 that they promise to the labels of the text alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tagsift.annotators.rounds import Consensus
from tagsift.chain.span_bonus import expected_f1, span_bonus
from tagsift.data import opening_transitions
from tagsift.typing import Label

__all__ = ["decide"]


def decide(
    found: Consensus, classes: Sequence[Label], scheme: str
) -> tuple[Consensus, float]:
    """The same with the labels of highest expected F1, and the bonus of new text.

    Plain tags are left as they are.
    """
    if scheme == "plain":
        return found, 0.0
    between, first = opening_transitions([str(name) for name in classes], scheme)
    p, model = found.confidences, found.model  # [N, L]
    unread = model.best(np.zeros_like(found.evidence))  # [N], of the text alone
    here, elsewhere = (
        span_bonus(expected_f1(labels, p, inside=first), 1.0 / found.calm)
        for labels in (found.labels, unread)
    )
    lean = np.asarray(here * between), np.asarray(here * first)  # [L, L], [L]
    labels = model.best(found.evidence, lean)  # [N]
    return replace(found, labels=labels, lean=lean), elsewhere
