"""Column files with one label a token, and column files without labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tagsift.data import corpus as columnar
from tagsift.data.label_set import check_label, check_written
from tagsift.data.rows import Row
from tagsift.data.schemes import detect_scheme
from tagsift.io.column_file import PathName, write_blocks
from tagsift.io.column_reader import CellTable
from tagsift.io.column_roles import Columns
from tagsift.io.sentence import Corpus, Sentence

__all__ = ["iter_conll", "iter_text", "read_conll", "read_text", "write_conll"]


def read_conll(
    path: PathName,
    *,
    scheme: str = "auto",
    comments: bool = False,
    columns: Columns | None = None,
    header: bool = False,
    features_hold_labels: bool = False,
    labels: Mapping[str, str] | None = None,
) -> Corpus:
    """Read a column file whose last column is the gold label.

    Parameters
    ----------
    path : path-like
        The file.
    scheme : {"auto", "iob1", "iob2", "iobes", "plain"}
        How the labels are written; ``"auto"`` looks at them.
    comments : bool
        Skip lines that start with ``#`` and have no second column.
    columns : str or sequence of str, optional
        A name for every column, such as ``"token,pos,-,label"``: ``token`` and
        ``label`` say what they are, ``-`` leaves a column out, other names are
        features. Without it, a file that looks like something else is refused.
    header : bool
        The first line names the columns.
    features_hold_labels : bool
        Features most of whose values are labels of the file are meant; they are
        refused by default.
    labels : mapping of str to str, optional
        Other names for labels (``{"person": "PER"}``).

    Returns
    -------
    Corpus
        ``rows`` holds all columns but the last, ``labels`` the last.
    """
    found = iter_conll(
        path,
        scheme=scheme,
        comments=comments,
        columns=columns,
        header=header,
        features_hold_labels=features_hold_labels,
        labels=labels,
    )
    sentences = tuple(found)
    if scheme == "auto":
        scheme = detect_scheme(sentence.labels or () for sentence in sentences)
    return Corpus(sentences, scheme)


def iter_conll(
    path: PathName,
    *,
    comments: bool = False,
    scheme: str = "auto",
    columns: Columns | None = None,
    header: bool = False,
    features_hold_labels: bool = False,
    labels: Mapping[str, str] | None = None,
) -> Iterator[Sentence]:
    """Yield the sentences of a gold column file one by one; options as in `read_conll`.

    What the file looks like is known, and said, at its end.
    """
    table = CellTable(
        path,
        "label",
        lambda cell: check_label(cell, scheme),
        scheme=scheme,
        columns=columns,
        header=header,
        comments=comments,
        features_hold_labels=features_hold_labels,
        rename=labels,
    )
    for entry in table:
        yield Sentence(entry.rows, tuple(entry.labels))


def read_text(
    path: PathName,
    *,
    comments: bool = False,
    columns: Columns | None = None,
    header: bool = False,
) -> list[list[Row]]:
    """Read a column file without labels: the text to tag.

    Parameters
    ----------
    path : path-like
        The file; an empty one is an empty text.
    comments, columns, header
        As in `read_conll`; columns named as labels, votes or gold are left out.

    Returns
    -------
    list of lists of tuples of str
        Sentences of rows.
    """
    found = iter_text(path, comments=comments, columns=columns, header=header)
    return [list(rows) for rows in found]


def iter_text(
    path: PathName, *, gold: bool = False, **options: Any
) -> Iterator[tuple[Row, ...]]:
    """Yield the sentences of `read_text` one by one; `gold` leaves out the last column.

    What the file looks like is known, and said, at its end.
    """
    needed = "label" if gold else ""
    for entry in CellTable(path, needed, str, scheme="plain", **options):
        yield entry.rows


def write_conll(path: PathName, corpus: Corpus | columnar.Corpus) -> None:
    """Write a corpus as a column file, label last, whole or not at all.

    Parameters
    ----------
    path : path-like
        The file.
    corpus : Corpus
        Every sentence needs labels.
    """
    for sentence, labels in enumerate(corpus.labels):
        for token, label in enumerate(labels):
            check_written(label, f"sentence {sentence}, token {token}: ")
    write_blocks(path, corpus.rows, corpus.labels)
