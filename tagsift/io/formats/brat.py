"""brat: a folder of texts (``.txt``) and standoff annotations (``.ann``).

Subfolders that hold the same texts are the work of several annotators. Relations,
events, attributes and notes are kept as the lines they are, and written back. A note
``score=0.9`` on a span is its score. Paths are plain strings here: pathlib would keep
the names of all files in memory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from os.path import join
from urllib.parse import quote

from tagsift.data.documents import Bounds, Document, Layer, Mark
from tagsift.data.span_alignment import once
from tagsift.errors import DataError, InputError
from tagsift.io.column_file import STANDARD, PathName
from tagsift.io.formats import _tables as tables
from tagsift.io.formats._format import Format, Options, open_folder
from tagsift.io.formats._spans import (
    Counted,
    kept,
    looked_at,
    own,
    spanned,
    text_of,
)

__all__ = ["FORMAT"]

_SPAN = re.compile(
    r"(T[^\t ]+)\t(\S[^\t]*?) ([0-9]{1,15} [0-9]{1,15}(?:;[0-9]{1,15} [0-9]{1,15})*)"
    r"(?:\t(.*))?",
    re.DOTALL,
)
_OTHER = re.compile(r"(?:[A-Z#][^\t ]*|\*)\t.+", re.DOTALL)
_SCORE = re.compile(r"#[^\t ]*\tAnnotatorNotes (T[^\t ]+)\tscore=([0-9.eE+-]{1,30})")
_LINE = re.compile(r"[^\r\n]+")
_SAFE = re.compile(r"[^/\\:*?\"<>|\x00-\x1f\x7f]{1,100}")
_NUMBER = re.compile(r"[0-9]+")
_CONF = ("annotation", "visual", "tools", "kb_shortcuts")
_SECTIONS = "[entities]\n{}\n\n[relations]\n\n[events]\n\n[attributes]\n"


def _read(path: PathName, options: Options) -> Iterator[Document]:
    root = os.path.realpath(path)
    if not os.path.isdir(root):
        there = "a file" if os.path.exists(root) else "none of this name"
        raise DataError(f"expected a folder of brat, found {there}.", path)
    names = _names(root)
    if not names:
        raise DataError("expected .txt files in the folder, found none.", path)
    for conf in (join(root, f"{name}.conf") for name in _CONF):
        text = _text(conf, root) if os.path.exists(conf) else _SECTIONS
        if not all(part in text for part in _SECTIONS.split("{}")):
            kind = "brat's configuration, of which labels in use are kept"
            options.losses.note(kind, conf)
    for name, folders in _shared(root, names):
        texts = [_text(join(root, folder, f"{name}.txt"), root) for folder in folders]
        if len(set(texts)) > 1:
            other = next(
                x for x, y in zip(folders, texts, strict=True) if y != texts[0]
            )
            raise DataError(
                f"expected the same text {name}.txt from all annotators, found that "
                f"those of {folders[0]} and {other} differ.",
                path,
            )
        found = (
            _layer(
                join(root, folder, f"{name}.ann"),
                root,
                texts[0],
                folder or options.annotator or FORMAT.name,
                options,
            )
            for folder in folders
        )
        layers = tuple(layer for layer in found if layer is not None)
        yield looked_at(Document(name, texts[0], layers=layers), options)


def _names(root: str) -> list[str]:
    """Texts of a folder, without their ending, in order."""
    return sorted(_inside(root, ""), key=_in_order)


def _inside(folder: str, lead: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for one in entries:
            if one.is_dir(follow_symlinks=False):
                yield from _inside(one.path, f"{lead}{one.name}/")
            elif one.name.endswith(".txt"):
                yield f"{lead}{one.name[:-4]}"


def _in_order(name: str) -> str:
    """Sort 2 before 10."""
    return _NUMBER.sub(lambda match: match[0].zfill(20), name)


def _shared(root: str, names: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Texts, and the subfolders of the annotators who have them."""
    shared: dict[str, list[str]] = {}
    if all("/" in name for name in names):
        for name in names:
            folder, _, rest = name.partition("/")
            shared.setdefault(rest, []).append(folder)
    for rest, folders in shared.items():
        if len(folders) > 1:
            texts = {_text(join(root, one, f"{rest}.txt"), root) for one in folders}
            if len(texts) == 1:
                yield from ((x, shared[x]) for x in sorted(shared, key=_in_order))
                return
            break
    for name in names:
        yield name, [""]


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


