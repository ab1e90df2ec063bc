"""The conditional random field on candidate sets: what a careful user takes today."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tagsift.base import Method, SequenceTagger, TrainingSet
from tagsift.baselines._tuning import Tuning, tune
from tagsift.chain.lbfgs import minimise
from tagsift.chain.linear_chain import LinearChain
from tagsift.chain.objective import ChainObjective
from tagsift.data import allowed_transitions
from tagsift.features import FeatureMatrix
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
    weights_ : LinearChain
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
        found = minimise(
            objective,
            np.zeros(objective.n_parameters),
            max_iter=self.max_iter,
            tol=self.tol,
            title=self.method.title,
            verbose=bool(self.verbose),
            warn=True,
        )
        self.objective_, self.n_iter_ = -found.value, found.n_iter
        self.weights_ = objective.weights(found.x)
        recovered, self._train_confidences = self.weights_.recover(
            train.features, train.log_evidence
        )
        return recovered

    def _predict(self, features: FeatureMatrix) -> IntArray:
        if self.decoder == "marginal":
            return np.asarray(self._marginals(features).argmax(axis=1))  # [M]
        if self.decoder == "valid":
            names = [str(name) for name in self.classes_]
            return self.weights_.best(
                features, allowed_transitions(names, self.scheme_)
            )
        return self.weights_.best(features)

    def _marginals(self, features: FeatureMatrix) -> FloatArray:
        return self.weights_.marginals(features)

    def _restricted(
        self,
        features: FeatureMatrix,
        mask: BoolArray,
        evidence: FloatArray | None = None,
    ) -> tuple[IntArray, FloatArray]:
        return self.weights_.recover(features, mask if evidence is None else evidence)

    def _log_likelihood(self, held_out: TrainingSet) -> float:
        """Return log Z_S − log Z, summed over sentences that were not trained on."""
        likelihood = self.weights_.log_likelihood(
            held_out.features, held_out.log_evidence
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
        self.weights_ = LinearChain(
            emissions=arrays["emissions"],
            bias=arrays["bias"],
            transitions=arrays["transitions"],
            start=arrays["start"],
        )
