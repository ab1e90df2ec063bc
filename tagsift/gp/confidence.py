r"""How sure we are of each candidate: the confidence measure.

Equation (17), Reading R2 (the exponential closes after ½V, as in Equation (27)):

.. math::

    c_a^j = \frac{\exp(\mu(x_a, y_a^j) + \tfrac12 V(x_a, y_a^j))}
                 {\sum_{j'} \exp(\mu(x_a, y_a^{j'}) + \tfrac12 V(x_a, y_a^{j'}))}
"""

from __future__ import annotations

from tagsift.backend import namespace, softmax
from tagsift.typing import Array

__all__ = [
    "confidence",
    "literal_confidence",
    "pair_confidence_sums",
    "pair_weight_sums",
]


def confidence(mu: Array, var: Array, mask: Array) -> Array:
    """Softmax of μ + ½V over the candidates; Equation (17), Reading R2.

    Parameters
    ----------
    mu, var : arrays of shape (n_tokens, n_labels)
        Posterior moments of the latent values.
    mask : array of bool, shape (n_tokens, n_labels)
        Candidate sets.

    Returns
    -------
    array of shape (n_tokens, n_labels)
        Rows sum to 1; 0 outside the candidates.
    """
    xp = namespace(mu)
    score = mu + 0.5 * var  # [N, L]
    return softmax(xp.where(mask, score, -xp.inf * xp.ones_like(score)), axis=1)


def literal_confidence(mu: Array, var: Array, mask: Array) -> Array:
    """Equation (17) as printed: (exp(μ) + ½V) over its sum on the candidates.

    Both parts are divided by the row's largest exp(μ), which leaves the ratio as it is
    and keeps it finite.
    """
    xp = namespace(mu)
    allowed = xp.where(mask, mu, -xp.inf * xp.ones_like(mu))  # [N, L]
    top = xp.max(allowed, axis=1, keepdims=True)  # [N, 1]
    score = xp.exp(allowed - top) + xp.where(
        mask, 0.5 * var * xp.exp(-xp.clip(top, -50.0, 700.0)), xp.zeros_like(var)
    )  # [N, L]
    return score / xp.sum(score, axis=1, keepdims=True)  # [N, L]


def pair_confidence_sums(
    mu_T: Array, var_T: Array, left: Array, right: Array
) -> tuple[Array, Array]:
    """Equation (17) for transitions, summed over all neighbouring tokens.

    Parameters
    ----------
    mu_T, var_T : arrays of shape (n_labels, n_labels)
        Posterior moments of the transition latents.
    left, right : arrays of shape (n_pairs, n_labels)
        Candidate sets of the left and right tokens, as numbers 0 and 1.

    Returns
    -------
    sums : array of shape (n_labels, n_labels)
        Σ c(y, y') over the pairs of neighbours.
    counts : array of shape (n_labels, n_labels)
        How many pairs have (y, y') among their candidates.
    """
    xp = namespace(mu_T)
    score = mu_T + 0.5 * var_T  # [L, L]
    weight = xp.exp(score - xp.max(score))  # [L, L]
    norm = xp.sum((left @ weight) * right, axis=1)  # [P]
    tiny = xp.where(norm > 0, norm, xp.ones_like(norm))  # [P]
    sums = weight * (left.T @ (right / tiny[:, None]))  # [L, L]
    return sums, left.T @ right


def pair_weight_sums(left: Array, right: Array) -> Array:
    """Weights of the literal reading: 1 for every candidate pair, summed, [L, L]."""
    return left.T @ right  # [L, L]
