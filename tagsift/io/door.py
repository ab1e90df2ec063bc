"""The one door: files of every format, tables and data sets in, a corpus out, and back.

Columns become a corpus directly. Everything else comes as documents, whose tokens are
cut, where they are ours, after all files have said what they mark.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, TypeAlias, get_args, runtime_checkable

from tagsift.data.annotators import Annotator, AnnotatorKind
from tagsift.data.corpus import Corpus
from tagsift.data.documents import Document
from tagsift.data.lossy import Losses
from tagsift.errors import InputError
from tagsift.io.arrow import iter_arrow
from tagsift.io.column_file import PathName
from tagsift.io.columns import read_columns, write_columns
from tagsift.io.exchange import corpus_of, documents_of
from tagsift.io.formats import (
    FORMATS,
    detect,
    first_record,
    format_named,
    format_to_write,
    open_source,
    write_documents,
)
from tagsift.io.formats._tables import on_tokens
from tagsift.io.frames import from_pandas
from tagsift.io.reading import as_options
from tagsift.io.reading import read as read_documents

__all__ = ["HasDocuments", "format_of", "read", "write"]

#: A file, or one with the name of its format.
Source: TypeAlias = PathName | tuple[PathName, str]
#: What is said of columns alone, and the formats that heed some of it all the same.
_OF_COLUMNS = ("columns", "votes", "header", "comments", "gold", "exact")
_HEEDED = {"csv": {"columns", "votes", "header", "gold"}, "conllu": {"columns"}}
#: How files begin that hold no columns.
_OTHERS = ("{", "[", "PK\3\4", "PAR1", "\x1f\x8b")
_KINDS = get_args(AnnotatorKind)


@runtime_checkable
class HasDocuments(Protocol):
    """What can be written: it yields documents."""

    def documents(self) -> Iterator[Document]:
        """Documents, in order."""


def read(
    source: Source | Sequence[Source] | Any,
    format: str | None = None,
    *,
    votes: str | Sequence[int] | Sequence[str] | None = None,
    gold: int | bool | None = None,
    exact: int | None = None,
    columns: str | Sequence[str] | None = None,
    header: bool = False,
    comments: bool = False,
    labels: Any = None,
    annotators: Sequence[str] | None = None,
    kinds: Mapping[str, AnnotatorKind] | None = None,
    abstain: Collection[str] | bool = (),
    losses: Losses | None = None,
    **options: Any,
) -> Corpus:
    """Read a corpus.

    Parameters
    ----------
    source : path-like, list of them, or a table
        A file of any format (gzipped where its name ends so), a folder, or ``-``; a
        pair of a file and the name of its format; a list of these, whose annotators of
        the same texts are put together; a data frame of pandas or an Arrow table.
    format : str, optional
        The format, where neither name nor content tells.
    votes : str or sequence of int, optional
        The columns that hold votes, counted from 1: ``"2:48"``.
    gold : int or True, optional
        The column of the truth; −1 or True is the last one.
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
    abstain : collection of str, or True
        Names of the annotators whose ``O`` says nothing; True for all.
    losses : Losses, optional
        Gathers what could not be kept.
    **options
        How documents are read: ``scheme``, ``sentences``, ``tokenizer``,
        ``misaligned``, ``overlap``, ``again``, ``empty``, ``offsets``, ``text_key``,
        ``label_key``, ``spans_key``, ``annotator``, ``features_hold_labels``.

    Returns
    -------
    Corpus
        The layers of several annotators are votes; what a single one says is what is
        to be learnt.
    """
    told = {
        "columns": columns,
        "votes": votes,
        "header": header,
        "comments": comments,
        "gold": gold,
        "exact": exact,
    }
    told = {name: value for name, value in told.items() if value not in (None, False)}
    losses = losses or Losses()
    if _is_table(source):
        documents: Sequence[Document] = list(_of_table(source))
        how = as_options({**options, "losses": losses, **_label_names(labels)})
        documents = [one.cut(how.cut_text) for one in documents]
        corpus = corpus_of(documents, on_tokens(how), labels=_label_set(labels))
    else:
        named = [_named(one) for one in _listed(source)]
        if format is not None:
            named = [(path, format) for path, _ in named]
        names = [
            format_of(path, name, told if k == 0 else {})
            for k, (path, name) in enumerate(named)
        ]
        paths = [path for path, _ in named]
        if names == ["conll"]:
            corpus = _columns(paths[0], told, labels, annotators, options)
        else:
            _refuse_columns(names[0], told)
            more = {k: v for k, v in told.items() if k != "exact"}
            more |= {"gold": bool(gold)} if gold else {}
            found = read_documents(
                paths,
                names,
                losses=losses,
                **options,
                **more,
                **_label_names(labels),
            )
            corpus = corpus_of(
                found.cut().documents,
                on_tokens(found.options),
                labels=_label_set(labels),
            )
            if set(names) == {"conll"}:
                corpus = replace(corpus, sources=None)
    return _described(corpus, kinds or {}, abstain)


def write(
    what: Corpus | HasDocuments | Iterable[Document],
    path: PathName,
    to: str | None = None,
    *,
    losses: Losses | None = None,
    **options: Any,
) -> Losses:
    """Write a corpus, or a result, in any format.

    Parameters
    ----------
    what : Corpus, Cleaned or iterable of Document
        What to write.
    path : path-like
        The file or folder, written whole or not at all, or ``-``.
    to : str, optional
        The format; by default that of the path's ending.
    losses : Losses, optional
        Gathers what the format cannot hold.
    **options
        As in `read`, and ``shape`` and ``layer``.

    Returns
    -------
    Losses
    """
    how = as_options({**options, "losses": losses or Losses()})
    form = format_to_write(path, to, None)
    if isinstance(what, Corpus):
        if form.name == "conll" and str(path) != "-" and what.sources is None:
            _note_kinds(what, how.losses)
            write_columns(path, what)
            return how.losses
        documents: Iterable[Document] = documents_of(what)
    elif isinstance(what, HasDocuments):
        documents = what.documents()
    else:
        documents = what
    write_documents(documents, path, form.name, how, None)
    return how.losses


def format_of(
    path: PathName, name: str | None = None, told: Collection[str] = ()
) -> str:
    """Say which format a file has: as it is named, or by its name and content.

    `told` are the names of what is said of its columns; a file that nothing else claims
    is one of columns, and its reader says what it looks like.
    """
    if name is not None:
        return format_named("conll" if name == "columns" else name).name
    file = Path(path)
    by_name = file.name.lower().removesuffix(".gz")
    if (told and not by_name.endswith(".csv")) or not file.exists():
        return "conll"
    if file.is_dir():
        return detect(path).name if any(file.iterdir()) else "conll"
    binary = [end for one in FORMATS.values() for end in one.endings * one.binary]
    if not by_name.endswith((".conllu", ".csv", *binary)):
        with open_source(path) as stream:
            head = stream.read(1 << 16).decode(errors="replace").lstrip("\ufeff\r\n\t ")
        no_json = head.startswith(_OTHERS[:2]) and not first_record(head)
        if not head.startswith(_OTHERS) or no_json:
            return "conll"
    return detect(path).name


def _listed(source: Any) -> list[Any]:
    one = isinstance(source, str | PathLike)
    pair = isinstance(source, tuple) and len(source) == 2 and _is_format(source[1])
    return [source] if one or pair else list(source)


def _named(source: Any) -> tuple[PathName, str | None]:
    return source if isinstance(source, tuple) else (source, None)


def _is_format(name: Any) -> bool:
    return isinstance(name, str) and (name in FORMATS or name == "columns")


def _is_table(source: Any) -> bool:
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "to_batches"):
        return True
    return type(source).__module__.startswith("pandas.")


def _of_table(source: Any) -> Iterable[Document]:
    if type(source).__module__.startswith("pandas."):
        return from_pandas(source)
    return iter_arrow(source)


def _refuse_columns(name: str, told: Collection[str]) -> None:
    for one in told:
        if name != "conll" and one not in _HEEDED.get(name, ()):
            raise InputError(f"{one}= is for column files, not for {name}.")


def _columns(
    path: PathName,
    told: dict[str, Any],
    labels: Any,
    annotators: Sequence[str] | None,
    options: dict[str, Any],
) -> Corpus:
    gold = told.get("gold")
    heeded = ("scheme", "features_hold_labels")
    return read_columns(
        path,
        **{k: v for k, v in told.items() if k != "gold"},
        gold=-1 if gold is True else gold,
        labels=labels,
        annotators=annotators,
        **{k: v for k, v in options.items() if k in heeded},
    )


def _label_names(labels: Any) -> dict[str, Any]:
    return {} if labels is None else {"labels": labels}


def _label_set(labels: Any) -> Any:
    return None if isinstance(labels, Mapping) else labels


def _described(
    corpus: Corpus, kinds: Mapping[str, AnnotatorKind], abstain: Collection[str] | bool
) -> Corpus:
    """The corpus, with what is said of its annotators."""
    names = [one.name for one in corpus.annotators]
    if isinstance(abstain, str):
        raise InputError(
            f"expected a list of names of annotators, found a text; give [{abstain!r}]."
        )
    quiet = set(names) if abstain is True else set(abstain or ())
    for name in (*kinds, *quiet):
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
            abstains=one.abstains or one.name in quiet,
        )
        for one in corpus.annotators
    )
    return replace(corpus, annotators=people)


def _note_kinds(corpus: Corpus, losses: Losses) -> None:
    """Count what columns cannot say of annotators."""
    for a, one in enumerate(corpus.annotators):
        if one != Annotator(f"w{a:02d}"):
            kind = "name or kind of an annotator, which conll cannot hold"
            losses.note(kind, one.name)
