"""brat: a folder of texts (``.txt``) and standoff annotations (``.ann``).

Subfolders that hold the same texts are the work of several annotators; ``gold`` and
``exact`` are the truth. Relations, events, attributes and notes are kept as the lines
they are, and written back. A note ``score=0.9`` on a span is its score. Paths are plain
strings here: pathlib would keep the names of all files in memory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from os.path import join

from tagsift.data.documents import Bounds, Document, Layer, Mark
from tagsift.data.span_alignment import once
from tagsift.errors import DataError, InputError
from tagsift.io.column_file import STANDARD, PathName
from tagsift.io.formats import _spans
from tagsift.io.formats import _tables as tables
from tagsift.io.formats._file_names import (
    KNOWN,
    FileNames,
    annotator_in,
    in_order,
    safe_name,
)
from tagsift.io.formats._format import Format, Options, open_folder
from tagsift.io.formats._spans import Counted, as_own, own

__all__ = ["FORMAT"]

_NAME = "brat"
_SPAN = re.compile(
    r"(T[^\t ]+)\t(\S[^\t]*?) ([0-9]{1,15} [0-9]{1,15}(?:;[0-9]{1,15} [0-9]{1,15})*)"
    r"(?:\t(.*))?",
    re.DOTALL,
)
_OTHER = re.compile(r"(?:[A-SU-Z#][^\t ]*|\*)\t.+", re.DOTALL)
_SCORE = re.compile(r"#[^\t ]*\tAnnotatorNotes (T[^\t ]+)\tscore=([0-9.eE+-]{1,30})")
_NOTE = re.compile(r"(?m)^#([0-9]{1,9})")
_LINE = re.compile(r"[^\r\n]+")
_CONF = ("annotation", "visual", "tools", "kb_shortcuts")
_SECTIONS = "[entities]\n{}\n\n[relations]\n\n[events]\n\n[attributes]\n"


def _read_brat(path: PathName, options: Options) -> Iterator[Document]:
    root = os.path.realpath(path)
    if not os.path.isdir(root):
        there = "a file" if os.path.exists(root) else "none of this name"
        raise DataError(f"expected a folder of brat, found {there}.", path)
    names = sorted(_texts_in(root, ""), key=in_order)
    if not names:
        raise DataError("expected .txt files in the folder, found none.", path)
    for conf in (join(root, f"{name}.conf") for name in _CONF):
        text = _text(conf, root) if os.path.exists(conf) else _SECTIONS
        if not all(part in text for part in _SECTIONS.split("{}")):
            kind = "brat's configuration, of which labels in use are kept"
            options.losses.note(kind, conf)
    for name, folders in _shared(root, names):
        texts = {_text(join(root, one, f"{name}.txt"), root): one for one in folders}
        if len(texts) > 1:
            raise DataError(
                f"expected the same text {name}.txt from all annotators, found that "
                f"those of {' and '.join(list(texts.values())[:2])} differ.",
                path,
            )
        (text,) = texts
        layers = []
        for folder in folders:
            file = join(root, folder, f"{name}.ann")
            if os.path.exists(file):
                who = annotator_in(folder)
                who = who if folder else (options.annotator or _NAME, "person")
                layers.append(_brat_layer(file, root, text, Layer(*who, ()), options))
        document = Document(name, text, layers=tuple(layers))
        yield _spans.looked_at(document, options)


def _texts_in(folder: str, lead: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for one in entries:
            if one.is_dir(follow_symlinks=False):
                yield from _texts_in(one.path, f"{lead}{one.name}/")
            elif one.name.endswith(".txt"):
                yield f"{lead}{one.name[:-4]}"


def _shared(root: str, names: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Texts, and the subfolders of the annotators who have them."""
    shared: dict[str, list[str]] = {}
    if all("/" in name for name in names):
        for name in names:
            folder, _, rest = name.partition("/")
            shared.setdefault(rest, []).append(folder)
    people = {one for some in shared.values() for one in some}
    truth = bool(people) and people <= {*KNOWN}
    several = next((rest for rest, some in shared.items() if len(some) > 1), None)
    if several is not None:
        files = (join(root, one, f"{several}.txt") for one in shared[several])
        truth = len({_text(file, root) for file in files}) == 1
    if truth:
        yield from ((rest, shared[rest]) for rest in sorted(shared, key=in_order))
    else:
        yield from ((name, [""]) for name in names)


