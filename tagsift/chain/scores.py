r"""Scores of labels and of transitions from predictive moments.

Equations (25)–(28). The predictive probability (25) integrates the softmax (26) over
the latent values, which has no closed form; the paper scores with the softmax of
μ + ½V,

.. math::

    S(y, x_i) = \frac{\exp(\mu_i(y) + \tfrac12 V_i(y))}
                     {\sum_{y'} \exp(\mu_i(y') + \tfrac12 V_i(y'))}, \qquad
    S(y, y') = \frac{\exp(\mu_T(y, y') + \tfrac12 V_T(y, y'))}
                    {\sum_{y''} \exp(\mu_T(y, y'') + \tfrac12 V_T(y, y''))}
"""

from __future__ import annotations

from tagsift.backend import softmax
from tagsift.typing import Array

__all__ = ["emission_scores", "transition_scores"]


def emission_scores(mu: Array, var: Array) -> Array:
    """Equation (27): score of every label at every token, rows sum to 1, [N, L]."""
    return softmax(mu + 0.5 * var, axis=1)  # [N, L]


def transition_scores(mu_T: Array, var_T: Array) -> Array:
    """Equation (28): score of label y' after y, rows sum to 1, [L, L]."""
    return softmax(mu_T + 0.5 * var_T, axis=1)  # [L, L]
