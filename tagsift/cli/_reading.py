"""Options become arguments of the one door, and what it could not keep is said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import tagsift
from tagsift.cli._options import Exchange, OMeans, Reading, Source
from tagsift.cli._output import complain, note
from tagsift.cli._parsing import parse_kinds, parse_labels, parse_renaming, parse_with
from tagsift.errors import DataError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tagsift import Corpus
    from tagsift.data import Losses

__all__ = [
    "are_votes",
    "exchange_options",
    "format_back",
    "format_name",
    "read_corpus",
    "read_labels",
    "say_losses",
    "with_one_label",
]

#: From how many tokens on a sentence looks as if blank lines were missing.
_LONG = 1000
#: What is said of files of every format.
_OF_ALL = (
    *("text_key", "offsets", "misaligned", "overlap", "again", "empty"),
    *("tokenizer", "sentences", "label_key", "spans_key"),
)
#: What is said of columns.
_OF_COLUMNS = ("columns", "votes", "header", "comments", "gold")
#: Options that only votes have a use for.
_OF_VOTES = ("o_means", "abstain", "exact", "kinds")


def exchange_options(exchange: Exchange, **more: Any) -> dict[str, Any]:
    """What is said of files of every format, for `tagsift.read` and `tagsift.write`."""
    options = {name: getattr(exchange, name) for name in _OF_ALL} | more
    options = {name: value for name, value in options.items() if value is not None}
    return {**options, "losses": tagsift.data.Losses(strict=exchange.strict)}


def read_corpus(
    path: Path,
    source: Source,
    usual: Sequence[str] | None = None,
    *,
    of_votes: bool = False,
) -> Corpus:
    """Read what is to be learnt from, or looked at, and refuse what cannot be.

    `usual` are the labels of documents in which nobody has labelled anything; votes
    are needed where it is `of_votes`.
    """
    columns = not source.also and format_name(path, source) == "conll"
    if columns and not are_votes(source):
        if of_votes:
            raise InputError("say which columns are votes, such as --votes 2:6.")
        _refuse_options_of_votes(source)
    exact = getattr(source, "exact", None)
    column = int(exact) if exact is not None and exact.isdecimal() else None
    if source.abstain is not None and source.o_means is not None:
        raise InputError("--abstain names who abstains; leave out --o-means.")
    abstain: Any = None if source.o_means is None else source.o_means is OMeans.abstain
    if source.abstain is not None:
        abstain = source.abstain.split(",")
    labels = parse_labels(source.labels)
    if isinstance(labels, list) and are_votes(source):
        parse_renaming(source.labels)  # refuses it: votes name their labels
    try:
        corpus = _read(
            path,
            source,
            source,
            votes=source.votes,
            gold=source.gold or None,
            exact=column,
            labels=labels,
            abstain=abstain,
            kinds=source.kinds and parse_kinds(source.kinds),
            scheme=source.scheme,
        )
    except DataError:
        if usual is None or labels is not None:
            raise
        corpus = _read(path, source, source, labels=list(usual), scheme=source.scheme)
        corpus = tagsift.cleaned.unlabelled(corpus, usual, corpus.scheme)
    nobody = corpus.candidate_codes is None and not len(corpus.votes.token)
    if nobody and usual is not None and labels is None:
        corpus = tagsift.cleaned.unlabelled(corpus, usual, source.scheme)
    if not len(corpus.votes.token):
        if of_votes:
            raise InputError(
                f"{path}: expected the votes of several annotators, found "
                f"{len(corpus.annotators)}; say which columns of a table are votes "
                "(--votes), or give the files of the others (--with)."
            )
        _refuse_options_of_votes(source)
    if exact is not None and column is None:
        corpus = corpus.with_exact(_exact(exact, corpus))
    _check(path, corpus, source)
    return corpus


def _refuse_options_of_votes(source: Source) -> None:
    for name in _OF_VOTES:
        if getattr(source, name, None) is not None:
            option = name.replace("_", "-")
            raise InputError(f"--{option} is for votes: say which columns by --votes.")


def read_labels(
    path: Path, exchange: Exchange, reading: Reading, scheme: str, labels: str | None
) -> Corpus:
    """Read one label a token; the truth, where a file of documents has it."""
    rename = parse_renaming(labels)
    corpus = _read(path, exchange, reading, labels=rename, scheme=scheme)
    if corpus.gold is not None:
        return tagsift.Corpus.from_lists(corpus.rows, corpus.gold, scheme=corpus.scheme)
    return with_one_label(corpus, path)


def with_one_label(corpus: Corpus, path: Path) -> Corpus:
    """Refuse a corpus of which a token has several labels, or none."""
    codes = corpus.candidate_codes
    if codes is None:
        what = "votes" if len(corpus.votes.token) else "none"
        raise DataError(f"expected one label per token, found {what}.", path)
    if corpus.n_ambiguous:
        n = int((codes >= len(corpus.label_set)).argmax())
        s, t = tagsift.data.locate(n, corpus.bounds)
        names = "|".join(sorted(corpus.candidates[s][t])) if corpus.candidates else ""
        raise DataError(
            f"sentence {s + 1}, token {t + 1}: expected one label, found {names!r}.",
            path,
        )
    return corpus


def _read(path: Path, exchange: Exchange, reading: Reading, **options: Any) -> Corpus:
    """Through the door, with what is said of the files and of their columns."""
    more = [parse_with(one) for one in exchange.also or ()]
    first = (path, exchange.source) if exchange.source else path
    arguments = exchange_options(
        exchange,
        **options,
        columns=reading.columns,
        header=reading.header,
        comments=reading.comments,
        features_hold_labels=reading.features_hold_labels,
    )
    if more:
        corpus = tagsift.read([first, *more], **arguments)
    else:
        corpus = tagsift.read(path, exchange.source, **arguments)
    say_losses(arguments["losses"])
    return corpus


def _exact(path: str, corpus: Corpus) -> list[list[str | None]]:
    """Labels that people gave, in a sheet or in a review."""
    if tagsift.review.is_store(path):
        return tagsift.review.decided_labels(path, corpus)
    answers = tagsift.io.read_checked(path, corpus.rows, corpus.label_set)
    if not any(map(any, answers)):
        column = tagsift.io.ANSWER
        note(f"{path}: its column {column} is empty, so that nothing is known exactly.")
    return answers


def _check(path: Path, corpus: Corpus, source: Source) -> None:
    """Refuse what cannot be votes, and say what looks odd."""
    if len(corpus.votes.token):
        named = source.columns is not None
        tagsift.io.check_votes(path, corpus, source.scheme, named=named)
        quiet = tagsift.annotators.looks_abstaining(corpus)
        if quiet and source.o_means is None:
            silent = [one.name for one in corpus.annotators if one.abstains]
            names = ",".join((*silent, *quiet))
            complain(
                f"{', '.join(list(quiet)[:6])}{', …' * (len(quiet) > 6)} vote O on "
                "99 % or more of the tokens that others label, as a rule or a "
                "dictionary does that has nothing to say; if that is so, say --abstain "
                f"{names}, else --o-means outside.",
                kind="warning",
            )
    longest = int(corpus.lengths.max(initial=0))
    if corpus.sources is None and longest > _LONG:
        complain(
            f"sentence {int(corpus.lengths.argmax()) + 1} has {longest} tokens; "
            "sentences end with a blank line, and such long ones take long.",
            kind="warning",
        )


def are_votes(source: Source) -> bool:
    """Whether the options say that columns are votes."""
    named = source.columns is not None and "vote" in source.columns.split(",")
    return named or source.votes is not None


def format_name(path: Path, source: Source) -> str:
    """The name of the format of a file, as the door sees it."""
    columns = [name for name in _OF_COLUMNS if getattr(source, name)]
    return tagsift.io.format_of(path, source.source, columns).name


def format_back(
    out: Path | None, to: str | None, path: Path, source: Source, corpus: Corpus
) -> str | None:
    """Name of the format to write labels in; None for columns.

    Without ``--to``, documents go back into their format where the ending fits.
    """
    if to is not None:
        return tagsift.io.format_to_write(out or "-", to).name
    if corpus.sources is None or out is None:
        return None
    form = tagsift.io.format_named(format_name(path, source))
    fits = out.name.removesuffix(".gz").endswith(form.endings or ("\0",))
    return form.name if fits and form.write is not None else None


def say_losses(losses: Losses) -> None:
    """Say what could not be kept, one line a kind."""
    lines = losses.lines() if losses.counts else ()
    for (kind, times), line in zip(losses.counts.items(), lines, strict=True):
        note(line, about=f"{times} {kind}")
    losses.counts.clear()
    losses.cases.clear()
