"""How readily the tagger sees spans in new text.

New text is known less well than text with votes: of the labels that the text alone
gives to sentences it was not fitted on, the confidences, which know the votes, say how
many are right. A bonus for every span (`tagsift.chain.span_bonus`) follows from the F1
that this makes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tagsift.annotators.rounds import Consensus
from tagsift.chain.span_bonus import expected_f1, span_bonus
from tagsift.data import opening_transitions
from tagsift.typing import Label

__all__ = ["bonus_of_new_text"]


def bonus_of_new_text(found: Consensus, classes: Sequence[Label], scheme: str) -> float:
    """Bonus of a span in text without votes; plain tags have none."""
    if scheme == "plain":
        return 0.0
    _, inside = opening_transitions([str(name) for name in classes], scheme)  # [L]
    labels = found.model.best(np.zeros_like(found.evidence))  # [N]
    f1 = expected_f1(labels, found.confidences, inside)
    return span_bonus(f1, 1.0 / found.calm)
