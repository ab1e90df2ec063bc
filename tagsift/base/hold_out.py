"""Training sentences that a fit leaves out, to judge it by."""

from __future__ import annotations

import numpy as np

from tagsift.base.training_set import TrainingSet
from tagsift.typing import IntArray

__all__ = ["hold_out"]

#: Keeps the draw apart from others by the same seed: whoever shuffled the same
#: sentences to choose the exact ones would else find exactly those held out.
_STREAM = 20


def hold_out(train: TrainingSet, share: float = 0.2) -> tuple[IntArray, IntArray]:
    """Draw sentences to fit and to leave out, by the seed of the training set.

    Parameters
    ----------
    train : TrainingSet
        All sentences; empty ones are in neither part.
    share : float
        Share of the sentences that is left out.

    Returns
    -------
    seen, unseen : ndarrays of int
        Numbers of the sentences, in their order.
    """
    rng = np.random.default_rng([train.seed, _STREAM])
    order = rng.permutation(np.flatnonzero(train.features.lengths))  # [S']
    n_out = round(share * len(order))
    return np.sort(order[n_out:]), np.sort(order[:n_out])
