"""Votes as the verbs read them: who abstains, what is known, and which method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tagsift
from tagsift.cli._options import OMeans, Source, parse_renaming
from tagsift.cli._output import complain, note
from tagsift.cli._sources import format_of, read_documents, say_losses
from tagsift.errors import InputError

if TYPE_CHECKING:
    from tagsift.base import SequenceTagger
    from tagsift.io import VoteCorpus

__all__ = [
    "TEXT_MODELS",
    "are_votes",
    "make_for_votes",
    "read_vote_file",
    "takes_votes",
]

#: The methods that are the text model inside the vote tagger.
TEXT_MODELS = ("chain-gp", "partial-crf")


def are_votes(source: Source) -> bool:
    """Whether the options say that columns are votes."""
    named = source.columns is not None and "vote" in source.columns.split(",")
    return named or source.votes is not None


def read_vote_file(
    path: Path, source: Source, corpus: VoteCorpus | None = None
) -> VoteCorpus:
    """Read votes from columns or from an export of an annotation tool."""
    exact = getattr(source, "exact", None)
    column = int(exact) if exact is not None and exact.isdecimal() else None
    corpus = corpus or _read(path, source, column)
    corpus = replace(corpus, abstaining=_abstaining(corpus, source))
    if exact is not None and column is None:
        corpus = replace(corpus, exact=_read_exact(exact, corpus))
    named = source.columns is not None
    tagsift.io.check_votes(path, corpus, source.scheme, named=named)
    _warn_of_silence(corpus, source)
    return corpus


def _read_exact(path: str, corpus: VoteCorpus) -> list[list[str | None]]:
    """Labels that people gave, in a sheet or in a review."""
    if tagsift.review.is_store(path):
        return tagsift.review.decided_labels(path, corpus.as_corpus())
    answers = tagsift.io.read_checked(path, corpus.rows, corpus.label_set)
    if not any(map(any, answers)):
        column = tagsift.io.ANSWER
        note(f"{path}: its column {column} is empty, so that nothing is known exactly.")
    return answers


def _read(path: Path, source: Source, exact: int | None) -> VoteCorpus:
    name = format_of(path, source, source)
    if name != "conll" or source.also:
        if exact is not None:
            raise InputError("--exact: the number of a column is for column files.")
        documents = read_documents(path, name, source)
        if len(documents.annotators) < 2:
            raise InputError(
                f"{path}: expected the votes of several annotators, found "
                f"{len(documents.annotators)}; say which columns of a table are votes "
                "(--votes), or give the files of the others (--with)."
            )
        corpus = documents.votes()
        say_losses(documents.losses)
        return corpus
    if not are_votes(source):
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
        exact=exact,
        features_hold_labels=source.features_hold_labels,
        labels=parse_renaming(source.labels),
    )


def _abstaining(corpus: VoteCorpus, source: Source) -> tuple[str, ...]:
    """Names of the annotators whose `O` says nothing, as the options say."""
    if source.abstain is None:
        silent = corpus.annotators if source.o_means is OMeans.abstain else ()
        return corpus.abstaining if source.o_means is None else silent
    if source.o_means is not None:
        raise InputError("--abstain names who abstains; leave out --o-means.")
    names = tuple(source.abstain.split(","))
    unknown = [name for name in names if name not in corpus.annotators]
    if unknown:
        raise InputError(
            f"--abstain: expected names of annotators, found {unknown[0]!r}; they are "
            f"{_some(corpus.annotators)}."
        )
    return names


def _warn_of_silence(corpus: VoteCorpus, source: Source) -> None:
    """Point at columns that look like sources that abstain, unless told what O is."""
    if source.o_means is not None:
        return
    found = tagsift.annotators.looks_abstaining(corpus.as_corpus())
    if found:
        names = ",".join((*corpus.abstaining, *found))
        complain(
            f"{_some(tuple(found))} vote O on 99 % or more of the tokens that others "
            "label, as a rule or a dictionary does that has nothing to say; if that "
            f"is so, say --abstain {names}, else --o-means outside.",
            kind="warning",
        )


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + ", …" * (len(names) > 6)


def takes_votes(model: SequenceTagger) -> bool:
    """Whether a method learns from votes, and not from candidate sets only."""
    return isinstance(model, tagsift.annotators.from_votes.TaggerFromVotes)


def make_for_votes(
    name: str | None, given: dict[str, Any], settings: dict[str, Any]
) -> SequenceTagger:
    """Make the method that learns from votes; a text model, inside a vote tagger."""
    if name not in (None, "vote-tagger", *TEXT_MODELS):
        return tagsift.make(name, **given, **settings)
    own = tagsift.make("vote-tagger").get_params(deep=False)
    mine = {key: value for key, value in settings.items() if key in own}
    inner = {key: value for key, value in settings.items() if key not in own}
    if name in TEXT_MODELS:
        mine["estimator"] = tagsift.make(name, **inner)
    elif inner:
        raise InputError(
            f"--set: vote-tagger has no setting {min(inner)!r}; settings of its text "
            f"model need its name, such as --method {TEXT_MODELS[0]}."
        )
    return tagsift.make("vote-tagger", **given, **mine)
