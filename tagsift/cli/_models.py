"""Which method or model the options name, and what it makes of a corpus."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tagsift
from tagsift.cli._options import Fitting, Source
from tagsift.cli._output import note
from tagsift.cli._parsing import parse_labels, parse_settings
from tagsift.cli._reading import read_corpus
from tagsift.errors import InputError, TagsiftWarning
from tagsift.progress import stage

if TYPE_CHECKING:
    from tagsift import Corpus
    from tagsift.base import SequenceTagger
    from tagsift.cleaned import Cleaned

__all__ = [
    "DEFAULT_METHOD",
    "as_votes",
    "check_columns",
    "check_model_options",
    "cleaned_of",
    "load_tagger",
    "make_settings",
    "make_tagger",
    "named_method",
    "read_for",
    "update_tagger",
]

#: What `fit`, `clean`, `rank` and `demo` use for candidates unless told otherwise.
DEFAULT_METHOD = "chain-gp"
#: The methods that are the text model inside the vote tagger.
_TEXT_MODELS = ("chain-gp", "partial-crf")


def cleaned_of(
    corpus: Corpus,
    path: Path,
    source: Source,
    fitting: Fitting,
    model: Path | None = None,
) -> Cleaned:
    """Clean a corpus that was read from a file: by a fit, or with a fitted model."""
    if model is not None:
        tagger = load_tagger(model)
        check_columns(tagger, path, corpus.rows, named=source.columns is not None)
        return tagsift.clean(corpus, tagger)
    tagger = make_tagger(corpus, path, source, fitting)
    sizes = f"{corpus.n_tokens} tokens, {len(corpus.label_set)} labels"
    stage(f"fitting {tagger.method.title} to {sizes}", enabled=not fitting.quiet)
    with _asked_before():
        cleaned = tagsift.clean(corpus, tagger)
    stage("fitted", enabled=not fitting.quiet)
    return cleaned


def as_votes(corpus: Corpus) -> Corpus:
    """Labels that are all exact are the votes of one annotator, who may err."""
    of_votes = len(corpus.votes.token) or corpus.candidate_codes is None
    return corpus if of_votes or corpus.n_ambiguous else corpus.as_votes()


def make_tagger(
    corpus: Corpus, path: Path, source: Source, fitting: Fitting
) -> SequenceTagger:
    """Make the method that the options name for a corpus, not fitted yet."""
    of_votes = len(corpus.votes.token) > 0
    if corpus.candidate_codes is None and not of_votes:
        raise InputError(
            f"{path}: expected labels to learn from, found none; say where they stand "
            "(--votes, --label-key, --spans-key), or give a fitted model."
        )
    labels = parse_labels(source.labels)
    if not isinstance(labels, list):
        tagsift.io.check_learnable(
            path,
            corpus.tokens,
            corpus.label_set,
            source.scheme,
            votes=of_votes,
            named=source.columns is not None,
        )
    options = {name: getattr(source, name) for name in ("tokenizer", "sentences")}
    options["labels"] = labels if isinstance(labels, list) else None
    options["scheme"] = None if source.scheme == "auto" else source.scheme
    settings = make_settings(
        fitting, {name: value for name, value in options.items() if value is not None}
    )
    if of_votes:
        name = fitting.method or ("vote-tagger" if fitting.settings is None else None)
        tagger = _for_votes(name, settings, parse_settings(fitting.settings))
    else:
        tagger = named_method(fitting, settings)
    learns_votes = isinstance(tagger, tagsift.annotators.from_votes.TaggerFromVotes)
    if of_votes and not learns_votes:
        note(
            f"{tagger.method.title} learns from the union of the votes, not from who "
            "gave them; leave out --method to weigh the annotators."
        )
    if learns_votes and not of_votes and corpus.n_ambiguous:
        raise InputError(
            f"{path}: {tagger.method.title} learns from votes, and here are candidate "
            "sets; say which columns are votes by --votes, or take a method for "
            f"candidates, such as --method {DEFAULT_METHOD}."
        )
    return tagger


def _for_votes(
    name: str | None, settings: dict[str, Any], own: dict[str, Any]
) -> SequenceTagger:
    """A method for votes; a text model, inside a vote tagger.

    Of the user's `own` settings, those that the vote tagger has are its, the others
    those of the text model.
    """
    if name not in (None, "vote-tagger", *_TEXT_MODELS):
        with _known_settings(str(name)):
            return tagsift.make(str(name), **settings)
    known = tagsift.make("vote-tagger").get_params(deep=False)
    inner = {key: value for key, value in own.items() if key not in known}
    mine = {key: value for key, value in settings.items() if key not in inner}
    if name in _TEXT_MODELS:
        with _known_settings(str(name)):
            mine["estimator"] = tagsift.make(str(name), **inner)
    elif inner:
        raise InputError(
            f"--set: vote-tagger has no setting {min(inner)!r}; settings of its text "
            f"model need its name, such as --method {_TEXT_MODELS[0]}."
        )
    return tagsift.make("vote-tagger", **mine)


def make_settings(fitting: Fitting, options: dict[str, Any]) -> dict[str, Any]:
    """The settings of a method: as given by --set, by other options, or as usual."""
    usual: dict[str, Any] = {"random_state": fitting.seed}
    usual["verbose"] = int(not fitting.quiet)
    if fitting.min_count is not None or fitting.hashing is not None:
        usual["features"] = tagsift.features.SequenceVectorizer(
            min_count=fitting.min_count or 1, hashing=fitting.hashing
        )
    return options | usual | parse_settings(fitting.settings)


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


def load_tagger(path: Path) -> SequenceTagger:
    """The tagger in a file of a model or of a result."""
    content = tagsift.load(path)
    tagger: SequenceTagger = getattr(content, "tagger", content)
    return tagger


def read_for(tagger: SequenceTagger, path: Path, source: Source) -> Corpus:
    """Read a corpus that a fitted tagger shall look at: by its scheme and labels."""
    if source.scheme == "auto":
        source = replace(source, scheme=tagger.scheme_)
    return read_corpus(path, source, [str(name) for name in tagger.classes_])


def check_columns(
    tagger: SequenceTagger, path: Path, rows: Any, *, named: bool = False
) -> None:
    """Refuse text with other columns than the tagger was trained on."""
    vectorizer = tagger.vectorizer_
    width = getattr(vectorizer, "n_columns_in_", 0)
    if width:
        known = () if named else vectorizer.column_values(1)
        tagsift.io.check_text(path, rows, width, tagger.classes_, known)


def check_model_options(
    model: Path | None, fitting: Fitting, *, option: str = "--model"
) -> None:
    """Refuse options of a fit where a fitted model is given."""
    own = (fitting.method, fitting.settings, fitting.min_count, fitting.hashing)
    if model is not None and any(one is not None for one in own):
        raise InputError(
            f"{option} brings a fitted model; leave out --method, --set, --min-count "
            "and --hashing."
        )


def update_tagger(
    corpus: Corpus, path: Path, model: Path, *, quiet: bool
) -> SequenceTagger:
    """Fit a model of votes again, from what it knows of the annotators."""
    tagger = load_tagger(model)
    if not isinstance(tagger, tagsift.VoteTagger):
        raise InputError(
            f"{model}: expected a model that tagsift fit --votes wrote, found one of "
            f"{tagger.method.title}, which knows no annotators."
        )
    if not len(corpus.votes.token):
        raise InputError("--update is for votes: say which columns by --votes.")
    check_columns(tagger, path, corpus.rows)
    stage(f"updating {tagger.method.title}", enabled=not quiet)
    tagger.set_params(verbose=int(not quiet))
    with _asked_before():
        return tagger.update(corpus)
