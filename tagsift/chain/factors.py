r"""What the training confidences say about a new token and about a transition.

Equation (29), Reading R5:

.. math::

    \tau_i(y) = \begin{cases}
      \frac{1}{K_i} \sum_k c_k(y) & y \in \mathcal{Y}_i \\
      \frac{1}{|\mathcal{Y}|} \frac{1}{K_i} \sum_k \sum_{y'} c_k(y') & \text{otherwise}
    \end{cases}

with the K nearest training tokens k and the set Y_i of their candidate labels. As
printed the second case lacks the division by the number of labels and equals 1, the
largest value there is.
"""

from __future__ import annotations

import numpy as np

from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["neighbour_factor", "transition_factor"]


def neighbour_factor(
    neighbours: IntArray,
    confidences: FloatArray,
    mask: BoolArray,
    *,
    floor: str = "uniform",
) -> FloatArray:
    """Equation (29): confidence of every label at every new token, [M, L].

    Parameters
    ----------
    neighbours : ndarray of int, shape (M, Q)
        Nearest training tokens.
    confidences : ndarray of shape (n_train, n_labels)
        Training confidences, Equation (17).
    mask : ndarray of bool, shape (n_train, n_labels)
        Training candidate sets.
    floor : {"uniform", "literal"}
        The second case with the division by the number of labels (Reading R5), or as
        printed.
    """
    n_labels = confidences.shape[1]
    mean = confidences[neighbours].mean(axis=1)  # [M, L]
    seen = mask[neighbours].any(axis=1)  # [M, L]
    rest = mean.sum(axis=1, keepdims=True)  # [M, 1]
    if floor == "uniform":
        rest = rest / n_labels  # [M, 1]
    factor: FloatArray = np.where(seen, mean, rest)  # [M, L]
    return factor


def transition_factor(sums: FloatArray, counts: FloatArray) -> FloatArray:
    """Mean confidence τ(y, y') of a transition over the pairs that may take it.

    0 for pairs that never occur, as printed (Reading R7).

    Parameters
    ----------
    sums, counts : ndarrays of shape (n_labels, n_labels)
        Summed confidences, and how many neighbouring tokens have the pair among their
        candidates.
    """
    return np.where(counts > 0, sums / np.maximum(counts, 1.0), 0.0)  # [L, L]