def _layer(
    path: str, root: str, text: str, annotator: str, options: Options
) -> Layer | None:
    if not os.path.exists(path):
        return None
    marks: list[Mark] = []
    names: dict[str, None] = {}
    others: list[str] = []
    scores: dict[str, float] = {}
    units = (options.offsets,)
    if options.offsets == "auto":
        units = ("characters", "utf-16", "bytes")  # type: ignore[assignment]
    counted = [Counted(text, unit) for unit in units]
    for number, line in enumerate(_text(path, root).split("\n"), 1):
        line = line.removesuffix("\r")
        if not line.strip():
            continue
        span = _SPAN.fullmatch(line)
        score = _SCORE.fullmatch(line)
        if span is not None:
            if span[1] in names:
                kind = f"expected every span under a name of its own, found {span[1]}"
                raise DataError(f"{kind[:80]} again.", path, number)
            names[span[1]] = None
            try:
                marks.append(_mark(span, text, counted, options, path))
            except DataError as error:
                raise DataError(error.message, path, number) from None
        elif score is not None and _is_number(score[2]):
            scores[score[1]] = float(score[2])
        elif _OTHER.fullmatch(line) and line[0] != "T":
            others.append(line)
        else:
            raise DataError(
                "expected a line of brat, such as 'T1<TAB>PER 0 3<TAB>Ann', found "
                f"{line[:80]!r}.",
                path,
                number,
            )
    counting = list(names) == [f"T{n}" for n in range(1, len(names) + 1)]
    told = {} if counting and not others else {name: {"id": name} for name in names}
    return Layer(
        annotator,
        marks=tuple(
            Mark(
                mark.start,
                mark.end,
                mark.labels,
                scores.get(name),
                mark.pieces,
                kept(FORMAT.name, told.get(name, {})),
            )
            for name, mark in zip(names, marks, strict=True)
        ),
        meta=kept(FORMAT.name, {"lines": others} if others else {}),
    )


def _is_number(cell: str) -> bool:
    try:
        return abs(float(cell)) < float("inf")
    except ValueError:
        return False


def _mark(
    span: re.Match[str], text: str, counted: list[Counted], options: Options, where: str
) -> Mark:
    """The span of a line; the text that it quotes says how offsets count."""
    pairs = [tuple(map(int, pair.split(" "))) for pair in span[3].split(";")]
    fitting = []
    for count in counted:
        found = [count.find(*pair) for pair in pairs]
        if None not in found:
            fitting.append(sorted(piece for piece in found if piece is not None))
    if not fitting:
        raise DataError(
            f"expected offsets in the {len(text)} characters of the text, found "
            f"{span[3][:60]}; see --offsets."
        )
    chosen = fitting[0]
    if span[4] is not None:
        quoted = span[4].split()
        for pieces in fitting:
            if quoted == " ".join(text[a:b] for a, b in pieces).split():
                chosen = pieces
                break
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


@dataclass
class _Found:
    """What a first look at the documents finds."""

    people: dict[str, None] = field(default_factory=dict)
    several: bool = False

    def see(self, document: Document) -> None:
        names = [layer.annotator for layer in document.layers]
        self.people |= dict.fromkeys(names)
        self.several |= len(names) > 1 or len(self.people) > 1


