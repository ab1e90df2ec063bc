r"""How sure we are of each candidate: the confidence measure.

Equation (17), Reading R2 (the exponential closes after ½V, as in Equation (27)):

.. math::

    c_a^j = \frac{\exp(\mu(x_a, y_a^j) + \tfrac12 V(x_a, y_a^j))}
                 {\sum_{j'} \exp(\mu(x_a, y_a^{j'}) + \tfrac12 V(x_a, y_a^{j'}))}

Where the labels come with weights instead of sets, every exponential is multiplied by
the weight of its label (Reading R10); a set is the weight 1 inside and 0 outside.
"""

from __future__ import annotations

from tagsift.backend import namespace, softmax
from tagsift.typing import Array

__all__ = ["confidence", "literal_confidence", "pair_confidence_sums"]


def confidence(mu: Array, var: Array, evidence: Array) -> Array:
    """Softmax of μ + ½V over the candidates; Equation (17), Readings R2 and R10."""
    return softmax(mu + 0.5 * var + evidence, axis=1)  # [N, L]


def literal_confidence(mu: Array, var: Array, evidence: Array) -> Array:
    """Equation (17) as printed: (exp(μ) + ½V) over its sum on the candidates.

    Both parts are divided by the row's largest exp(μ), which leaves the ratio as it is
    and keeps it finite; labels with weights as in `confidence`.
    """
    xp = namespace(mu)
    weights = xp.exp(evidence)  # [N, L]
    candidates = xp.where(weights > 0, mu, xp.full_like(mu, -xp.inf))  # [N, L]
    top = xp.max(candidates, axis=1, keepdims=True)  # [N, 1]
    wide = 0.5 * var * xp.exp(-xp.clip(top, -50.0, 700.0))  # [N, L]
    score = weights * (xp.exp(candidates - top) + wide)  # [N, L]
    return score / xp.sum(score, axis=1, keepdims=True)  # [N, L]


def pair_confidence_sums(
    mu_T: Array, var_T: Array, left: Array, right: Array
) -> tuple[Array, Array]:
    """Equation (17) for transitions, summed over all neighbouring tokens, [L, L].

    These have the label weights `left` and `right`, [P, L]. With the sums comes how
    many pairs have (y, y') among their candidates.
    """
    xp = namespace(mu_T)
    score = mu_T + 0.5 * var_T  # [L, L]
    weight = xp.exp(score - xp.max(score))  # [L, L]
    norm = xp.sum((left @ weight) * right, axis=1)  # [P]
    tiny = xp.where(norm > 0, norm, xp.ones_like(norm))  # [P]
    sums = weight * (left.T @ (right / tiny[:, None]))  # [L, L]
    present = [xp.astype(side > 0, side.dtype) for side in (left, right)]  # [P, L]
    return sums, present[0].T @ present[1]