def _text(path: str, root: str) -> str:
    if not os.path.realpath(path).startswith(join(root, "")):
        raise DataError("expected files of the folder, found a link out of it.", path)
    try:
        with open(path, "rb") as stream:
            text = stream.read().decode()
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise DataError(
            f"expected UTF-8 text, found the byte 0x{byte:02x} at {error.start}.", path
        ) from None
    except OSError as error:
        raise DataError(f"cannot read the file ({error.strerror}).", path) from None
    if "\0" in text:
        raise DataError("expected text, found a NUL character.", path)
    return text


def _brat_layer(
    path: str, root: str, text: str, empty: Layer, options: Options
) -> Layer:
    marks: dict[str, Mark] = {}
    others: list[str] = []
    scores: dict[str, float] = {}
    auto = options.offsets == "auto"
    units = ("characters", "utf-16", "bytes") if auto else (options.offsets,)
    counted = [Counted(text, unit) for unit in units]
    for number, line in enumerate(_text(path, root).split("\n"), 1):
        line = line.removesuffix("\r")
        if not line.strip():
            continue
        span, score = _SPAN.fullmatch(line), _SCORE.fullmatch(line)
        if span is not None and span[1] in marks:
            kind = f"expected every span under a name of its own, found {span[1]}"
            raise DataError(f"{kind[:80]} again.", path, number)
        if span is not None:
            try:
                marks[span[1]] = _brat_mark(span, text, counted, options, path)
            except DataError as error:
                raise DataError(error.message, path, number) from None
        elif score is not None and _is_number(score[2]):
            scores[score[1]] = float(score[2])
        elif _OTHER.fullmatch(line):
            others.append(line)
        else:
            raise DataError(
                "expected a line of brat, such as 'T1<TAB>PER 0 3<TAB>Ann', found "
                f"{line[:80]!r}.",
                path,
                number,
            )
    named = others or list(marks) != [f"T{n}" for n in range(1, len(marks) + 1)]
    whole = tuple(
        replace(
            mark,
            score=scores.get(name),
            meta=as_own(_NAME, {"id": name} if named else {}),
        )
        for name, mark in marks.items()
    )
    more = {"lines": others} if others else {}
    return replace(empty, marks=whole, meta=as_own(_NAME, more))


def _is_number(cell: str) -> bool:
    try:
        return abs(float(cell)) < float("inf")
    except ValueError:
        return False


def _brat_mark(
    span: re.Match[str], text: str, counted: list[Counted], options: Options, where: str
) -> Mark:
    """The span of a line; the text that it quotes says how offsets count."""
    pairs = [tuple(map(int, pair.split(" "))) for pair in span[3].split(";")]
    read = ([one.find(*pair) for pair in pairs] for one in counted)
    fitting = [sorted(filter(None, pieces)) for pieces in read if None not in pieces]
    if not fitting:
        raise DataError(
            f"expected offsets in the {len(text)} characters of the text, found "
            f"{span[3][:60]}; see --offsets."
        )
    chosen = fitting[0]
    if span[4] is not None:
        quotes = [" ".join(text[a:b] for a, b in pieces).split() for pieces in fitting]
        if span[4].split() in quotes:
            chosen = fitting[quotes.index(span[4].split())]
        else:
            options.losses.note(
                "span that quotes other text than the file has, taken by its offsets",
                f"{where}, {span[1]}",
            )
    start, end = chosen[0][0], max(last for _, last in chosen)
    whole = chosen == _lines(text, start, end) or len(chosen) == 1
    return Mark(start, end, (span[2],), pieces=() if whole else tuple(chosen))


def _lines(text: str, start: int, end: int) -> list[Bounds]:
    """Parts of a stretch of text without line ends, which brat does not allow."""
    return [match.span() for match in _LINE.finditer(text, start, end)]


