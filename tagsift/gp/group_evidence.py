r"""Hyperparameters of a sum of kernels by the gradient of Laplace's evidence.

On a seeded part of the training sentences, with the chain likelihood: at the mode
:math:`\hat f` with gradient g = w − p (restricted minus full marginals) and curvature
λ = p(1 − p) − w(1 − w), clipped at 0,

.. math:: E = \log Z_S(\hat f) - \log Z(\hat f) - \tfrac12 |\hat w|^2
          - \tfrac12 \sum_y \log|B_y| - \tfrac12 \sum \log(1 + \sigma_t^2 h)

with B = I + √λ K √λ and h the curvature of the transitions. All labels share K, a sum
of group matrices that are formed once, so one N × N matrix of sensitivities gives the
derivative in every hyperparameter:

.. math:: \frac{\partial E}{\partial K} = \sum_y \tfrac12 (g g^T - \sqrt\lambda B^{-1}
          \sqrt\lambda) + \mathrm{sym}(q g^T)

where q carries the dependence of λ on the mode: q = (I + ΛK)⁻¹ s and
s = ∂(−½ log|B|)/∂f. The curvature between tokens and between labels is left out of B
and of q.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagsift.backend import cho_solve, cholesky
from tagsift.chain.lattice import forward_backward
from tagsift.chain.lbfgs import lbfgs
from tagsift.chain.linear_chain import ChainObjective, TransitionPrior
from tagsift.features import FeatureMatrix
from tagsift.gp.groups import GroupKernel, rbf_inputs, scaled_features
from tagsift.gp.kernels import squared_distances
from tagsift.typing import BoolArray, FloatArray

__all__ = ["Evidence", "GroupEvidence", "learn_groups"]

#: Most quasi-Newton steps towards the mode at one trial, and when it counts as found.
_MAX_STEPS, _TOLERANCE = 150, 1e-6
#: How far a logarithm may move from where it starts, its first step, and the
#: derivative that counts as none.
_REACH, _FIRST_STEP, _FLAT = 6.0, 0.5, 0.1


@dataclass(frozen=True)
class Evidence:
    """Value and gradient of the evidence.

    Parameters
    ----------
    value : float
        E.
    gradient : ndarray of shape (n_hyperparameters,)
        In the logarithms, in the order of `GroupEvidence.names`.
    """

    value: float
    gradient: FloatArray


class GroupEvidence:
    """The evidence of some sentences as a function of the hyperparameters.

    Parameters
    ----------
    features : FeatureMatrix
        Features of the sentences.
    mask : ndarray of bool, shape (n_tokens, n_labels)
        Candidate sets.
    kernel : GroupKernel
        Says which parts there are.
    mean, mean_start : ndarrays of shapes (L, L) and (L,), optional
        Prior means of transition and start scores.
    """

    def __init__(
        self,
        features: FeatureMatrix,
        mask: BoolArray,
        kernel: GroupKernel,
        mean: FloatArray | None = None,
        mean_start: FloatArray | None = None,
    ) -> None:
        self.features, self.mask = features, mask
        self.mean, self.mean_start = mean, mean_start
        self.active = np.asarray(mask.any(axis=0))  # [L]
        self.linear = list(kernel.linear)
        self.rbf = list(kernel.rbf)
        self.grams = [_gram(features.block(name)) for name in self.linear]  # [N, N]
        inputs = rbf_inputs(features)
        self.distances = [
            squared_distances(inputs[name], inputs[name]) for name in self.rbf
        ]  # [N, N]
        self.w: FloatArray | None = None

    @property
    def names(self) -> list[str]:
        """What each entry of the logarithms is."""
        rbf = [part for name in self.rbf for part in (f"{name} σ²", f"{name} θ")]
        return [*self.linear, *rbf, "transition", "bias"]

    def pack(self, kernel: GroupKernel) -> FloatArray:
        """Logarithms of the hyperparameters."""
        values = [kernel.linear[name] for name in self.linear]
        for name in self.rbf:
            values += list(kernel.rbf[name])
        return np.log([*values, kernel.transition, kernel.bias])  # [H]

    def unpack(self, logs: FloatArray) -> GroupKernel:
        """Undo `pack`."""
        values = [float(v) for v in np.exp(logs)]
        n = len(self.linear)
        pairs = np.reshape(values[n:-2], (-1, 2))  # [R, 2]
        return GroupKernel(
            dict(zip(self.linear, values[:n], strict=True)),
            {
                name: (float(a), float(t))
                for name, (a, t) in zip(self.rbf, pairs, strict=True)
            },
            values[-2],
            values[-1],
        )

    def __call__(self, kernel: GroupKernel) -> Evidence:
        """Find the mode and evaluate the evidence there."""
        units = [
            np.exp(-kernel.rbf[name][1] * distance)
            for name, distance in zip(self.rbf, self.distances, strict=True)
        ]  # [N, N]
        objective = self._objective(kernel, units)
        value, w = self._mode(objective)
        K = self._total(kernel, units)  # [N, N]
        weights = objective.weights(w)
        p, g, pairs = self._marginals(objective, w)
        sensitivity, log_det = _sensitivity(K, p, g)
        transition = _transition_terms(
            weights.transitions[np.ix_(self.active, self.active)] - objective.mean_T,
            pairs,
            kernel.transition,
        )
        slope = self._slope(kernel, units, sensitivity)
        return Evidence(
            -value - 0.5 * log_det + transition[0],
            np.array([*slope[:-1], transition[1], slope[-1]]),
        )

    def _objective(
        self, kernel: GroupKernel, units: list[FloatArray]
    ) -> ChainObjective:
        """Whitened objective; RBF parts enter through their own factors."""
        columns = {
            name: cholesky(unit)[0] for name, unit in zip(self.rbf, units, strict=True)
        }  # [N, N]
        return ChainObjective(
            scaled_features(self.features, kernel, columns),
            self.mask,
            1.0,
            TransitionPrior(
                self.mean,
                self.mean_start,
                kernel.transition**0.5,
                kernel.bias**0.5,
            ),
        )

    def _mode(self, objective: ChainObjective) -> tuple[float, FloatArray]:
        """Minimise from the last mode; return the value and the weights."""
        w = self.w
        if w is None or len(w) != objective.n_parameters:
            w = np.zeros(objective.n_parameters)
        value = np.inf
        for k, step in enumerate(lbfgs(objective, w)):
            w, value = step.x, step.value
            if step.change < _TOLERANCE or k >= _MAX_STEPS:
                break
        if not np.isfinite(value):
            value = objective(w)[0]
        self.w = w
        return float(value), w

    def _marginals(
        self, objective: ChainObjective, w: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Full marginals p, g = restricted − full, and expected transition counts."""
        packed = objective.layout
        U, T, start = objective.scores(w)  # [N, A] in stacked order
        free = forward_backward(U, T, packed, start=start)
        tied = forward_backward(
            U, T, packed, start=start, mask=self.mask[:, self.active]
        )
        return free.marginals, tied.marginals - free.marginals, free.pairs

    def _total(self, kernel: GroupKernel, units: list[FloatArray]) -> FloatArray:
        """The sum of all parts, [N, N]."""
        K = np.full((self.features.n_tokens,) * 2, kernel.bias)  # [N, N]
        for name, gram in zip(self.linear, self.grams, strict=True):
            K += kernel.linear[name] * gram
        for name, unit in zip(self.rbf, units, strict=True):
            K += kernel.rbf[name][0] * unit
        return K

    def _slope(
        self, kernel: GroupKernel, units: list[FloatArray], sensitivity: FloatArray
    ) -> list[float]:
        """Derivatives in the logarithms of all kernel parts, the bias last."""
        slope = [
            kernel.linear[name] * float(np.vdot(sensitivity, gram))
            for name, gram in zip(self.linear, self.grams, strict=True)
        ]
        for name, unit, distance in zip(self.rbf, units, self.distances, strict=True):
            amplitude, theta = kernel.rbf[name]
            part = sensitivity * unit  # [N, N]
            slope.append(amplitude * float(part.sum()))
            slope.append(-amplitude * theta * float(np.vdot(part, distance)))
        return [*slope, kernel.bias * float(sensitivity.sum())]


