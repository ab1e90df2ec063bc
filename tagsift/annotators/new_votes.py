"""Votes on new sentences, weighed by what is known of the annotators."""

from __future__ import annotations

import numpy as np

from tagsift.annotators.ballots import Ballots
from tagsift.annotators.copies import copy_groups, copy_weights
from tagsift.annotators.tables import vote_evidence
from tagsift.errors import InputError
from tagsift.typing import FloatArray

__all__ = ["weigh_votes"]


def weigh_votes(
    ballots: Ballots, names: tuple[str, ...], log_pi: FloatArray, temper: float
) -> list[FloatArray]:
    """Weight of every label of every token, sentence by sentence, [T, L] each.

    An annotator who is not among `names` is judged like the average of these.
    """
    contexts = log_pi.shape[2]
    if not len(names) or contexts != ballots.n_contexts:
        raise InputError(
            "these votes do not fit to what the model knows of annotators (who "
            "abstains, how many labels there are); fit on all votes instead."
        )
    place = {name: a for a, name in enumerate(names)}
    mean = np.log(np.exp(log_pi).mean(axis=0))  # [L, B, L]
    tables = np.stack(
        [log_pi[place[name]] if name in place else mean for name in ballots.names]
    )  # [A, L, B, L]
    weights = copy_weights(ballots, copy_groups(ballots))  # [A]
    e = temper * vote_evidence(tables, ballots, weights) + ballots.pinned  # [N, L]
    likely = np.exp(e - e.max(axis=1, keepdims=True))  # [N, L]
    return np.split(likely, ballots.offsets[1:-1])
