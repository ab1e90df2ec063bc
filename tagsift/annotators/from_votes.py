"""What every tagger learnt from votes shares: the votes, and the tagger inside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import clone

from tagsift.annotators.settings import CONSTANTS
from tagsift.annotators.vote_table import VoteTable, vote_table
from tagsift.base import SequenceTagger, TrainingSet, Transduction, setting
from tagsift.base.corpora import text_and_corpus
from tagsift.base.inputs import resolve_labels
from tagsift.base.saving import saved_state, with_settings
from tagsift.base.sharding import ToShard
from tagsift.base.training_set import AnyTrainingSet
from tagsift.base.vectorizing import learn_features
from tagsift.baselines import PartialCRF
from tagsift.chain_gp import ChainGP
from tagsift.data.corpus import Corpus
from tagsift.errors import InputError, ModelFileError
from tagsift.features import FeatureMatrix, SequenceVectorizer
from tagsift.storage.items import Item, PartsRead, PartsWritten, refuse
from tagsift.storage.state import Saved
from tagsift.threads import blas_threads
from tagsift.typing import FloatArray, IntArray, Label

__all__ = ["TaggerFromVotes", "labels_of", "of_votes", "votes_of"]

#: The chain models that can stand inside, by table name.
_INNER: dict[str, Any] = {kind.method.name: kind for kind in (PartialCRF, ChainGP)}


@dataclass(frozen=True, kw_only=True)
class _Inner(Item):
    """A fitted tagger inside another one, in a model file."""

    def _write(self, name: str, value: Any, out: PartsWritten) -> None:
        out.meta[name] = value.method.name
        for key, item in saved_state(type(value)).items():
            item.write(f"{name}/{key.strip('_')}", getattr(value, key, None), out)

    def _read(self, name: str, source: PartsRead) -> Any:
        found = source.value(name)
        if not isinstance(found, str) or found not in _INNER:
            refuse(name, f"must be one of {', '.join(_INNER)}", repr(found)[:60])
        model = _INNER[found]()
        for key, item in saved_state(_INNER[found]).items():
            setattr(model, key, item.read(f"{name}/{key.strip('_')}", source))
        return model


class TaggerFromVotes(SequenceTagger):
    """Base class: votes become labels, and a chain model is fitted on them.

    Parameters
    ----------
    estimator : ChainGP or PartialCRF, optional
        The text model; None for the method's own choice.
    o_means : "outside", "abstain", dict or None
        What the vote ``O`` means: a statement, or that the annotator (a rule, a
        dictionary) has nothing to say. A dict says it by the annotator's name; None
        takes it as the corpus says, and a source abstains.
    features, labels, scheme, random_state, verbose, tokenizer, sentences
        As in `SequenceTagger`.
    """

    estimator: Any = setting(None)
    o_means: Literal["outside", "abstain"] | dict[str, str] | None = setting(None)

    saved: ClassVar[Saved] = {"estimator_": _Inner()}
    positional: ClassVar[tuple[str, ...]] = ("estimator",)

    # What a subclass writes ------------------------------------------------------

    def _aggregate(self, train: Any, table: VoteTable) -> Transduction:
        """Turn votes into labels, and make a tagger, `estimator_`."""
        raise NotImplementedError

    # What users call -------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from sentences that several annotators have labelled.

        Parameters
        ----------
        X : Corpus, or list of sentences of one
            With votes; what is known exactly counts as such. Or features, as in
            `SequenceTagger.fit`.
        y : Corpus, optional
            With votes, where `X` are features.
        sample_weight
            Left out: votes have no weights.

        Returns
        -------
        self
        """
        X, corpus = votes_of(X, y, self.method.title)
        if sample_weight is not None:
            raise InputError("votes have no weights of sentences; leave them out.")
        self.check_settings()
        return self._fit_votes(X, corpus)

    # How it works ----------------------------------------------------------------

    @blas_threads()
    def _fit_votes(
        self,
        X: Any,
        corpus: Corpus,
        labels: tuple[Label, ...] | None = None,
        **more: Any,
    ) -> Self:
        """Learn from votes on `labels`; `_aggregate` gets what is `more`."""
        table = self._table(corpus, labels)
        corpus, classes = table.corpus, table.corpus.label_set.names
        scheme = corpus.scheme
        wanted = self._wanted_features(corpus)
        seed, engine = self._resolve_seed(), getattr(self, "engine", None)
        train: AnyTrainingSet
        if engine is not None:
            cutter = ToShard(engine, wanted, classes, scheme, seed)
            train, vectorizer = cutter.sentences(X, None)
        else:
            features, vectorizer = learn_features(wanted, X)
            if not np.array_equal(features.offsets, corpus.bounds):
                raise InputError(
                    f"X has {features.n_sequences} sentences and {features.n_tokens} "
                    f"tokens, the votes have {len(corpus)} and {corpus.n_tokens}, or "
                    "sentences of other lengths."
                )
            mask = np.ones((features.n_tokens, len(classes)), dtype=bool)  # [N, L]
            train = TrainingSet(features, mask, classes, scheme, seed)
        aggregate = partial(self._aggregate, table=table, **more)
        return self._learn_from(train, vectorizer, aggregate)

    def _table(
        self, corpus: Corpus, labels: tuple[Label, ...] | None = None
    ) -> VoteTable:
        """Votes over `labels`, by default those of the settings or of the corpus."""
        scheme = corpus.scheme if self.scheme == "auto" else self.scheme
        corpus = self._told(corpus.with_scheme(scheme))
        classes = labels or resolve_labels(self.labels) or labels_of(corpus)
        return vote_table(corpus, classes)

    def _wanted_features(self, corpus: Corpus) -> Any:
        """The features as the settings say, or what suits the size of the corpus."""
        wanted = self.features
        if wanted is None:
            wanted = getattr(self.estimator, "features", None)
        if wanted is None and corpus.n_tokens > CONSTANTS.rare_features_tokens:
            return SequenceVectorizer(min_count=2)
        return wanted

    def _told(self, corpus: Corpus) -> Corpus:
        """The corpus, with whose `O` says nothing by the settings."""
        means = self.o_means
        if means is None:
            quiet = [one.abstains or one.kind == "source" for one in corpus.annotators]
        elif isinstance(means, str):
            quiet = [means == "abstain"] * len(corpus.annotators)
        elif all(value in ("outside", "abstain") for value in means.values()):
            names = [one.name for one in corpus.annotators]
            unknown = set(means) - set(names)
            if unknown:
                raise InputError(
                    f"there is no annotator {min(unknown)!r} that could abstain; they "
                    f"are {', '.join(names)}."
                )
            quiet = [means.get(name) == "abstain" for name in names]
        else:
            raise InputError(
                "o_means must be 'outside', 'abstain', or a dict from annotators to "
                f"these; got {means!r}."
            )
        people = zip(corpus.annotators, quiet, strict=True)
        return replace(
            corpus, annotators=tuple(replace(one, abstains=q) for one, q in people)
        )

    def _new_estimator(self) -> Any:
        """The chain model to fit, not fitted yet."""
        given = PartialCRF(l2=3.0) if self.estimator is None else self.estimator
        if not isinstance(given, tuple(_INNER.values())):
            raise InputError(
                "estimator must be a chain model that takes evidence, ChainGP or "
                f"PartialCRF; got {type(given).__name__}."
            )
        new: Any = clone(given)
        new.check_settings()
        self._share_columns(new)
        return new

    def _take(self, inner: SequenceTagger) -> None:
        """Take a fitted chain model as the tagger."""
        self.estimator_ = inner

    def _share_columns(self, inner: Any) -> None:
        """Give the chain model inside the labels and features of this one."""
        inner.classes_, inner.scheme_ = self.classes_, self.scheme_
        inner.blocks_, inner.vectorizer_ = self.blocks_, None

    def _predict(self, features: FeatureMatrix) -> IntArray:
        return self.estimator_._predict(features)

    def _marginals(self, features: FeatureMatrix) -> FloatArray:
        return self.estimator_._marginals(features)

    def _restricted(
        self, features: FeatureMatrix, evidence: FloatArray
    ) -> tuple[IntArray, FloatArray | None]:
        return self.estimator_._restricted(features, evidence)

    def _restored(self) -> None:
        inner: Any = self.estimator_
        self._share_columns(inner)
        told = self.estimator
        if told is not None:
            if (
                not isinstance(told, Mapping)
                or told.get("method") != inner.method.name
                or not isinstance(told.get("params"), Mapping)
            ):
                raise ModelFileError(
                    "the setting 'estimator' is not that of the tagger in the file; it "
                    "was altered or damaged, save the model again."
                )
            self.estimator = with_settings(type(inner), told["params"])
            inner.set_params(**self.estimator.get_params(deep=False))
        inner._restored()


