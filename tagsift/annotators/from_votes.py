"""What every tagger learnt from votes shares: the votes, and the tagger inside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from sklearn.base import clone

from tagsift.annotators.ballots import Ballots, ballots_of
from tagsift.base import SequenceTagger, TrainingSet, setting
from tagsift.base.inputs import resolve_labels
from tagsift.base.saving import saved_state, with_settings
from tagsift.base.scoring import Scorer
from tagsift.base.sharding import ToShard
from tagsift.base.training_set import AnyTrainingSet
from tagsift.base.vectorizing import learn_features
from tagsift.baselines import PartialCRF
from tagsift.chain_gp import ChainGP
from tagsift.data import VoteCorpus
from tagsift.errors import InputError, ModelFileError
from tagsift.features import FeatureMatrix, SequenceVectorizer
from tagsift.storage.items import Item, PartsRead, PartsWritten, refuse
from tagsift.storage.state import Saved
from tagsift.typing import FloatArray, IntArray, Label

__all__ = ["Aggregated", "TaggerFromVotes", "labels_of"]

#: Labels that votes were turned into [N], and their confidences [N, L].
Aggregated: TypeAlias = tuple[IntArray, FloatArray]
#: The chain models that can stand inside, by table name.
_INNER: dict[str, Any] = {kind.method.name: kind for kind in (PartialCRF, ChainGP)}
#: From how many tokens on features that occur once are left out.
_MANY_TOKENS = 2000


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

    Given candidate sets instead of votes, the chain model is fitted on those.

    Parameters
    ----------
    estimator : ChainGP or PartialCRF, optional
        The text model; None for the method's own choice.
    o_means : "outside", "abstain", dict or None
        What the vote ``O`` means: a statement, or that the annotator (a rule, a
        dictionary) has nothing to say. A dict says it by the annotator's name; None
        takes it as the corpus says.
    features, labels, scheme, random_state, verbose, tokenizer, sentences
        As in `SequenceTagger`.
    """

    estimator: Any = setting(None)
    o_means: Literal["outside", "abstain"] | dict[str, str] | None = setting(None)

    saved: ClassVar[Saved] = {"estimator_": _Inner()}
    positional: ClassVar[tuple[str, ...]] = ("estimator",)
    _ballots: Ballots | None = None
    _exact: Any = None

    # What a subclass writes ------------------------------------------------------

    def _aggregate(self, train: Any, ballots: Ballots) -> Aggregated:
        """Turn votes into labels, and set ``estimator_``."""
        raise NotImplementedError

    # What users call -------------------------------------------------------------

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, exact: Any = None
    ) -> Self:
        """Learn from sentences that several annotators have labelled.

        Parameters
        ----------
        X : list of sentences
            As in `SequenceTagger.fit`; ``votes.rows``, say.
        y : VoteCorpus
            The votes, or a list of corpora of one sentence each (as scikit-learn cuts
            them). Candidate sets as in `SequenceTagger.fit` are taken, too.
        sample_weight : array of shape (n_sentences,), optional
            With candidate sets only.
        exact : list of sentences of (label or None), optional
            Labels that are known exactly; by default those of the corpus.

        Returns
        -------
        self
        """
        votes = VoteCorpus.joined(y)
        y = y if votes is None else votes
        if votes is not None and sample_weight is not None:
            raise InputError("votes have no weights of sentences; leave them out.")
        self._exact = exact
        try:
            super().fit(X, y, sample_weight)
        finally:
            self._exact = self._ballots = None
        return self

    def score(self, X: Any, y: Any) -> float:
        """As in `SequenceTagger.score`; of votes, the share of labels that got one."""
        if VoteCorpus.joined(y) is not None:
            return Scorer("inside").score(self, X, y)
        return super().score(X, y)

    # How it works ----------------------------------------------------------------

    def _prepare(self, X: Any, y: Any) -> tuple[AnyTrainingSet, Any]:
        if not isinstance(y, VoteCorpus):
            self._ballots = None
            return super()._prepare(X, y)
        wanted = self.features
        if wanted is None:
            wanted = getattr(self.estimator, "features", None)
        if wanted is None and y.n_tokens > _MANY_TOKENS:
            wanted = SequenceVectorizer(min_count=2)
        scheme = y.scheme if self.scheme == "auto" else self.scheme
        classes = resolve_labels(self.labels) or labels_of(y, scheme)
        told = {"abstaining": self._abstaining(y), "exact": self._exact}
        seed, engine = self._resolve_seed(), getattr(self, "engine", None)
        if engine is not None:
            corpus = ToShard(engine, wanted, classes, scheme, seed)
            train, vectorizer = corpus.sentences(X, None)
            self._ballots = ballots_of(y, classes, train.lengths, **told)
            return train, vectorizer
        features, vectorizer = learn_features(wanted, X)
        self._ballots = ballots_of(y, classes, features.lengths, **told)
        mask = np.ones((features.n_tokens, len(classes)), dtype=bool)  # [N, L]
        return TrainingSet(features, mask, classes, scheme, seed), vectorizer

    def _abstaining(self, votes: VoteCorpus) -> Iterable[str]:
        """Names of the annotators whose `O` says nothing."""
        said = self.o_means
        if said is None:
            return votes.abstaining
        if isinstance(said, str):
            return votes.annotators if said == "abstain" else ()
        if any(value not in ("outside", "abstain") for value in said.values()):
            raise InputError(
                "o_means must be 'outside', 'abstain', or a dict from annotators to "
                f"these; got {said!r}."
            )
        return [name for name, value in said.items() if value == "abstain"]

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
        new._train_confidences = None
        return new

    def _share_columns(self, inner: Any) -> None:
        """Give the chain model inside the labels and features of this one."""
        inner.classes_, inner.scheme_ = self.classes_, self.scheme_
        inner.blocks_, inner.vectorizer_ = self.blocks_, None

    def _fit(self, train: AnyTrainingSet) -> IntArray | None:
        ballots = self._ballots
        if ballots is None:
            inner = self._new_estimator()
            recovered: IntArray | None = inner._fit(train)
            self.estimator_: SequenceTagger = inner
            self._train_confidences = inner._train_confidences
            self._without_votes(train)
            return recovered
        labels, self._train_confidences = self._aggregate(train, ballots)
        return labels

    def _without_votes(self, train: Any) -> None:
        """Set what is learnt about annotators where there are none."""

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


def labels_of(votes: VoteCorpus, scheme: str) -> tuple[Label, ...]:
    """The labels of the votes and of what is known, in order.

    In IOB2 a type that was only ever continued gets its ``B-`` label, too: without it
    no sequence could hold it.
    """
    names = {str(name) for name in votes.label_set.names}
    if votes.exact is not None:
        names |= {str(k) for sentence in votes.exact for k in sentence if k is not None}
    if scheme == "iob2":
        names |= {"B" + name[1:] for name in names if name[:2] == "I-" or name == "I"}
    return tuple(sorted(names))
