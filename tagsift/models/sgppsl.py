"""SGPPSL, the model of the paper, as an estimator."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Integral, Interval, Real, StrOptions

from tagsift.backend import asarray, to_numpy, use_device
from tagsift.base import Method, SequenceTagger, TrainingSet
from tagsift.chain.factors import nearest_tokens, neighbour_factor, transition_factor
from tagsift.chain.layout import ChainLayout
from tagsift.chain.scores import emission_scores, transition_scores
from tagsift.chain.viterbi import viterbi
from tagsift.chain.weighted_viterbi import weighted_viterbi
from tagsift.errors import (
    ConvergenceWarning,
    InputError,
    NotSupportedError,
    NumericalWarning,
)
from tagsift.features import FeatureMatrix
from tagsift.gp.alternating import Labels, OuterStep, Settings, Solution, alternate
from tagsift.gp.distances import Distances
from tagsift.gp.evidence import search_kernel
from tagsift.gp.expectations import expectation
from tagsift.gp.fitted import FittedGP, pack_matrix, unpack_matrix
from tagsift.gp.hyperparameters import learn_kernel
from tagsift.gp.inducing import choose_points
from tagsift.gp.kernels import RBF, median_distance
from tagsift.gp.likelihoods import Separate
from tagsift.gp.memory import check_memory
from tagsift.gp.solver import Problem
from tagsift.progress import progress
from tagsift.typing import BoolArray, FloatArray, IntArray, Label

__all__ = ["SGPPSL"]

#: Up to this many tokens ``posterior="auto"`` is exact, by device.
_DENSE_LIMIT = {"cpu": 1500, "cuda": 12000}
#: Tokens and inducing points that the hyperparameters are learnt from.
_LEARN_TOKENS, _LEARN_POINTS = 3000, 300
#: Share of the diagonal added to the inducing covariance above which a warning is due.
_LOUD_JITTER = 1e-6
#: Where the hyperparameters start: θ · median squared distance, and amplitude.
_START_THETA, _START_AMPLITUDE = 0.3, 20.0


class SGPPSL(SequenceTagger):
    """Structured Gaussian process for partial sequence labelling.

    Each label has a latent Gaussian process over tokens and each pair of labels a
    transition latent; the chain is cut into pieces, candidate labels are weighted by
    confidences that the fit itself estimates, and new sentences are decoded with the
    confidences of their nearest training tokens.

    Parameters
    ----------
    theta : float, optional
        Inverse width of the kernel, Equation (4), for all labels; by default learnt,
        from 0.3 / median squared distance.
    amplitude : float, optional
        Prior variance of the latent values; by default learnt. The paper has 1.0.
    hyperparameters : {"laplace", "bound", "fixed"}
        How those not given are learnt: Laplace's evidence over one θ and one amplitude;
        the gradient of the paper's bound, ending with a θ of its own for every label;
        or not at all.
    posterior : {"auto", "dense", "inducing"}
        Every training token, or inducing points; ``"auto"`` takes inducing points above
        1,500 tokens (12,000 on a GPU).
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
    decoder : {"weighted", "viterbi", "argmax", "log"}
        Equations (29)–(31); the same with τ = 1; token by token; or sums of logarithms
        with the label prior divided out.
    n_neighbours : int
        Neighbours of Equation (29).
    max_iter, tol
        Most outer steps, and the relative change of the bound at which to stop.
    watch : sequence of (sentence, token), optional
        Tokens whose confidences `history_` records at every outer step.
    device : {"cpu", "cuda"}
        Where to compute.
    features, labels, scheme, random_state, verbose
        As in `tagsift.base.SequenceTagger`.

    Attributes
    ----------
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
    >>> model.recovered_[0]
    ['D', 'N']
    """

    method: ClassVar[Method] = Method(
        name="sgppsl",
        title="SGPPSL",
        family="structured Gaussian process",
        disambiguation="confidence",
        structured=True,
        probabilities=True,
        settings="theta and amplitude learnt; decoder=weighted, n_neighbours=10",
        cost="N·M² per label and refresh (M inducing points)",
        source="Lu & Chow, Partial sequence labeling with structured Gaussian "
        "Processes",
    )
    training_arrays: ClassVar[tuple[str, ...]] = ("neighbours/", "gp/group/")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "theta": [Interval(Real, 0, None, closed="neither"), None],
        "amplitude": [Interval(Real, 0, None, closed="neither"), None],
        "hyperparameters": [StrOptions({"laplace", "bound", "fixed"})],
        "posterior": [StrOptions({"auto", "dense", "inducing"})],
        "n_inducing": [Interval(Integral, 1, None, closed="left")],
        "weighting": [StrOptions({"confidence", "literal"})],
        "confidence": [StrOptions({"softmax", "literal"})],
        "neighbour_floor": [StrOptions({"uniform", "literal"})],
        "likelihood": [StrOptions({"piecewise", "chain"})],
        "expectation": [StrOptions({"jensen", "tilted", "sampled", "laplace"})],
        "decoder": [StrOptions({"weighted", "viterbi", "argmax", "log"})],
        "n_neighbours": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "watch": ["array-like", None],
        "device": [str],
    }

    def __init__(
        self,
        *,
        theta: float | None = None,
        amplitude: float | None = None,
        hyperparameters: str = "laplace",
        posterior: str = "auto",
        n_inducing: int = 400,
        weighting: str = "confidence",
        confidence: str = "softmax",
        neighbour_floor: str = "uniform",
        likelihood: str = "piecewise",
        expectation: str = "jensen",
        decoder: str = "weighted",
        n_neighbours: int = 10,
        max_iter: int = 100,
        tol: float = 1e-4,
        watch: Any = None,
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
        self.theta = theta
        self.amplitude = amplitude
        self.hyperparameters = hyperparameters
        self.posterior = posterior
        self.n_inducing = n_inducing
        self.weighting = weighting
        self.confidence = confidence
        self.neighbour_floor = neighbour_floor
        self.likelihood = likelihood
        self.expectation = expectation
        self.decoder = decoder
        self.n_neighbours = n_neighbours
        self.max_iter = max_iter
        self.tol = tol
        self.watch = watch
        self.device = device

    # Fit -----------------------------------------------------------------------

    def _fit(self, train: TrainingSet) -> IntArray:
        device = self._check_settings(train)
        groups = _feature_groups(train.features)
        self._check_memory(train, device)
        kernel = self._start_kernel(groups, train)
        kernel = self._learn(kernel, groups, train, device)
        points = self._points(kernel, groups, train)
        covariance, roots = Distances.of(groups, points, device).covariance(kernel)
        _warn_of_jitter(covariance)
        problem = Problem(covariance, expectation(self.expectation, train.seed))
        solution = self._alternate(problem, train, device)
        self._keep(kernel, groups, points, roots, solution, train)
        C = to_numpy(solution.confidences)  # [N, L]
        self._train_confidences = C
        recovered: IntArray = np.where(train.mask, C, -1.0).argmax(axis=1)  # [N]
        return recovered

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
                "expectation='laplace' does not give; use hyperparameters='laplace'."
            )
        if train.n_labels > 1 and train.mask.all():
            warnings.warn(
                "every candidate set is the full label set: the labels carry no "
                "information, and the fitted probabilities mean nothing.",
                NumericalWarning,
                stacklevel=4,
            )
        return use_device(self.device)

    def _check_memory(self, train: TrainingSet, device: Any) -> None:
        """Stop before the work begins where its arrays would not fit."""
        dense = self._is_dense(train)
        own = self.hyperparameters == "bound" and self.theta is None
        check_memory(
            asarray(np.zeros(0), device=device),
            train.n_tokens,
            train.n_labels,
            None if dense else min(self.n_inducing, train.n_tokens),
            train.n_labels if own else 1,
        )

    def _is_dense(self, train: TrainingSet) -> bool:
        """Whether every training token carries the posterior."""
        if self.posterior == "auto":
            return train.n_tokens <= _DENSE_LIMIT[self.device.split(":")[0]]
        return self.posterior == "dense"

    def _start_kernel(self, groups: list[Any], train: TrainingSet) -> RBF:
        """Hyperparameters as given, or where learning starts."""
        theta = self.theta
        if theta is None:
            theta = _START_THETA / median_distance(groups[0], train.seed)
        amplitude = _START_AMPLITUDE if self.amplitude is None else self.amplitude
        return RBF(
            np.full((train.n_labels, len(groups)), float(theta)),
            np.full(train.n_labels, float(amplitude)),
        )

    def _learn(
        self, kernel: RBF, groups: list[Any], train: TrainingSet, device: Any
    ) -> RBF:
        """Learn θ and the amplitude on a seeded part of the training sentences."""
        free_theta, free_amplitude = self.theta is None, self.amplitude is None
        if self.hyperparameters == "fixed" or not (free_theta or free_amplitude):
            return kernel
        part = _sentences_for(train, _LEARN_TOKENS)
        some = train.take_sequences(part)
        rows = _token_rows(train, part)  # [N']
        chosen = [group[rows] for group in groups]
        points = choose_points(
            chosen, some.mask, kernel.theta[0], _LEARN_POINTS, train.seed
        )
        distances = Distances.of(chosen, points, device)
        labels = Labels.build(some.mask, some.offsets, device)
        if self.hyperparameters == "laplace":
            return search_kernel(
                kernel,
                distances,
                Separate(labels.mask),
                labels.uniform(),
                learn_amplitude=free_amplitude,
                learn_theta=free_theta,
            )
        return learn_kernel(
            kernel,
            distances,
            labels,
            self._settings(),
            expectation(self.expectation, train.seed),
            learn_amplitude=free_amplitude,
            learn_theta=free_theta,
            per_label=True,
        )

    def _settings(self) -> Settings:
        return Settings(self.weighting, self.confidence, self.likelihood)

    def _points(
        self, kernel: RBF, groups: list[Any], train: TrainingSet
    ) -> IntArray | None:
        """Inducing points, or None for the dense posterior."""
        if self._is_dense(train):
            return None
        return choose_points(
            groups, train.mask, kernel.theta.mean(axis=0), self.n_inducing, train.seed
        )

    def _alternate(self, problem: Problem, train: TrainingSet, device: Any) -> Solution:
        """Run the loop of section III-D, with progress, and keep its history."""
        bar = progress(
            range(self.max_iter), "SGPPSL: outer steps", enabled=bool(self.verbose)
        )
        next(bar)

        def advance(_: OuterStep) -> None:
            next(bar, None)

        watched = self._watched(train)
        solution = alternate(
            problem,
            Labels.build(train.mask, train.offsets, device),
            self._settings(),
            max_iter=self.max_iter,
            tol=self.tol,
            watch=watched,
            on_step=advance,
        )
        bar.close()
        last = solution.history[-1]
        if not solution.converged:
            warnings.warn(
                f"SGPPSL stopped after max_iter={self.max_iter} outer steps with the "
                f"bound at {last.bound:.6g} and confidences still moving by "
                f"{last.change:.2g}; raise max_iter or tol={self.tol:g}.",
                ConvergenceWarning,
                stacklevel=5,
            )
        self.n_iter_ = len(solution.history)
        self.lower_bound_ = last.bound
        self.history_ = [
            {
                "bound": step.bound,
                "change": step.change,
                "mean_confidence": step.mean_confidence,
                "refreshed": step.refreshed,
                "watched": step.watched,
            }
            for step in solution.history
        ]
        return solution

    def _watched(self, train: TrainingSet) -> IntArray | None:
        """Stacked numbers of the watched tokens."""
        if self.watch is None:
            return None
        rows = []
        for s, t in self.watch:
            if not (
                0 <= s < train.features.n_sequences
                and 0 <= t < train.features.lengths[s]
            ):
                raise InputError(
                    f"watch names sentence {s}, token {t}, which X does not have."
                )
            rows.append(int(train.offsets[s]) + int(t))
        return np.asarray(rows, dtype=np.int64)

    def _keep(
        self,
        kernel: RBF,
        groups: list[Any],
        points: IntArray | None,
        roots: list[Any],
        solution: Solution,
        train: TrainingSet,
    ) -> None:
        """Store what prediction needs."""
        state = solution.state
        self.kernel_ = kernel
        self.gp_ = FittedGP(
            kernel,
            groups if points is None else [group[points] for group in groups],
            state.beta,
            state.factors.cholesky,
            roots,
            state.factors.root if points is None else None,
            to_numpy(state.q.mu_T),
            to_numpy(state.q.var_T),
        )
        C = to_numpy(solution.confidences)  # [N, L]
        self.prior_ = C.mean(axis=0)  # [L]
        self.available_ = train.mask.any(axis=0)  # [L]
        self.tau_T_ = transition_factor(
            to_numpy(solution.pair_sums), to_numpy(solution.pair_counts)
        )  # [L, L]
        self.neighbours_: dict[str, Any] | None = {
            "features": groups[0],
            "confidences": C,
            "mask": train.mask,
        }

    # Predict -------------------------------------------------------------------

    def predict_latent(self, X: Any) -> tuple[list[FloatArray], list[FloatArray]]:
        """Predictive means and variances of the latent values, Equations (22)–(24).

        Returns
        -------
        means, variances : lists of ndarray of shape (T, L)
            One pair per sentence.
        """
        features = self._transform(X)
        mu, var = self.gp_.moments(_feature_groups(features))
        return features.split(mu), features.split(var)

    def _marginals(self, features: FeatureMatrix) -> FloatArray:
        mu, var = self.gp_.moments(_feature_groups(features))
        scores = np.where(self.available_, mu + 0.5 * var, -np.inf)  # [M, L]
        return np.asarray(emission_scores(scores, 0.0 * var))  # [M, L]  Eq. (27)

    def _predict(self, features: FeatureMatrix) -> IntArray:
        emission = self._marginals(features)  # [M, L]
        if self.decoder == "argmax":
            best: IntArray = emission.argmax(axis=1)  # [M]
            return best
        layout = ChainLayout.from_offsets(features.offsets)
        transition = transition_scores(self.gp_.mu_T, self.gp_.var_T)  # [L, L]
        if self.decoder == "log":
            return self._predict_log(emission, transition, layout)
        banned = np.where(self.available_, emission, -np.inf)  # [M, L]
        if self.decoder == "viterbi":
            return weighted_viterbi(banned, transition, layout)
        tau = self._neighbour_factor(features)  # [M, L]
        tau = np.where(self.available_, tau, 1.0)  # [M, L]
        return weighted_viterbi(banned, transition, layout, tau=tau, tau_T=self.tau_T_)

    def _predict_log(
        self, emission: FloatArray, transition: FloatArray, layout: ChainLayout
    ) -> IntArray:
        """Maximise Σ log S(y, x) + log S(y', y) − log π(y)."""
        with np.errstate(divide="ignore"):
            unary = np.log(emission) - np.log(np.maximum(self.prior_, 1e-12))  # [M, L]
            pair = np.log(transition)  # [L, L]
        unary = np.where(self.available_, unary, -np.inf)  # [M, L]
        labels: IntArray = viterbi(unary, pair, layout)  # [M]
        return labels

    def _neighbour_factor(self, features: FeatureMatrix) -> FloatArray:
        """Equation (29) for new tokens, [M, L]."""
        if self.neighbours_ is None:
            raise NotSupportedError(
                "this model was saved without its training neighbours, which "
                "decoder='weighted' needs; set decoder='log' or 'viterbi', or save it "
                "again with neighbours=True."
            )
        nearest = nearest_tokens(
            features.stacked(), self.neighbours_["features"], self.n_neighbours
        )  # [M, Q]
        return neighbour_factor(
            nearest,
            self.neighbours_["confidences"],
            self.neighbours_["mask"],
            floor=self.neighbour_floor,
        )

    def _restricted(
        self, features: FeatureMatrix, mask: BoolArray
    ) -> tuple[IntArray, FloatArray | None]:
        """Equation (17) at new tokens: the softmax over the candidates only."""
        mu, var = self.gp_.moments(_feature_groups(features))
        scores = np.where(mask, mu + 0.5 * var, -np.inf)  # [M, L]
        C = np.asarray(emission_scores(scores, 0.0 * var))  # [M, L]
        return np.where(mask, C, -1.0).argmax(axis=1), C

    # Save ----------------------------------------------------------------------

    def save(self, path: str | PathLike[str], *, neighbours: bool = True) -> None:
        """Write the fitted model as one safetensors file.

        Parameters
        ----------
        path : path-like
            Usually ends in ``.tagsift``.
        neighbours : bool
            Whether the features and confidences of all training tokens go in, which
            ``decoder="weighted"`` needs.
        """
        self._check_fitted()
        kept = self.neighbours_
        try:
            self.neighbours_ = kept if neighbours else None
            super().save(path)
        finally:
            self.neighbours_ = kept

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
        gp_meta, gp_arrays = self.gp_.state()
        arrays: dict[str, np.ndarray[Any, Any]] = {
            f"gp/{name}": array for name, array in gp_arrays.items()
        }
        arrays |= {
            "prior": self.prior_,
            "available": np.asarray(self.available_),
            "tau_T": self.tau_T_,
        }
        if self.neighbours_ is not None:
            arrays |= pack_matrix("neighbours/features", self.neighbours_["features"])
            arrays["neighbours/confidences"] = self.neighbours_["confidences"]
            arrays["neighbours/mask"] = self.neighbours_["mask"]
        meta = {
            "gp": gp_meta,
            "lower_bound": self.lower_bound_,
            "n_iter": self.n_iter_,
            "neighbours": self.neighbours_ is not None,
            "dense": self.gp_.dense,
        }
        return meta, arrays

    def _restore(
        self, meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]
    ) -> None:
        gp_arrays = {
            name.removeprefix("gp/"): array
            for name, array in arrays.items()
            if name.startswith("gp/")
        }
        self.gp_ = FittedGP.from_state(meta["gp"], gp_arrays, use_device(self.device))
        self.kernel_ = self.gp_.kernel
        self.prior_, self.available_ = arrays["prior"], arrays["available"]
        self.tau_T_ = arrays["tau_T"]
        self.lower_bound_ = float(meta["lower_bound"])
        self.n_iter_ = int(meta["n_iter"])
        self.neighbours_ = None
        if meta["neighbours"]:
            self.neighbours_ = {
                "features": unpack_matrix("neighbours/features", arrays),
                "confidences": arrays["neighbours/confidences"],
                "mask": arrays["neighbours/mask"],
            }


