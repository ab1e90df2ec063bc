"""Out of the one door: a corpus, a result or documents into files of every format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from tagsift.data.annotators import Annotator
from tagsift.data.corpus import Corpus
from tagsift.data.documents import Document
from tagsift.data.lossy import Losses
from tagsift.io.column_file import STANDARD, PathName
from tagsift.io.columns import write_columns
from tagsift.io.format_choice import format_to_write
from tagsift.io.formats import CorpusInfo, Options

__all__ = ["HasDocuments", "write", "write_documents"]


@runtime_checkable
class HasDocuments(Protocol):
    """What can be written: it yields documents."""

    def documents(self) -> Iterator[Document]:
        """Documents, in order."""


def write(
    what: Corpus | HasDocuments | Iterable[Document],
    path: PathName,
    to: str | None = None,
    *,
    gold: bool = True,
    losses: Losses | None = None,
    **options: Any,
) -> Losses:
    """Write a corpus, a result or documents in any format.

    Parameters
    ----------
    what : Corpus, Cleaned or iterable of Document
        What to write.
    path : path-like
        The file or folder, written whole or not at all, or ``-``.
    to : str, optional
        The format; by default that of the path's ending.
    gold : bool
        Whether the truth is written where it is known.
    losses : Losses, optional
        Gathers what the format cannot hold.
    **options
        As in `read`, and ``shape`` (which of the shapes of a format) and ``layer`` (the
        one annotator whose labels are written; ``"gold"`` is the truth).

    Returns
    -------
    Losses
    """
    corpus = what if isinstance(what, Corpus) else getattr(what, "corpus", None)
    how = Options.of({**options, "losses": losses or Losses(), "info": _info(corpus)})
    form = format_to_write(path, to)
    if isinstance(what, Corpus):
        plain = form.name == "conll" and str(path) != STANDARD and not how.layer
        if plain and what.sources is None and not how.header:
            _note_names(what, how.losses)
            write_columns(path, what if gold else replace(what, truth=None))
            return how.losses
    documents = what.documents() if isinstance(what, HasDocuments) else what
    if not gold:
        documents = map(_without_gold, documents)
    write_documents(documents, path, form.name, how)
    return how.losses


def write_documents(
    documents: Iterable[Document],
    path: PathName,
    format: str | None = None,
    options: Options | None = None,
    source: str | None = None,
) -> None:
    """Write documents one by one as they come, whole or not at all."""
    form = format_to_write(path, format, source)
    assert form.write is not None
    form.write(path, documents, options or Options())


def _without_gold(document: Document) -> Document:
    layers = tuple(one for one in document.layers if one.kind != "gold")
    return replace(document, layers=layers)


def _info(corpus: Corpus | None) -> CorpusInfo:
    """What is true of a corpus as a whole; who was not asked for votes is not named."""
    if corpus is None:
        return CorpusInfo()
    voted = corpus.candidate_codes is None or len(corpus.votes.code)
    people = corpus.annotators if voted else ()
    return CorpusInfo(people, corpus.label_set.names, corpus.scheme)


def _note_names(corpus: Corpus, losses: Losses) -> None:
    """Count what columns cannot say of annotators."""
    for a, one in enumerate(corpus.annotators):
        if replace(one, kind="unknown") != Annotator(f"w{a:02d}"):
            kind = "name or kind of an annotator, which conll cannot hold"
            losses.note(kind, one.name)
