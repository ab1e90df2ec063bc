"""ChainGP: a Gaussian process on the lattices of partly labelled sentences."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Integral, Interval, Real, StrOptions

from tagsift.backend import (
    asarray,
    available_device,
    namespace,
    to_numpy,
    use_device,
)
from tagsift.base import Method, TrainingSet
from tagsift.chain.lattice import forward_backward
from tagsift.chain.layout import ChainLayout
from tagsift.chain.lbfgs import lbfgs
from tagsift.chain.linear_chain import (
    ChainObjective,
    ChainWeights,
    TransitionPrior,
)
from tagsift.chain.viterbi import viterbi
from tagsift.errors import ConvergenceWarning
from tagsift.features import FeatureMatrix
from tagsift.gp.fitted import pack_matrix, unpack_matrix
from tagsift.gp.groups import (
    GroupKernel,
    InducingColumns,
    rbf_inputs,
    scaled_features,
    uncarried_variance,
)
from tagsift.gp.weight_space import Spread
from tagsift.models.constraints import scheme_constraints
from tagsift.models.kernel_choice import draw_sentences, learn_kernels, read_kernel
from tagsift.models.label_sets import SetTagger
from tagsift.models.temperature import (
    best_temperature,
    held_out_likelihood,
    hold_out,
    tempered,
)
from tagsift.progress import progress
from tagsift.typing import Array, BoolArray, FloatArray, IntArray, Label

__all__ = ["ChainGP"]

#: Most tokens that the choice between kernels and the temperature look at.
_JUDGE_TOKENS = 20_000
#: Share of the inducing points that the RBF part of the sparse groups gets.
_SPARSE_SHARE = 1 / 3
#: Prior mean of transitions that the tag scheme forbids.
_BANNED = -5.0
#: How much rougher the fits without the held-out sentences are.
_ROUGH = 10.0


class ChainGP(SetTagger):
    """Structured Gaussian process on the candidate lattice.

    The latent values are a Gaussian process whose kernel is a sum over feature groups:
    linear parts in weight space, RBF parts through inducing points. The likelihood of a
    partly labelled sentence is that of all label sequences its candidates allow, summed
    by forward–backward. The posterior mode is found by quasi-Newton steps, the
    hyperparameters by the gradient of Laplace's evidence. A fifth of the training
    sentences, whose labels may be partial too, is held out of one more fit to set a
    temperature, and to say whether what the evidence learnt is better than where it
    began, or the middle between the two.

    Parameters
    ----------
    kernel : dict, optional
        Hyperparameters to use instead of learning them, as ``kernel_.as_dict()`` gives.
    rbf : bool
        Whether there are RBF parts beside the linear ones.
    n_inducing : int
        Inducing points of the RBF part of a dense group; that of the sparse groups,
        which adds less to its linear parts, has a third of them.
    constraints : {"scheme", "none"}
        Whether the tag scheme forbids transitions (an ``I-`` never opens a sentence in
        IOB2). Used only where the scheme was given or seen in exact sentences.
    temperature : float or "held-out"
        By what the scores are divided in `predict_marginals`; ``"held-out"`` sets it by
        the likelihood of a fifth of the training sentences, fitted without them, and
        stays near 1 unless they disagree.
    decoder : {"viterbi", "marginal"}
        The best label sequence, or the best label of each token.
    max_iter, tol
        Most quasi-Newton steps, and the relative change at which to stop.
    device : {"cpu", "cuda"}
        Where the modes are found and sentences are tagged: NumPy, or PyTorch on a GPU.
        Hyperparameters are learnt, from few sentences, by NumPy.
    features, labels, scheme, random_state, verbose
        As in `tagsift.base.SequenceTagger`.

    Attributes
    ----------
    kernel_ : GroupKernel
        Hyperparameters in force.
    evidence_ : float or None
        Laplace's evidence of the sentences they were learnt from.
    temperature_ : float
        The temperature in force.
    history_ : list of dict
        Evidence and hyperparameters of every trial.
    n_iter_ : int
        Quasi-Newton steps of the final fit.
    lower_bound_ : float
        Log-posterior at the mode, up to a constant.

    Examples
    --------
    >>> import tagsift
    >>> X = [["the", "cat"], ["a", "dog"]] * 5
    >>> y = [[{"D"}, {"N", "D"}], [{"D", "V"}, {"N"}]] * 5
    >>> model = tagsift.ChainGP().fit(X, y)
    >>> model.recovered_[0]
    ['D', 'N']
    """

    method: ClassVar[Method] = Method(
        name="chain-gp",
        title="ChainGP",
        family="structured Gaussian process",
        disambiguation="marginal likelihood",
        structured=True,
        probabilities=True,
        settings="everything learnt; n_inducing=300",
        cost="steps · (features + N·M·L + N·L²)",
        source="this package",
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [dict, None],
        "rbf": ["boolean"],
        "n_inducing": [Interval(Integral, 1, None, closed="left")],
        "constraints": [StrOptions({"scheme", "none"})],
        "temperature": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"held-out"}),
        ],
        "decoder": [StrOptions({"viterbi", "marginal"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "device": [str],
    }

    def __init__(
        self,
        *,
        kernel: dict[str, Any] | None = None,
        rbf: bool = True,
        n_inducing: int = 300,
        constraints: str = "scheme",
        temperature: float | str = "held-out",
        decoder: str = "viterbi",
        max_iter: int = 300,
        tol: float = 1e-5,
        device: str = "cpu",
        features: Any = None,
        labels: Iterable[Label] | None = None,
        scheme: str = "auto",
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            features=features,
            labels=labels,
            scheme=scheme,
            random_state=random_state,
            verbose=verbose,
        )
        self.kernel = kernel
        self.rbf = rbf
        self.n_inducing = n_inducing
        self.constraints = constraints
        self.temperature = temperature
        self.decoder = decoder
        self.max_iter = max_iter
        self.tol = tol
        self.device = device

    # Fit -----------------------------------------------------------------------

    def _fit(self, train: TrainingSet) -> IntArray:
        use_device(self.device)  # or say so before the work begins
        self.allowed_ = scheme_constraints(
            train,
            known=self.constraints == "scheme"
            and (self.scheme != "auto" or bool(train.exact_sequences.any())),
        )
        part = draw_sentences(train, _JUDGE_TOKENS, stream=30)
        best: _Trial | None = None
        for kernel in self._learn(train):
            trial = self._held_out(part, kernel)
            if best is None or trial.likelihood > best.likelihood:
                best = trial
        assert best is not None  # there is at least one kernel
        self.kernel_, self.temperature_ = best.kernel, best.temperature
        self.columns_, phi = best.columns, best.phi
        if part is not train:
            self.columns_, phi = self._whiten(train, best.kernel)
        objective = self._objective(phi, train.mask, best.kernel)
        w = self._minimise(objective, "ChainGP: mode", self.tol, warn=True)  # [P]
        self.weights_ = objective.weights(w)
        self.spread_ = Spread.at_mode(
            phi, self._full_marginals(phi), np.asarray(train.mask.any(axis=0))
        )
        recovered, self._train_confidences = self._restrict(phi, train.mask)
        return recovered

    def _prior_means(self) -> tuple[FloatArray, FloatArray]:
        """What the scheme forbids starts far below the rest, [L, L] and [L]."""
        allowed, first, _ = self.allowed_
        return np.where(allowed, 0.0, _BANNED), np.where(first, 0.0, _BANNED)

    def _objective(
        self, phi: FeatureMatrix, mask: BoolArray, kernel: GroupKernel
    ) -> ChainObjective:
        """Minus log-posterior in whitened coordinates."""
        prior = TransitionPrior(
            *self._prior_means(), kernel.transition**0.5, kernel.bias**0.5
        )
        device = use_device(self.device)
        return ChainObjective(phi, mask, 1.0, prior, single=True, device=device)

    def _learn(self, train: TrainingSet) -> list[GroupKernel]:
        """Kernels to choose from."""
        self.evidence_: float | None = None
        self.history_: list[dict[str, Any]] = []
        if self.kernel is not None:
            return [read_kernel(self.kernel, train.features)]
        learnt = learn_kernels(
            train,
            *self._prior_means(),
            rbf=self.rbf,
            enabled=bool(self.verbose),
        )
        self.evidence_, self.history_ = learnt.evidence, learnt.history
        return learnt.kernels

    def _whiten(
        self, train: TrainingSet, kernel: GroupKernel
    ) -> tuple[dict[str, InducingColumns], FeatureMatrix]:
        """Inducing points of the RBF parts, and whitened features."""
        inputs = rbf_inputs(train.features)
        parts = {}
        for name, (_, theta) in kernel.rbf.items():
            share = _SPARSE_SHARE if sp.issparse(inputs[name]) else 1.0
            parts[name] = InducingColumns.choose(
                inputs[name],
                train.mask,
                theta,
                max(1, round(share * self.n_inducing)),
                train.seed,
            )
        columns = self._rbf_columns(parts, inputs)
        return parts, scaled_features(train.features, kernel, columns)

    def _rbf_columns(
        self, parts: Mapping[str, InducingColumns], inputs: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Columns of the RBF parts at unit amplitude."""
        device = use_device(self.device)
        return {
            name: part.columns(inputs[name], device) for name, part in parts.items()
        }

    def _held_out(self, train: TrainingSet, kernel: GroupKernel) -> _Trial:
        """Likelihood of sentences held out of a rougher fit, at its best temperature.

        The labels of the held-out sentences may be as partial as all others.
        """
        columns, phi = self._whiten(train, kernel)
        asked = self.temperature
        given = None if isinstance(asked, str) else float(asked)
        parts = hold_out(train)
        if parts is None or (given is not None and self.kernel is not None):
            return _Trial(kernel, given or 1.0, 0.0, columns, phi)
        whole = TrainingSet(phi, train.mask, train.classes, train.scheme, train.seed)
        seen, unseen = (whole.take_sequences(part) for part in parts)
        objective = self._objective(seen.features, seen.mask, kernel)
        w = self._minimise(
            objective, "ChainGP: held out", _ROUGH * self.tol, warn=False
        )
        weights = objective.weights(w)
        temperature = given or best_temperature(weights, unseen)
        likelihood = held_out_likelihood(weights, unseen, temperature)
        return _Trial(kernel, temperature, likelihood, columns, phi)

    def _minimise(
        self, objective: ChainObjective, title: str, tol: float, *, warn: bool
    ) -> Array:
        """Run quasi-Newton steps from zero to the mode, [P]."""
        w = asarray(np.zeros(objective.n_parameters), device=objective.device)  # [P]
        self.n_iter_, value, change = 0, objective(w)[0], 0.0
        steps = progress(
            lbfgs(objective, w), title, enabled=bool(self.verbose), total=self.max_iter
        )
        for step in steps:
            w, value, change = step.x, step.value, step.change
            self.n_iter_ += 1
            if change <= tol or self.n_iter_ == self.max_iter:
                break
        if warn and change > tol:
            warnings.warn(
                f"ChainGP stopped after max_iter={self.max_iter} steps, the last of "
                f"which changed the objective by {change:.1e} of its value; raise "
                "max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
        self.lower_bound_ = -float(value)
        return w

    # Predict -------------------------------------------------------------------

    def _phi(self, features: FeatureMatrix) -> FeatureMatrix:
        """Whitened features of new tokens."""
        columns = self._rbf_columns(self.columns_, rbf_inputs(features))
        return scaled_features(features, self.kernel_, columns)

    def _full_marginals(self, phi: FeatureMatrix) -> FloatArray:
        weights = tempered(self.weights_, self.temperature_)
        weights = weights.on(use_device(self.device))
        marginals: FloatArray = to_numpy(
            forward_backward(
                weights.scores(phi),
                weights.transitions,
                ChainLayout.from_offsets(phi.offsets),
                start=weights.start,
            ).marginals
        )  # [M, L]
        return marginals

    def _marginals(self, features: FeatureMatrix) -> FloatArray:
        return self._full_marginals(self._phi(features))

    def _predict(self, features: FeatureMatrix) -> IntArray:
        phi = self._phi(features)
        if self.decoder == "marginal":
            return np.asarray(self._full_marginals(phi).argmax(axis=1))  # [M]
        allowed, first, last = self.allowed_
        weights = self.weights_.on(use_device(self.device))
        labels: IntArray = to_numpy(
            viterbi(
                weights.scores(phi),
                weights.transitions,
                ChainLayout.from_offsets(phi.offsets),
                start=weights.start,
                allowed=allowed,
                allowed_start=first,
                allowed_end=last,
            )
        )  # [M]
        return labels

    def predict_latent(self, X: Any) -> tuple[list[FloatArray], list[FloatArray]]:
        """Means of the latent values, and variances of their label differences.

        The common shift of all labels is not determined by any data, so the variances
        are those of f_y − mean_y f.

        Returns
        -------
        means, variances : lists of ndarray of shape (T, L)
            One pair per sentence; −inf and 0 for labels that were never a candidate.
        """
        features = self._transform(X)
        phi = self._phi(features)
        rest = uncarried_variance(phi, self.kernel_)  # [M]
        return (
            features.split(self.weights_.scores(phi)),
            features.split(self.spread_.difference_variance(phi, rest)),
        )

    def _restricted(
        self, features: FeatureMatrix, mask: BoolArray
    ) -> tuple[IntArray, FloatArray]:
        return self._restrict(self._phi(features), mask)

    def _restrict(
        self, phi: FeatureMatrix, mask: BoolArray
    ) -> tuple[IntArray, FloatArray]:
        """Likeliest candidates by the restricted lattice, and its marginals."""
        weights = self.weights_.on(use_device(self.device))
        U = weights.scores(phi)  # [M, L]
        xp = namespace(U)
        unknown = ~(mask & self.weights_.possible).any(axis=1, keepdims=True)  # [M, 1]
        reset = asarray(mask & unknown, like=U)  # [M, L]
        C: FloatArray = to_numpy(
            forward_backward(
                xp.where(reset, xp.zeros_like(U), U),
                weights.transitions,
                ChainLayout.from_offsets(phi.offsets),
                start=weights.start,
                mask=mask,
            ).marginals
        )  # [M, L]
        return np.where(mask, C, -1.0).argmax(axis=1), C

    # Save ----------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
        allowed, first, last = self.allowed_
        arrays: dict[str, np.ndarray[Any, Any]] = {
            "emissions": self.weights_.emissions,
            "bias": self.weights_.bias,
            "transitions": self.weights_.transitions,
            "start": self.weights_.start,
            "allowed": allowed,
            "first": first,
            "last": last,
            "spread": self.spread_.precision,
        }
        if hasattr(self, "set_scores_"):
            arrays["set_scores"] = self.set_scores_
        thetas = {}
        for name, part in self.columns_.items():
            arrays |= pack_matrix(f"points/{name}", part.points)
            arrays[f"root/{name}"] = part.root
            thetas[name] = part.theta
        meta = {
            "kernel": self.kernel_.as_dict(),
            "thetas": thetas,
            "temperature": self.temperature_,
            "evidence": self.evidence_,
            "lower_bound": self.lower_bound_,
            "n_iter": self.n_iter_,
        }
        return meta, arrays

    def _restore(
        self, meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]
    ) -> None:
        self.device = available_device(self.device)
        self.kernel_ = GroupKernel.from_dict(meta["kernel"])
        self.weights_ = ChainWeights(
            arrays["emissions"],
            arrays["bias"],
            arrays["transitions"],
            arrays["start"],
        )
        self.allowed_ = arrays["allowed"], arrays["first"], arrays["last"]
        self.columns_ = {
            name: InducingColumns(
                unpack_matrix(f"points/{name}", arrays), arrays[f"root/{name}"], theta
            )
            for name, theta in meta["thetas"].items()
        }
        self.spread_ = Spread(arrays["spread"])
        if "set_scores" in arrays:
            self.set_scores_ = arrays["set_scores"]
        self.temperature_ = float(meta["temperature"])
        self.evidence_ = meta["evidence"]
        self.lower_bound_ = float(meta["lower_bound"])
        self.n_iter_ = int(meta["n_iter"])
        self.history_ = []


@dataclass(frozen=True)
class _Trial:
    """A kernel, its temperature and Φ, and how likely it makes held-out labels."""

    kernel: GroupKernel
    temperature: float
    likelihood: float
    columns: dict[str, InducingColumns]
    phi: FeatureMatrix
