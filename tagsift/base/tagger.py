"""The contract of every estimator: fit, predict, marginals, score, save."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import (
    InvalidParameterError,
    StrOptions,
    validate_parameter_constraints,
)

from tagsift._version import __version__
from tagsift.base.inputs import read_candidates, read_sentences, resolve_labels
from tagsift.base.method import Method
from tagsift.base.training_set import TrainingSet
from tagsift.data import detect_scheme
from tagsift.errors import InputError, NotFittedError, NotSupportedError
from tagsift.features import FeatureMatrix, SequenceVectorizer
from tagsift.metrics import span_scores, token_accuracy
from tagsift.storage import write_container
from tagsift.typing import BoolArray, FloatArray, IntArray, Label

__all__ = ["SequenceTagger"]


class SequenceTagger(BaseEstimator):  # type: ignore[misc]
    """Base class of all estimators.

    A subclass states its facts in ``method``, its settings in ``__init__`` (keyword
    only, stored untouched) and ``_parameter_constraints``, and writes `_fit`,
    `_predict`, `_state` and `_restore`, plus `_marginals` where it has probabilities.
    They see checked arrays only.

    Parameters
    ----------
    features : transformer, callable or None
        How tokens become features: None for the built-in templates, a
        `SequenceVectorizer`, a function ``sentence → list of dicts``, or any object
        with ``fit`` and ``transform`` that returns a `FeatureMatrix` or arrays [T, D].
    labels : sequence, optional
        The label set and its order; by default the sorted union of what is in `y`.
    scheme : {"auto", "iob1", "iob2", "iobes", "plain"}
        The tag scheme; ``"auto"`` looks at exactly labelled sentences only.
    random_state : int, Generator or None
        Makes a fit repeatable.
    verbose : int
        Above 0, draw a progress bar.

    Attributes
    ----------
    classes_ : tuple
        The labels, in the order of all columns.
    recovered_ : list of list
        The most likely candidate of every training token.
    confidences_ : list of ndarray of shape (T, L)
        Confidence of every candidate of every training token, where the method has one.
    scheme_ : str
        The tag scheme in force.
    """

    method: ClassVar[Method]
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}
    _common_constraints: ClassVar[dict[str, list[Any]]] = {
        "features": ["no_validation"],
        "labels": ["no_validation"],
        "scheme": [StrOptions({"auto", "iob1", "iob2", "iobes", "plain"})],
        "random_state": ["random_state", np.random.Generator],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        features: Any = None,
        labels: Iterable[Label] | None = None,
        scheme: str = "auto",
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.features = features
        self.labels = labels
        self.scheme = scheme
        self.random_state = random_state
        self.verbose = verbose

    # What a subclass writes ----------------------------------------------------

    def _fit(self, train: TrainingSet) -> IntArray:
        """Fit, and return the recovered label of every training token, [N]."""
        raise NotSupportedError(f"{type(self).__name__} does not define _fit.")

    def _predict(self, features: FeatureMatrix) -> IntArray:
        """Return the label index of every token, [M]."""
        raise NotSupportedError(f"{type(self).__name__} does not define _predict.")

    def _marginals(self, features: FeatureMatrix) -> FloatArray:
        """Return the probability of every label of every token, [M, L]."""
        raise NotSupportedError(f"{type(self).__name__} does not define _marginals.")

    def _restricted(
        self, features: FeatureMatrix, mask: BoolArray
    ) -> tuple[IntArray, FloatArray | None]:
        """Return the likeliest candidate of every token and, where known, confidences.

        By default the marginals are renormalised over the candidates; a method without
        probabilities takes its prediction where it is a candidate, else the first one.
        """
        if self.method.probabilities:
            kept = np.where(mask, self._marginals(features), 0.0)  # [M, L]
            total = kept.sum(axis=1, keepdims=True)  # [M, 1]
            uniform = mask / mask.sum(axis=1, keepdims=True)  # [M, L]
            confidences = np.where(
                total > 0, kept / np.where(total > 0, total, 1.0), uniform
            )  # [M, L]
            ranked = np.where(mask, confidences, -1.0)  # [M, L]
            return ranked.argmax(axis=1), confidences
        predicted = self._predict(features)  # [M]
        inside = mask[np.arange(len(mask)), predicted]  # [M]
        return np.where(inside, predicted, mask.argmax(axis=1)), None

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
        """Return what was learnt: JSON-able values, and arrays."""
        raise NotSupportedError(f"{type(self).__name__} does not define _state.")

    def _restore(
        self, meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]
    ) -> None:
        """Set what `_state` returned."""
        raise NotSupportedError(f"{type(self).__name__} does not define _restore.")

    # What users call -----------------------------------------------------------

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from sentences whose tokens carry candidate labels.

        Parameters
        ----------
        X : list of sentences
            Each a list of tokens (str), of column tuples, of feature dicts, or an array
            of shape (T, D); or a `FeatureMatrix`.
        y : list of sentences
            Each a list of labels, of sets of labels, or a boolean mask of shape (T, L).

        Returns
        -------
        self
        """
        self._check_parameters()
        train = self._prepare(X, y)
        if self.method.exact_only and not train.exact.all():
            n = int(np.flatnonzero(~train.exact)[0])
            s = int(np.searchsorted(train.offsets, n, side="right")) - 1
            raise InputError(
                f"{self.method.title} needs exact labels; sentence {s}, token "
                f"{n - int(train.offsets[s])} has {int(train.mask[n].sum())} candidates. "
                "Use a method for partial labels, such as 'partial-crf'."
            )
        self._train_confidences: FloatArray | None = None
        recovered = self._fit(train)  # [N]
        self.recovered_ = self._as_labels(recovered, train.features)
        if self._train_confidences is not None:
            self.confidences_ = train.features.split(self._train_confidences)
        del self._train_confidences
        return self

    def predict(self, X: Any) -> list[list[Label]]:
        """Label every token of new sentences.

        Returns
        -------
        labels : list of list
            One list per sentence, as long as the sentence.
        """
        features = self._transform(X)
        if features.n_tokens == 0:
            return [[] for _ in range(features.n_sequences)]
        return self._as_labels(self._predict(features), features)

    def predict_marginals(self, X: Any) -> list[FloatArray]:
        """Probability of every label at every token.

        Returns
        -------
        marginals : list of ndarray of shape (T, L)
            Columns in the order of ``classes_``; rows sum to 1.
        """
        if not self.method.probabilities:
            raise NotSupportedError(
                f"{self.method.title} gives no probabilities; take a method that does, "
                "such as 'sgppsl' or 'partial-crf', or use predict."
            )
        features = self._transform(X)
        if features.n_tokens == 0:
            return [np.zeros((0, len(self.classes_))) for _ in features.lengths]
        return features.split(self._marginals(features))

    def recover(
        self, X: Any, y: Any
    ) -> tuple[list[list[Label]], list[FloatArray] | None]:
        """Choose among the candidates of new sentences with the fitted model.

        Parameters
        ----------
        X, y : lists of sentences
            As in `fit`.

        Returns
        -------
        labels : list of list
            The most likely candidate of every token.
        confidences : list of ndarray of shape (T, L), or None
            Confidence of every candidate, where the method has probabilities.
        """
        features = self._transform(X)
        mask, _ = read_candidates(y, features.lengths, self.classes_)
        if features.n_tokens == 0:
            return [[] for _ in features.lengths], None
        chosen, confidences = self._restricted(features, mask)
        return (
            self._as_labels(chosen, features),
            None if confidences is None else features.split(confidences),
        )

    def score(self, X: Any, y: Any) -> float:
        """Span F1 of the predictions; token accuracy for plain tags.

        Parameters
        ----------
        X : list of sentences
            As in `fit`.
        y : list of list
            Gold labels.
        """
        predicted = self.predict(X)
        gold = [list(sentence) for sentence in y]
        if self.scheme_ == "plain":
            return float(token_accuracy(gold, predicted))
        return float(span_scores(gold, predicted, scheme=self.scheme_).f1)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model as one safetensors file, without any code in it.

        Parameters
        ----------
        path : path-like
            Usually ends in ``.tagsift``. Written whole or not at all.
        """
        self._check_fitted()
        meta, arrays = self._state()
        header: dict[str, Any] = {
            "method": self.method.name,
            "version": __version__,
            "params": self._saved_params(),
            "classes": list(self.classes_),
            "scheme": self.scheme_,
            "vectorizer": None,
            "model": meta,
        }
        packed = {f"model/{name}": np.asarray(array) for name, array in arrays.items()}
        if self.vectorizer_ is not None:
            if not isinstance(self.vectorizer_, SequenceVectorizer):
                header["vectorizer"] = {"custom": type(self.vectorizer_).__name__}
            else:
                header["vectorizer"], words = self.vectorizer_.state()
                packed |= {f"vectorizer/{name}": array for name, array in words.items()}
        write_container(path, header, packed)

    @classmethod
    def from_container(
        cls,
        meta: Mapping[str, Any],
        arrays: Mapping[str, np.ndarray[Any, Any]],
        *,
        features: Any = None,
    ) -> Self:
        """Rebuild a fitted estimator from what `tagsift.storage` read.

        Parameters
        ----------
        meta, arrays : mappings
            From `tagsift.storage.read_container`.
        features : transformer, optional
            The user's own features, which a model file cannot hold.
        """
        model = cls(**meta["params"])
        model.classes_ = tuple(meta["classes"])
        model.scheme_ = str(meta["scheme"])
        stored = meta["vectorizer"]
        if stored is None:
            model.vectorizer_ = None
        elif "custom" in stored:
            model.features = features
            model.vectorizer_ = features
        else:
            model.vectorizer_ = SequenceVectorizer.from_state(
                stored, _without_prefix(arrays, "vectorizer/")
            )
        model._restore(meta["model"], _without_prefix(arrays, "model/"))
        return model

    # How it works --------------------------------------------------------------

    def _check_parameters(self) -> None:
        """Check the settings against the one table, in one sentence shape."""
        try:
            validate_parameter_constraints(
                self._common_constraints | self._parameter_constraints,
                self.get_params(deep=False),
                caller_name=type(self).__name__,
            )
        except InvalidParameterError as error:
            raise InputError(str(error)) from error

    def _check_fitted(self) -> None:
        if not hasattr(self, "classes_"):
            raise NotFittedError(
                f"this {type(self).__name__} has not been fitted; call fit(X, y) first."
            )

    def _prepare(self, X: Any, y: Any) -> TrainingSet:
        """Check X and y, learn the features, and build the training set."""
        if isinstance(X, FeatureMatrix):
            self.vectorizer_ = None
            features = X
        else:
            sentences = read_sentences(X)
            if not any(len(sentence) for sentence in sentences):
                raise InputError(
                    f"nothing to learn from: X has {len(sentences)} sentences and no "
                    "token."
                )
            self.vectorizer_ = self._new_vectorizer()
            self.vectorizer_.fit(sentences)
            features = _as_matrix(self.vectorizer_.transform(sentences), sentences)
        if features.n_tokens == 0:
            raise InputError("nothing to learn from: X has no token.")
        mask, classes = read_candidates(
            y, features.lengths, resolve_labels(self.labels)
        )
        self.classes_ = classes
        seed = self._resolve_seed()
        train = TrainingSet(features, mask, classes, "plain", seed)
        self.scheme_ = self._resolve_scheme(train)
        return TrainingSet(features, mask, classes, self.scheme_, seed)

    def _new_vectorizer(self) -> Any:
        if self.features is None:
            return SequenceVectorizer()
        if hasattr(self.features, "transform"):
            from sklearn.base import clone

            return clone(self.features)
        if callable(self.features):
            return SequenceVectorizer(templates=self.features)
        raise InputError(
            "features must be None, a function of a sentence, or a transformer with "
            f"fit and transform; got {type(self.features).__name__}."
        )

    def _transform(self, X: Any) -> FeatureMatrix:
        """Features of new sentences, by the vectorizer learnt in fit."""
        self._check_fitted()
        if isinstance(X, FeatureMatrix):
            return X
        sentences = read_sentences(X)
        if self.vectorizer_ is None:
            raise InputError(
                f"this {type(self).__name__} was fitted on ready features or with a "
                "function of your own; give a FeatureMatrix, or load the model with "
                "features=."
            )
        return _as_matrix(self.vectorizer_.transform(sentences), sentences)

    def _resolve_seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        if self.random_state is None:
            return int(np.random.default_rng().integers(2**31))
        if isinstance(self.random_state, np.random.RandomState):
            return int(self.random_state.randint(2**31 - 1))
        return int(self.random_state.integers(2**31))

    def _resolve_scheme(self, train: TrainingSet) -> str:
        """Find the scheme from exactly labelled sentences, never from corrupted ones."""
        if self.scheme != "auto":
            return self.scheme
        names = [str(name) for name in train.classes]
        exact = np.flatnonzero(train.exact_sequences)  # [S']
        chosen = train.mask.argmax(axis=1)  # [N]
        sequences = [
            [names[k] for k in chosen[train.offsets[s] : train.offsets[s + 1]]]
            for s in exact
        ]
        return str(detect_scheme(sequences)) if sequences else _scheme_of_names(names)

    def _as_labels(
        self, indices: IntArray, features: FeatureMatrix
    ) -> list[list[Label]]:
        """Cut label indices of stacked tokens into sentences of labels."""
        names = self.classes_
        return [[names[k] for k in piece] for piece in features.split(indices)]

    def _saved_params(self) -> dict[str, Any]:
        """Return the settings as JSON can hold them."""
        params = self.get_params(deep=False)
        params["features"] = None
        if params["labels"] is not None:
            params["labels"] = list(params["labels"])
        if not isinstance(params["random_state"], (int, type(None))):
            params["random_state"] = None
        return {name: _jsonable(value) for name, value in params.items()}


def _as_matrix(transformed: Any, sentences: list[Any]) -> FeatureMatrix:
    """Accept a FeatureMatrix or, from a user's transformer, arrays [T, D]."""
    if isinstance(transformed, FeatureMatrix):
        return transformed
    lengths = [len(sentence) for sentence in sentences]
    arrays = [np.asarray(piece, dtype=float) for piece in transformed]
    if [len(piece) for piece in arrays] != lengths:
        raise InputError(
            "the features transformer must return one array [T, D] per sentence; got "
            f"{len(arrays)} pieces for {len(lengths)} sentences, or other lengths."
        )
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)  # [S + 1]
    widths = {piece.shape[1] for piece in arrays if piece.ndim == 2 and len(piece)}
    if len(widths) > 1:
        raise InputError(f"the features transformer returned widths {sorted(widths)}.")
    width = widths.pop() if widths else 0
    stacked = np.vstack([piece.reshape(-1, width) for piece in arrays])  # [N, D]
    return FeatureMatrix(("array",), (stacked,), offsets)


def _scheme_of_names(names: list[str]) -> str:
    """Guess from the label inventory alone, when no sentence is exact."""
    prefixes = {name[0] for name in names if name[:1] in "BIES" and name[1:2] in ("", "-")}
    if prefixes & {"E", "S"}:
        return "iobes"
    return "iob2" if "B" in prefixes and "I" in prefixes else "plain"


def _without_prefix(
    arrays: Mapping[str, np.ndarray[Any, Any]], prefix: str
) -> dict[str, np.ndarray[Any, Any]]:
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def _jsonable(value: Any) -> Any:
    """Turn NumPy scalars and tuples into what JSON knows."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (tuple, list)):
        return [_jsonable(item) for item in value]
    return value
