"""From sentences to features: the scikit-learn transformer of tagsift."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from numbers import Integral
from os import PathLike
from typing import Any, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from tagsift.errors import InputError, NotFittedError, TagsiftWarning
from tagsift.features.counting import FeatureCounts, IndicatorCounts
from tagsift.features.dicts import DictFeatures
from tagsift.features.encoder import ContextualEncoder
from tagsift.features.hashing import HashedIndicators
from tagsift.features.indicators import Indicators
from tagsift.features.inputs import Kind, StackedTokens, stack_tokens, words_of
from tagsift.features.matrix import FeatureMatrix
from tagsift.features.templates import Template, default_templates, input_width
from tagsift.progress import warn_user
from tagsift.typing import FloatArray, SentenceLike

__all__ = ["SequenceVectorizer", "Templates"]

Templates: TypeAlias = str | Sequence[str | Template] | Callable[[Any], Any]

_KINDS = {
    "columns": "strings or tuples of strings",
    "dict": "feature dicts",
    "array": "arrays [T, D]",
}


class SequenceVectorizer(TransformerMixin, BaseEstimator):
    """Turn sentences into named blocks of features.

    ======================  =====================================================
    tokens of a sentence    blocks
    ======================  =====================================================
    str, or tuples of str   one sparse binary block per group of templates:
                            ``word``, ``lower``, ``affix``, ``shape``, ``digits``,
                            ``capitals``, ``window``, ``pos`` (where there is a
                            second column) and ``position``
    feature dicts           ``dict``, sparse
    an array [T, D]         ``array``, dense
    ======================  =====================================================

    Text is used as given. Columns beyond word and part of speech are ignored unless a
    template asks for them (`column_templates`).

    Parameters
    ----------
    templates : "default", sequence of str, sequence of Template, or callable
        The default templates, some groups of them by name, templates of your own, or
        your own function from a sentence to feature dicts (or to an array [T, D]).
        An empty sequence leaves the features to the encoder alone.
    min_count : int
        Features seen at fewer training tokens are left out.
    encoder : ContextualEncoder or path-like, optional
        The encoder, or the folder of its model (see `ContextualEncoder`). Adds the
        dense block ``encoder``: word vectors, centred and scaled to a mean
        norm of 1 on the training sentences.
    hashing : int, optional
        Columns of the one block ``hashed`` that all templates share, each feature in
        one of them by a hash: no vocabulary is kept, and the size of a model does not
        hang on the corpus. `min_count` stays 1 then.

    Examples
    --------
    >>> vectorizer = SequenceVectorizer(templates=("lower", "position"))
    >>> features = vectorizer.fit_transform([["The", "cat", "sat"], ["the", "end"]])
    >>> features.names, features.n_tokens, features.n_features
    (('lower', 'position'), 5, 6)
    """

    kind_: Kind  # what the features were computed from
    n_columns_: int  # how many columns the features look at
    n_columns_in_: int  # how many columns the training tokens had
    encoder_mean_: FloatArray | None  # of the encoder's vectors; subtracted first
    encoder_scale_: float  # what they are multiplied by then

    def __init__(
        self,
        templates: Templates = "default",
        min_count: int = 1,
        encoder: ContextualEncoder | str | PathLike[str] | None = None,
        hashing: int | None = None,
    ) -> None:
        self.templates = templates
        self.min_count = min_count
        self.encoder = encoder
        self.hashing = hashing

    def fit(self, X: Sequence[SentenceLike], y: Any = None) -> Self:
        """Learn which features there are; `y` is ignored."""
        self._learn(X)
        return self

    def fit_transform(self, X: Sequence[SentenceLike], y: Any = None) -> FeatureMatrix:
        """Learn which features there are, and compute them."""
        return self._assemble(*self._learn(X))

    def transform(self, X: Sequence[SentenceLike]) -> FeatureMatrix:
        """Compute the features of sentences; those unseen in training are ignored."""
        self.check_fitted()
        tokens = self._stack(X, self._width)
        self._check_kind(tokens)
        return self._assemble(tokens, self._encode(X, tokens))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray[Any, Any]:
        """Names of all columns of ``transform(X).stacked()``, group first."""
        self.check_fitted()
        names: list[str] = []
        for group, width, sparse in self.columns:
            own: Iterable[Any] = range(width)
            if sparse and self._indicators is not None:
                own = self._indicators.names(group)
            elif sparse and self._dicts is not None:
                own = self._dicts.names
            names += [f"{group}: {name}" for name in own]
        return np.asarray(names, dtype=object)  # [D]

    def column_values(self, column: int) -> frozenset[str]:
        """Values of a column seen in training; empty where no feature looks at it."""
        vocabularies = {} if self._indicators is None else self._indicators.vocabularies
        return frozenset(
            vocabularies.get("pos" if column == 1 else f"column{column}", ())
        )

    @property
    def columns(self) -> tuple[tuple[str, int, bool], ...]:
        """Name and width of every block, and whether it is sparse."""
        found: list[tuple[str, int, bool]] = []
        if self._indicators is not None:
            found += [(k, n, True) for k, n in self._indicators.widths.items()]
        elif self._dicts is not None:
            found.append(("dict", len(self._dicts.names), True))
        elif self.kind_ == "array":
            found.append(("array", self._array_width, False))
        if self.encoder_mean_ is not None:
            found.append(("encoder", len(self.encoder_mean_), False))
        return tuple(found)

    # -- fitting -----------------------------------------------------------------

    def count(self, X: Sequence[SentenceLike]) -> FeatureCounts:
        """What `learn` has to know of sentences; it can be added up over parts."""
        self._check_settings()
        tokens = self._stack(X, self._width)
        return self._count(tokens, self._encode(X, tokens))

    def learn(self, counts: FeatureCounts) -> Self:
        """Learn which features there are from the counts of all sentences.

        With an encoder, its vectors are scaled once `scale_vectors` knows their norms.
        """
        self._check_settings()
        least = int(self.min_count)
        if counts.kind == "empty":
            raise InputError("the training sentences have no tokens; give some.")
        # Where the features come from, by kind: one of these three.
        self._indicators: Indicators | HashedIndicators | None = None
        self._dicts: DictFeatures | None = None
        self._array_width: int = counts.array_width
        if counts.indicators is not None:
            self._indicators = counts.indicators.keep(least)
        elif counts.kind == "columns" and self.hashing is not None:
            templates, width = self._templates() or (), counts.n_columns
            hashed = HashedIndicators.learn(templates, width, int(self.hashing))
            self._indicators = hashed
        elif counts.kind == "dict":
            self._dicts = DictFeatures.keep(counts.dicts, least)
        elif counts.kind == "columns" and self.encoder is None:
            raise InputError("neither templates nor an encoder: no feature is left.")
        self.kind_ = counts.kind  # type: ignore[assignment]
        self.n_columns_ = counts.n_columns
        self.n_columns_in_ = counts.n_columns_in
        self.encoder_mean_, self.encoder_scale_ = None, 1.0
        if counts.vectors is not None:
            self.encoder_mean_ = counts.vectors / max(counts.n_vectors, 1)  # [D]
        return self

    def norms(self, X: Sequence[SentenceLike]) -> float:
        """Sum of the norms of the encoder's vectors, once their mean is known."""
        vectors = self._encode(X, self._stack(X, self._width))
        return 0.0 if vectors is None else self._norms(vectors)

    def scale_vectors(self, norms: float, n_vectors: int) -> None:
        """Scale the encoder's vectors to a mean norm of 1."""
        self.encoder_scale_ = 1.0 / max(norms / max(n_vectors, 1), 1e-12)

    def _check_settings(self) -> None:
        if not isinstance(self.min_count, Integral) or self.min_count < 1:
            raise InputError(
                f"min_count must be an integer of at least 1, found {self.min_count!r}."
            )
        if self.hashing is not None:
            if not isinstance(self.hashing, Integral) or not 0 < self.hashing < 2**31:
                raise InputError(
                    "hashing must be a number of columns from 1 to 2^31 − 1, or None; "
                    f"found {self.hashing!r}."
                )
            if self.min_count > 1:
                raise InputError(
                    "min_count and hashing both choose the features; give one of them."
                )
        self._width: int = input_width(self._templates())

    def _learn(
        self, X: Sequence[SentenceLike]
    ) -> tuple[StackedTokens, np.ndarray[Any, Any] | None]:
        """Learn features and scales; return what `_assemble` needs."""
        self._check_settings()
        tokens = self._stack(X, self._width)
        vectors = self._encode(X, tokens)  # [N, D]
        self.learn(self._count(tokens, vectors))
        if vectors is not None:
            self.scale_vectors(self._norms(vectors), len(vectors))
        return tokens, vectors

    def _count(
        self, tokens: StackedTokens, vectors: np.ndarray[Any, Any] | None
    ) -> FeatureCounts:
        templates = self._templates()
        if tokens.kind == "columns" and templates is None:
            raise InputError(
                "the feature function returned strings; it must return one dict of "
                "features per token, or an array [T, D]."
            )
        found: dict[str, Any] = {}
        if tokens.kind == "columns":
            n, n_in = len(tokens.columns), tokens.width
            found |= {"n_columns": n, "n_columns_in": n_in}
            if templates and self.hashing is None:
                columns, offsets = tokens.columns, tokens.offsets
                found["indicators"] = IndicatorCounts.of(columns, offsets, templates)
        elif tokens.kind == "dict":
            found["dicts"] = DictFeatures.count(tokens.dicts, tokens.offsets)
        elif tokens.array is not None:
            found["array_width"] = tokens.array.shape[1]
        if vectors is not None and tokens.kind != "empty":
            found["n_vectors"] = len(vectors)
            found["vectors"] = vectors.sum(axis=0, dtype=np.float64)  # [D]
        return FeatureCounts(tokens.kind, **found)

    def _norms(self, vectors: np.ndarray[Any, Any]) -> float:
        centred = vectors - self.encoder_mean_  # [N, D]
        return float(np.linalg.norm(centred, axis=1).sum())

    def _templates(self) -> tuple[Template, ...] | None:
        """Return the templates to use, or None for a user's function."""
        if callable(self.templates):
            return None
        if self.templates == "default":
            return default_templates()
        if isinstance(self.templates, str):
            raise InputError(
                f"templates must be 'default', a sequence of group names or of "
                f"templates, or a function; found {self.templates!r}."
            )
        chosen = (
            (entry,) if isinstance(entry, Template) else default_templates([entry])
            for entry in self.templates
        )
        return tuple(chain.from_iterable(chosen))

    # -- computing ---------------------------------------------------------------

    def _stack(self, X: Sequence[SentenceLike], width: int) -> StackedTokens:
        """Stack the tokens, after the user's function where there is one."""
        if not callable(self.templates):
            return stack_tokens(X, width)
        sentences = list(X)
        results = [self.templates(sentence) for sentence in sentences]
        for s, (sentence, result) in enumerate(zip(sentences, results, strict=True)):
            if not hasattr(result, "__len__") or len(result) != len(sentence):
                size = len(result) if hasattr(result, "__len__") else "no"
                raise InputError(
                    f"sentence {s}: the feature function gave features of {size} "
                    f"tokens, the sentence has {len(sentence)}; it must return one "
                    "entry per token."
                )
        return stack_tokens(results, width)

    def check_fitted(self) -> None:
        """Refuse to go on before `fit`."""
        if not hasattr(self, "kind_"):
            raise NotFittedError("this vectorizer has not been fitted; call fit first.")

    def _check_kind(self, tokens: StackedTokens) -> None:
        """Compare new tokens with the training tokens."""
        if tokens.kind == "empty":
            return
        if tokens.kind != self.kind_:
            raise InputError(
                f"the features were learnt from {_KINDS[self.kind_]}, found "
                f"{_KINDS[tokens.kind]}; give tokens of the same kind."
            )
        if tokens.array is not None and tokens.array.shape[1] != self._array_width:
            raise InputError(
                f"the training arrays had {self._array_width} features, found "
                f"{tokens.array.shape[1]}; give the same number."
            )
        if len(tokens.columns) < self.n_columns_:
            warn_user(
                f"the training tokens had {self.n_columns_} columns, these have "
                f"{len(tokens.columns)}: the features of the missing columns (such as "
                "the part of speech) are left out, and accuracy suffers.",
                TagsiftWarning,
            )

    def _encode(
        self, X: Sequence[SentenceLike], tokens: StackedTokens
    ) -> np.ndarray[Any, Any] | None:
        """Word vectors of the encoder, [N, D], where there is one."""
        encoder = self.opened_encoder()
        if encoder is None:
            return None
        raw = stack_tokens(X, 1) if callable(self.templates) else tokens
        return encoder.encode(words_of(raw))  # [N, D]

    def opened_encoder(self) -> ContextualEncoder | None:
        """Give the encoder, where the setting is its folder too."""
        encoder = self.encoder
        if isinstance(encoder, str | PathLike):
            return ContextualEncoder(encoder)
        if encoder is None or callable(getattr(encoder, "encode", None)):
            return encoder
        raise InputError(
            "encoder must be a ContextualEncoder, or the folder of a model; got "
            f"{encoder!r:.80}."
        )

    def _assemble(
        self, tokens: StackedTokens, vectors: np.ndarray[Any, Any] | None
    ) -> FeatureMatrix:
        blocks: dict[str, Any] = {}
        offsets = tokens.offsets
        if self._indicators is not None:
            columns: Sequence[list[str]] = tokens.columns or [[]] * self.n_columns_
            blocks |= self._indicators.blocks(columns, offsets)
        elif self._dicts is not None:
            blocks["dict"] = self._dicts.block(tokens.dicts, offsets)
        elif self.kind_ == "array":
            nothing = np.zeros((0, self._array_width))  # [0, D]
            blocks["array"] = nothing if tokens.array is None else tokens.array
        if vectors is not None:
            blocks["encoder"] = (vectors - self.encoder_mean_) * self.encoder_scale_
        return FeatureMatrix(tuple(blocks), tuple(blocks.values()), offsets)
