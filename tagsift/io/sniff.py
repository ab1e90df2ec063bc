"""Files that are no column files at all, recognised by how they begin."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from tagsift.io.column_file import PathName, open_bytes

__all__ = ["PROSE_END", "numbered_sentence", "recognise_head"]

#: The end of a line of running text.
PROSE_END = re.compile(r"\w[.!?…:;,]+[\"'”’)\]]*$")
_SLASHED = re.compile(r"\S+/[A-Z$.,:]{1,6}")
_MARKUP = re.compile(r"\s*<.*>\s*")
_JSON = re.compile(r"\s*[{\[]\s*[\"{]")
_HEAD = 1 << 16


def numbered_sentence(width: int) -> str:
    """Say that the first column counts the tokens, and how to leave it out."""
    names = ["-", "token", *"-" * (width - 2)]
    look = ""
    if width == 10:
        names[3], look = "label", ": this looks like CoNLL-U"
    elif width > 2:
        names[-1] = "label"
    return (
        f"the first of the {width} columns counts the tokens (1, 2, 3, …){look}; name "
        f"the columns to use, such as --columns {','.join(names)} (in Python "
        "columns=), with --comments where lines start with #."
    )


def recognise_head(path: PathName) -> str | None:
    """Say what a file looks like that is no column file; None for nothing known."""
    if not Path(path).is_file():  # what came through a pipe cannot be read again
        return None
    with open_bytes(path) as stream:
        head = stream.read(_HEAD)
    text = head.decode(errors="replace").lstrip("\ufeff")
    lines = [line.rstrip("\r") for line in text.split("\n") if line.strip()]
    lines = lines[: -1 if len(head) == _HEAD else None]
    rows = [line.split("\t") for line in lines if line[:1] != "#" and "\t" in line]
    half, words = len(lines) / 2, text.split()
    if rows and all(len(row) == 10 and row[0][:1].isdecimal() for row in rows):
        return numbered_sentence(10)
    if _JSON.match(text):
        return (
            "this looks like JSON, not like columns; say its format, such as --from "
            "jsonl or --from label-studio (in Python tagsift.read)."
        )
    if sum(_MARKUP.fullmatch(line) is not None for line in lines) > half:
        return "this looks like XML, not like columns; write one token a line."
    if sum(_SLASHED.fullmatch(w) is not None for w in words) > len(words) / 2:
        return (
            "this looks like words with their tags behind a slash; write one token a "
            "line, with a TAB between token and tag."
        )
    for sign, name in ((",", "commas"), (";", "semicolons")):
        try:
            fields = {len(row) for row in csv.reader(lines, delimiter=sign)}
        except csv.Error:  # a lone carriage return, or a field without an end
            return None
        if len(lines) > 1 and len(fields) == 1 and min(fields) > 1:
            return (
                f"this looks like a table with {name} between its {min(fields)} "
                "columns; save it with TABs between them, without quotation marks, "
                "and say --header if its first line names the columns."
            )
    if not rows and sum(PROSE_END.search(line) is not None for line in lines) > half:
        return (
            "this looks like running text; a column file has one token a line, and a "
            "blank line after each sentence: say --from text (in Python, "
            "read(format='text'))."
        )
    return None
