"""ChainGP: a Gaussian process on the lattices of partly labelled sentences."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np

from tagsift.backend import available_device, use_device
from tagsift.base import (
    AnyTrainingSet,
    Method,
    SetTagger,
    TrainingSet,
    Transduction,
    scheme_constraints,
    setting,
)
from tagsift.chain import (
    ChainProblem,
    LinearChain,
    banned_means,
    max_expected_accuracy,
    with_span_bonus,
)
from tagsift.chain_gp.held_out import (
    FEW_TOKENS,
    HeldOut,
    best_bonus,
    best_temperature,
    leave_out,
    temperature_of_seen,
)
from tagsift.chain_gp.mode import ModeFinder, Spread, a_sample, whitened
from tagsift.data import opening_transitions
from tagsift.errors import InputError
from tagsift.features import FeatureMatrix
from tagsift.gp import (
    GroupKernel,
    InducingColumns,
    uncarried_variance,
)
from tagsift.storage import Saved, array, by_name, damaged, number, part, several, whole
from tagsift.typing import FloatArray, IntArray

__all__ = ["ChainGP"]

#: How much rougher the fits without the held-out sentences, and of another view, are.
_ROUGH = 10.0


class ChainGP(SetTagger):
    """Structured Gaussian process on the candidate lattice.

    The latent values are a Gaussian process whose kernel is a sum over feature groups:
    linear parts in weight space, RBF parts through inducing points. The likelihood of a
    partly labelled sentence is that of all label sequences its candidates allow, summed
    by forward–backward. The posterior mode is found by quasi-Newton steps. The kernel
    is the same for all data: wide priors, whose scores are too sure of themselves.
    Training sentences, whose labels may be partial too, are held out of up to five more
    fits to set the temperatures that mend this, and the bonus of a span.

    Parameters
    ----------
    kernel : dict, optional
        Hyperparameters to use instead of the default, as ``kernel_.as_dict()`` gives.
    rbf : bool
        Whether dense groups, such as word vectors, have an RBF part beside the linear.
    n_inducing : int
        Inducing points of the RBF part of a group.
    constraints : {"scheme", "none"}
        Whether the tag scheme forbids transitions (an ``I-`` never opens a sentence in
        IOB2). Used only where the scheme was given or seen in exact sentences.
    temperature : float or "held-out"
        By what the scores are divided in `predict_proba`; ``"held-out"`` sets it by
        what is known of training sentences in fits without them. A number holds for
        `confidences_` too, which else have a temperature of their own: the fit has seen
        their sentences, and is surer of them.
    decoder : {"viterbi", "marginal"}
        The best label sequence, or the best label of each token.
    span_bonus : float or "held-out"
        What every span adds to the score of a label sequence in `predict`. The
        likeliest sequence leaves out spans that are right with less than even chances;
        the best F1 takes them from half that F1 on, which ``"held-out"`` estimates.
        Plain tags have no bonus.
    max_iter, tol
        Most quasi-Newton steps, and the relative change at which to stop.
    device : {"cpu", "cuda"}
        Where the modes are found and sentences are tagged: NumPy, or PyTorch on a GPU.
    engine : Engine, optional
        Who works on the sentences, in shards: a `LocalEngine`, or one of
        `tagsift.engines`; a model file does not keep it. Beyond 20,000 tokens the
        kernel and the inducing points of dense groups then come from a sample.
    features, labels, scheme, random_state, verbose, tokenizer, sentences
        As in `tagsift.base.SequenceTagger`.

    Attributes
    ----------
    kernel_ : GroupKernel
        Hyperparameters in force.
    temperature_, span_bonus_ : float
        The temperature and the bonus in force.
    confidence_temperature_ : float
        The temperature of `confidences_`; not saved.
    n_iter_ : int
        Quasi-Newton steps of the final fit.
    log_posterior_ : float
        Log-posterior at the mode, up to a constant.

    Examples
    --------
    >>> import tagsift
    >>> X = [["the", "cat"], ["a", "dog"]] * 5
    >>> y = [[{"D"}, {"N", "D"}], [{"D", "V"}, {"N"}]] * 5
    >>> model = tagsift.ChainGP().fit(X, y)
    >>> model.transduction_[0]
    ['D', 'N']
    """

    method: ClassVar[Method] = Method(
        name="chain-gp",
        title="ChainGP",
        family="structured Gaussian process",
        disambiguation="marginal likelihood",
        structured=True,
        probabilities=True,
        weighted=True,
        settings="one kernel for all data; temperature learnt",
        cost="steps · (features + N·M·L + N·L²)",
        many_labels=300,
        source="this package",
    )
    saved: ClassVar[Saved] = {
        "kernel_": part(GroupKernel),
        "weights_": part(LinearChain),
        "allowed_": several(
            array("L L", "bool"), array("L", "bool"), array("L", "bool")
        ),
        "columns_": by_name(part(InducingColumns)),
        "spread_": part(Spread),
        "temperature_": number(above=0),
        "span_bonus_": number(),
        "log_posterior_": number(),
        "n_iter_": whole(),
    }

    _tables: ClassVar[int] = 2

    kernel: dict[str, Any] | None = setting(None)
    rbf: bool = setting(True)
    n_inducing: int = setting(300, least=1)
    constraints: Literal["scheme", "none"] = setting("scheme")
    temperature: float | Literal["held-out"] = setting("held-out", above=0)
    decoder: Literal["viterbi", "marginal"] = setting("viterbi")
    span_bonus: float | Literal["held-out"] = setting("held-out")
    max_iter: int = setting(1000, least=1)
    tol: float = setting(1e-5, least=0)
    device: str = setting("cpu")
    engine: Any = setting(None)

    # Fit -----------------------------------------------------------------------

    def _fit(self, train: AnyTrainingSet) -> Transduction:
        use_device(self.device)  # or say so before the work begins
        known = self.scheme != "auto" or train.has_exact
        few = train.n_tokens <= FEW_TOKENS
        seen = train.draw(FEW_TOKENS, stream=32) if few else None  # all of them
        finder, whole, held_out = self._whiten(train, known=known)
        chain, end = finder.find(
            whole, self.kernel_, tol=self.tol, title="ChainGP: mode", warn=True
        )
        self._keep(chain, whole)
        self.log_posterior_, self.n_iter_ = -end.value, end.n_iter
        device = use_device(self.device)
        confidences = self._confidences(chain.on(device), whole, held_out)  # [N, L]
        if confidences is None:
            return Transduction(None)
        if seen is not None:
            confidences = self._seen_again(finder, seen, confidences)
        labels = max_expected_accuracy(confidences, whole.offsets, self.allowed_)  # [N]
        return Transduction(labels, confidences)

    def _confidences(
        self, chain: LinearChain, whole: AnyTrainingSet, held_out: list[HeldOut]
    ) -> FloatArray | None:
        """Probabilities of the training tokens' labels that know of the fit, [N, L]."""
        seen = self.temperature_
        if isinstance(self.temperature, str):
            seen = temperature_of_seen(held_out, chain, seen, whole.n_tokens)
        self.confidence_temperature_ = seen
        return whole.recover(chain.tempered(seen))[1]

    def _seen_again(
        self, finder: ModeFinder, train: TrainingSet, told: FloatArray
    ) -> FloatArray:
        """The mean of confidences and those of another view of the same tokens, [N, L].

        Words around a token, most of them rare, bend to whichever candidate it leans
        to. Large corpora know them well, and labels that are exact need no view at all.
        """
        kernel = self.kernel_.nearer()
        if kernel is None or train.exact_sequences.all():
            return told
        device = use_device(self.device)
        again = replace(train, features=whitened(train.features, kernel, {}, device))
        rough, title = _ROUGH * self.tol, "ChainGP: another view"
        chain, _ = finder.find(again, kernel, tol=rough, title=title)
        softer = chain.tempered(self.confidence_temperature_)
        _, other = again.recover(softer.on(device))
        return np.asarray(0.5 * (told + other))

    def chain_problem(self, train: TrainingSet) -> ChainProblem:
        """What others fit in its place, on evidence of their own."""
        finder, whole, _ = self._whiten(train, known=True)
        return ChainProblem(whole.features, 1.0, finder.prior(self.kernel_))

    def take_chain(
        self, chain: LinearChain, problem: ChainProblem | None, bonus: float
    ) -> None:
        """Predict by a chain that was fitted to `chain_problem`.

        `bonus` is that of a span, unless one was given.
        """
        assert problem is not None  # shards are the partial CRF's
        if self.span_bonus == "held-out":
            self.span_bonus_ = bonus
        self.weights_ = chain
        h = self._tempered().curvature(problem.features)  # [D, L]
        self.spread_ = Spread.of(h, chain.possible)
        self.log_posterior_, self.n_iter_ = 0.0, 0

    def _keep(self, chain: LinearChain, whole: AnyTrainingSet) -> None:
        """Store what prediction needs; `whole` are the whitened sentences."""
        self.weights_ = chain
        self.spread_ = Spread.of(whole.curvature(self._tempered()), chain.possible)

    def _whiten(
        self, train: AnyTrainingSet, *, known: bool
    ) -> tuple[ModeFinder, Any, list[HeldOut]]:
        """Whiten the features, and set temperature and bonus by held-out sentences."""
        self.allowed_ = scheme_constraints(
            train, known=known and self.constraints == "scheme"
        )
        finder = self._finder()
        self.kernel_ = self._kernel(train)
        self.columns_, whole = finder.whiten(train, self.kernel_)
        held_out = self._calibrate(finder, whole)
        return finder, whole, held_out

    def _finder(self) -> ModeFinder:
        return ModeFinder(
            *banned_means(self.allowed_),
            self.n_inducing,
            self.max_iter,
            use_device(self.device),
            bool(self.verbose),
        )

    def _calibrate(self, finder: ModeFinder, train: AnyTrainingSet) -> list[HeldOut]:
        """Temperature and bonus as given, or by held-out sentences, which are given."""
        temperature = self.temperature
        bonus = 0.0 if train.scheme == "plain" else self.span_bonus
        held_out: list[HeldOut] = []
        if isinstance(temperature, str) or isinstance(bonus, str):
            rough = _ROUGH * self.tol
            held_out = list(leave_out(finder, train, self.kernel_, tol=rough))
        T = (
            best_temperature(held_out)
            if isinstance(temperature, str)
            else float(temperature)
        )
        if isinstance(bonus, str):
            names = [str(name) for name in train.classes]
            _, inside = opening_transitions(names, train.scheme)
            bonus = best_bonus(held_out, T, self.allowed_, inside)
        self.temperature_, self.span_bonus_ = T, float(bonus)
        return held_out

    def _kernel(self, train: AnyTrainingSet) -> GroupKernel:
        """The kernel that was given, checked against the features, or the default."""
        if self.kernel is None:
            return GroupKernel.default(
                a_sample(train).features,
                train.seed,
                rbf=self.rbf,
                bans=not all(part.all() for part in self.allowed_),
                n_tokens=train.n_tokens,
            )
        try:
            kernel = GroupKernel.from_dict(self.kernel)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                "kernel must be what kernel_.as_dict() gives (linear, rbf, transition, "
                f"bias); got {self.kernel!r}."
            ) from error
        names = {name for name, _, _ in train.columns}
        if set(kernel.linear) != names:
            raise InputError(
                f"kernel has the feature groups {sorted(kernel.linear)}, the data has "
                f"{sorted(names)}; they must be the same."
            )
        return kernel

    # Predict -------------------------------------------------------------------

    def _phi(self, features: FeatureMatrix) -> FeatureMatrix:
        device = use_device(self.device)
        return whitened(features, self.kernel_, self.columns_, device)

    def _tempered(self) -> LinearChain:
        """The chain that probabilities come from, on the device."""
        softer = self.weights_.tempered(self.temperature_)
        return softer.on(use_device(self.device))

    def _marginals(self, features: FeatureMatrix) -> FloatArray:
        return self._tempered().marginals(self._phi(features))

    def _predict(self, features: FeatureMatrix) -> IntArray:
        if self.decoder == "marginal":
            return np.asarray(self._marginals(features).argmax(axis=1))  # [M]
        told = self.span_bonus_, self.classes_, self.scheme_
        chain = with_span_bonus(self.weights_, *told).on(use_device(self.device))
        return chain.best(self._phi(features), self.allowed_)

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
        self, features: FeatureMatrix, evidence: FloatArray
    ) -> tuple[IntArray, FloatArray]:
        _, confidences = self._tempered().recover(self._phi(features), evidence)
        return max_expected_accuracy(
            confidences, features.offsets, self.allowed_
        ), confidences

    # Save ----------------------------------------------------------------------

    def _restored(self) -> None:
        self.device = available_device(self.device)
        widths = {
            name: (width, sparse) for name, width, sparse in self.blocks_
        }  # every group has its linear part, and every RBF part its columns
        inputs = {name: width for name, (width, sparse) in widths.items() if not sparse}
        if any(sparse for _, sparse in widths.values()):
            inputs["sparse"] = sum(width for width, sparse in widths.values() if sparse)
        columns = self.n_features_in_ + sum(len(c.root) for c in self.columns_.values())
        if (
            self.kernel_.linear.keys() != widths.keys()
            or self.kernel_.rbf.keys() != self.columns_.keys()
            or any(inputs.get(k) != c.points.shape[1] for k, c in self.columns_.items())
            or len(self.weights_.emissions) != columns
        ):
            raise damaged("the kernel and the weights are not those of the features")