def votes_of(X: Any, y: Any, title: str) -> tuple[Any, Corpus]:
    """The sentences, and a corpus of votes; labels are those of one annotator."""
    X, corpus = text_and_corpus(X, y)
    if corpus is None:
        other = X if y is None else y
        raise InputError(
            f"expected a corpus of votes, found {type(other).__name__}: {title} learns "
            "from votes; make one by tagsift.read(..., votes=...) or "
            "Corpus.from_lists(rows, votes=...), for candidate sets take ChainGP."
        )
    candidates = corpus.candidate_codes
    if of_votes(corpus):
        return X, corpus
    if candidates is None or corpus.n_ambiguous:
        what = "none"
        if corpus.n_ambiguous:
            what = f"candidate sets ({corpus.n_ambiguous} tokens are ambiguous)"
        raise InputError(
            f"expected a corpus of votes, found {what}: {title} learns from votes; say "
            "which columns are votes when it is read (votes=), for candidate sets take "
            "ChainGP or PartialCRF."
        )
    return X, corpus.as_votes()


def of_votes(corpus: Corpus) -> bool:
    """Whether annotators speak in a corpus; if none voted, candidates do, if any."""
    if len(corpus.votes.token):
        return True
    candidates = corpus.candidate_codes is not None or corpus.weights is not None
    return bool(corpus.annotators) and not candidates


def labels_of(corpus: Corpus) -> tuple[Label, ...]:
    """The labels of a corpus, in order.

    In IOB2 a type that was only ever continued gets its ``B-`` label, too: without it
    no sequence could hold it.
    """
    names = set(corpus.label_set.names)
    if corpus.scheme == "iob2":
        names |= {"B" + name[1:] for name in names if name[:2] == "I-" or name == "I"}
    return tuple(sorted(names))
