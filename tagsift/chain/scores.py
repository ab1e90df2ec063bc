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

import numpy as np

from tagsift.backend import asarray, namespace, softmax
from tagsift.typing import Array

__all__ = [
    "emission_scores",
    "label_probability",
    "sampled_probability",
    "transition_scores",
]


def label_probability(f: Array) -> Array:
    """Equation (26): probability of every label given the latent values, […, L]."""
    return softmax(f, axis=-1)  # […, L]


def sampled_probability(mu: Array, var: Array, n_samples: int, seed: int) -> Array:
    """Equation (25) by sampling: the softmax averaged over q(f), [N, L]."""
    xp = namespace(mu)
    rng = np.random.default_rng(seed)
    total = xp.zeros_like(mu)  # [N, L]
    for _ in range(n_samples):
        noise = asarray(rng.standard_normal(mu.shape), like=mu)  # [N, L]
        total = total + label_probability(mu + xp.sqrt(var) * noise)  # [N, L]
    return total / n_samples  # [N, L]


def emission_scores(mu: Array, var: Array) -> Array:
    """Equation (27): score of every label at every token, rows sum to 1, [N, L]."""
    return softmax(mu + 0.5 * var, axis=1)  # [N, L]


def transition_scores(mu_T: Array, var_T: Array) -> Array:
    """Equation (28): score of label y' after y, rows sum to 1, [L, L]."""
    return softmax(mu_T + 0.5 * var_T, axis=1)  # [L, L]
