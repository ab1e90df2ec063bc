"""The contract of every estimator: fit, predict, marginals, score, save."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any, ClassVar, Literal, Self, overload

import numpy as np
from sklearn.base import BaseEstimator

from tagsift.base import inputs
from tagsift.base.corpora import candidates_of, gold_of, text_and_corpus
from tagsift.base.preparing import checked_training, training_data
from tagsift.base.saving import pack, saved_state, say_size, unpack
from tagsift.base.scoring import Scorer
from tagsift.base.settings import Declared, Method, setting
from tagsift.base.tagging import tag_documents
from tagsift.base.training_set import AnyTrainingSet, Transduction
from tagsift.base.vectorizing import apply_features
from tagsift.chain import log_evidence
from tagsift.data import Document, split_at
from tagsift.errors import NotFittedError, NotSupportedError
from tagsift.features import FeatureMatrix
from tagsift.storage import Saved, training_parts, write_container
from tagsift.threads import blas_threads
from tagsift.typing import Arrays, FloatArray, IntArray, Label

__all__ = ["SequenceTagger"]


class SequenceTagger(Declared, BaseEstimator):
    """Base class of all estimators.

    A subclass states its facts in ``method``, its settings in the class body (see
    `tagsift.base.settings`) and what a fit learns in ``saved`` (see
    `tagsift.storage.state`), and writes `_fit` and `_predict`, plus `_marginals` where
    it has probabilities. They see checked arrays only.

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
    tokenizer : None, {"words", "spaces"}, callable or spaCy pipeline
        How `tag` cuts raw text (`tagsift.data.as_tokenizer`); files keep its name.
    sentences : {"auto", "lines", "none"} or callable
        How `tag` finds the sentences of raw text, there too.

    Attributes
    ----------
    classes_ : tuple
        The labels, in the order of all columns.
    transduction_ : list of list
        The most likely candidate of every training token.
    confidences_ : list of ndarray of shape (T, L)
        Confidence of every candidate of every training token, where the method has one.
    scheme_ : str
        The tag scheme in force.
    vectorizer_ : transformer or None
        Turns sentences into features; None after a fit on a `FeatureMatrix`.
    blocks_ : tuple
        Name and width of every feature group, and whether it is sparse.
    n_features_in_ : int
        Number of columns of the features.
    """

    method: ClassVar[Method]
    #: What a fit learns and a model file holds, by attribute.
    saved: ClassVar[Saved] = {}
    #: Cheaper settings for the contract suite, `tagsift.checks`.
    _check_params: ClassVar[dict[str, Any]] = {}
    #: Tables of all features and labels in a model file; 0: its size is not foretold.
    _tables: ClassVar[int] = 0
    #: Checks of the suite that the method cannot meet: name of the check → why.
    _check_skips: ClassVar[dict[str, str]] = {}

    features: Any = setting(None)
    labels: Any = setting(None)
    scheme: Literal["auto", "iob1", "iob2", "iobes", "plain"] = setting("auto")
    random_state: int | np.random.Generator | np.random.RandomState | None = setting(
        0, least=0, most=2**32 - 1
    )
    verbose: int | bool = setting(0, least=0)
    tokenizer: str | Callable[..., Any] | None = setting(None)
    sentences: str | Callable[..., Any] = setting("auto")

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "method" in vars(cls):
            cls.method = cls.method.with_defaults(cls.settings)

    # What a subclass writes ----------------------------------------------------

    def _fit(self, train: Any) -> Transduction:
        """Fit, and return the labels of the training tokens, with confidences."""
        raise NotSupportedError(f"{type(self).__name__} does not define _fit.")

    def _predict(self, features: FeatureMatrix) -> IntArray:
        """Return the label index of every token, [M]."""
        raise NotSupportedError(f"{type(self).__name__} does not define _predict.")

    def _marginals(self, features: FeatureMatrix) -> FloatArray:
        """Return the probability of every label of every token, [M, L]."""
        raise NotSupportedError(f"{type(self).__name__} does not define _marginals.")

    def _restricted(
        self, features: FeatureMatrix, evidence: FloatArray
    ) -> tuple[IntArray, FloatArray | None]:
        """Return the likeliest candidate of every token and, where known, confidences.

        The log evidence [M, L] is −inf where a label is no candidate. By default the
        marginals, times what the evidence says, are renormalised over the candidates; a
        method without probabilities takes its prediction where it is a candidate, else
        the first one.
        """
        mask = evidence > -np.inf  # [M, L]
        if not self.method.probabilities:
            predicted = self._predict(features)  # [M]
            inside = mask[np.arange(len(mask)), predicted]  # [M]
            return np.where(inside, predicted, mask.argmax(axis=1)), None
        shares = np.where(mask, self._marginals(features), 0.0)  # [M, L]
        shares *= np.exp(evidence)  # [M, L]
        lost = ~(shares.sum(axis=1) > 0)  # [M], no candidate is left: all are alike
        shares[lost] = mask[lost]
        confidences = shares / shares.sum(axis=1, keepdims=True)  # [M, L]
        return np.where(mask, confidences, -1.0).argmax(axis=1), confidences

    def _restored(self) -> None:
        """Check or move what was read from a file, where a declaration cannot say it.

        All attributes of ``saved`` are set by then.
        """

    # What users call -----------------------------------------------------------

    @blas_threads()
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from sentences whose tokens carry candidate labels.

        Parameters
        ----------
        X : Corpus, or list of sentences
            A corpus with candidates; or sentences, each a list of tokens (str), of
            column tuples, of feature dicts, or an array of shape (T, D); or a
            `FeatureMatrix`.
        y : Corpus, or list of sentences
            Left out where `X` is a corpus.
            Each a list of labels, of sets of labels (None for an unlabelled token), a
            boolean mask of shape (T, L), or non-negative weights of shape (T, L): how
            likely what is known of a token is under every label, up to a factor.
        sample_weight : array of shape (n_sentences,), optional
            How much every sentence counts, for methods whose objective is a sum over
            sentences.
        """
        self.check_settings()
        train, vectorizer = training_data(self, X, y)
        return self._learn_from(train, vectorizer, self._fit, sample_weight)

    def _learn_from(
        self,
        train: AnyTrainingSet,
        vectorizer: Any,
        fit: Callable[[Any], Transduction],
        sample_weight: Any = None,
    ) -> Self:
        """Check what is to be learnt from, let `fit` do it, and keep what it says."""
        train = checked_training(self.method, train, sample_weight)
        self._forget()
        self.vectorizer_ = vectorizer
        self.blocks_ = train.columns
        self.classes_, self.scheme_ = train.classes, train.scheme
        if self._tables and self.verbose:
            say_size(train.columns, self._tables * train.n_labels, vectorizer)
        try:
            labels, confidences = fit(train)  # [N], [N, L]
        except BaseException:
            self._forget()
            raise
        finally:
            train.close()
        if labels is not None:
            self.transduction_ = self._as_labels(labels, train.offsets)
        if confidences is not None:
            self.confidences_: list[FloatArray] = split_at(confidences, train.offsets)
        return self

    @blas_threads()
    def predict(self, X: Any) -> list[list[Label]]:
        """Label every token of new sentences: one list per sentence, as long as it."""
        features = self._transform(X)
        if features.n_tokens == 0:
            return [[] for _ in range(features.n_sequences)]
        return self._as_labels(self._predict(features), features.offsets)

    @blas_threads()
    def predict_proba(self, X: Any) -> list[FloatArray]:
        """Probability of every label at every token, one array [T, L] per sentence.

        Columns are in the order of ``classes_``; rows sum to 1.
        """
        if not self.method.probabilities:
            raise NotSupportedError(
                f"{self.method.title} gives no probabilities; take a method that does, "
                "such as 'sgppsl' or 'partial-crf', or use predict."
            )
        features = self._transform(X)
        if features.n_tokens == 0:
            return [np.zeros((0, len(self.classes_))) for _ in features.lengths]
        return features.split(self._finite(self._marginals(features)))

    @blas_threads()
    def label_rows(
        self, X: Any, *, confidences: bool = True
    ) -> tuple[list[list[Label]], list[list[float]] | None]:
        """Labels of new sentences and, on request, the probability of each of them.

        As `predict` and `predict_proba` together, with the features made once.
        """
        features = self._transform(X)
        if features.n_tokens == 0:
            return [[] for _ in features.lengths], [[] for _ in features.lengths]
        chosen = self._predict(features)  # [M]
        labels = self._as_labels(chosen, features.offsets)
        if not confidences or not self.method.probabilities:
            return labels, None
        table = self._finite(self._marginals(features))  # [M, L]
        of_chosen = table[np.arange(len(table)), chosen]  # [M]
        return labels, [piece.tolist() for piece in features.split(of_chosen)]

    @overload
    def tag(  # type: ignore[overload-overlap]
        self, text: str, *, tokenizer: Any = None, sentences: Any = None
    ) -> Document: ...
    @overload
    def tag(
        self,
        text: Iterable[str | Document],
        *,
        tokenizer: Any = None,
        sentences: Any = None,
    ) -> list[Document]: ...
    def tag(
        self,
        text: str | Iterable[str | Document],
        *,
        tokenizer: Any = None,
        sentences: Any = None,
    ) -> Document | list[Document]:
        """Label raw text.

        Parameters
        ----------
        text : str, or iterable of str or Document
            One text, or several; for so many that memory matters see `tag_documents`.
        tokenizer : None, {"words", "spaces"}, callable or spaCy pipeline
            How it is cut, if not as the setting says.
        sentences : {"auto", "lines", "none"} or callable
            How its sentences are found, if not as the setting says.

        Returns
        -------
        Document or list of Document
            ``tokens``, ``offsets`` and ``sentences`` of the text, and ``spans``: what
            was found, each with its characters, label and confidence.
        """
        texts = [text] if isinstance(text, str) else text
        how = {"tokenizer": tokenizer, "sentences": sentences}
        documents = list(tag_documents(self, texts, **how))
        return documents[0] if isinstance(text, str) else documents

    @blas_threads()
    def recover(
        self, X: Any, y: Any = None
    ) -> tuple[list[list[Label]], list[FloatArray] | None]:
        """Choose among the candidates of new sentences with the fitted model.

        Parameters
        ----------
        X, y : Corpus, or lists of sentences
            As in `fit`.

        Returns
        -------
        labels : list of list
            The most likely candidate of every token.
        confidences : list of ndarray of shape (T, L), or None
            Confidence of every candidate, where the method has probabilities.
        """
        self._check_fitted()
        X, corpus = text_and_corpus(X, y)
        if corpus is not None:
            y, _ = candidates_of(corpus, self.classes_, self.method)
        features = self._transform(X)
        mask, _ = inputs.read_candidates(y, features.lengths, self.classes_)
        if features.n_tokens == 0:
            return [[] for _ in features.lengths], None
        weights = inputs.read_evidence(y, mask)  # [M, L]
        evidence = np.asarray(
            log_evidence(mask if weights is None else weights)
        )  # [M, L]
        chosen, confidences = self._restricted(features, evidence)
        return (
            self._as_labels(chosen, features.offsets),
            None if confidences is None else features.split(self._finite(confidences)),
        )

    def score(self, X: Any, y: Any = None) -> float:
        """Span F1 against the truth (accuracy if plain); of sets the share inside."""
        self._check_fitted()
        _, corpus = text_and_corpus(X, y)
        unknown = inputs.leaves_open(y) if corpus is None else gold_of(corpus) is None
        plain = "accuracy" if self.scheme_ == "plain" else "span_f1"
        return Scorer("inside" if unknown else plain).score(self, X, y)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model as one safetensors file, without any code in it.

        The file, usually called ``….tagsift``, is written whole or not at all.
        """
        self._check_fitted()
        write_container(path, *pack(self))

    @classmethod
    def from_container(
        cls, meta: Mapping[str, Any], arrays: Arrays, *, features: Any = None
    ) -> Self:
        """Rebuild a fitted estimator from what `tagsift.storage.read_container` read.

        `features` are the user's own, which a model file cannot hold: the fitted
        transformer, or the function.
        """
        return unpack(cls, meta, arrays, features)

    @property
    def n_features_in_(self) -> int:
        """Number of columns of the features."""
        self._check_fitted()
        return sum(width for _, width, _ in self.blocks_)

    @classmethod
    def training_arrays(cls) -> tuple[str, ...]:
        """How the names of saved arrays begin that hold features of training tokens."""
        return training_parts(saved_state(cls))

    # How it works --------------------------------------------------------------

    def _check_fitted(self) -> None:
        if not hasattr(self, "classes_"):
            raise NotFittedError(
                f"this {type(self).__name__} has not been fitted; call fit(X, y) first."
            )

    def _finite(self, probabilities: FloatArray) -> FloatArray:
        """Let no NaN out, whatever the numbers of a model file were, [M, L]."""
        if not np.isfinite(probabilities).all():
            raise NotSupportedError(
                f"this {type(self).__name__} gives no finite probabilities for these "
                "sentences; fit it again, on features of a common scale."
            )
        return probabilities

    def _forget(self) -> None:
        """Remove what an earlier fit learnt about the training data."""
        for name in ("classes_", "transduction_", "confidences_"):
            self.__dict__.pop(name, None)

    def _transform(self, X: Any) -> FeatureMatrix:
        """Features of new sentences, by the vectorizer learnt in fit."""
        self._check_fitted()
        return apply_features(self.vectorizer_, X, self.blocks_, type(self).__name__)

    def _resolve_seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        if isinstance(self.random_state, np.random.RandomState):
            return int(self.random_state.randint(2**31 - 1))
        return int(np.random.default_rng(self.random_state).integers(2**31))

    def _as_labels(self, which: IntArray, offsets: IntArray) -> list[list[Label]]:
        """Cut label indices of stacked tokens into sentences of labels."""
        names = self.classes_
        return [[names[k] for k in piece] for piece in split_at(which, offsets)]
