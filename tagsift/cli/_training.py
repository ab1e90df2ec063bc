"""Training data as the verbs `fit`, `clean` and `rank` read it, and what they learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tagsift
from tagsift.cli._options import (
    FileFormat,
    Fitting,
    Source,
    parse_labels,
    parse_settings,
)
from tagsift.cli._output import percent, say
from tagsift.errors import InputError
from tagsift.progress import stage

if TYPE_CHECKING:
    from tagsift.base import SequenceTagger
    from tagsift.data import PartialCorpus, Row, VoteCorpus
    from tagsift.typing import FloatArray, Label

__all__ = [
    "DEFAULT_METHOD",
    "Recovered",
    "TrainingData",
    "check_columns",
    "check_model_options",
    "fit_model",
    "read_training",
    "read_vote_file",
    "recover",
    "say_recovery",
]

#: What `fit`, `clean`, `rank` and `demo` use unless told otherwise.
DEFAULT_METHOD = "chain-gp"


@dataclass(frozen=True)
class TrainingData:
    """What to learn from.

    Parameters
    ----------
    path : path-like
        Where it stands.
    partial : PartialCorpus
        Candidate sets.
    votes : VoteCorpus or None
        The votes they came from, if they did.
    given : dict
        What the user said about labels and scheme, for the method; the rest is left
        to the method to find, as it is in Python.
    """

    path: Path | str
    partial: PartialCorpus
    votes: VoteCorpus | None = None
    given: dict[str, Any] = field(default_factory=dict)

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


@dataclass(frozen=True)
class Recovered:
    """The label chosen for every training token, and how sure the model is."""

    model: SequenceTagger
    labels: list[list[str]]
    confidences: list[FloatArray] | None

    @property
    def stacked_confidences(self) -> FloatArray:
        """The confidences of all tokens, one below the other, [N, L]."""
        if self.confidences is None:
            raise InputError(f"{self.model.method.title} gives no confidences.")
        lengths = [len(row) for row in self.labels]
        return tagsift.metrics.stack_marginals(
            self.confidences, lengths, len(self.model.classes_)
        )

    @property
    def chosen_confidences(self) -> list[list[float]] | None:
        """The confidence of the chosen label of every token."""
        if self.confidences is None:
            return None
        column = {name: k for k, name in enumerate(self.model.classes_)}
        return [
            [float(row[column[label]]) for row, label in zip(rows, labels, strict=True)]
            for rows, labels in zip(self.confidences, self.labels, strict=True)
        ]


def read_training(path: Path, source: Source) -> TrainingData:
    """Read candidate sets, or votes where the options say that they are."""
    labels = parse_labels(getattr(source, "labels", None))
    given: dict[str, Any] = {} if labels is None else {"labels": labels}
    if source.scheme != "auto":
        given["scheme"] = source.scheme
    if _are_votes(source):
        if labels is not None:
            raise InputError("--labels is for candidates; votes name their labels.")
        corpus = read_vote_file(path, source)
        return TrainingData(path, corpus.candidates(), corpus, given)
    if source.form is FileFormat.jsonl:
        _columns_only(source)
        partial = tagsift.data.read_jsonl(path, labels=labels, scheme=source.scheme)
    else:
        partial = tagsift.read_partial(
            path,
            labels=labels,
            scheme=source.scheme,
            comments=source.comments,
            gold=source.gold,
            columns=source.columns,
            header=source.header,
        )
    return TrainingData(path, partial, None, given)


def _are_votes(source: Source) -> bool:
    named = source.columns is not None and "vote" in source.columns.split(",")
    return named or source.votes is not None or source.form is FileFormat.label_studio


def _columns_only(source: Source) -> None:
    """Refuse options that only column files have."""
    for name in ("votes", "gold", "comments", "columns", "header"):
        if getattr(source, name):
            form = source.form.value
            raise InputError(f"--{name} is for column files, not for {form}.")


def read_vote_file(path: Path, source: Source) -> VoteCorpus:
    """Read votes from columns or from an export of an annotation tool."""
    if source.form is FileFormat.label_studio:
        _columns_only(source)
        target = "iob2" if source.scheme == "auto" else source.scheme
        return tagsift.data.read_label_studio(path, scheme=target)
    if source.form is FileFormat.jsonl:
        raise InputError("JSON lines hold candidates; votes come in columns.")
    if source.votes is None and not _are_votes(source):
        raise InputError("say which columns are votes, such as --votes 2:6.")
    if source.votes is not None and source.columns is not None:
        raise InputError("--votes and --columns both name the votes; give one of them.")
    if source.gold and source.votes is None and "gold" not in str(source.columns):
        raise InputError("--gold and --columns: name the gold column 'gold'.")
    return tagsift.read_votes(
        path,
        columns=source.votes or source.columns or "",
        gold=-1 if source.gold and source.votes else None,
        scheme=source.scheme,
        comments=source.comments,
        header=source.header,
    )


def fit_model(
    training: TrainingData, fitting: Fitting, *, quiet: bool = False
) -> SequenceTagger:
    """Fit a method to candidate sets; gold labels are never seen."""
    partial = training.partial
    quiet = quiet or fitting.quiet
    if "labels" not in training.given:
        tagsift.data.check_learnable(
            training.path,
            partial.candidates,
            partial.label_set,
            training.given.get("scheme", "auto"),
        )
    given = {
        **training.given,
        "random_state": fitting.seed,
        "verbose": int(not quiet),
        **parse_settings(fitting.settings),
    }
    name = fitting.method or DEFAULT_METHOD
    try:
        model = tagsift.make(name, **given)
    except TypeError as error:
        raise InputError(f"--set: {name} has no such setting ({error}).") from error
    stage(
        f"fitting {model.method.title} to {partial.n_tokens} tokens, "
        f"{len(partial.label_set)} labels",
        enabled=not quiet,
    )
    model.fit(partial.rows, partial.candidates)
    stage("fitted", enabled=not quiet)
    return model


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
        tagsift.data.check_text(path, rows, width, model.classes_, known)


def recover(
    training: TrainingData,
    fitting: Fitting,
    model_file: Path | None = None,
    *,
    quiet: bool = False,
) -> Recovered:
    """Choose a candidate for every token, by fitting or with a fitted model."""
    partial = training.partial
    if model_file is None:
        model = fit_model(training, fitting, quiet=quiet)
        labels = model.recovered_
        confidences = getattr(model, "confidences_", None)
        if confidences is None and model.method.probabilities:
            _, confidences = model.recover(partial.rows, partial.candidates)
    else:
        model = tagsift.load(model_file)
        check_columns(model, training.path, partial.rows)
        labels, confidences = model.recover(partial.rows, partial.candidates)
    return Recovered(
        model, [[str(name) for name in row] for row in labels], confidences
    )


def say_recovery(facts: dict[str, Any]) -> None:
    """Say how many labels are right, where gold labels tell."""
    if facts:
        found = facts["recovery"]
        say(
            f"Recovered {percent(found['ambiguous'])} % of the ambiguous labels, "
            f"{percent(found['overall'])} % of all."
        )


def check_model_options(model_file: Path | None, fitting: Fitting) -> None:
    """Refuse options of a fit where a fitted model is given."""
    if model_file is not None and (fitting.method is not None or fitting.settings):
        raise InputError("--model brings a fitted model; leave out --method, --set.")
