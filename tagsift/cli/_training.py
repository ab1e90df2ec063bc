"""Training data as the verbs `fit`, `clean` and `rank` read it, and what they learn."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tagsift
from tagsift.cli._options import (
    Fitting,
    Source,
    parse_labels,
    parse_renaming,
    parse_settings,
)
from tagsift.cli._output import complain, note, percent, say
from tagsift.cli._sources import (
    format_of,
    read_documents,
    say_losses,
    with_sources,
)
from tagsift.cli._votes import (
    are_votes,
    make_for_votes,
    read_vote_file,
    takes_votes,
)
from tagsift.errors import InputError, TagsiftWarning
from tagsift.progress import stage

if TYPE_CHECKING:
    from tagsift.base import SequenceTagger
    from tagsift.cleaned import Cleaned
    from tagsift.data import Row
    from tagsift.data.corpus import Corpus
    from tagsift.io import Documents, PartialCorpus, VoteCorpus
    from tagsift.typing import FloatArray, Label

__all__ = [
    "DEFAULT_METHOD",
    "TrainingData",
    "as_votes",
    "check_columns",
    "check_model_options",
    "check_training",
    "fit_model",
    "fitted_labels",
    "make_model",
    "make_settings",
    "named_method",
    "read_training",
    "recover",
    "say_recovery",
    "update_model",
]

#: What `fit`, `clean`, `rank` and `demo` use unless told otherwise.
DEFAULT_METHOD = "chain-gp"
#: From how many tokens on a sentence looks as if blank lines were missing.
_LONG = 1000


@dataclass(frozen=True)
class TrainingData:
    """What to learn from."""

    path: Path | str  # where it stands
    partial: PartialCorpus  # candidate sets
    votes: VoteCorpus | None = None  # the votes they came from, if they did
    # Labels and scheme as the user gave them; the rest is the method's to find.
    given: dict[str, Any] = field(default_factory=dict)
    named: bool = False  # whether the user named the columns
    documents: Documents | None = None  # that were read, where it was no column file

    @property
    def corpus(self) -> Corpus:
        """The same as one corpus."""
        return with_sources((self.votes or self.partial).as_corpus(), self.documents)

    @property
    def facts(self) -> dict[str, Any]:
        """Sizes, for reports."""
        partial = self.partial
        return {
            "sentences": len(partial),
            "tokens": partial.n_tokens,
            "ambiguous_tokens": partial.n_ambiguous,
            "labels": list(partial.label_set),
            "scheme": partial.scheme,
        }

    def recovery(self, labels: Sequence[Sequence[Label]]) -> dict[str, Any]:
        """How many labels are right, for reports; nothing without gold labels."""
        partial = self.partial
        if partial.gold is None:
            return {}
        found = tagsift.metrics.recovery(partial.gold, labels, partial.candidates)
        return {"recovery": asdict(found)}

    def scores(self, found: Cleaned) -> dict[str, Any]:
        """How good labels made from votes are; nothing without gold labels."""
        if self.votes is None or self.votes.gold is None:
            return {}
        score = found.scores()
        counted = tagsift.metrics.span_scores(
            self.votes.gold, found.majority_sentences or [], scheme=self.votes.scheme
        )
        scores = {"span_f1": score.span_f1, "token_accuracy": score.tokens.accuracy}
        if score.calibration is not None:
            scores |= {"log_loss": score.calibration.nll, "ece": score.calibration.ece}
        return {"scores": {**scores, "majority_span_f1": counted.f1}}


def read_training(
    path: Path,
    source: Source,
    usual: Sequence[str] | None = None,
    method: str | None = None,
) -> TrainingData:
    """Read candidate sets, or votes where the options say that they are.

    `usual` are the labels of documents in which nobody has labelled anything. Where the
    `method` learns from votes, exact labels are the votes of one annotator.
    """
    labels = parse_labels(source.labels)
    given: dict[str, Any] = {"labels": labels} if isinstance(labels, list) else {}
    if source.scheme != "auto":
        given["scheme"] = source.scheme
    for one in ("tokenizer", "sentences"):
        if getattr(source, one) is not None:
            given[one] = getattr(source, one)
    named = source.columns is not None
    name = format_of(path, source, source)
    documents = None
    if name != "conll" or source.also:
        documents = read_documents(path, name, source)
    if are_votes(source) or (documents and len(documents.annotators) > 1):
        parse_renaming(source.labels)  # votes name their labels
        found = None if documents is None else documents.votes()
        corpus = read_vote_file(path, source, found)
        return _said(
            TrainingData(path, corpus.candidates(), corpus, given, named, documents)
        )
    for name in ("o_means", "abstain", "exact"):
        if getattr(source, name, None) is not None:
            option = name.replace("_", "-")
            raise InputError(f"--{option} is for votes: say which columns by --votes.")
    if documents is not None:
        nobody = "labels" not in given and not documents.annotators
        partial = documents.candidates(usual if nobody else given.get("labels"))
    else:
        partial = tagsift.read_partial(
            path,
            labels=labels,
            scheme=source.scheme,
            comments=source.comments,
            gold=source.gold,
            columns=source.columns,
            header=source.header,
            features_hold_labels=source.features_hold_labels,
        )
    training = _said(TrainingData(path, partial, None, given, named, documents))
    of_votes = any(one.votes for one in tagsift.methods() if one.name == method)
    return as_votes(training) if of_votes else training


def as_votes(training: TrainingData) -> TrainingData:
    """Labels that are all exact are the votes of one annotator, who may err."""
    partial = training.partial
    if training.votes is not None or partial.n_ambiguous:
        return training
    votes = tagsift.VoteCorpus(
        partial.rows,
        [[tuple(names) for names in row] for row in partial.candidates],
        ("labels",),
        partial.gold,
        partial.scheme,
    )
    return replace(training, partial=votes.candidates(), votes=votes)


def _said(training: TrainingData) -> TrainingData:
    """Say what could not be kept of documents, and where columns lack blank lines."""
    if training.documents is not None:
        say_losses(training.documents.losses)
        return training
    lengths = [len(sentence) for sentence in training.partial.rows]
    longest = max(lengths, default=0)
    if longest > _LONG:
        complain(
            f"sentence {lengths.index(longest) + 1} has {longest} tokens; sentences "
            "end with a blank line, and such long ones take long.",
            kind="warning",
        )
    return training


def fit_model(training: TrainingData, fitting: Fitting) -> SequenceTagger:
    """Fit a method to candidate sets or votes; gold labels are never seen."""
    partial = training.partial
    check_training(training)
    model = make_model(training, fitting)
    votes = training.votes if takes_votes(model) else None
    if training.votes is not None and votes is None:
        note(
            f"{model.method.title} learns from the union of the votes, not from who "
            "gave them; leave out --method to weigh the annotators."
        )
    sizes = f"{partial.n_tokens} tokens, {len(partial.label_set)} labels"
    stage(f"fitting {model.method.title} to {sizes}", enabled=not fitting.quiet)
    with _asked_before():
        model.fit(training.corpus if votes else partial.as_corpus())
    stage("fitted", enabled=not fitting.quiet)
    return model


def check_training(training: TrainingData) -> None:
    """Refuse what cannot be labels, where nobody has said that they are."""
    partial = training.partial
    if "labels" not in training.given:
        scheme = training.given.get("scheme", "auto")
        labels = partial.label_set
        tagsift.io.check_learnable(
            training.path,
            partial.candidates,
            labels,
            scheme,
            votes=training.votes is not None,
            named=training.named,
        )


def make_model(training: TrainingData, fitting: Fitting) -> SequenceTagger:
    """Make the method that the options name, not fitted yet."""
    settings = make_settings(fitting, training.given)
    if training.votes is None:
        model = named_method(fitting, settings)
        if takes_votes(model):
            raise InputError(
                f"{training.path}: {model.method.title} learns from votes, and here "
                "are candidate sets; say which columns are votes by --votes, or take "
                f"a method for candidates, such as --method {DEFAULT_METHOD}."
            )
        return model
    told = parse_settings(fitting.settings)
    given = {k: v for k, v in settings.items() if k not in told}
    with _known_settings(fitting.method or DEFAULT_METHOD):
        return make_for_votes(fitting.method, given, told)


def make_settings(fitting: Fitting, given: dict[str, Any]) -> dict[str, Any]:
    """The settings of a method: as given by --set, by other options, or as usual."""
    usual: dict[str, Any] = {"random_state": fitting.seed}
    usual["verbose"] = int(not fitting.quiet)
    if fitting.min_count is not None or fitting.hashing is not None:
        usual["features"] = tagsift.features.SequenceVectorizer(
            min_count=fitting.min_count or 1, hashing=fitting.hashing
        )
    return given | usual | parse_settings(fitting.settings)


def named_method(fitting: Fitting, settings: dict[str, Any]) -> SequenceTagger:
    """The method that the options name, with its settings."""
    name = fitting.method or DEFAULT_METHOD
    with _known_settings(name):
        return tagsift.make(name, **settings)


@contextmanager
def _known_settings(name: str) -> Iterator[None]:
    try:
        yield
    except TypeError as error:
        raise InputError(f"--set: {name} has no such setting ({error}).") from error


@contextmanager
def _asked_before() -> Iterator[None]:
    """Whether the O of quiet annotators says nothing was asked when votes were read."""
    with warnings.catch_warnings():
        quiet = ".* hardly ever say anything but O"
        warnings.filterwarnings("ignore", quiet, TagsiftWarning)
        yield


def check_columns(
    model: SequenceTagger,
    path: Path | str,
    rows: list[list[Row]],
    *,
    named: bool = False,
) -> None:
    """Refuse text with other columns than the model was trained on."""
    vectorizer = model.vectorizer_
    width = getattr(vectorizer, "n_columns_in_", 0)
    if width:
        known = () if named else vectorizer.column_values(1)
        tagsift.io.check_text(path, rows, width, model.classes_, known)


def recover(
    training: TrainingData, fitting: Fitting, model_file: Path | None = None
) -> Cleaned:
    """Find the label of every token, by fitting or with a fitted model."""
    partial = training.partial
    if model_file is None:
        return fitted_labels(fit_model(training, fitting), training)
    model = tagsift.load(model_file)
    check_columns(model, training.path, partial.rows, named=training.named)
    knows = isinstance(model, tagsift.annotators.VoteTagger)
    corpus = training.corpus if knows else partial.as_corpus()
    labels, confidences = model.recover(corpus)
    return _cleaned(training, model, labels, confidences)


def fitted_labels(model: SequenceTagger, training: TrainingData) -> Cleaned:
    """The labels that a fit has found in its training data."""
    partial, confidences = training.partial, getattr(model, "confidences_", None)
    if confidences is None and model.method.probabilities:
        _, confidences = model.recover(partial.as_corpus())
    return _cleaned(training, model, model.transduction_, confidences)


def _cleaned(
    training: TrainingData,
    model: SequenceTagger,
    labels: Sequence[Sequence[Label]],
    confidences: list[FloatArray] | None,
) -> Cleaned:
    return tagsift.cleaned.found_by(training.corpus, model, labels, confidences)


def say_recovery(facts: dict[str, Any]) -> None:
    """Say how many labels are right, where gold labels tell."""
    if "recovery" in facts:
        found = facts["recovery"]
        say(
            f"Recovered {percent(found['ambiguous'])} % of the ambiguous labels, "
            f"{percent(found['overall'])} % of all."
        )


def check_model_options(
    model_file: Path | None, fitting: Fitting, *, option: str = "--model"
) -> None:
    """Refuse options of a fit where a fitted model is given."""
    told = (fitting.method, fitting.settings, fitting.min_count, fitting.hashing)
    if model_file is not None and any(one is not None for one in told):
        raise InputError(
            f"{option} brings a fitted model; leave out --method, --set, --min-count "
            "and --hashing."
        )


def update_model(
    training: TrainingData, model_file: Path, *, quiet: bool = False
) -> SequenceTagger:
    """Fit a model of votes again, from what it knows of the annotators."""
    model = tagsift.load(model_file)
    if not isinstance(model, tagsift.annotators.VoteTagger):
        raise InputError(
            f"{model_file}: expected a model that tagsift fit --votes wrote, found "
            f"one of {model.method.title}, which knows no annotators."
        )
    if training.votes is None:
        raise InputError("--update is for votes: say which columns by --votes.")
    check_columns(model, training.path, training.partial.rows)
    stage(f"updating {model.method.title}", enabled=not quiet)
    model.set_params(verbose=int(not quiet))
    with _asked_before():
        return model.update(training.corpus)
