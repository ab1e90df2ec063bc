"""Plain text, cut into sentences and tokens with their offsets.

Every line is a document, so that text of any length streams; blank lines are skipped.
Two other shapes are for text whose lines are wrapped: ``paragraphs``, which blank lines
part, and ``file``, the whole of it. The id of a document is the number of its first
line, and offsets count from that line's first character.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from tagsift.data.documents import Document
from tagsift.errors import DataError, InputError
from tagsift.io.column_file import PathName, decode_line
from tagsift.io.formats._format import Format, Options, open_source

__all__ = ["FORMAT", "check_prose", "read_bursts"]

#: Bytes asked for at a time.
_CHUNK = 1 << 16
_SHAPES = ("lines", "paragraphs", "file")


def read_bursts(path: PathName, options: Options) -> Iterator[list[Document]]:
    """Yield the documents that came together, so that nobody waits for more of them.

    A pipe gives what it has, a file 64 KiB at a time. Their text is not cut yet.
    """
    shape = options.shape or "lines"
    if shape not in _SHAPES:
        raise InputError(
            f"expected the shape of text to be one of {', '.join(_SHAPES)}, found "
            f"{shape!r}."
        )
    waiting: list[str] = []  # lines of a document that has not ended
    first = 1
    number = 0
    with open_source(path) as stream:
        for lines in _bursts(stream):
            documents = []
            for raw in lines:
                number += 1
                line = decode_line(raw, path, number)
                blank = not line or line.isspace()
                if shape == "file" or (shape == "paragraphs" and not blank):
                    first = first if waiting else number
                    waiting.append(line + "\r" * raw.endswith(b"\r"))
                elif shape == "lines" and not blank:
                    documents.append(Document(str(number), line))
                elif waiting:
                    documents.append(_text_document(first, waiting))
                    waiting = []
            if documents:
                yield documents
    if any(line.strip() for line in waiting):
        yield [_text_document(first, waiting)]


def _text_document(first: int, lines: list[str]) -> Document:
    return Document(str(first), "\n".join(lines).removesuffix("\r"))


def check_prose(head: bytes, path: PathName) -> None:
    """Refuse the beginning of what is no raw text: columns, or JSON."""
    lines = head.decode(errors="replace").removeprefix("\ufeff").split("\n")[:-1][:200]
    filled = [line.strip("\r") for line in lines if line.strip()]
    tabs = sum("\t" in line.strip() for line in filled)
    words = all(len(line.split()) == 1 for line in filled) and len(filled) > 4
    if filled and (tabs > 0.9 * len(filled) or (words and len(filled) < len(lines))):
        what, name = "columns, one token a line", "conll"
    elif filled and filled[0][0] in "{[" and filled[0][-1] in "}]{[,":
        what, name = "JSON", "jsonl"
    else:
        return
    raise DataError(
        f"expected raw text, found what looks like {what}; say --from {name} or so, or "
        "--from text to insist.",
        path,
    )


def _bursts(stream: IO[bytes]) -> Iterator[list[bytes]]:
    """Whole lines, as many as came with one read."""
    rest: list[bytes] = []  # pieces of a line that has not ended
    while chunk := stream.read1(_CHUNK):  # type: ignore[attr-defined]
        *lines, last = chunk.split(b"\n")
        if lines:
            rest.append(lines[0])
            lines[0] = b"".join(rest)
            rest = []
            yield lines
        if last:
            rest.append(last)
    if rest:
        yield [b"".join(rest)]


def _read_text(path: PathName, options: Options) -> Iterator[Document]:
    for documents in read_bursts(path, options):
        for document in documents:
            yield document.cut(options.cut_text)


FORMAT = Format("text", "plain text", _read_text, None, (".txt", ".text"), tokens=False)
