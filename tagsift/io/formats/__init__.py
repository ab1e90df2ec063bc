"""Exchange formats, one file each; a line of `FORMATS` makes one known everywhere.

A reader yields documents, a writer takes them. What a source has that a document does
not (ids of annotations, times, colours) is kept under the name of the format, as
``meta["label-studio"]`` of the document, the layer or the span, and written back by the
same format under the same keys; the user's own data stand beside it, in the document's
`meta`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from tagsift.data.documents import Document
from tagsift.errors import DataError, InputError
from tagsift.io.column_file import PathName
from tagsift.io.formats import (
    argilla,
    brat,
    conll,
    conllu,
    csv,
    doccano,
    hf,
    jsonl,
    label_studio,
    llm,
    prodigy,
    spacy,
    spans_csv,
    text,
    votes_csv,
    wrench,
)
from tagsift.io.formats._format import (
    STANDARD,
    CorpusInfo,
    Format,
    Options,
    guarded,
    open_source,
    open_target,
)
from tagsift.io.formats._json import first_record
from tagsift.io.formats._span_cells import holds_spans

__all__ = [
    "FORMATS",
    "CorpusInfo",
    "Format",
    "Options",
    "detect",
    "first_record",
    "format_named",
    "format_to_write",
    "holds_spans",
    "open_source",
    "open_target",
    "read_documents",
    "write_documents",
]

#: Name of a format → how it is read and written.
FORMATS: dict[str, Format] = {
    module.FORMAT.name: guarded(module.FORMAT)
    for module in (
        conll,
        jsonl,
        csv,
        conllu,
        label_studio,
        doccano,
        prodigy,
        argilla,
        brat,
        spacy,
        hf,
        wrench,
        votes_csv,
        spans_csv,
        llm,
        text,
    )
}
#: Bytes of a file, and names in a folder, that are looked at.
_HEAD, _NAMES = 1 << 16, 1000


def format_named(name: str) -> Format:
    """The format of a name."""
    if name not in FORMATS:
        known = ", ".join(FORMATS)
        raise InputError(f"there is no format {name!r}; choose one of {known}.")
    return FORMATS[name]


def detect(path: PathName) -> Format:
    """Find the format of a file or folder from its name and its content.

    Where they contradict each other, or several formats fit, the caller is asked.
    """
    if str(path) == STANDARD:
        raise InputError("expected --from with the format of standard input.")
    head = _head(path)
    named = _by_ending(path)
    told = [
        one for one in FORMATS.values() if one.tells is not None and one.tells(head)
    ]
    if Path(path).is_dir():
        told = [one for one in told if one.folder]
    found = [one for one in told if one in named] or told
    if not found:
        found = [one for one in named if one.tells is None]
    if len(found) == 1 and (found[0] in named or not named):
        return found[0]
    if found and named and found[0] not in named:
        names, looks = _listed(named), _listed(found)
        what = f"its name is one of {names}, its content looks like {looks}"
    elif found:
        what = f"it can be {_listed(found)}"
    elif named:
        what = f"its name is one of {_listed(named)}, its content does not look like it"
    else:
        what = "neither its name nor its content tells the format"
    raise DataError(f"{what}; say --from FORMAT (in Python format=).", path)


def _head(path: PathName) -> str:
    """The beginning of a file, or the names in a folder."""
    if Path(path).is_dir():
        inside = (one for way in ("*", "*/*") for one in Path(path).glob(way))
        names = (one.name for one in inside if not one.name.startswith("."))
        return "\n".join(sorted(islice(names, _NAMES)))
    if Path(path).exists() and not Path(path).is_file():
        return ""  # what comes through a pipe cannot be read again
    with open_source(path) as stream:
        head = stream.read(_HEAD)
        if head[:4] == b"PAR1":  # the names of the columns are at the end
            stream.seek(max(len(head), stream.seek(0, 2) - _HEAD))
            head += stream.read()
    return head.decode(errors="replace").removeprefix("\ufeff")


def _by_ending(path: PathName) -> list[Format]:
    name = Path(path).name.lower().removesuffix(".gz")
    return [one for one in FORMATS.values() if name.endswith(one.endings or ("\0",))]


def _listed(formats: Iterable[Format]) -> str:
    return " or ".join(one.name for one in formats)


def format_to_write(path: PathName, name: str | None, source: str | None) -> Format:
    """The format in which a file is written: by `name`, ending, or as the source."""
    if name is not None:
        found = format_named(name)
    else:
        named = [one for one in _by_ending(path) if one.write is not None]
        ending = Path(path).name.removesuffix(".gz").rpartition(".")[2]
        own = [one for one in named if one.name == ending]
        same = [one for one in named or FORMATS.values() if one.name == source]
        choice = same or own or named
        if len(choice) != 1:
            what = f" ({_listed(choice)})" if choice else ""
            raise InputError(
                f"{path}: expected --to with the format to write{what} (in Python "
                "format=)."
            )
        found = choice[0]
    if found.write is None:
        raise InputError(f"the format {found.name!r} is read only; choose another.")
    return found


def read_documents(
    path: PathName, name: str | None = None, options: Options | None = None
) -> Iterator[Document]:
    """Read documents one by one, from a file, a folder, or ``-``."""
    found = detect(path) if name is None else format_named(name)
    return found.read(path, options or Options())


def write_documents(
    documents: Iterable[Document],
    path: PathName,
    name: str | None = None,
    options: Options | None = None,
    source: str | None = None,
) -> None:
    """Write documents one by one, whole or not at all."""
    found = format_to_write(path, name, source)
    assert found.write is not None
    found.write(path, documents, options or Options())
