"""CoNLL-U: ten columns, comments, ranges of words and empty nodes.

Each sentence is a document. Its lines are kept as they are, and written back with the
labels in their column: UPOS, XPOS, or a key of MISC.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from tagsift.data.documents import Bounds, Document, Layer, Tag
from tagsift.errors import DataError, InputError
from tagsift.io.column_file import PathName, decode_line
from tagsift.io.formats import _tables as tables
from tagsift.io.formats._format import Format, Options, open_source, open_target
from tagsift.io.formats._layers import only_layer

__all__ = ["FORMAT"]

_NAMES = "id form lemma upos xpos feats head deprel deps misc".split()
_UPOS = frozenset(
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB "
    "X".split()
)
_FORM = 1
_MISC = 9
_ID = re.compile(r"([0-9]{1,9})(?:([-.])([0-9]{1,9}))?")
_KEY = "NER"  # of MISC, for labels that are no parts of speech


def _read_conllu(path: PathName, options: Options) -> Iterator[Document]:
    number, labelled = 0, False
    for start, lines in _blocks(path):
        number += 1
        document = _conllu_document(path, start, lines, str(number), options)
        labelled = labelled or bool(document.layers)
        yield document
    if not number:
        raise DataError("expected sentences of CoNLL-U, found an empty file.", path)
    if options.one_label_key is not None and not labelled:
        kind = f"file in which no word has the label {options.one_label_key}"
        options.losses.note(kind, str(path), lost=False)


def _blocks(path: PathName) -> Iterator[tuple[int, list[str]]]:
    lines: list[str] = []
    start = 1
    with open_source(path) as stream:
        for number, raw in enumerate(stream, 1):
            line = decode_line(raw, path, number)
            if line.strip():
                lines.append(line)
                continue
            if lines:
                yield start, lines
            lines, start = [], number + 1
    if lines:
        yield start, lines


def _conllu_document(
    path: PathName, start: int, lines: list[str], number: str, options: Options
) -> Document:
    rows: list[list[str]] = []  # of the words
    ranges: list[tuple[int, int, str]] = []  # first word, the one after, its form
    for at, line in enumerate(lines, start):
        if line[0] == "#":
            continue
        cells = line.split("\t")
        problem = _problem(cells, len(rows))
        if problem is not None:
            raise DataError(problem, path, at)
        if cells[0].isdecimal():
            rows.append(cells)
        elif "-" in cells[0]:
            first, last = map(int, cells[0].split("-"))
            ranges.append((first - 1, last, cells[_FORM]))
    if not rows or (ranges and max(last for _, last, _ in ranges) > len(rows)):
        raise DataError("expected the words of a sentence, found too few.", path, start)
    comments = _comments(lines)
    text, offsets = comments.get("text"), None
    if text is not None:
        offsets = _offsets(text, [row[_FORM] for row in rows], ranges)
        if offsets is None:
            where = f"{number}, line {start}"
            options.losses.note("text that the words do not spell, not used", where)
            text = None
    key = options.one_label_key or "UPOS"
    place, names = _place(key), _features(options)
    tags = tuple(_tag(row, place, key, options) for row in rows)
    layer = Layer(
        options.annotator or tables.LABELS,
        tags=tags,
        scheme=None if options.scheme == "auto" else options.scheme,
        meta={FORMAT.name: {"column": key}},
    )
    return Document(
        comments.get("sent_id") or number,
        text,
        tuple(tuple(row[i] for i in names) for row in rows),
        offsets,
        (0, len(rows)),
        (layer,) if any(tag is not None for tag in tags) else (),
        {FORMAT.name: lines},
    )


def _problem(cells: list[str], size: int) -> str | None:
    """What is wrong with a line after so many words, if anything is."""
    if len(cells) != len(_NAMES) or "" in cells:
        return (
            f"expected 10 columns with something in each and TABs between them, found "
            f"{len(cells)}{' with an empty one' * ('' in cells)}."
        )
    name = _ID.fullmatch(cells[0])
    if name is not None:
        first, sign, last = int(name[1]), name[2], int(name[3] or 0)
        word = first == size + 1 and (sign is None or (sign == "-" and first <= last))
        if word or (sign == "." and first == size and last > 0):
            return None
    return (
        f"expected word {size + 1}, a range of words such as {size + 1}-{size + 2} or "
        f"an empty node such as {size}.1, found {cells[0][:20]!r}."
    )


def _comments(lines: Sequence[str]) -> dict[str, str]:
    """Comments of the kind ``# key = value``."""
    pairs = (line[1:].partition("=") for line in lines if line[0] == "#")
    return {key.strip(): value.removeprefix(" ") for key, sign, value in pairs if sign}


