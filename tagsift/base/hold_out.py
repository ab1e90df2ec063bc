"""Training sentences that a fit leaves out, to judge it by."""

from __future__ import annotations

import numpy as np

from tagsift.base.training_set import TrainingSet
from tagsift.typing import IntArray

__all__ = ["hold_out"]

#: Share of the sentences that is left out.
_SHARE = 0.2
#: Keeps the draw apart from others by the same seed: whoever shuffled the same
#: sentences to choose the exact ones would else find exactly those held out.
_STREAM = 20


def hold_out(train: TrainingSet) -> tuple[IntArray, IntArray]:
    """Draw sentences to fit and a fifth to leave out, in order; none is empty."""
    rng = np.random.default_rng([train.seed, _STREAM])
    order = rng.permutation(np.flatnonzero(train.features.lengths))  # [S']
    n_out = round(_SHARE * len(order))
    return np.sort(order[n_out:]), np.sort(order[:n_out])
