"""The conditional random field on candidate sets: what a careful user takes today."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tagsift.base import Method, SequenceTagger, TrainingSet
from tagsift.baselines._tuning import Tuning, tune
from tagsift.chain.lattice import forward_backward
from tagsift.chain.layout import ChainLayout
from tagsift.chain.lbfgs import lbfgs
from tagsift.chain.linear_chain import ChainWeights, marginal_likelihood
from tagsift.chain.objective import ChainObjective
from tagsift.chain.viterbi import viterbi
from tagsift.data import allowed_transitions
from tagsift.errors import ConvergenceWarning
from tagsift.features import FeatureMatrix
from tagsift.progress import progress
from tagsift.typing import BoolArray, FloatArray, IntArray, Label

__all__ = ["PartialCRF"]


class PartialCRF(SequenceTagger):
    """Linear-chain conditional random field trained on the candidate lattice.

    Maximises Σ (log Z_S − log Z) − ½ λ |w|², where Z sums over all label sequences of a
    sentence and Z_S over those inside its candidate sets, by L-BFGS from zero. Weights
    of labels are factors of the terms of Z_S.

    Parameters
    ----------
    l2 : float
        Weight λ of the penalty.
    max_iter : int
        Most steps of the solver.
    tol : float
        The solver stops when a step lowers the objective by less than this share.
    decoder : {"viterbi", "marginal", "valid"}
        How labels are predicted: the best label sequence, the most probable label of
        every token, or the best among the label sequences that the tag scheme allows.
    tune : bool
        Whether to choose `l2` from 0.1, 0.3, 1, 3 and 10 on held-out training
        sequences first.
    features, labels, scheme, random_state, verbose
        As in `SequenceTagger`.

    Attributes
    ----------
    weights_ : ChainWeights
        Emissions, bias, transitions and start scores.
    l2_ : float
        The penalty in force.
    objective_ : float
        Penalised log-likelihood at the end of the fit.
    n_iter_ : int
        Steps taken.
    tuning_ : Tuning or None
        How `l2_` was chosen; None where it was given, and after loading.

    Examples
    --------
    >>> from tagsift.baselines import PartialCRF
    >>> X = [["a", "dog"], ["dog", "barks"]]
    >>> y = [["D", {"D", "N"}], ["N", {"N", "V"}]]
    >>> PartialCRF().fit(X, y).predict([["a", "dog"]])
    [['D', 'N']]
    """

    method: ClassVar[Method] = Method(
        name="partial-crf",
        title="Partial CRF",
        family="conditional random field",
        disambiguation="marginal likelihood",
        structured=True,
        probabilities=True,
        weighted=True,
        settings="l2 = 1 (grid 0.1, 0.3, 1, 3, 10), at most 200 steps of L-BFGS",
        cost="steps × two lattices: N L² and the sparse products",
        source="Tsuboi, Kashima, Mori, Oda, Matsumoto, COLING 2008",
    )
    #: What `tune` chooses from.
    grid: ClassVar[dict[str, tuple[float, ...]]] = {"l2": (0.1, 0.3, 1.0, 3.0, 10.0)}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "l2": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "decoder": [StrOptions({"viterbi", "marginal", "valid"})],
        "tune": ["boolean"],
    }

    def __init__(
        self,
        *,
        l2: float = 1.0,
        max_iter: int = 200,
        tol: float = 1e-6,
        decoder: str = "viterbi",
        tune: bool = False,
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
        self.l2 = l2
        self.max_iter = max_iter
        self.tol = tol
        self.decoder = decoder
        self.tune = tune

    def _fit(self, train: TrainingSet) -> IntArray:
        self.l2_ = float(self.l2)
        self.tuning_: Tuning | None = None
        if self.tune:
            self.tuning_ = tune(self, train, self.grid)
            self.l2_ = float(self.tuning_.settings["l2"])
        objective = ChainObjective(
            train.features,
            train.log_evidence,
            self.l2_,
            sample_weight=train.sample_weight,
        )
        w = self._minimise(objective)  # [P]
        self.weights_ = objective.weights(w)
        recovered, self._train_confidences = self._restricted(
            train.features, train.mask, train.evidence
        )
        return recovered

    def _minimise(self, objective: ChainObjective) -> FloatArray:
        """Run the solver from zero weights; return the parameter vector, [P]."""
        w = np.zeros(objective.n_parameters)  # [P]
        steps = progress(
            lbfgs(objective, w),
            self.method.title,
            enabled=bool(self.verbose),
            total=self.max_iter,
        )
        self.n_iter_ = 0
        for step in steps:
            w, self.objective_ = step.x, -step.value
            self.n_iter_ += 1
            if step.change <= self.tol:
                break
            if self.n_iter_ == self.max_iter:
                warnings.warn(
                    f"{self.method.title} stopped after {self.max_iter} steps, the "
                    f"last of which changed the objective by {step.change:.1e} of its "
                    f"value; raise max_iter to go on until {self.tol:.1e}.",
                    ConvergenceWarning,
                    stacklevel=2,
                )
                break
        if self.n_iter_ == 0:
            self.objective_ = -objective(w)[0]
        return w

    def _predict(self, features: FeatureMatrix) -> IntArray:
        if self.decoder == "marginal":
            return np.asarray(self._marginals(features).argmax(axis=1))  # [M]
        bans = {}
        if self.decoder == "valid":
            names = [str(name) for name in self.classes_]
            allowed, first, last = allowed_transitions(names, self.scheme_)
            bans = {"allowed": allowed, "allowed_start": first, "allowed_end": last}
        best: IntArray = viterbi(
            self.weights_.scores(features),
            self.weights_.transitions,
            ChainLayout.from_offsets(features.offsets),
            start=self.weights_.start,
            **bans,
        )  # [M]
        return best

    def _marginals(self, features: FeatureMatrix) -> FloatArray:
        marginals: FloatArray = forward_backward(
            self.weights_.scores(features),
            self.weights_.transitions,
            ChainLayout.from_offsets(features.offsets),
            start=self.weights_.start,
        ).marginals  # [M, L]
        return marginals

    def _restricted(
        self,
        features: FeatureMatrix,
        mask: BoolArray,
        evidence: FloatArray | None = None,
    ) -> tuple[IntArray, FloatArray]:
        """Return the likeliest candidates by the restricted lattice, and its marginals.

        Where no candidate of a token was one in training, its candidates score alike.
        """
        U = self.weights_.scores(features)  # [M, L]
        unknown = ~(mask & self.weights_.possible).any(axis=1)  # [M]
        U[unknown] = 0.0
        marginals = forward_backward(
            U,
            self.weights_.transitions,
            ChainLayout.from_offsets(features.offsets),
            start=self.weights_.start,
            mask=mask,
            evidence=evidence,
        ).marginals  # [M, L]
        return np.where(mask, marginals, -1.0).argmax(axis=1), marginals

    def _log_likelihood(self, held_out: TrainingSet) -> float:
        """Return log Z_S − log Z, summed over sentences that were not trained on."""
        likelihood = marginal_likelihood(
            self.weights_, held_out.features, held_out.log_evidence
        )  # [S']
        return float(likelihood.sum())

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
        meta = {"l2": self.l2_, "n_iter": self.n_iter_, "objective": self.objective_}
        weights = self.weights_
        return meta, {
            "emissions": weights.emissions,
            "bias": weights.bias,
            "transitions": weights.transitions,
            "start": weights.start,
        }

    def _restore(
        self, meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]
    ) -> None:
        self.l2_ = float(meta["l2"])
        self.n_iter_ = int(meta["n_iter"])
        self.objective_ = float(meta["objective"])
        self.tuning_ = None
        self.weights_ = ChainWeights(
            emissions=arrays["emissions"],
            bias=arrays["bias"],
            transitions=arrays["transitions"],
            start=arrays["start"],
        )
