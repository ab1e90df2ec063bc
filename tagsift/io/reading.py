"""Into the one door: files of every format, tables and data sets become a corpus.

Columns become a corpus directly. Everything else comes as documents, whose tokens are
cut, where they are ours, after all files have said what they mark.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, get_args

from tagsift.data.annotators import AnnotatorKind
from tagsift.data.corpus import Corpus
from tagsift.data.documents import Document
from tagsift.data.exchange import corpus_of
from tagsift.data.lossy import Losses
from tagsift.errors import InputError
from tagsift.io.column_file import PathName
from tagsift.io.columns import read_columns
from tagsift.io.format_choice import format_of
from tagsift.io.formats import FORMATS, Format, Options
from tagsift.io.formats._tables import on_tokens
from tagsift.io.merge import merged, together
from tagsift.io.renaming import note_labels_apart
from tagsift.io.tables import is_table, table_documents

__all__ = ["iter_documents", "read"]

#: A file, or one with the name of its format.
Source: TypeAlias = PathName | tuple[PathName, str]
#: What is said of columns, and the formats besides columns that heed some of it.
_OF_COLUMNS = ("columns", "votes", "header", "comments", "gold", "exact")
_HEEDED = {
    "csv": {"columns", "votes", "header", "gold"},
    "conllu": {"columns"},
    "spans-csv": {"votes", "header"},
    "votes-csv": {"columns", "header"},
}
_KINDS = get_args(AnnotatorKind)


def read(
    source: Source | Sequence[Source] | Iterable[Document] | Any,
    format: str | None = None,
    *,
    votes: str | Sequence[int] | Sequence[str] | None = None,
    gold: int | bool | str | None = None,
    exact: int | None = None,
    columns: str | Sequence[str] | None = None,
    header: bool = False,
    comments: bool = False,
    labels: Any = None,
    annotators: Sequence[str] | None = None,
    kinds: Mapping[str, AnnotatorKind] | None = None,
    abstain: Collection[str] | bool | None = None,
    texts: Mapping[str, str] | None = None,
    losses: Losses | None = None,
    **options: Any,
) -> Corpus:
    """Read a corpus.

    Parameters
    ----------
    source : path-like, list of them, or a table
        A file of any format (gzipped where its name ends so), a folder, or ``-``; a
        pair of a file and the name of its format; a list of these, whose annotators of
        the same texts are put together; documents; a data frame of pandas, an Arrow
        table, or a data set of Hugging Face.
    format : str, optional
        The format, where neither name nor content tells.
    votes : str or sequence of int, optional
        The columns that hold votes, counted from 1: ``"2:48"``; of a data frame with a
        token a row, their names.
    gold : int, True or str, optional
        The column of the truth; −1 or True is the last one; of a data frame, its name.
    exact : int, optional
        The column of labels that are known exactly.
    columns : str or sequence of str, optional
        A name for every column, such as ``"token,pos,-,label"``.
    header, comments : bool
        Whether the first line names the columns; whether lines that start with ``#``
        and have one column are comments.
    labels : sequence or mapping of str, optional
        All labels; a mapping renames them (``{"person": "PER"}``).
    annotators : sequence of str, optional
        Names of the annotators of columns.
    kinds : mapping of str, optional
        What annotators are: ``"person"``, ``"model"`` or ``"source"``, by name.
    abstain : collection of str, or bool, optional
        Names of the annotators whose `O` says nothing; True for all, False for none. By
        default those that the file says, such as rules.
    texts : mapping from id to text, optional
        Of a data frame with a span a row: the documents, also those without any span.
    losses : Losses, optional
        Gathers what could not be kept.
    **options
        How documents are read: ``scheme``, ``sentences``, ``tokenizer``,
        ``misaligned``, ``overlap``, ``again``, ``empty``, ``offsets``, ``text_key``,
        ``label_key``, ``spans_key``, ``annotator``, ``shape``,
        ``features_hold_labels``.

    Returns
    -------
    Corpus
        The layers of several annotators are votes; what a single one says is what is
        to be learnt.
    """
    of_columns: dict[str, Any] = {
        "columns": columns,
        "votes": votes,
        "header": header,
        "comments": comments,
        "gold": gold,
        "exact": exact,
    }
    of_columns = {k: v for k, v in of_columns.items() if v not in (None, False)}
    options = {**options, "losses": losses or Losses()}
    label_set = None if isinstance(labels, Mapping) else labels
    files = _files(source, format)
    if files is None and is_table(source):
        named = {k: of_columns.pop(k, None) for k in ("votes", "gold")}
        if of_columns:
            raise InputError(f"{min(of_columns)}= is for column files, not for tables.")
        how = Options.of({**options, "labels": labels})
        documents = tuple(table_documents(source, how, texts=texts, **named))
        formats: list[Format] = []
    elif files is not None:
        formats = [
            format_of(path, name, of_columns if k == 0 else ())
            for k, (path, name) in enumerate(files)
        ]
        if [one.name for one in formats] == ["conll"]:
            if gold is True:
                of_columns["gold"] = -1
            heeded = ("scheme", "features_hold_labels")
            corpus = read_columns(
                files[0][0],
                **of_columns,
                labels=labels,
                annotators=annotators,
                **{k: v for k, v in options.items() if k in heeded},
            )
            return _described(corpus, kinds or {}, abstain)
        more = _heeded(of_columns, formats[0].name)
        if labels is not None:
            more["labels"] = labels
        how = Options.of({**options, **more})
        sources = [(path, one) for (path, _), one in zip(files, formats, strict=True)]
        documents = tuple(_documents(sources, how))
    else:
        how = Options.of({**options, "labels": labels})
        documents, formats = tuple(list(source)), []  # type: ignore[arg-type]
    documents = tuple(document.cut(how.cut_text) for document in documents)
    if label_set is None and formats and {one.name for one in formats} == {"text"}:
        label_set = ("O",)  # nobody has said anything of it yet
    info = how.info
    if how.scheme == "auto" and info.scheme is not None:
        how = replace(how, scheme=info.scheme)
    corpus = corpus_of(
        documents,
        on_tokens(how),
        labels=label_set,
        annotators=info.annotators,
        more_labels=info.labels,
    )
    if formats and {one.name for one in formats} == {"conll"}:
        corpus = replace(corpus, sources=None)
    return _described(corpus, kinds or {}, abstain)


def iter_documents(
    source: Source | Sequence[Source],
    format: str | None = None,
    options: Options | None = None,
) -> Iterator[Document]:
    """Documents of a file as they come; of several files, when all are read.

    Their text is not cut yet where another file may say what it marks.
    """
    how = options or Options()
    files = _files(source, format)
    if files is None:
        raise InputError("expected files, found others.")
    sources = [(path, format_of(path, name)) for path, name in files]
    if len(sources) == 1:
        ((path, form),) = sources
        return form.read(path, how)
    return _documents(sources, how)


def _documents(
    sources: Sequence[tuple[PathName, Format]], how: Options
) -> Iterator[Document]:
    """Documents of files, joined where they are the same."""
    named = [(Path(path).stem, merged(form.read(path, how))) for path, form in sources]
    if len(named) == 1:
        documents: Iterable[Document] = named[0][1]
    else:
        named = [  # what was cut here is cut when all have said what they marked
            (name, read if form.tokens else map(Document.uncut, read))
            for (name, read), (_, form) in zip(named, sources, strict=True)
        ]
        documents = together(named, how.losses, how.info)
    whole = tuple(documents)
    note_labels_apart(whole, how.losses)
    if how.renaming is not None:
        how.renaming.warn()
    return iter(whole)


def _files(source: Any, format: str | None) -> list[tuple[PathName, str | None]] | None:
    """Files with the names of their formats; None where it is something else."""
    one = isinstance(source, str | PathLike)
    pair = isinstance(source, tuple) and len(source) == 2 and _is_format(source[1])
    if not (one or pair or isinstance(source, list | tuple)):
        return None
    listed = [source] if one or pair else list(source)
    if not listed:
        raise InputError("expected files to read, found none.")
    if any(isinstance(entry, Document) for entry in listed):
        return None
    files = [entry if isinstance(entry, tuple) else (entry, None) for entry in listed]
    return [(path, format or name) for path, name in files]


def _is_format(name: Any) -> bool:
    return isinstance(name, str) and (name in FORMATS or name == "columns")


def _heeded(of_columns: dict[str, Any], name: str) -> dict[str, Any]:
    """What is said of columns, for formats that are read as documents."""
    most = set(_OF_COLUMNS) if name == "conll" else _HEEDED.get(name, set())
    for one, value in of_columns.items():
        if one not in most:
            raise InputError(
                f"--{one} (in Python {one}=) is for column files, not for {name}."
            )
        if one == "gold" and value not in (True, -1):
            raise InputError(f"gold: expected True or -1 for {name}, found {value!r}.")
        if one == "exact":
            raise InputError("exact= is for one column file, found more files.")
    gold = {"gold": True} if "gold" in of_columns else {}
    return {**of_columns, **gold}


def _described(
    corpus: Corpus,
    kinds: Mapping[str, AnnotatorKind],
    abstain: Collection[str] | bool | None,
) -> Corpus:
    """The corpus, with what is said of its annotators."""
    names = [one.name for one in corpus.annotators]
    if isinstance(abstain, str):
        raise InputError(
            f"expected a list of names of annotators, found a text; give [{abstain!r}]."
        )
    if isinstance(abstain, bool):
        abstain = names if abstain else ()
    for name in (*kinds, *(abstain or ())):
        if name not in names:
            raise InputError(
                f"expected names of annotators, found {name!r}; they are "
                f"{', '.join(names)}."
            )
    for kind in kinds.values():
        if kind not in _KINDS:
            raise InputError(
                f"expected kinds among {', '.join(_KINDS)}, found {kind!r}."
            )
    people = tuple(
        replace(
            one,
            kind=kinds.get(one.name, one.kind),
            abstains=one.abstains if abstain is None else one.name in abstain,
        )
        for one in corpus.annotators
    )
    return replace(corpus, annotators=people)
