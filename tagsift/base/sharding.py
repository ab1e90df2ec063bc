"""From sentences to shards: cut, counted, and turned into features where they are."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from tagsift.base import inputs
from tagsift.base.corpora import candidate_table
from tagsift.base.settings import Method
from tagsift.base.sharded_set import ShardedSet
from tagsift.base.training_set import exact_pairs
from tagsift.base.vectorizing import new_vectorizer
from tagsift.chain import ChainData, Engine, Shards, log_evidence
from tagsift.data import Corpus, Row, offsets_of, place_of, scheme_of_pairs
from tagsift.errors import InputError
from tagsift.features import (
    FeatureCounts,
    FeatureMatrix,
    PackedFeatures,
    SequenceVectorizer,
    checked,
    read_sentences,
    stack_tokens,
)
from tagsift.typing import BoolArray, FloatArray, IntArray, Label

__all__ = ["LabelFacts", "ToShard"]


@dataclass(frozen=True)
class LabelFacts:
    """What is to be known of the labels of a corpus; parts add up, in their order."""

    lengths: IntArray  # [S], tokens of every sentence
    pairs: Counter[tuple[str | None, str]]  # of labels, in exactly labelled sentences
    first_ambiguous: tuple[str, int] | None  # place, and number of candidates

    @classmethod
    def of(
        cls, mask: BoolArray, lengths: IntArray, classes: Sequence[Label]
    ) -> LabelFacts:
        """Of candidates [N, L] whose columns are `classes`."""
        offsets, sizes = offsets_of(lengths), mask.sum(axis=1)  # [S+1], [N]
        several = np.flatnonzero(sizes != 1)[:1]  # [0 or 1]
        places = [(place_of(n, offsets), int(sizes[n])) for n in several]
        pairs = exact_pairs(mask, offsets, classes)
        return cls(lengths, pairs, places[0] if places else None)

    def __add__(self, other: LabelFacts) -> LabelFacts:
        return LabelFacts(
            np.concatenate([self.lengths, other.lengths]),
            self.pairs + other.pairs,
            self.first_ambiguous or other.first_ambiguous,
        )


@dataclass(frozen=True)
class _PackedRows:
    """Rows of tokens as one array, so that shards on disk hold no text in memory."""

    text: np.ndarray[Any, Any]  # [bytes], JSON

    @classmethod
    def of(cls, rows: list[list[Row]]) -> _PackedRows:
        return cls(np.frombuffer(json.dumps(rows).encode(), np.uint8))

    def rows(self) -> list[list[Row]]:
        sentences = json.loads(self.text.tobytes())
        return [[tuple(row) for row in sentence] for sentence in sentences]


@dataclass(frozen=True)
class ToShard:
    """How a corpus becomes a `ShardedSet` and a vectorizer, None for ready features."""

    engine: Engine
    features: Any  # the setting of the estimator
    labels: tuple[Label, ...] | None
    scheme: str
    seed: int

    def __post_init__(self) -> None:
        if not callable(getattr(self.engine, "scatter", None)):
            raise InputError(
                "engine must be one of tagsift.engines, such as LocalEngine(); "
                f"got an object of type {type(self.engine).__name__}."
            )

    def sentences(self, X: Any, y: Any) -> tuple[ShardedSet, Any]:
        """Cut sentences in memory; `y` as in `SequenceTagger.fit`; None is no label."""
        ready = isinstance(X, FeatureMatrix)
        X = checked(X) if ready else read_sentences(X)
        if not ready:
            stack_tokens(X, 1)  # says what is wrong with them, and where
        lengths = X.lengths if ready else np.array([len(sentence) for sentence in X])
        if y is None and self.labels is not None:
            classes, evidence = self.labels, None
            mask = np.ones((int(lengths.sum()), len(classes)), dtype=bool)  # [N, L]
        else:
            mask, classes = inputs.read_candidates(y, lengths, self.labels)
            evidence = inputs.read_evidence(y, mask)
        evidence_or_mask = mask if evidence is None else evidence  # [N, L]
        bounds = _cuts(lengths, self.engine.n_shards)  # [K+1]
        rows = offsets_of(lengths)[bounds]  # [K+1]
        pieces = []
        for k in range(len(bounds) - 1):
            chosen = slice(bounds[k], bounds[k + 1])
            own = (
                X.take_sequences(range(chosen.start, chosen.stop))
                if ready
                else X[chosen]
            )
            pieces.append((own, evidence_or_mask[rows[k] : rows[k + 1]]))
        shards = self.engine.scatter(pieces)
        vectorizer = None
        if not ready:
            vectorizer = self._countable()
            _learn(vectorizer, shards, shards.sum(_count, vectorizer))
        shards.then(_with_features, vectorizer)
        facts = LabelFacts.of(mask, lengths, classes)
        return self._set(shards, facts, bounds, classes), vectorizer

    def corpora(self, chunks: Iterable[Corpus], method: Method) -> tuple[Any, Any]:
        """Take corpora that share a label set, one after the other, from the first on.

        Where shards are on disk, no more than one of them is in memory at a time.
        """
        vectorizer = self._countable()
        facts: list[LabelFacts] = []
        kinds: set[tuple[tuple[Label, ...], str]] = set()

        def pieces() -> Iterator[tuple[_PackedRows, BoolArray | FloatArray]]:
            for corpus in chunks:
                if not isinstance(corpus, Corpus):
                    raise InputError(
                        "expected corpora, such as a file read in chunks, found "
                        f"{type(corpus).__name__}; give sentences as X with their "
                        "labels as y."
                    )
                table, names = candidate_table(corpus, self.labels, method)  # [N, L]
                mask = table > 0  # [N, L]
                facts.append(LabelFacts.of(mask, corpus.lengths, names))
                kinds.add((names, corpus.scheme))
                if corpus.weights is not None:
                    evidence = inputs.read_evidence([table], mask)  # [N, L]
                    mask = log_evidence(mask) if evidence is None else evidence
                yield _PackedRows.of(corpus.rows), mask

        shards = self.engine.scatter(pieces())
        if len(kinds) != 1:
            raise InputError(
                "expected corpora that share a label set and a scheme, found "
                f"{len(kinds)} of these; read one file in chunks, or give labels=."
            )
        ((classes, scheme),) = kinds
        _learn(vectorizer, shards, shards.sum(_count, vectorizer))
        shards.then(_with_features, vectorizer)
        bounds = offsets_of(len(one.lengths) for one in facts)  # [K+1]
        whole = reduce(add, facts)
        cutter = replace(self, scheme=scheme if self.scheme == "auto" else self.scheme)
        train = cutter._set(shards, whole, bounds, classes)
        train.keeps_labels = False
        return train, vectorizer

    def _countable(self) -> SequenceVectorizer:
        """The vectorizer of the setting, if parts of a corpus can teach it."""
        vectorizer = new_vectorizer(self.features)
        if not isinstance(vectorizer, SequenceVectorizer):
            raise InputError(
                "an engine needs features that are counted part by part (templates, a "
                "function of a sentence, an encoder); got "
                f"{type(vectorizer).__name__}. Give X as a FeatureMatrix instead."
            )
        return vectorizer

    def _set(
        self,
        shards: Shards,
        facts: LabelFacts,
        bounds: IntArray,
        classes: tuple[Label, ...],
    ) -> ShardedSet:
        scheme = self.scheme
        if scheme == "auto":
            scheme = scheme_of_pairs(facts.pairs, map(str, classes))
        return ShardedSet(
            shards,
            shards.map(_columns, only=[0])[0],
            facts.lengths,
            bounds,
            shards.sum(_label_counts) > 0,
            classes,
            scheme,
            self.seed,
            has_exact=bool(facts.pairs),
            first_ambiguous=facts.first_ambiguous,
            checkpoint=self.engine.checkpoint,
        )


def _cuts(lengths: IntArray, n_shards: int) -> IntArray:
    """Bounds of shards of about as many tokens each, none without any, [K+1]."""
    total = offsets_of(lengths)  # [S+1]
    if not total[-1]:
        raise InputError(
            f"nothing to learn from: X has {len(lengths)} sentences and no token."
        )
    wanted = total[-1] * np.arange(1, n_shards) / n_shards  # [K-1]
    inner = np.searchsorted(total, wanted)  # [K-1]
    _, first = np.unique(total[inner], return_index=True)
    cuts = [k for k in inner[first] if 0 < total[k] < total[-1]]
    return np.array([0, *cuts, len(lengths)])


def _learn(
    vectorizer: SequenceVectorizer, shards: Shards, counts: FeatureCounts
) -> None:
    vectorizer.learn(counts)
    if counts.vectors is not None:
        vectorizer.scale_vectors(shards.sum(_norms, vectorizer), counts.n_vectors)


# What is done where the shards are -------------------------------------------------


def _tokens(piece: Any) -> Any:
    X = piece[0]
    return X.rows() if isinstance(X, _PackedRows) else X


def _count(piece: Any, vectorizer: SequenceVectorizer) -> FeatureCounts:
    return vectorizer.count(_tokens(piece))


def _norms(piece: Any, vectorizer: SequenceVectorizer) -> float:
    return vectorizer.norms(_tokens(piece))


def _with_features(
    piece: tuple[Any, BoolArray | FloatArray], vectorizer: SequenceVectorizer | None
) -> ChainData:
    X, (_, evidence) = _tokens(piece), piece
    features = X if vectorizer is None else checked(vectorizer.transform(X))
    return ChainData(PackedFeatures.of(features), evidence)


def _columns(data: ChainData) -> tuple[tuple[str, int, bool], ...]:
    return data.features.columns


def _label_counts(data: ChainData) -> IntArray:
    evidence = data.evidence  # [N, L]
    inside = evidence if evidence.dtype == np.bool_ else evidence > -np.inf  # [N, L]
    return np.asarray(inside.sum(axis=0))  # [L]