def _write_brat(
    path: PathName, documents: Iterable[Document], options: Options
) -> None:
    if str(path) == STANDARD:
        raise InputError("expected the name of a folder for brat, found '-'.")
    survey = tables.Survey(_NAME, options.info)
    labels: set[str] = set()
    used: set[str] = set()
    names = FileNames(options.losses)
    made: set[str] = set()
    with (
        open_folder(path) as root,
        tables.kept_twice(documents, survey.see) as again,
    ):
        for document in again:
            document = once(document, options.again, options.losses, lost=True)
            document = _spans.text_of(document, _NAME, options.losses)
            if tables.metadata(document, _NAME):
                options.losses.note("metadata, which brat does not keep", document.id)
            name = _file_name(document.id, used, options)
            files: dict[str, str | None] = {
                _folder(layer, survey, names, options): _annotations(
                    document, layer, options, labels
                )
                for layer in document.layers
            }
            if not files and survey.layers:
                key = next(iter(survey.layers))
                files = {_folder(Layer(*key, ()), survey, names, options): None}
            for folder, lines in (files or {"": None}).items():
                target = join(root, folder, name)
                if os.path.dirname(target) not in made:
                    made.add(os.path.dirname(target))
                    os.makedirs(os.path.dirname(target), exist_ok=True)
                _save(f"{target}.txt", document.text or "")
                if lines is not None:
                    _save(f"{target}.ann", lines)
        content = _SECTIONS.format("\n".join(sorted(labels)))
        _save(join(root, "annotation.conf"), content)


def _save(path: str, text: str) -> None:
    with open(path, "wb") as stream:
        stream.write(text.encode())


def _folder(
    layer: Layer, survey: tables.Survey, names: FileNames, options: Options
) -> str:
    """Where the work of an annotator goes; nothing where there is one alone."""
    if len(survey.layers) > 1 or layer.kind in KNOWN:
        return names.of(layer)
    usual = layer.annotator == (options.annotator or _NAME)
    if not usual and not tables.named_by_default(layer):
        options.losses.note(
            "annotator's name, which brat does not keep", layer.annotator
        )
    _spans.note_kind(layer, _NAME, layer.annotator, options.losses)
    return ""


def _file_name(name: str, used: set[str], options: Options) -> str:
    """A path inside the folder for a document, whatever its id is."""
    parts = name.split("/")
    safe = name if all(part == safe_name(part) for part in parts) else safe_name(name)
    number, base = 1, safe
    while safe.casefold() in used:
        number += 1
        safe = f"{base}~{number}"
    if safe != name:
        options.losses.note("id that cannot name a file, changed", name)
    used.add(safe.casefold())
    return safe


def _annotations(
    document: Document, layer: Layer, options: Options, labels: set[str]
) -> str:
    counted = Counted.of(document.text, options)
    marks = list(_spans.spanned(document, layer, _NAME, options.losses, pieces=True))
    others = own(layer.meta, _NAME).get("lines", [])
    ids = [str(own(mark.meta, _NAME).get("id", "")) for mark in marks]
    taken = set(filter(None, ids))
    free = (name for n in range(1, 10**9) if (name := f"T{n}") not in taken)
    lines, notes = [], []
    for mark, name in zip(marks, ids, strict=True):
        pieces = list(mark.pieces) or _lines(counted.text, mark.start, mark.end)
        pieces = pieces or [(mark.start, mark.end)]
        where = ";".join("{} {}".format(*counted.write(*piece)) for piece in pieces)
        quote = " ".join(counted.text[a:b] for a, b in pieces)
        for number, label in enumerate(mark.labels):
            name = next(free) if number or not name else name
            kind = "_".join(label.split())
            if kind != label:
                options.losses.note("label with spaces, which brat forbids", label)
            labels.add(kind)
            lines.append(f"{name}\t{kind} {where}\t{quote}")
            if mark.score is not None:
                notes.append(f"AnnotatorNotes {name}\tscore={mark.score!r}")
    first = max(map(int, _NOTE.findall("\n".join(others))), default=0) + 1
    lines += [f"#{n}\t{note}" for n, note in enumerate(notes, first)]
    return "".join(f"{line}\n" for line in [*lines, *others])


def _tells(head: str) -> bool:
    names = head.split("\n")
    return "annotation.conf" in names or any(name.endswith(".ann") for name in names)


FORMAT = Format(
    _NAME,
    "folder of brat, texts and standoff",
    _read_brat,
    _write_brat,
    tells=_tells,
    folder=True,
    tokens=False,
    spans=True,
    order="names",
)
