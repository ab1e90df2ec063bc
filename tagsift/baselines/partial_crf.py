"""The conditional random field: on candidate sets, and on gold labels as a ceiling."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp

from tagsift.base import (
    AnyTrainingSet,
    Method,
    SequenceTagger,
    TrainingSet,
    Transduction,
    scheme_constraints,
    setting,
    way_through,
)
from tagsift.baselines._tuning import Tuning, tune
from tagsift.chain import (
    Allowed,
    ChainProblem,
    LinearChain,
    TransitionPrior,
    banned_means,
    max_expected_accuracy,
    minimise,
    with_span_bonus,
)
from tagsift.errors import InputError
from tagsift.features import FeatureMatrix
from tagsift.storage import Saved, number, part, whole
from tagsift.typing import FloatArray, IntArray

__all__ = ["CRF", "PartialCRF"]

#: What dense columns are multiplied by where votes are the evidence.
_DENSE = 3.0


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
    bans : bool
        Whether transitions that the tag scheme forbids start at a score of −5 in the
        fit, as in `ChainGP`, and are never predicted, nor recovered where candidates
        leave another way. The published method has none;
        ``bans=True`` is the better tagger where labels follow a scheme.
    tune : bool
        Whether to choose `l2` from 0.1, 0.3, 1, 3 and 10 on held-out training
        sequences first.
    engine : Engine, optional
        Who works on the sentences, in shards: a `LocalEngine`, or one of
        `tagsift.engines`; a model file does not keep it.
    features, labels, scheme, random_state, verbose, tokenizer, sentences
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
    span_bonus_ : float
        What opening a span adds to the score of a sequence: 0, unless `VoteTagger`
        fitted this tagger.
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
        settings="{l2}, at most {max_iter} steps",
        cost="steps × two lattices: N L² and the sparse products",
        source="Tsuboi, Kashima, Mori, Oda, Matsumoto, COLING 2008",
    )
    saved: ClassVar[Saved] = {
        "weights_": part(LinearChain, P="D"),
        "l2_": number(above=0),
        "n_iter_": whole(),
        "objective_": number(),
        "span_bonus_": number(),
    }

    _tables: ClassVar[int] = 1

    l2: float = setting(1.0, above=0, grid=(0.1, 0.3, 1.0, 3.0, 10.0))
    max_iter: int = setting(1000, least=1)
    tol: float = setting(1e-6, least=0)
    decoder: Literal["viterbi", "marginal", "valid"] = setting("viterbi")
    bans: bool = setting(False)
    tune: bool = setting(False)
    engine: Any = setting(None)

    def _fit(self, train: AnyTrainingSet) -> Transduction:
        self.l2_ = float(self.l2)
        self.tuning_: Tuning | None = None
        if self.tune:
            if not isinstance(train, TrainingSet):
                raise InputError(
                    "tune=True compares fits of sentences in memory; give l2, or leave "
                    "out engine."
                )
            self.tuning_ = tune(self, train, self.grid)
            self.l2_ = float(self.tuning_.settings["l2"])
        means = banned_means(scheme_constraints(train, known=self.bans))
        objective = train.objective(self.l2_, TransitionPrior(*means))
        optimum = minimise(
            objective,
            np.zeros(objective.n_parameters),
            max_iter=self.max_iter,
            tol=self.tol,
            title=self.method.title,
            verbose=bool(self.verbose),
            warn=True,
            checkpoint=train.checkpoint,
        )
        self.objective_, self.n_iter_ = -optimum.value, optimum.n_iter
        self.weights_, self.span_bonus_ = objective.weights(optimum.x), 0.0
        labels, confidences = train.recover(self.weights_)
        if self.bans and confidences is not None:
            labels = max_expected_accuracy(confidences, train.offsets, self._allowed())
        return Transduction(labels, confidences)

    def chain_problem(self, train: TrainingSet) -> ChainProblem:
        """What others fit in its place, on evidence of their own.

        Dense columns, those of word vectors, are small and many: they are scaled up.
        """
        blocks = tuple(
            block if sp.issparse(block) else _DENSE * block
            for block in train.features.blocks
        )
        return ChainProblem(replace(train.features, blocks=blocks), float(self.l2))

    def take_chain(
        self, chain: LinearChain, problem: ChainProblem | None, bonus: float
    ) -> None:
        """Predict by a chain that others fitted, with a bonus for every span.

        It was fitted to a `chain_problem`, or to shards of sparse columns.
        """
        if problem is not None:
            _, widths, sparse = zip(*problem.features.columns, strict=True)
            scale = np.repeat(np.where(sparse, 1.0, _DENSE), widths)  # [D]
            chain = replace(chain, emissions=scale[:, None] * chain.emissions)
        self.weights_, self.span_bonus_, self.l2_ = chain, bonus, float(self.l2)
        self.objective_, self.n_iter_, self.tuning_ = 0.0, 0, None

    def _predict(self, features: FeatureMatrix) -> IntArray:
        if self.decoder == "marginal":
            return np.asarray(self._marginals(features).argmax(axis=1))  # [M]
        valid = self.bans or self.decoder == "valid"
        chain = with_span_bonus(
            self.weights_, self.span_bonus_, self.classes_, self.scheme_
        )
        return chain.best(features, self._allowed() if valid else None)

    def _allowed(self) -> Allowed:
        return way_through(self.classes_, self.scheme_, self.weights_.possible)

    def _marginals(self, features: FeatureMatrix) -> FloatArray:
        return self.weights_.marginals(features)

    def _restricted(
        self, features: FeatureMatrix, evidence: FloatArray
    ) -> tuple[IntArray, FloatArray]:
        recovered, confidences = self.weights_.recover(features, evidence)
        if self.bans:
            recovered = max_expected_accuracy(
                confidences, features.offsets, self._allowed()
            )
        return recovered, confidences

    def _log_likelihood(self, held_out: TrainingSet) -> float:
        """Return log Z_S − log Z, summed over sentences that were not trained on."""
        data = held_out.features, held_out.log_evidence
        return float(self.weights_.log_likelihood(*data).sum())

    def _restored(self) -> None:
        self.tuning_ = None


class CRF(PartialCRF):
    """Linear-chain conditional random field; every token needs its one exact label.

    The same model, objective and settings as `PartialCRF`; ambiguous labels are
    refused.

    Examples
    --------
    >>> from tagsift.baselines import CRF
    >>> CRF().fit([["a", "dog"]], [["D", "N"]]).predict([["a", "dog"]])
    [['D', 'N']]
    """

    method: ClassVar[Method] = replace(
        PartialCRF.method,
        name="crf",
        title="CRF",
        disambiguation="none: exact labels only",
        exact_only=True,
        cost="steps × one lattice: N L² and the sparse products",
        source="Lafferty, McCallum, Pereira, ICML 2001",
    )