def _write(path: PathName, documents: Iterable[Document], options: Options) -> None:
    found = _Found()
    labels: set[str] = set()
    used: set[str] = set()
    if str(path) == STANDARD:
        raise InputError("expected the name of a folder for brat, found '-'.")
    with (
        open_folder(path) as root,
        tables.kept_twice(documents, found.see) as again,
    ):
        for document in again:
            document = once(document, options.again, options.losses, lost=True)
            document = text_of(document, FORMAT.name, options.losses)
            text = document.text or ""
            if tables.metadata(document, FORMAT.name):
                options.losses.note("metadata, which brat does not keep", document.id)
            name = _file_name(document.id, used, options)
            files = {
                _folder(layer, found, options): _annotations(
                    document, layer, options, labels
                )
                for layer in document.layers
            }
            if len(files) < len(document.layers):
                options.losses.note("second layer of an annotator", document.id)
            empty = {next(iter(found.people)): ""} if found.several else {"": ""}
            for folder in files or empty:
                target = join(root, folder, name)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                _save(f"{target}.txt", text)
                if files:
                    _save(f"{target}.ann", files[folder])
        content = _SECTIONS.format("\n".join(sorted(labels)))
        _save(join(root, "annotation.conf"), content)


def _save(path: str, text: str) -> None:
    with open(path, "wb") as stream:
        stream.write(text.encode())


def _folder(layer: Layer, found: _Found, options: Options) -> str:
    """Where the work of an annotator goes; nothing where there is one alone."""
    if found.several:
        if _quoted(layer.annotator) != layer.annotator:
            kind = "annotator's name, which is no name of a folder, changed"
            options.losses.note(kind, layer.annotator)
        return _quoted(layer.annotator)
    where = layer.annotator
    if where != (options.annotator or FORMAT.name) and not tables.named_by_default(
        layer
    ):
        options.losses.note("annotator's name, which brat does not keep", where)
    return ""


def _file_name(name: str, used: set[str], options: Options) -> str:
    """A path inside the folder for a document, whatever its id is."""
    parts = name.split("/")
    safe = name if all(part == _quoted(part) for part in parts) else _quoted(name)
    number, base = 1, safe
    while safe.casefold() in used:
        number += 1
        safe = f"{base}~{number}"
    if safe != name:
        options.losses.note("id that cannot name a file, changed", name)
    used.add(safe.casefold())
    return safe


def _quoted(part: str) -> str:
    """The name of a file or folder: as it is, or without what could lead elsewhere."""
    if _SAFE.fullmatch(part) and part[0] not in ". " and part[-1] not in ". ":
        return part
    return quote(part, safe=" ")[:100].replace(".", "%2E").strip() or "%"


def _annotations(
    document: Document, layer: Layer, options: Options, labels: set[str]
) -> str:
    """The file of one annotator."""
    text = document.text or ""
    marks = list(spanned(document, layer, FORMAT.name, options.losses, pieces=True))
    others = own(layer.meta, FORMAT.name).get("lines", [])
    given = [str(own(mark.meta, FORMAT.name).get("id", "")) for mark in marks]
    taken = {name for name in given if name}
    free = (name for n in range(1, 10**9) if (name := f"T{n}") not in taken)
    unit = "characters" if options.offsets == "auto" else options.offsets
    counted = Counted(text, unit)
    lines, notes = [], []
    for mark, name in zip(marks, given, strict=True):
        pieces = list(mark.pieces) or _lines(text, mark.start, mark.end)
        pieces = pieces or [(mark.start, mark.end)]
        where = ";".join("{} {}".format(*counted.write(*piece)) for piece in pieces)
        quoted = " ".join(text[a:b] for a, b in pieces)
        for number, label in enumerate(mark.labels):
            name = next(free) if number or not name else name
            kind = "_".join(label.split())
            if kind != label:
                options.losses.note("label with spaces, which brat forbids", label)
            labels.add(kind)
            lines.append(f"{name}\t{kind} {where}\t{quoted}")
            if mark.score is not None:
                notes.append(f"AnnotatorNotes {name}\tscore={mark.score!r}")
    numbers = [int(x[1:]) for x in re.findall(r"(?m)^#[0-9]{1,9}", "\n".join(others))]
    first = max(numbers, default=0) + 1
    lines += [f"#{n}\t{note}" for n, note in enumerate(notes, first)]
    return "".join(f"{line}\n" for line in [*lines, *others])


def _tells(head: str) -> bool:
    names = head.split("\n")
    return "annotation.conf" in names or any(name.endswith(".ann") for name in names)


FORMAT = Format(
    "brat",
    "folder of brat, texts and standoff",
    _read,
    _write,
    tells=_tells,
    folder=True,
    tokens=False,
)
