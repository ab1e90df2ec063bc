"""Training data as the verbs `fit`, `clean` and `rank` read it, and what they learn."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tagsift
from tagsift.cli._options import FileFormat, parse_labels
from tagsift.errors import InputError, TagsiftWarning
from tagsift.progress import stage

if TYPE_CHECKING:
    from tagsift.base import SequenceTagger
    from tagsift.data import PartialCorpus, VoteCorpus
    from tagsift.typing import FloatArray

__all__ = [
    "DEFAULT_METHOD",
    "Recovered",
    "Training",
    "fit_model",
    "read_training",
    "read_vote_file",
    "recover",
]

#: What `fit`, `clean`, `rank` and `demo` use unless told otherwise.
DEFAULT_METHOD = "chain-gp"


@dataclass(frozen=True)
class Training:
    """Candidate sets, and the votes they came from, if they did."""

    partial: PartialCorpus
    votes: VoteCorpus | None

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


def read_training(
    path: Path,
    *,
    form: FileFormat,
    votes: str | None,
    gold: bool,
    labels: str | None,
    scheme: str,
    comments: bool,
) -> Training:
    """Read candidate sets, or votes where `form` or `votes` say that they are."""
    if votes is not None or form is FileFormat.label_studio:
        if labels is not None:
            raise InputError("--labels is for candidates; votes name their labels.")
        corpus = read_vote_file(
            path, form=form, votes=votes, gold=gold, scheme=scheme, comments=comments
        )
        return Training(corpus.candidates(), corpus)
    names = parse_labels(labels)
    if form is FileFormat.jsonl:
        _columns_only(form, gold=gold, comments=comments)
        return Training(
            tagsift.data.read_jsonl(path, labels=names, scheme=scheme), None
        )
    partial = tagsift.read_partial(
        path, labels=names, scheme=scheme, comments=comments, gold=gold
    )
    return Training(partial, None)


def _columns_only(form: FileFormat, **options: object) -> None:
    """Refuse options that only column files have."""
    for name, value in options.items():
        if value:
            raise InputError(f"--{name} is for column files, not for {form.value}.")


def read_vote_file(
    path: Path,
    *,
    form: FileFormat,
    votes: str | None,
    gold: bool,
    scheme: str,
    comments: bool,
) -> VoteCorpus:
    """Read votes from columns or from an export of an annotation tool."""
    if form is FileFormat.label_studio:
        _columns_only(form, votes=votes, gold=gold, comments=comments)
        target = "iob2" if scheme == "auto" else scheme
        return tagsift.data.read_label_studio(path, scheme=target)
    if form is FileFormat.jsonl:
        raise InputError("JSON lines hold candidates; votes come in columns.")
    if votes is None:
        raise InputError("say which columns are votes, such as --votes 2:6.")
    corpus = tagsift.read_votes(
        path,
        columns=votes,
        gold=-1 if gold else None,
        scheme=scheme,
        comments=comments,
    )
    _warn_of_labels(path, corpus, votes)
    return corpus


def _warn_of_labels(path: Path, corpus: VoteCorpus, votes: str) -> None:
    """Warn where a column that is neither word nor vote looks like labels."""
    names = set(corpus.label_set)
    for column in range(1, len(corpus.rows[0][0])):
        seen = {row[column] for sentence in corpus.rows for row in sentence}
        if len(seen) > 1 and seen <= names:
            warnings.warn(
                f"{path}: a column outside --votes {votes} holds nothing but labels "
                "and will be used as a feature; if it is the truth, put it last and "
                "say --gold.",
                TagsiftWarning,
                stacklevel=3,
            )


def fit_model(
    training: Training,
    *,
    method: str | None,
    settings: dict[str, Any],
    seed: int,
    quiet: bool,
) -> SequenceTagger:
    """Fit a method to candidate sets; gold labels are never seen."""
    partial = training.partial
    given = {
        "labels": list(partial.label_set),
        "scheme": partial.scheme,
        "random_state": seed,
        "verbose": int(not quiet),
        **settings,
    }
    name = method or DEFAULT_METHOD
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


def recover(
    training: Training,
    *,
    method: str | None,
    model_file: Path | None,
    settings: dict[str, Any],
    seed: int,
    quiet: bool,
) -> Recovered:
    """Choose a candidate for every token, by fitting or with a fitted model."""
    partial = training.partial
    if model_file is None:
        model = fit_model(
            training, method=method, settings=settings, seed=seed, quiet=quiet
        )
        labels = model.recovered_
        confidences = getattr(model, "confidences_", None)
        if confidences is None and model.method.probabilities:
            _, confidences = model.recover(partial.rows, partial.candidates)
    else:
        if method is not None or settings:
            raise InputError(
                "--model brings a fitted model; leave out --method, --set."
            )
        model = tagsift.load(model_file)
        labels, confidences = model.recover(partial.rows, partial.candidates)
    return Recovered(
        model, [[str(name) for name in row] for row in labels], confidences
    )