def _gram(block: Any) -> FloatArray:
    """Inner products of one group, [N, N]."""
    product = block @ block.T  # [N, N]
    if sp.issparse(product):
        product = product.toarray()
    return np.asarray(product, dtype=np.float64)


def _sensitivity(
    K: FloatArray, p: FloatArray, g: FloatArray
) -> tuple[FloatArray, float]:
    """∂E/∂K, [N, N], and Σ_y log|B_y|."""
    n, n_labels = p.shape
    w = p + g  # [N, A]
    lam = np.maximum(p * (1.0 - p) - w * (1.0 - w), 0.0)  # [N, A]
    root = np.sqrt(lam)  # [N, A]
    total = 0.5 * (g @ g.T)  # [N, N]
    log_det = 0.0
    spread = np.empty_like(p)  # [N, A]: posterior variances
    inverses = []
    for y in range(n_labels):
        r = root[:, y]  # [N]
        B = r[:, None] * K * r[None, :]  # [N, N]
        B.reshape(-1)[:: n + 1] += 1.0
        L, _ = cholesky(B, overwrite=True)  # [N, N]
        log_det += 2.0 * float(np.log(L.diagonal()).sum())
        R = r[:, None] * cho_solve(L, np.diag(r))  # [N, N]
        spread[:, y] = K.diagonal() - np.einsum("ij,ij->i", K @ R, K)
        total -= 0.5 * R
        inverses.append(R)
    spread = np.where(lam > 0, spread, 0.0)  # [N, A]
    s = _pull(spread, w) - _pull(spread, p)  # [N, A]
    for y, R in enumerate(inverses):
        q = s[:, y] - R @ (K @ s[:, y])  # [N]
        total += 0.5 * (np.outer(q, g[:, y]) + np.outer(g[:, y], q))
    return total, log_det


