"""What a format is: how it is told, read into documents, and written from them."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import TextIOWrapper
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Literal

from tagsift.data.documents import Document, Layer, Mark, Tokenizer
from tagsift.data.lossy import Losses
from tagsift.data.schemes import check_scheme
from tagsift.data.span_alignment import Again
from tagsift.data.tokenizers import as_tokenizer
from tagsift.errors import DataError, InputError, TagsiftError
from tagsift.io.column_file import STANDARD, PathName, open_bytes
from tagsift.io.formats._corpus import CorpusInfo, Order, Part, Written
from tagsift.io.formats._layers import of_annotator
from tagsift.io.leaks import checked_features
from tagsift.io.renaming import Renaming
from tagsift.storage import atomic_write

__all__ = [
    "STANDARD",
    "CorpusInfo",
    "Format",
    "Options",
    "guarded",
    "open_folder",
    "open_source",
    "open_target",
]


@dataclass(frozen=True, kw_only=True)
class Options:
    """How files are read and written; a format looks at what concerns it."""

    scheme: str = "auto"  # of tags
    misaligned: Literal["expand", "contract", "drop", "error"] = "expand"
    overlap: Literal["longest", "first", "error"] = "longest"
    again: Again = "last"
    empty: Literal["nothing", "skipped"] | None = None  # None: nothing, and said
    offsets: Literal["auto", "characters", "utf-16", "bytes"] = "auto"
    tokenizer: Any = None  # as `as_tokenizer` takes it; None: the rules of the package
    sentences: Any = "auto"  # of text without tokens: auto, lines, none or a function
    losses: Losses = field(default_factory=Losses)
    info: CorpusInfo = field(default_factory=CorpusInfo)
    # of single formats
    columns: str | None = None  # names of the columns
    header: bool = False
    comments: bool = False
    votes: str | None = None  # columns of votes, counted from 1
    gold: bool = False  # the last column is the truth
    features_hold_labels: bool = False  # features that do are meant
    text_key: str | None = None  # where the text is
    #: Names of numbered labels; a mapping renames labels, in files of every format.
    labels: Sequence[str] | Mapping[str, str] | None = None
    label_key: str | Sequence[str] | None = None  # of labels; several: of annotators
    spans_key: str | None = None  # spaCy: a group of spans; Argilla: a question
    annotator: str | None = None  # name of the one annotator of files that name none
    layer: str | None = None  # write the labels of this annotator alone
    shape: str | None = None  # which of the shapes of a format is read or written
    added: bool = False  # the last layer was added to what was read

    def __post_init__(self) -> None:
        if self.scheme != "auto":
            check_scheme(self.scheme)
        _ = self.cut_text
        keys = self.label_key or ()
        if not all(type(key) is str and key for key in keys):
            raise InputError(
                f"expected label_key to be names of columns, found {keys!r}."
            )
        for name, choices in (
            ("misaligned", ("expand", "contract", "drop", "error")),
            ("overlap", ("longest", "first", "error")),
            ("again", ("last", "first", "error")),
            ("empty", (None, "nothing", "skipped")),
            ("offsets", ("auto", "characters", "utf-16", "bytes")),
        ):
            value = getattr(self, name)
            if value not in choices:
                raise InputError(
                    f"expected {name} to be one of {', '.join(filter(None, choices))}, "
                    f"found {value!r}."
                )

    @classmethod
    def of(cls, options: dict[str, Any]) -> Options:
        """Options from arguments, with one sentence for a name that is none."""
        try:
            return cls(**options)
        except TypeError:
            names = ", ".join(cls.__dataclass_fields__)
            raise InputError(
                f"expected options among {names}, found {', '.join(options)}."
            ) from None

    @cached_property
    def cut_text(self) -> Tokenizer:
        return as_tokenizer(self.tokenizer, self.sentences)

    @property
    def one_label_key(self) -> str | None:
        if self.label_key is None or isinstance(self.label_key, str):
            return self.label_key
        raise InputError(
            f"expected one label_key, found {len(self.label_key)}; a list is for rows "
            "of tokens (hf), where each column is an annotator."
        )

    @property
    def label_names(self) -> Sequence[str] | None:
        return None if isinstance(self.labels, Mapping) else self.labels

    @cached_property
    def renaming(self) -> Renaming | None:
        return Renaming(self.labels) if isinstance(self.labels, Mapping) else None


@dataclass(frozen=True)
class Format:
    """A format: one file of this folder, one line of the registry.

    `read` yields documents one by one, from a path or ``-``; `write` takes them one by
    one. `tells` looks at the first 64 KiB of a file (a folder: at its names) and says
    whether it is of this format; `endings` are those of file names. One without
    `tokens` holds text alone: tokens that it gives were made here. One of `spans` holds
    no tags. What it `keeps` of a corpus as a whole, it reads and writes; else readers
    meet annotators in an `order`.
    """

    name: str
    title: str
    read: Callable[[PathName, Options], Iterator[Document]]
    write: Callable[[PathName, Iterable[Document], Options], None] | None
    endings: tuple[str, ...] = ()
    tells: Callable[[str], bool] | None = None
    folder: bool = False  # a folder instead of a file
    binary: bool = False
    tokens: bool = True
    spans: bool = False
    keeps: Callable[[PathName, Options], frozenset[Part]] = lambda *_: frozenset()
    order: Order = "layers"


def guarded(form: Format) -> Format:
    """A format that does with all documents what is done in every format.

    Labels are renamed, and features that hold labels refused, as they are read; one
    layer is written where it is asked for, what the format cannot hold of the corpus is
    counted, and what others put under its name into a document's data is refused.
    """
    get, put = form.read, form.write

    def read(path: PathName, options: Options) -> Iterator[Document]:
        documents = get(path, options)
        if options.renaming is not None:
            documents = _renamed(documents, options.renaming, options.info)
        if not options.features_hold_labels:
            documents = checked_features(documents, path)
        return documents

    if put is None:
        return replace(form, read=read)

    def write(path: PathName, documents: Iterable[Document], options: Options) -> None:
        if options.layer is not None:
            documents = of_annotator(documents, options.layer)
            one = (x for x in options.info.annotators if x.name == options.layer)
            info = replace(options.info, annotators=tuple(one))
            options = replace(options, info=info)
        written = Written(options.info)
        last: list[Document] = []  # the last one; none while another is being read

        def seen() -> Iterator[Document]:
            before: list[Document] = []
            for document in documents:
                last.append(document)
                if options.info:
                    written.see(document, form.order)
                yield document
                before[:] = last
                last.clear()
            if options.info:
                written.note(form, form.keeps(path, options), options.losses)
            last.extend(before)

        try:
            put(path, seen(), options)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, TagsiftError) or not _mentioned(form.name, last):
                raise
            raise DataError(
                f"document {last[-1].id!r}: expected under {form.name!r} in its data "
                f"what {form.name} had, found something else ({error}); rename it."
            ) from error

    return replace(form, read=read, write=write)


def _renamed(
    documents: Iterable[Document], renaming: Renaming, info: CorpusInfo
) -> Iterator[Document]:
    yield from map(renaming.document, documents)
    info.labels = tuple(dict.fromkeys(map(renaming.label, info.labels)))


def _mentioned(name: str, documents: Iterable[Document]) -> bool:
    """Whether documents, their layers or spans have data under a name."""
    parts: list[Document | Layer | Mark] = []
    for one in documents:
        marks = (mark for layer in one.layers for mark in layer.marks or ())
        parts += [one, *one.layers, *marks]
    return any(name in part.meta for part in parts)


@contextmanager
def open_source(path: PathName) -> Iterator[IO[bytes]]:
    """Open a file, a gzipped one by its name, or standard input, for reading bytes."""
    if str(path) == STANDARD:
        yield sys.stdin.buffer
    else:
        with open_bytes(path) as stream:
            yield stream


@contextmanager
def open_folder(path: PathName) -> Iterator[Path]:
    """Make a new folder that is moved into place when it is whole."""
    target = Path(path)
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise DataError("expected a new or an empty folder to write into.", path)
    try:
        with TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as made:
            inside = Path(made) / "whole"
            inside.mkdir()
            yield inside
            if target.exists():
                target.rmdir()
            inside.rename(target)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"cannot write the folder ({reason}).", path) from error


@contextmanager
def open_target(path: PathName, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a file for writing, whole or not at all, or standard output."""
    if str(path) == STANDARD:
        yield sys.stdout if mode == "w" else sys.stdout.buffer
        sys.stdout.flush()
        return
    if Path(path).suffix != ".gz":
        with atomic_write(path, mode) as stream:
            yield stream
        return
    with atomic_write(path, "wb") as raw, gzip.GzipFile("", "wb", 6, raw, 0) as packed:
        if mode == "wb":
            yield packed  # type: ignore[misc]
            return
        with TextIOWrapper(packed, "utf-8", newline="") as stream:
            yield stream
