"""SGPPSL, the model of the paper, as an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from os import PathLike
from typing import Any, ClassVar, Literal

import numpy as np

from tagsift.backend import available_device, to_numpy, use_device
from tagsift.base import (
    Method,
    SequenceTagger,
    TrainingSet,
    Transduction,
    scheme_constraints,
    setting,
)
from tagsift.chain import Allowed, log_evidence, transition_factor
from tagsift.errors import InputError, NumericalWarning
from tagsift.features import FeatureMatrix, FeatureScaler, scale_features
from tagsift.gp import choose_points
from tagsift.progress import warn_user
from tagsift.sgppsl.alternating import alternate
from tagsift.sgppsl.carriers import (
    Distances,
    check_memory,
    count_carriers,
    warn_of_jitter,
)
from tagsift.sgppsl.expectations import expectation
from tagsift.sgppsl.hyperparameters import choose_kernel
from tagsift.sgppsl.labels import Labels, Settings
from tagsift.sgppsl.predictive import (
    Decoding,
    FittedGP,
    Neighbours,
    emission_scores,
    transition_scores,
)
from tagsift.sgppsl.solver import Problem
from tagsift.storage import Saved, array, number, part, several, whole
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["SGPPSL"]


class SGPPSL(SequenceTagger):
    """Structured Gaussian process for partial sequence labelling.

    Each label has a latent Gaussian process over tokens and each pair of labels a
    transition latent; the chain is cut into pieces, candidate labels are weighted by
    confidences that the fit itself estimates, and new sentences are decoded with the
    confidences of their nearest training tokens.

    Parameters
    ----------
    theta : float, optional
        Inverse width of the kernel, Equation (4), for all labels; by default 0.3 /
        median squared distance, or what is learnt from there.
    amplitude : float, optional
        Prior variance of the latent values; by default learnt, from 100. The paper has
        1.0.
    hyperparameters : {"held-out", "bound", "fixed"}
        How those not given are learnt: the candidate sets of held-out sentences choose
        the amplitude (or θ, if the amplitude is given); the gradient of the paper's
        bound both, ending with a θ of its own for every label; or not at all.
    posterior : {"auto", "dense", "inducing"}
        Every training token, or inducing points (Reading R9); ``"auto"`` takes these
        above 10,000 tokens, or where tokens² · labels exceeds two thousand million.
    n_inducing : int
        Number of inducing points.
    weighting : {"confidence", "literal"}
        Reading R1: confidences weight the likelihood, or not, as printed.
    confidence : {"softmax", "literal"}
        Reading R2: Equation (17) in the form of (27), or as printed.
    neighbour_floor : {"uniform", "literal"}
        Reading R5: second case of Equation (29) divided by the number of labels, or
        not.
    likelihood : {"piecewise", "chain"}
        The paper's pieces, or whole sentences by forward–backward.
    expectation : {"jensen", "tilted", "sampled", "laplace"}
        How the expected log-likelihood is taken; the paper has Jensen's inequality.
    decoder : {"weighted", "viterbi", "argmax", "log", "log-weighted"}
        Equations (29)–(31); the same with τ = 1; token by token; sums of logarithms
        with the label prior divided out; or these at the means, with τ and half of the
        transition scores, within the tag scheme (Reading R11), which finds most spans.
    constraints : {"scheme", "none"}
        Whether the tag scheme forbids transitions to ``decoder="log-weighted"`` and to
        what is recovered. Used only where the scheme was given or seen in exact
        sentences.
    n_neighbours : int
        Neighbours of Equation (29).
    max_iter, tol
        Most outer steps, and the relative change of the bound at which to stop.
    watch : sequence of (sentence, token), optional
        Tokens whose confidences `history_` records at every outer step.
    device : {"cpu", "cuda"}
        Where to compute.
    features, labels, scheme, random_state, verbose, tokenizer, sentences
        As in `tagsift.base.SequenceTagger`.

    Attributes
    ----------
    transduction_ : list of list
        Best candidates of every training sentence as a whole (Reading R12).
    confidences_ : list of ndarray of shape (T, L)
        Equation (17) at the end of the fit.
    lower_bound_ : float
        Equation (15) at the end of the fit.
    history_ : list of dict
        One entry per outer step.
    n_iter_ : int
        Outer steps taken.
    kernel_ : RBF
        Hyperparameters in force.

    Examples
    --------
    >>> import tagsift
    >>> X = [["the", "cat"], ["a", "dog"]] * 5
    >>> y = [[{"D"}, {"N", "D"}], [{"D", "V"}, {"N"}]] * 5
    >>> model = tagsift.SGPPSL().fit(X, y)
    >>> model.transduction_[0]
    ['D', 'N']
    """

    method: ClassVar[Method] = Method(
        name="sgppsl",
        title="SGPPSL",
        family="structured Gaussian process",
        disambiguation="confidence",
        structured=True,
        probabilities=True,
        settings="amplitude learnt; {decoder}, {n_neighbours}",
        cost="⅔N³ per label and refresh; N·M² with M inducing points",
        many_labels=100,
        source="Lu & Chow, Partial sequence labeling with structured Gaussian "
        "Processes",
    )
    saved: ClassVar[Saved] = {
        "scaler_": part(FeatureScaler),
        "gp_": part(FittedGP),
        "decoding_": part(Decoding),
        "allowed_": several(
            array("L L", "bool"), array("L", "bool"), array("L", "bool")
        ),
        "lower_bound_": number(),
        "n_iter_": whole(),
    }

    theta: float | None = setting(None, above=0)
    amplitude: float | None = setting(None, above=0)
    hyperparameters: Literal["held-out", "bound", "fixed"] = setting("held-out")
    posterior: Literal["auto", "dense", "inducing"] = setting("auto")
    n_inducing: int = setting(400, least=1)
    weighting: Literal["confidence", "literal"] = setting("confidence")
    confidence: Literal["softmax", "literal"] = setting("softmax")
    neighbour_floor: Literal["uniform", "literal"] = setting("uniform")
    likelihood: Literal["piecewise", "chain"] = setting("piecewise")
    expectation: Literal["jensen", "tilted", "sampled", "laplace"] = setting("jensen")
    decoder: Literal["weighted", "viterbi", "argmax", "log", "log-weighted"] = setting(
        "weighted"
    )
    constraints: Literal["scheme", "none"] = setting("scheme")
    n_neighbours: int = setting(10, least=1)
    max_iter: int = setting(200, least=1)
    tol: float = setting(3e-4, least=0)
    watch: Sequence[Any] | np.ndarray[Any, Any] | None = setting(None)
    device: str = setting("cpu")

    # Fit -----------------------------------------------------------------------

    def _fit(self, train: TrainingSet) -> Transduction:
        device = self._check_settings(train)
        n_points = count_carriers(
            self.posterior, self.n_inducing, train.n_tokens, train.n_labels
        )
        own = self.hyperparameters == "bound" and self.theta is None
        n_widths = train.n_labels if own else 1
        check_memory(device, train.n_tokens, train.n_labels, n_points, n_widths)
        X, self.scaler_ = scale_features(train.features)  # [N, D]
        scaled = FeatureMatrix(("scaled",), (X,), train.offsets)
        train = replace(train, features=scaled)
        taken = expectation(self.expectation, train.seed)
        readings = Settings(
            self.weighting, self.confidence, self.likelihood, taken.spread
        )
        starts = self.theta, self.amplitude
        how = self.hyperparameters, readings, taken
        self.kernel_ = kernel = choose_kernel(train, device, n_points, starts, *how)
        points = None
        if n_points is not None:
            theta = float(kernel.theta.mean())
            points = choose_points(X, train.shares, theta, n_points, train.seed)  # [M]
        covariance, roots = Distances.of(X, points, device).covariance(kernel)
        warn_of_jitter(covariance)
        solution = alternate(
            Problem(covariance, taken),
            Labels.build(train.log_evidence, train.offsets, device),
            readings,
            max_iter=self.max_iter,
            tol=self.tol,
            watch=_watched_tokens(self.watch, train),
            verbose=bool(self.verbose),
            warn=True,
        )
        self.n_iter_ = len(solution.history)
        self.lower_bound_ = solution.history[-1].bound
        self.history_ = [asdict(step) for step in solution.history]
        C = to_numpy(solution.confidences)  # [N, L]
        state = solution.state
        self.gp_ = FittedGP(
            kernel,
            X if points is None else X[points],
            state.beta,
            [] if points is None else state.factors.cholesky,
            roots,
            state.factors.root if points is None else None,
            to_numpy(state.q.mu_T),
            to_numpy(state.q.var_T),
        )
        known = self.scheme != "auto" or bool(train.exact_sequences.any())
        self.allowed_ = scheme_constraints(train, known=known)
        sums, counts = to_numpy(solution.pair_sums), to_numpy(solution.pair_counts)
        self.decoding_ = Decoding(
            C.mean(axis=0),
            np.asarray(train.mask.any(axis=0)),
            transition_factor(sums, counts),
            Neighbours(X, C, train.mask),
        )
        if self.likelihood == "chain":  # C knows the neighbours
            return Transduction(np.where(train.mask, C, -1.0).argmax(axis=1), C)
        return Transduction(self._recovered(C, train.mask, train.offsets), C)

    def _check_settings(self, train: TrainingSet) -> Any:
        """Refuse combinations that mean nothing; find the device."""
        if self.weighting == "literal" and self.expectation in {"tilted", "sampled"}:
            raise InputError(
                "weighting='literal' counts a token once per candidate, which only "
                "expectation='jensen' and 'laplace' allow; got "
                f"expectation={self.expectation!r}."
            )
        if self.hyperparameters == "bound" and self.expectation == "laplace":
            raise InputError(
                "hyperparameters='bound' climbs the value of a bound, which "
                "expectation='laplace' does not give; use hyperparameters='held-out'."
            )
        if train.n_labels > 1 and train.evidence is None and train.mask.all():
            warn_user(
                "every candidate set is the full label set: the labels carry no "
                "information, and the fitted probabilities mean nothing.",
                NumericalWarning,
            )
        return use_device(self.device)

    # Predict -------------------------------------------------------------------

    def predict_latent(self, X: Any) -> tuple[list[FloatArray], list[FloatArray]]:
        """Predictive means and variances of the latent values, Equations (22)–(24).

        Returns
        -------
        means, variances : lists of ndarray of shape (T, L)
            One pair per sentence.
        """
        features = self._transform(X)
        mu, var = self._moments(features)
        return features.split(mu), features.split(var)

    def _moments(self, features: FeatureMatrix) -> tuple[FloatArray, FloatArray]:
        return self.gp_.moments(self.scaler_.transform(features))

    def _softmax(
        self, mu: FloatArray, var: FloatArray, evidence: FloatArray
    ) -> FloatArray:
        """Equation (27) times what is known of the labels, rows sum to 1, [M, L]."""
        share = expectation(self.expectation).spread
        return np.asarray(emission_scores(mu + evidence, 2.0 * share * var))

    def _marginals(self, features: FeatureMatrix) -> FloatArray:
        available = log_evidence(self.decoding_.available)  # [L]
        return self._softmax(*self._moments(features), available)

    def _predict(self, features: FeatureMatrix) -> IntArray:
        decoding, way = self.decoding_, self.decoder
        transition = transition_scores(self.gp_.mu_T, self.gp_.var_T)  # [L, L]
        tau = None
        if way in {"weighted", "log-weighted"}:
            X = self.scaler_.transform(features)  # [M, D]
            tau = decoding.factor(X, self.n_neighbours, self.neighbour_floor)  # [M, L]
        if way == "log-weighted":
            mu, var = self._moments(features)
            means = emission_scores(mu + log_evidence(decoding.available), 0.0 * var)
            about = (features.offsets, tau, self._allowed())
            return decoding.best_log(means, transition, *about)
        emission = self._marginals(features)  # [M, L]
        if way == "argmax":
            return np.asarray(emission.argmax(axis=1))  # [M]
        if way == "log":
            return decoding.best_log(emission, transition, features.offsets)
        return decoding.best(emission, transition, features.offsets, tau)

    def _restricted(
        self, features: FeatureMatrix, evidence: FloatArray
    ) -> tuple[IntArray, FloatArray | None]:
        """Equation (17) at new tokens: the softmax over the candidates only."""
        mu, var = self._moments(features)
        C = self._softmax(mu, var, evidence)  # [M, L]
        return self._recovered(C, evidence > -np.inf, features.offsets), C

    def _recovered(self, C: FloatArray, mask: BoolArray, offsets: IntArray) -> IntArray:
        """Best candidates of whole sentences (R12), [M]."""
        transition = transition_scores(self.gp_.mu_T, self.gp_.var_T)  # [L, L]
        return self.decoding_.recover(C, mask, transition, offsets, self._allowed())

    def _allowed(self) -> Allowed | None:
        """What the tag scheme allows, where it is to be heeded."""
        return self.allowed_ if self.constraints == "scheme" else None

    # Save ----------------------------------------------------------------------

    def save(self, path: str | PathLike[str], *, neighbours: bool = True) -> None:
        """Write the fitted model as one safetensors file.

        Parameters
        ----------
        path : path-like
            Usually ends in ``.tagsift``.
        neighbours : bool
            Whether the features and confidences of all training tokens go in, which
            ``decoder="weighted"`` and ``"log-weighted"`` need.
        """
        self._check_fitted()
        decoding = self.decoding_
        try:
            if not neighbours:
                self.decoding_ = replace(decoding, neighbours=None)
            super().save(path)
        finally:
            self.decoding_ = decoding

    def _restored(self) -> None:
        self.device = available_device(self.device)
        self.gp_ = self.gp_.on(use_device(self.device))
        self.kernel_ = self.gp_.kernel


def _watched_tokens(watch: Any, train: TrainingSet) -> IntArray | None:
    """Stacked numbers of the watched tokens; None where none are."""
    if watch is None:
        return None
    lengths = train.features.lengths  # [S]
    for s, t in watch:
        if not (0 <= s < len(lengths) and 0 <= t < lengths[s]):
            raise InputError(
                f"watch names sentence {s}, token {t}, which X does not have."
            )
    rows = [int(train.offsets[s]) + int(t) for s, t in watch]
    return np.asarray(rows, dtype=np.int64)  # [W]
