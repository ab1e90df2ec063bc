r"""Confidences fitted to looks: a temperature, biases of labels, and a floor.

With the confidences p of the model,

.. math:: q_y = (1 - \epsilon)\, \frac{p_y^{\theta} e^{b_y}}
          {\sum_k p_k^{\theta} e^{b_k}} + \epsilon\, u_y,

where u are the shares of labels that were found true, ε is the chance of what nobody
saw, and :math:`b_y = \beta [y = O] + d_y`: a bias of ``O``, and one of each label that
is drawn towards 0. They are fitted by the likelihood of the right labels of sentences
that were looked at, each weighted by the inverse of its chance, under a normal prior
around the confidences as they are: few looks change little.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit, softmax

from tagsift.typing import FloatArray, IntArray

__all__ = ["PRIOR", "Prior", "Recalibration", "fit_to_looks"]


@dataclass(frozen=True)
class Prior:
    """Where the numbers are before any look, and how far they may be from there.

    Set by ``python -m experiments audit``, on sets that it does not report as tests.
    """

    temperature: float = 0.5  # standard deviation of log θ
    outside: float = 1.5  # of the bias of `O`
    label: float = 0.5  # of the bias of a label besides
    floor: float = 0.001  # ε before any look
    floor_spread: float = 1.5  # standard deviation of the log-odds of ε
    smoothing: float = 20.0  # tokens that speak for the model's shares of labels
    least: float = 1e-6  # the least probability that a model is taken to give


PRIOR = Prior()


@dataclass(frozen=True)
class Recalibration:
    """What the looks say of the confidences of a model."""

    exponent: float  # θ
    bias: FloatArray  # [L]
    floor: float  # ε
    shares: FloatArray  # [L]  u
    least: float = PRIOR.least

    def __call__(self, marginals: FloatArray) -> FloatArray:
        """The confidences as they are after the looks, [N, L]."""
        scores = self.exponent * np.log(np.maximum(marginals, self.least)) + self.bias
        return np.asarray(
            (1 - self.floor) * softmax(scores, axis=1) + self.floor * self.shares
        )


def fit_to_looks(
    marginals: FloatArray,
    truth: IntArray,
    weights: FloatArray,
    outside: int,
    shares: FloatArray,
    prior: Prior = PRIOR,
) -> Recalibration:
    """Fit the numbers to the tokens of sentences that were looked at.

    Parameters
    ----------
    marginals : ndarray of shape (M, L)
        Probabilities of the labels of these tokens, before the looks.
    truth, weights : ndarray of shape (M,)
        The right labels, and what each token counts; a mean of 1 is due.
    outside : int
        The column of ``O``; −1 without one.
    shares : ndarray of shape (L,)
        What the model expects of the shares of all labels.
    """
    log_p = np.log(np.maximum(marginals, prior.least))  # [M, L]
    n, width = log_p.shape
    counts = np.bincount(truth, weights, minlength=width) + prior.smoothing * shares
    u = counts / counts.sum()  # [L]
    rows, is_o = np.arange(n), np.zeros(width)
    if outside >= 0:
        is_o[outside] = 1.0
    spread = [prior.temperature, prior.outside, prior.floor_spread]
    spreads = np.array([*spread, *[prior.label] * width])

    def loss(x: FloatArray) -> tuple[float, FloatArray]:
        theta, epsilon = np.exp(x[0]), expit(x[2] + logit(prior.floor))
        bias = x[1] * is_o + x[3:]
        s = softmax(theta * log_p + bias, axis=1)  # [M, L]
        own = s[rows, truth]  # [M]
        q = (1 - epsilon) * own + epsilon * u[truth]  # [M]
        part = weights * (1 - epsilon) * own / q  # [M]: weight of each log-softmax
        lift = -part[:, None] * s  # [M, L]
        lift[rows, truth] += part
        slope = lift.sum(axis=0)  # [L]
        gain = np.array(
            [
                theta * np.sum(lift * log_p),
                slope @ is_o,
                epsilon * (1 - epsilon) * np.sum(weights * (u[truth] - own) / q),
            ]
        )
        value = -weights @ np.log(q) + 0.5 * np.sum((x / spreads) ** 2)
        return float(value), x / spreads**2 - np.concatenate([gain, slope])

    found = minimize(loss, np.zeros(3 + width), jac=True, method="L-BFGS-B").x
    floor = float(expit(found[2] + logit(prior.floor)))
    bias = found[1] * is_o + found[3:]
    return Recalibration(float(np.exp(found[0])), bias, floor, u, prior.least)
