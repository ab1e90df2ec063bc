"""What `fit` learns from: checked input, features, and what a method cannot do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tagsift.base import inputs
from tagsift.base.corpora import candidates_of, text_and_corpus
from tagsift.base.settings import Method
from tagsift.base.sharding import ToShard
from tagsift.base.training_set import AnyTrainingSet, TrainingSet, scheme_of
from tagsift.base.vectorizing import learn_features
from tagsift.errors import InputError, NotSupportedError, ScaleWarning
from tagsift.progress import warn_user

if TYPE_CHECKING:
    from tagsift.base.tagger import SequenceTagger

__all__ = ["checked_training", "training_data"]


def training_data(model: SequenceTagger, X: Any, y: Any) -> tuple[AnyTrainingSet, Any]:
    """Check X and y, learn the features, and build the training set."""
    labels, seed = inputs.resolve_labels(model.labels), model._resolve_seed()
    scheme: str = model.scheme
    X, corpus = text_and_corpus(X, y)
    if corpus is not None:
        y, labels = candidates_of(corpus, labels, model.method)
        scheme = corpus.scheme if scheme == "auto" else scheme
    if (engine := getattr(model, "engine", None)) is not None:
        cutter = ToShard(engine, model.features, labels, scheme, seed)
        chunks = y is None
        return cutter.corpora(X, model.method) if chunks else cutter.sentences(X, y)
    if y is None:
        raise InputError(
            "there are no labels to learn from; give y, or a corpus as X (and as y "
            "where X are features, behind the transformer of a pipeline, say)."
        )
    features, vectorizer = learn_features(model.features, X)
    mask, classes = inputs.read_candidates(y, features.lengths, labels)
    evidence = inputs.read_evidence(y, mask)
    train = TrainingSet(features, mask, classes, scheme, seed, evidence)
    if scheme == "auto":
        train = replace(train, scheme=scheme_of(train))
    return train, vectorizer


def checked_training(
    method: Method, train: AnyTrainingSet, sample_weight: Any
) -> AnyTrainingSet:
    """The training set with its weights, unless the method can do nothing with it."""
    weights = inputs.read_sample_weight(sample_weight, len(train.offsets) - 1)
    if weights is not None and not method.weighted:
        raise NotSupportedError(
            f"{method.title} has no weights of sentences; leave sample_weight "
            "out, or take 'chain-gp' or 'partial-crf'."
        )
    train = train.weighted(weights)
    if method.exact_only and train.first_ambiguous is not None:
        place, size = train.first_ambiguous
        raise InputError(
            f"{method.title} needs exact labels; {place} has {size} "
            "candidates. Use a method for partial labels, such as 'partial-crf'."
        )
    if 0 < method.many_labels < train.n_labels:
        warn_user(
            f"{method.title} with {train.n_labels} labels takes minutes or "
            f"more, however few the sentences (a fit costs {method.cost}); "
            "'partial-crf' is faster.",
            ScaleWarning,
        )
    return train