def _pull(spread: FloatArray, p: FloatArray) -> FloatArray:
    """Derivative of ½ Σ v·p(1 − p) in the scores behind p, [N, A]."""
    inner = 0.5 * spread * (1.0 - 2.0 * p) * p  # [N, A]
    pull: FloatArray = inner - p * inner.sum(axis=1, keepdims=True)  # [N, A]
    return pull


def _transition_terms(
    T: FloatArray, pairs: FloatArray, variance: float
) -> tuple[float, float]:
    """Part of the evidence that belongs to the transitions, and its derivative."""
    rows = np.maximum(pairs.sum(axis=1, keepdims=True), 1e-12)  # [A, 1]
    h = pairs * (1.0 - pairs / rows)  # [A, A]
    shrink = variance * h / (1.0 + variance * h)  # [A, A]
    value = -0.5 * float(np.log1p(variance * h).sum())
    slope = 0.5 * float((T * T).sum()) / variance - 0.5 * float(shrink.sum())
    return value, slope


def learn_groups(
    evidence: GroupEvidence,
    kernel: GroupKernel,
    *,
    n_steps: int = 8,
    on_step: Callable[[float, GroupKernel], None] | None = None,
) -> tuple[GroupKernel, float]:
    """Climb the evidence in all hyperparameters, by the signs of its derivatives.

    Every logarithm has a step of its own, which grows while its derivative keeps its
    sign and shrinks when it turns (resilient propagation): the derivatives leave out
    some curvature, so their signs deserve more trust than their sizes.

    Parameters
    ----------
    evidence : GroupEvidence
        The function.
    kernel : GroupKernel
        Where to begin.
    n_steps : int
        Evaluations of the evidence.
    on_step : callable, optional
        Called with every (evidence, kernel) tried.

    Returns
    -------
    kernel : GroupKernel
        The best seen.
    value : float
        Its evidence.
    """
    start = evidence.pack(kernel)  # [H]
    logs, step = start.copy(), np.full(len(start), _FIRST_STEP)  # [H]
    last = np.zeros(len(start))  # [H]
    best_value, best = -np.inf, kernel
    for _ in range(n_steps):
        trial = evidence.unpack(logs)
        found = evidence(trial)
        if on_step is not None:
            on_step(found.value, trial)
        if found.value > best_value:
            best_value, best = found.value, trial
        sign = np.where(np.abs(found.gradient) > _FLAT, np.sign(found.gradient), 0.0)
        step *= np.where(sign * last > 0, 1.2, np.where(sign * last < 0, 0.4, 1.0))
        logs = np.clip(logs + sign * step, start - _REACH, start + _REACH)  # [H]
        last = sign
    return best, float(best_value)