def _offsets(
    text: str, words: list[str], ranges: list[tuple[int, int, str]]
) -> tuple[Bounds, ...] | None:
    """Where words stand; those of a range share its characters. None: they do not."""
    covered = {first: (last, form) for first, last, form in ranges}
    offsets: list[Bounds] = []
    at = t = 0
    while t < len(words):
        last, form = covered.get(t, (t + 1, words[t]))
        begin = text.find(form, at)
        if begin < 0 or text[at:begin].strip():
            return None
        at = begin + len(form)
        sizes = [len(word) for word in words[t:last]]
        if sum(sizes) != len(form):  # not spelled out: in equal parts
            ends = [len(form) * (i + 1) // len(sizes) for i in range(len(sizes))]
            sizes = [b - a for a, b in zip([0, *ends], ends, strict=False)]
        for size in sizes:
            offsets.append((begin, begin + size))
            begin += size
        t = last
    return None if text[at:].strip() else tuple(offsets)


def _place(key: str) -> int:
    return {"UPOS": 3, "XPOS": 4}.get(key.upper(), _MISC)


def _features(options: Options) -> list[int]:
    if options.columns is None:
        return [_FORM]
    asked = [name.strip().lower() for name in options.columns.split(",")]
    if asked[:1] != ["form"] or not set(asked) <= set(_NAMES):
        raise InputError(
            f"expected columns=form, with others of {','.join(_NAMES)} after it, found "
            f"{options.columns!r}."
        )
    return [_NAMES.index(name) for name in asked]


def _tag(row: list[str], place: int, key: str, options: Options) -> Tag:
    if place != _MISC:
        return None if row[place] == "_" else row[place]
    for part in row[_MISC].split("|"):
        name, sign, value = part.partition("=")
        if name == key and sign and value:
            return value
    return None


def _write_conllu(
    path: PathName, documents: Iterable[Document], options: Options
) -> None:
    how = tables.on_tokens(options)
    with open_target(path) as stream:
        for document in documents:
            document = tables.cut(document, options)
            if not document.rows:
                options.losses.note("document without tokens, left out", document.id)
                continue
            layer = _chosen(document, options)
            lines = document.meta.get(FORMAT.name)
            if not isinstance(lines, list):
                lines = _lines(document, options)
            if layer is not None:
                tags = tables.tags_of(document, layer, how)
                key = options.one_label_key or _key(layer, tags)
                cells = [_cell(tag, document, options) for tag in tags]
                lines = _replaced(lines, cells, key)
            stream.write("\n".join(lines) + "\n\n")


def _chosen(document: Document, options: Options) -> Layer | None:
    """The layer that is written; labels of a model replace those of the file."""
    own = [x for x in document.layers if FORMAT.name in x.meta]
    others = tuple(x for x in document.layers if x not in own)
    if any(layer.kind == "model" for layer in others):
        document = replace(document, layers=others)
    layer = only_layer(document, FORMAT.name, options)
    if layer is not None and not tables.named_by_default(layer) and layer not in own:
        kind = "name of the annotator, which conllu cannot hold"
        options.losses.note(kind, document.id)
    return layer


def _key(layer: Layer, tags: Sequence[Tag]) -> str:
    """Where labels go: where they come from, or by what they are."""
    source: Any = layer.meta.get(FORMAT.name)
    if isinstance(source, dict) and isinstance(source.get("column"), str):
        return str(source["column"])
    return "UPOS" if all(tag is None or tag in _UPOS for tag in tags) else _KEY


def _cell(tag: Tag, document: Document, options: Options) -> str | None:
    if isinstance(tag, frozenset):
        kind = "token with several labels, which conllu cannot hold"
        options.losses.note(kind, document.id)
    if not isinstance(tag, str):
        return None
    if any(sign in tag for sign in "\t\n\r\0|"):
        raise InputError(
            f"document {document.id!r}: expected labels that CoNLL-U can hold, found "
            f"{tag!r}."
        )
    return tag


def _replaced(lines: list[str], cells: list[str | None], key: str) -> list[str]:
    place = _place(key)
    written, word = [], 0
    for line in lines:
        name, tab, _ = line.partition("\t")
        if tab and name.isdecimal() and line[0] != "#":
            row, cell = line.split("\t"), cells[word]
            if place == _MISC:
                parts = [part for part in row[_MISC].split("|") if part != "_"]
                new = [] if cell is None else [f"{key}={cell}"]
                if new != [part for part in parts if part.startswith(f"{key}=")]:
                    others = (x for x in parts if x.partition("=")[0] != key)
                    row[_MISC] = "|".join([*others, *new]) or "_"
            else:
                row[place] = cell or "_"
            line = "\t".join(row)
            word += 1
        written.append(line)
    return written


def _lines(document: Document, options: Options) -> list[str]:
    """Lines without labels of a document from elsewhere."""
    if tables.metadata(document, FORMAT.name):
        options.losses.note("metadata, which conllu cannot hold", document.id)
    if any(len(row) > 1 for row in document.rows or ()):
        options.losses.note("columns but the words, left out", document.id)
    name = " ".join(document.id.split())
    bounds = document.bounds()
    lines = [f"# newdoc id = {name}"] if len(bounds) > 1 else []
    if document.text is not None and document.offsets:
        inside = document.offsets[0][0], document.offsets[-1][1]
        if len(bounds) > 1 or inside != (0, len(document.text)):
            options.losses.note("space around sentences, left out", name)
    for number, (a, b) in enumerate(bounds, 1):
        lines += [""] * (number > 1)
        lines.append(f"# sent_id = {name}{f'-{number}' * (len(bounds) > 1)}")
        words, tight = document.tokens[a:b], [False] * (b - a)
        if document.text is not None and document.offsets is not None:
            offsets = document.offsets[a:b]
            text = document.text[offsets[0][0] : offsets[-1][1]]
            plain = text.replace("\n", " ").replace("\r", " ")
            if text != plain:
                options.losses.note("line end inside a sentence, now a space", name)
            lines.append(f"# text = {plain}")
            pairs = zip(offsets, offsets[1:], strict=False)
            tight = [*(one[1] == other[0] for one, other in pairs), False]
        for word, (form, glued) in enumerate(zip(words, tight, strict=True), 1):
            if form == "" or any(sign in form for sign in "\t\n\r\0"):
                raise InputError(
                    f"document {document.id!r}: expected words without TAB, line end "
                    f"or NUL, found {form!r}."
                )
            misc = "SpaceAfter=No" if glued else "_"
            lines.append("\t".join([str(word), form, *"_" * 7, misc]))
    return lines


def _tells(head: str) -> bool:
    lines = [line.rstrip("\r").split("\t") for line in head.split("\n")[:-1]]
    rows = [row for row in lines if row[0][:1] not in ("", "#")]
    return bool(rows) and all(
        len(row) == len(_NAMES) and row[0][:1].isdecimal() for row in rows
    )


FORMAT = Format(
    "conllu",
    "CoNLL-U",
    _read_conllu,
    _write_conllu,
    endings=(".conllu", ".conllup"),
    tells=_tells,
)
