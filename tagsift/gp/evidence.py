r"""Hyperparameters of a sum of kernels by the gradient of Laplace's evidence.

On a seeded part of the training sentences, with the chain likelihood: at the mode
:math:`\hat f`, û in whitened coordinates, with gradient g = w − p (restricted minus
free marginals),

.. math:: E = \log Z(\hat f + e) - \log Z(\hat f) - \tfrac12 |\hat u|^2 + c \, D

where D are the log-determinants of `tagsift.gp.curvature`. All labels share K, a sum of
group matrices, so one N × N matrix gives the derivative in every hyperparameter:

.. math:: \frac{\partial E}{\partial K} = \tfrac12 \sum_y g_y g_y^T
          + c \frac{\partial D}{\partial K} + \mathrm{sym}(q g^T)

Here q = (I + HK)⁻¹ s carries the dependence of D on the mode, s its derivative in the
scores and H the curvature of the chain, whose products are differences of lattices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagsift.backend import cholesky
from tagsift.chain.lbfgs import minimise
from tagsift.chain.objective import ChainObjective, TransitionPrior
from tagsift.chain.potentials import log_evidence
from tagsift.features import FeatureMatrix
from tagsift.features.distances import squared_distances
from tagsift.gp.curvature import ChainPoint, Counts, Determinants, conjugate_gradient
from tagsift.gp.kernels import GroupKernel, rbf_inputs
from tagsift.gp.search import climb
from tagsift.typing import BoolArray, FloatArray

__all__ = ["GroupEvidence", "learn_groups"]

#: Factor of the determinants at which the evidence of a lone token hardly depends on
#: its prior variance, as it should.
_WEIGHT = 0.85
#: Most quasi-Newton steps towards the mode at one trial, and when it counts as found.
_MAX_STEPS, _TOLERANCE = 150, 1e-5
#: How far a logarithm may move from where it starts, and the size of an evidence whose
#: first quasi-Newton step is about right.
_REACH, _SCALE = 6.0, 30.0


class GroupEvidence:
    """The evidence of some sentences as a function of the hyperparameters.

    `kernel` says which parts there are, `weight` is the factor c of the determinants,
    and `cg_steps` are the products with the curvature that a gradient may take.
    """

    def __init__(
        self,
        features: FeatureMatrix,
        evidence: BoolArray | FloatArray,
        kernel: GroupKernel,
        mean: FloatArray | None = None,
        mean_start: FloatArray | None = None,
        *,
        weight: float = _WEIGHT,
        tol: float = _TOLERANCE,
        cg_steps: int = 8,
    ) -> None:
        self.offsets = features.offsets
        self.evidence = log_evidence(evidence)  # [N, L]
        self.mean, self.mean_start = mean, mean_start
        self.weight, self.tol, self.cg_steps = weight, tol, cg_steps
        self.active = np.asarray((self.evidence > -np.inf).any(axis=0))  # [L]
        self.linear = list(kernel.linear)
        self.rbf = list(kernel.rbf)
        self.grams = [_gram(features.block(name)) for name in self.linear]  # [N, N]
        inputs = rbf_inputs(features)
        self.distances = [
            squared_distances(inputs[name], inputs[name]) for name in self.rbf
        ]  # [N, N]
        self.last: ChainPoint | None = None

    def pack(self, kernel: GroupKernel) -> FloatArray:
        """Logarithms of σ² of the linear parts, σ² and θ of the others, and so on."""
        linear = [kernel.linear[name] for name in self.linear]
        rbf = [value for name in self.rbf for value in kernel.rbf[name]]
        return np.log([*linear, *rbf, kernel.transition, kernel.bias])  # [H]

    def unpack(self, logs: FloatArray) -> GroupKernel:
        """Undo `pack`."""
        *values, transition, bias = np.exp(logs).tolist()
        n = len(self.linear)
        linear = dict(zip(self.linear, values[:n], strict=True))
        pairs = zip(values[n::2], values[n + 1 :: 2], strict=True)
        rbf = dict(zip(self.rbf, pairs, strict=True))
        return GroupKernel(linear, rbf, transition, bias)

    def __call__(self, kernel: GroupKernel) -> tuple[float, FloatArray]:
        """Evidence at the mode, and its gradient in the logarithms, [H]."""
        units = [
            np.exp(-kernel.rbf[name][1] * distance)
            for name, distance in zip(self.rbf, self.distances, strict=True)
        ]  # [N, N]
        K = self._total(kernel, units)  # [N, N]
        root, _ = cholesky(K)  # [N, N]
        objective = self._objective(kernel, root)
        w = np.zeros(objective.n_parameters)  # [P]
        if self.last is not None:
            w = _whitened(objective, self.last.gradient)
        mode = minimise(objective, w, max_iter=_MAX_STEPS, tol=self.tol)
        self.last = point = self._point(objective, mode.x)
        dets = Determinants.of(K, kernel.transition, point, self.weight)
        q = self._pulled(objective, mode.x, point, dets.by_scores(point))
        g = point.gradient
        half = (0.5 * g.unary + q.unary) @ g.unary.T  # [N, N]
        sensitivity = dets.by_kernel + 0.5 * (half + half.T)  # [N, N]
        *slope, by_bias = self._slope(kernel, units, sensitivity)
        T, start = (kernel.transition * part for part in _collapse(point, g))
        q_T, q_start = _collapse(point, q)
        by_transition = dets.by_variance + float(
            0.5 * ((T * T).sum() + (start * start).sum()) / kernel.transition
            + (q_T * T).sum()
            + (q_start * start).sum()
        )
        slopes = np.array([*slope, by_transition, by_bias])  # [H]
        return dets.value - mode.value, slopes

    def _objective(self, kernel: GroupKernel, root: FloatArray) -> ChainObjective:
        """Whitened objective: scores are the factor of K times standard normals."""
        features = FeatureMatrix(("root",), (root,), self.offsets)
        scale = kernel.transition**0.5
        prior = TransitionPrior(self.mean, self.mean_start, scale, scale_bias=0.0)
        return ChainObjective(features, self.evidence, 1.0, prior)

    def _point(self, objective: ChainObjective, w: FloatArray) -> ChainPoint:
        """Lattices at the mode; start scores become part of the first tokens."""
        U, T, start = objective.scores(w)  # [N, A], [A, A], [A]
        layout = objective.layout
        U[layout.order[: layout.n_sentences]] += start
        return ChainPoint(U, T, layout, self.evidence[:, self.active])

    def _pulled(
        self, objective: ChainObjective, w: FloatArray, point: ChainPoint, s: Counts
    ) -> Counts:
        """Q = (I + WK)⁻¹ s, transitions and start scores taken along."""
        gradient = objective(w)[1]  # [P]

        def product(v: FloatArray) -> FloatArray:
            step = 1e-4 / max(float(np.linalg.norm(v)), 1e-300)
            change: FloatArray = (objective(w + step * v)[1] - gradient) / step  # [P]
            return change

        b = _whitened(objective, s)  # [P]
        a = conjugate_gradient(product, b, max_steps=self.cg_steps)  # [P]
        U, T, start = objective.scores(a)  # with the prior means, taken off again
        layout = objective.layout
        U[layout.order[: layout.n_sentences]] += start - objective.mean_start
        move = Counts(U, T - objective.mean_T)
        bend = point.moved(move, restricted=False) - point.moved(move, restricted=True)
        return s - bend

    def _total(self, kernel: GroupKernel, units: list[FloatArray]) -> FloatArray:
        """The sum of all parts, [N, N]."""
        n = len(self.evidence)
        K = np.full((n, n), kernel.bias)  # [N, N]
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


def _collapse(point: ChainPoint, counts: Counts) -> tuple[FloatArray, FloatArray]:
    """Parts of transitions and of start scores, [A, A] and [A]."""
    return counts.pairs, point.first(counts.unary).sum(axis=0)


def _whitened(objective: ChainObjective, counts: Counts) -> FloatArray:
    """Chain rule from the scores to the whitened parameters, [P]."""
    layout, scale = objective.layout, objective.scale
    packed = counts.unary[layout.order]  # [N, A]
    vector = np.zeros(objective.n_parameters)  # [P]
    _, dense, _, T, start = objective.split(vector)
    dense += objective.V.T @ packed
    T += scale * counts.pairs
    start += scale * packed[: layout.n_sentences].sum(axis=0)
    return vector


def learn_groups(
    evidence: GroupEvidence,
    kernel: GroupKernel,
    *,
    n_steps: int = 8,
    spread: float = 1.0,
    on_step: Callable[[float, GroupKernel], None] | None = None,
) -> tuple[GroupKernel, float]:
    """Climb the evidence in all hyperparameters, by quasi-Newton steps.

    The logarithms have a normal prior around where they begin: some thousand tokens
    cannot tell whether a group of rare features deserves small weights or none, and
    without the prior such groups are switched off.
    """
    start = evidence.pack(kernel)  # [H]

    def value(logs: FloatArray) -> tuple[float, FloatArray, tuple[GroupKernel, float]]:
        trial = evidence.unpack(logs)
        found, slope = evidence(trial)
        if on_step is not None:
            on_step(found, trial)
        shift = (logs - start) / spread  # [H]
        score = found - 0.5 * float(shift @ shift)
        return score, slope - shift / spread, (trial, found)

    bounds = [(log - _REACH, log + _REACH) for log in start]
    return climb(value, start, bounds, n_evaluations=n_steps, scale=_SCALE)