def _warn_of_jitter(covariance: Any) -> None:
    """Say it where the inducing points needed more jitter than rounding explains."""
    jitter = getattr(covariance, "jitter", 0.0)
    if jitter > _LOUD_JITTER:
        warnings.warn(
            f"the covariance of the inducing points needed {jitter:.0e} of its "
            "diagonal added to be factored: some are almost equal to the kernel, and "
            "variances below that share mean nothing; raise theta or lower n_inducing.",
            NumericalWarning,
            stacklevel=5,
        )


def _feature_groups(features: FeatureMatrix) -> list[Any]:
    """All blocks as the one group of Equation (4)."""
    return [features.stacked()]


def _sentences_for(train: TrainingSet, n_tokens: int) -> IntArray:
    """Seeded draw of sentences that hold about `n_tokens` tokens, in order."""
    rng = np.random.default_rng(train.seed)
    order = rng.permutation(train.features.n_sequences)  # [S]
    total = np.cumsum(train.features.lengths[order])  # [S]
    enough = int(np.searchsorted(total, n_tokens)) + 1
    return np.sort(order[:enough])  # [S']


def _token_rows(train: TrainingSet, sentences: IntArray) -> IntArray:
    """Stacked tokens of the chosen sentences, [N']."""
    return np.concatenate(
        [np.arange(train.offsets[s], train.offsets[s + 1]) for s in sentences]
    )
